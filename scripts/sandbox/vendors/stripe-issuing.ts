/**
 * Owns the payment vendor that speaks Stripe Issuing: virtual cards under one cardholder, their use as events, listed and sent. Card
 * numbers never exist here.
 */
import { randomBytes } from "node:crypto";
import Type, { type Static } from "typebox";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { drawFor } from "../seeded.ts";
import { spend } from "../till.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest, VendorRoute } from "../vendor-server.ts";
import { announce, signed } from "../webhooks.ts";
import { eventsOf, type StripeEvent } from "./stripe-events.ts";

const Digits = Type.String({ pattern: "^\\d{1,12}$" });
const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 500 }));
const SpendingControls = Type.Object({
  spending_limits: Type.Array(Type.Object({ amount: Digits, interval: Type.Literal("all_time") }), {
    minItems: 1,
    maxItems: 1,
  }),
});
const Create = Type.Object({
  cardholder: Type.String(),
  currency: Type.String({ pattern: "^[a-z]{3}$" }),
  type: Type.Literal("virtual"),
  status: Type.Literal("active"),
  spending_controls: SpendingControls,
  metadata: Metadata,
});
const Update = Type.Partial(
  Type.Object({
    status: Type.Literal("canceled"),
    spending_controls: SpendingControls,
    metadata: Metadata,
  }),
);

/** Whose the cards are: the only one there is. */
export const sandboxCardholder = "ich_sandbox";

type Card = Entry<{
  /** In Stripe's units, which are ISO 4217's of the currencies used here. */
  limit: number;
  /** What the till takes from; Stripe doesn't tell it. */
  balanceMinor: number;
  currency: string;
  metadata: Record<string, string>;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
}>;

const secondsOf = (at: string): number => Math.floor(Date.parse(at) / 1000);

const cardOf = ({ id, state, createdAt, details }: Card) => ({
  id,
  object: "issuing.card",
  brand: "Visa",
  cardholder: { id: sandboxCardholder, object: "issuing.cardholder" },
  created: secondsOf(createdAt),
  currency: details.currency.toLowerCase(),
  exp_month: details.expiryMonth,
  exp_year: details.expiryYear,
  last4: details.last4,
  livemode: false,
  metadata: details.metadata,
  spending_controls: { spending_limits: [{ amount: details.limit, categories: [], interval: "all_time" }] },
  status: state === "ACTIVE" ? "active" : "canceled",
  type: "virtual",
});

const problem = (status: number, type: string, message: string, code?: string): VendorAnswer => ({
  status,
  body: { error: { type, message, ...(code !== undefined && { code }) } },
});
const invalid = (message: string, code?: string): VendorAnswer =>
  problem(400, "invalid_request_error", message, code);
const missing = (what: string, id: string): VendorAnswer =>
  problem(404, "invalid_request_error", `No such ${what}: '${id}'`, "resource_missing");

const limitIn = ({ spending_limits }: Static<typeof SpendingControls>): number =>
  Number(spending_limits[0]?.amount);

const create = (
  ledger: Ledger,
  { seed }: Settings,
  { body, idempotencyKey, nowMs }: VendorRequest<Static<typeof Create>>,
): VendorAnswer => {
  if (body.cardholder !== sandboxCardholder) return invalid("No such cardholder.", "resource_missing");
  const limit = limitIn(body.spending_controls);
  if (limit === 0) return invalid("Amount must be at least 1.", "parameter_invalid_integer");
  const now = new Date(nowMs);
  const card: Card = {
    kind: "card",
    id: `ic_${randomBytes(12).toString("hex")}`,
    reference: body.metadata.reference ?? "",
    idempotencyKey,
    state: "ACTIVE",
    createdAt: now.toISOString(),
    changedAt: now.toISOString(),
    details: {
      limit,
      balanceMinor: limit,
      currency: body.currency.toUpperCase(),
      metadata: body.metadata,
      last4: String(drawFor(seed, "card", idempotencyKey).between(0, 9999)).padStart(4, "0"),
      expiryMonth: now.getUTCMonth() + 1,
      expiryYear: now.getUTCFullYear() + 1,
    },
  };
  ledger.put(card);
  return { status: 200, body: cardOf(card) };
};

const update = (
  ledger: Ledger,
  { params, body, nowMs }: VendorRequest<Static<typeof Update>>,
): VendorAnswer => {
  const card = ledger.entry("card", params.id!) as Card | undefined;
  if (card === undefined) return missing("issuing card", params.id!);
  if (card.state === "CANCELLED") return invalid("Canceled cards cannot be updated.");
  const { details } = card;
  const limit = body.spending_controls === undefined ? details.limit : limitIn(body.spending_controls);
  const updated: Card = {
    ...card,
    state: body.status === "canceled" ? "CANCELLED" : card.state,
    changedAt: new Date(nowMs).toISOString(),
    details: {
      ...details,
      limit,
      balanceMinor: details.balanceMinor + limit - details.limit,
      metadata: { ...details.metadata, ...body.metadata },
    },
  };
  ledger.put(updated);
  return { status: 200, body: cardOf(updated) };
};

