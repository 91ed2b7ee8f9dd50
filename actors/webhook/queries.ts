/** Owns the reads of subscriptions and deliveries, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { type AlertChannelView, alertChannelOf, type SubscriptionView } from "../../schemas/webhook.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import type { ActorContext } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import type { DeliveryState, SubscriptionState } from "./state.ts";
import { alertChannelView, subscriptionView } from "./view.ts";

export const subscriptions = { collection: "subscriptions", schemaVersion: 1 };
export const deliveries = { collection: "deliveries", schemaVersion: 1 };

export const subscriptionIndexes = [{ name: "client", key: { clientId: 1 }, unique: true }] as const;

/** Longer than the replay window, so that an event told again is known to be delivered. */
const settledKeptSeconds = 30 * 86_400;

export const deliveryIndexes = [
  { name: "ttl", key: { settledAt: 1 }, expireAfterSeconds: settledKeptSeconds },
] as const;

export interface Subscription {
  id: string;
  state: SubscriptionState;
}

const subscriptionOf = (document: Document): Subscription => {
  const { state, meta } = loadedOf<SubscriptionState>(document, subscriptions);
  return { id: meta._id, state };
};

export const loadSubscription = async (
  documents: TenantDocuments,
  by: { id: string } | { clientId: string },
): Promise<Subscription | undefined> => {
  const filter = "id" in by ? { _id: by.id as never } : by;
  const found = await documents.collection<Document>(subscriptions.collection).findOne(filter);
  return found === null ? undefined : subscriptionOf(found);
};

/** All of an airline: some dozens of partners. */
export const allSubscriptions = async (documents: TenantDocuments): Promise<Subscription[]> => {
  const found = await documents.collection<Document>(subscriptions.collection).find({}).toArray();
  return found.map(subscriptionOf);
};

export const loadDelivery = async (
  documents: TenantDocuments,
  id: string,
): Promise<DeliveryState | undefined> => {
  const found = await documents.collection<Document>(deliveries.collection).findOne({ _id: id as never });
  return found === null ? undefined : loadedOf<DeliveryState>(found, deliveries).state;
};

/** Of an open delivery something is due. */
const waitingFor = (documents: TenantDocuments, subscriptionId: string): Promise<number> =>
  documents
    .collection<Document>(deliveries.collection)
    .countDocuments({ subscriptionId, nextDueAt: { $exists: true } }, { hint: "due" });

export const webhookQueries = (context: ActorContext) => ({
  /** The airline's alert channel; null: it has none. For provisioning. */
  "alert-channel": async ({ tenant }: Query): Promise<AlertChannelView | null> => {
    const documents = context.documents.tenant(tenant);
    const found = await loadSubscription(documents, { clientId: alertChannelOf(tenant) });
    return found === undefined ? null : alertChannelView(found.state, await waitingFor(documents, found.id));
  },

  /** One partner's subscription, by client id; for provisioning, operators, and whoever writes to its contact. */
  subscription: async ({ tenant, params }: Query): Promise<SubscriptionView> => {
    const documents = context.documents.tenant(tenant);
    const found = await loadSubscription(documents, { clientId: String(params.clientId) });
    if (found === undefined) throw new Problem("not-found/resource", "No such webhook subscription.");
    return subscriptionView(found.state, found.id);
  },
});
