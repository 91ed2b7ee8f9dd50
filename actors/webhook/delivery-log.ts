/** Owns the delivery log: what was attempted and how it ended, newest event first, for operators and for each partner its own. */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { parseUrn, urn } from "../../schemas/urn.ts";
import { alertChannelOf } from "../../schemas/webhook.ts";
import type { DeliverySearch, DeliveryView } from "../../schemas/webhook-delivery.ts";
import { derivedId } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { allSubscriptions, deliveries } from "./queries.ts";
import type { DeliveryState } from "./state.ts";

/** The most telling filter first: of a case there are few, of a status mostly few. */
export const deliveryLogIndexes = [
  { name: "case", key: { caseUrn: 1, _id: -1 }, partialFilterExpression: { caseUrn: { $exists: true } } },
  { name: "subscription-status", key: { subscriptionId: 1, status: 1, _id: -1 } },
  { name: "subscription", key: { subscriptionId: 1, _id: -1 } },
  { name: "status", key: { status: 1, _id: -1 } },
] as const;

interface Filter {
  caseUrn?: string;
  subscriptionId?: string;
  status?: string;
  _id?: { $gte?: string; $lt?: string };
}

/** The index by which such a filter is read: a planner would have to guess. */
export const indexFor = ({ caseUrn, subscriptionId, status }: Filter): string => {
  if (caseUrn !== undefined) return "case";
  if (subscriptionId !== undefined) return status === undefined ? "subscription" : "subscription-status";
  return status === undefined ? "_id_" : "status";
};

const timeCharacters = 10;

/**
 * The least id of a delivery whose event occurred at this moment: ids begin with its time.
 * @throws Problem validation/query for what has a time's form and is none, as a leap second
 */
const leastIdAt = (tenant: string, name: "from" | "to", at: string): string => {
  const atMs = Date.parse(at);
  if (Number.isNaN(atMs))
    throw new Problem("validation/query", "A query parameter is not valid.", {
      errors: [{ pointer: `?${name}`, detail: "is no time" }],
    });
  return derivedId(tenant, "", new Date(Math.max(0, atMs))).slice(0, tenant.length + 1 + timeCharacters);
};

/** @param subscriptionId undefined: of all subscriptions @throws Problem validation/query */
export const filterOf = (
  tenant: string,
  subscriptionId: string | undefined,
  { caseUrn, status, from, to }: Omit<DeliverySearch, "clientId">,
): Filter => ({
  ...(caseUrn === undefined ? {} : { caseUrn: urn("case", parseUrn(caseUrn)?.id ?? "") }),
  ...(subscriptionId === undefined ? {} : { subscriptionId }),
  ...(status === undefined ? {} : { status }),
  ...(from === undefined && to === undefined
    ? {}
    : {
        _id: {
          ...(from === undefined ? {} : { $gte: leastIdAt(tenant, "from", from) }),
          ...(to === undefined ? {} : { $lt: leastIdAt(tenant, "to", to) }),
        },
      }),
});

/** @param clientId of the subscription; its document outlives a registration's changes */
export const deliveryView = (id: string, state: DeliveryState, clientId: string): DeliveryView => {
  const { eventUrn, type, caseUrn, replayId, status, createdAt, attempts } = state;
  return {
    urn: urn("delivery", id),
    clientId,
    eventUrn,
    eventType: type,
    ...(caseUrn === undefined ? {} : { caseUrn }),
    ...(replayId === undefined ? {} : { replayUrn: urn("replay", replayId) }),
    status,
    firstAttemptAt: createdAt.toISOString(),
    ...(state.status === "PENDING" ? { nextAttemptAt: state.dueAt.toISOString() } : {}),
    ...("settledAt" in state ? { settledAt: state.settledAt.toISOString() } : {}),
    attempts: attempts.map(({ at, ...attempt }) => ({ ...attempt, at: at.toISOString() })),
  };
};

/** Everything of a delivery but what it sends. */
const shown = { message: 0, handled: 0, outbox: 0 };

export const deliveryLogQueries = (context: ActorContext) => {
  /** @param clientId undefined: of all; of nobody there is nothing */
  const pageOf = async (
    { tenant, params }: Query,
    clientId: string | undefined,
  ): Promise<Page<DeliveryView>> => {
    const documents = context.documents.tenant(tenant);
    const subscriptions = await allSubscriptions(documents);
    const clients = new Map(subscriptions.map(({ id, state }) => [id, state.clientId]));
    const found = subscriptions.find(({ state }) => state.clientId === clientId)?.id;
    if (clientId !== undefined && found === undefined) return { items: [], nextCursor: null, hasMore: false };
    const filter = filterOf(tenant, found, params as DeliverySearch);
    return readPage(
      documents.collection<Document>(deliveries.collection),
      { filter: filter as Document, params, projection: shown, hint: indexFor(filter) },
      (document) => {
        const state = document as unknown as DeliveryState;
        return deliveryView(String(document._id), state, clients.get(state.subscriptionId) ?? "");
      },
    );
  };

  return {
    /** GET /v1/webhooks/deliveries. An operator of one airport names a case there: deliveries know no airport. */
    deliveries: async (query: Query): Promise<Page<DeliveryView>> => {
      const { tenant, principal, params } = query;
      const { clientId, caseUrn } = params as DeliverySearch;
      if (clientId !== undefined && clientId !== alertChannelOf(tenant) && !clientId.startsWith(`${tenant}-`))
        throw new Problem("auth/foreign-tenant", "This client is none of your airline's.");
      if (principal.airport !== undefined) {
        if (caseUrn === undefined)
          throw new Problem(
            "auth/foreign-airport",
            `You are scoped to ${principal.airport}: name a case there by caseUrn.`,
          );
        await context.call("case.head", { ...query, params: { caseUrn } });
      }
      return pageOf(query, clientId);
    },

    /** GET /partner/v1/webhooks/deliveries. */
    "own-deliveries": async (query: Query): Promise<Page<DeliveryView>> =>
      pageOf(query, query.principal.clientId ?? ""),
  };
};