const retrieve = (ledger: Ledger, { params }: VendorRequest): VendorAnswer => {
  const card = ledger.entry("card", params.id!) as Card | undefined;
  return card === undefined ? missing("issuing card", params.id!) : { status: 200, body: cardOf(card) };
};

/** Newest first, as all of Stripe's lists. */
const listed = <Thing extends { id: string; created: number }>(
  things: readonly Thing[],
  { ledgerPageSize }: Settings,
  query: URLSearchParams,
): VendorAnswer => {
  const after = query.get("starting_after");
  const from = Number(query.get("created[gte]") ?? 0);
  const asked = Number(query.get("limit") ?? 10);
  if (!Number.isInteger(asked) || asked < 1 || asked > 100)
    return invalid("Limit must be from 1 to 100.", "parameter_invalid_integer");
  const limit = Math.min(asked, ledgerPageSize);
  const place = after === null ? 0 : things.findIndex(({ id }) => id === after) + 1;
  if (after !== null && place === 0) return missing("object", after);
  const rest = things.slice(place).filter(({ created }) => created >= from);
  const body = { object: "list", data: rest.slice(0, limit), has_more: rest.length > limit };
  return { status: 200, body };
};

const cards = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const all = ledger.ofKind("card") as Card[];
  return listed(all.reverse().map(cardOf), settings, query);
};

const events = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const types = [...query].flatMap(([name, value]) => (/^types\[\d+\]$/.test(name) ? [value] : []));
  const all = ledger.ofKind("event").map(({ details }) => details as unknown as StripeEvent);
  const wanted = all.filter(({ type }) => types.length === 0 || types.includes(type));
  return listed(wanted.reverse(), settings, query);
};

const routesOf = (ledger: Ledger, settings: () => Settings): VendorRoute[] => [
  {
    operation: "issueCard",
    method: "POST",
    path: "/v1/issuing/cards",
    write: true,
    body: Create,
    handle: (request) => create(ledger, settings(), request),
  },
  {
    operation: "updateCard",
    method: "POST",
    path: "/v1/issuing/cards/:id",
    write: true,
    body: Update,
    handle: (request) => update(ledger, request),
  },
  {
    operation: "lookup",
    method: "GET",
    path: "/v1/issuing/cards",
    write: false,
    handle: (request) => cards(ledger, settings(), request),
  },
  {
    operation: "retrieveCard",
    method: "GET",
    path: "/v1/issuing/cards/:id",
    write: false,
    handle: (request) => retrieve(ledger, request),
  },
  {
    operation: "transactions",
    method: "GET",
    path: "/v1/events",
    write: false,
    handle: (request) => events(ledger, settings(), request),
  },
];

export const stripeIssuing: VendorDefinition = {
  name: "stripe-issuing",
  kind: "payment",
  account: { cardholder: sandboxCardholder, revealPage: "https://cards.airline.example/show" },
  dialect: {
    hasSecret: true,
    keepsFailures: true,
    accepts: (headers, { apiKey }) => headers.authorization === `Bearer ${apiKey}`,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, "invalid_request_error", detail),
        "not-found": problem(404, "invalid_request_error", detail),
        invalid: invalid(detail),
        "key-reused": problem(400, "idempotency_error", detail),
        unavailable: problem(429, "invalid_request_error", detail, "rate_limit"),
        failed: problem(500, "api_error", detail),
      })[kind],
    refusal: (operation) =>
      operation === "issueCard"
        ? problem(
            402,
            "invalid_request_error",
            "The Issuing balance does not cover it.",
            "insufficient_funds",
          )
        : invalid("The card cannot be updated now."),
  },
  routes: routesOf,
  till: (ledger, spending, nowMs, settings) => {
    const spent = spend(ledger, spending, nowMs);
    for (const event of eventsOf(ledger, spent, cardOf as (card: Entry) => unknown, nowMs)) {
      const at = new Date(nowMs).toISOString();
      ledger.put({
        ...{ kind: "event", id: event.id, reference: "", idempotencyKey: event.id, state: event.type },
        ...{ createdAt: at, changedAt: at, details: event as unknown as Record<string, unknown> },
      });
      announce(ledger, settings, { id: event.id, event, nowMs });
    }
    return spent;
  },
  wordWebhook: (event, { secret }, nowMs) => {
    const body = JSON.stringify(event);
    const headers = { "content-type": "application/json", "stripe-signature": signed(body, secret, nowMs) };
    return { headers, body };
  },
  counts: (ledger) => {
    const all = ledger.ofKind("card");
    return { issued: all.length, cancelled: all.filter(({ state }) => state === "CANCELLED").length };
  },
};
