/** Owns the payment vendor CardWorks: virtual prepaid cards. A card number never exists here, only its last four digits. */
import { randomUUID } from "node:crypto";
import Type, { type Static } from "typebox";
import { changesOf } from "../changes.ts";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { drawFor } from "../seeded.ts";
import { type CardTransaction, spend } from "../till.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";
import { announce, signed } from "../webhooks.ts";

const Issue = Type.Object({
  external_id: Type.String({ minLength: 1, maxLength: 200 }),
  label: Type.String({ minLength: 1, maxLength: 100 }),
  balance: Type.Object({
    value: Type.Integer({ minimum: 1, maximum: 10_000_000_000 }),
    currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  }),
});

const Load = Type.Object({
  loaded_total: Type.Integer({ minimum: 1, maximum: 10_000_000_000 }),
  currency: Type.String({ pattern: "^[A-Z]{3}$" }),
});

type Card = Entry<{
  label: string;
  balanceMinor: number;
  /** All that was ever put on it. */
  loadedMinor: number;
  currency: string;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
}>;

const problem = (status: number, code: string, message: string): VendorAnswer => ({
  status,
  body: { error: { type: code, message } },
});

const cardOf = ({ id, reference, state, details }: Card) => ({
  object: "virtual_card",
  id,
  external_id: reference,
  status: state === "ACTIVE" ? "active" : "cancelled",
  last4: details.last4,
  exp_month: details.expiryMonth,
  exp_year: details.expiryYear,
  balance: { value: details.balanceMinor, currency: details.currency },
  loaded_total: details.loadedMinor,
});

const issue = (ledger: Ledger, seed: string, request: VendorRequest<Static<typeof Issue>>): VendorAnswer => {
  const { body, idempotencyKey, nowMs } = request;
  const now = new Date(nowMs);
  const card: Card = {
    kind: "card",
    id: `card_${randomUUID().replaceAll("-", "")}`,
    reference: body.external_id,
    idempotencyKey,
    state: "ACTIVE",
    createdAt: now.toISOString(),
    changedAt: now.toISOString(),
    details: {
      label: body.label,
      balanceMinor: body.balance.value,
      loadedMinor: body.balance.value,
      currency: body.balance.currency,
      last4: String(drawFor(seed, "card", idempotencyKey).between(0, 9999)).padStart(4, "0"),
      expiryMonth: now.getUTCMonth() + 1,
      expiryYear: now.getUTCFullYear() + 1,
    },
  };
  ledger.put(card);
  return { status: 201, body: cardOf(card) };
};

/** What is missing to the total is put on; a card never loses what is on it. */
const load = (ledger: Ledger, request: VendorRequest<Static<typeof Load>>): VendorAnswer => {
  const { params, body, nowMs } = request;
  const card = ledger.entry("card", params.id!) as Card | undefined;
  if (card === undefined) return problem(404, "card_not_found", "There is no such card.");
  const more = body.loaded_total - card.details.loadedMinor;
  if (card.state !== "ACTIVE" || body.currency !== card.details.currency || more < 0)
    return problem(402, "card_program_declined", "The card cannot be loaded to this total.");
  const { balanceMinor } = card.details;
  const details = { ...card.details, loadedMinor: body.loaded_total, balanceMinor: balanceMinor + more };
  const loaded: Card = { ...card, changedAt: new Date(nowMs).toISOString(), details };
  ledger.put(loaded);
  return { status: 200, body: cardOf(loaded) };
};

const cancel = (ledger: Ledger, { params, nowMs }: VendorRequest): VendorAnswer => {
  const card = ledger.entry("card", params.id!) as Card | undefined;
  if (card === undefined) return problem(404, "card_not_found", "There is no such card.");
  if (card.state === "CANCELLED") return { status: 200, body: cardOf(card) };
  const cancelled: Card = { ...card, state: "CANCELLED", changedAt: new Date(nowMs).toISOString() };
  ledger.put(cancelled);
  return { status: 200, body: cardOf(cancelled) };
};

const lookup = (ledger: Ledger, { query }: VendorRequest): VendorAnswer => {
  const cards = ledger.byReference("card", query.get("external_id") ?? "") as Card[];
  return { status: 200, body: { object: "list", data: cards.map(cardOf) } };
};

/** Times in whole seconds, as all of this vendor's. */
const reconcile = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const from = query.get("updated_from");
  const cursor = query.get("starting_after");
  if (from !== null && !/^\d{1,11}$/.test(from))
    return problem(400, "invalid_request", "updated_from is a time in seconds.");
  const found = changesOf(ledger, "card", settings, {
    ...(from !== null && { since: new Date(Number(from) * 1000).toISOString() }),
    ...(cursor !== null && { cursor }),
  });
  if (found === undefined) return problem(400, "invalid_request", "starting_after is no cursor of ours.");
  const data = found.entries.map(({ id, reference, state, changedAt }) => ({
    id,
    external_id: reference,
    status: state.toLowerCase(),
    updated: Math.floor(Date.parse(changedAt) / 1000),
  }));
  const { cursor: next } = found;
  const more = next === undefined ? { has_more: false } : { has_more: true, next_cursor: next };
  return { status: 200, body: { object: "list", data, ...more } };
};

/** Where the hosted page would stand; nothing is served there. */
const revealSeconds = 300;

const reveal = (ledger: Ledger, { params, nowMs }: VendorRequest): VendorAnswer => {
  const card = ledger.entry("card", params.id!) as Card | undefined;
  if (card === undefined || card.state !== "ACTIVE")
    return problem(404, "card_not_found", "There is no such card.");
  const expires = Math.floor(nowMs / 1000) + revealSeconds;
  return { status: 201, body: { url: `https://frames.cardworks.example/${randomUUID()}`, expires } };
};

const transactionOf = ({ id, reference, state, createdAt, details }: CardTransaction) => ({
  id,
  type: state,
  card: details.card,
  external_id: reference,
  authorization: details.authorization,
  amount: { value: details.amountMinor, currency: details.currency },
  partial: details.partial,
  merchant_name: details.merchant,
  occurred: details.occurred,
  created: Math.floor(Date.parse(createdAt) / 1000),
});

const transactions = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const from = query.get("created_from");
  const cursor = query.get("starting_after");
  if (from !== null && !/^\d{1,11}$/.test(from))
    return problem(400, "invalid_request", "created_from is a time in seconds.");
  const found = changesOf(ledger, "transaction", settings, {
    ...(from !== null && { since: new Date(Number(from) * 1000).toISOString() }),
    ...(cursor !== null && { cursor }),
  });
  if (found === undefined) return problem(400, "invalid_request", "starting_after is no cursor of ours.");
  const data = (found.entries as CardTransaction[]).map(transactionOf);
  const { cursor: next } = found;
  const more = next === undefined ? { has_more: false } : { has_more: true, next_cursor: next };
  return { status: 200, body: { object: "list", data, ...more } };
};

export const cardworks: VendorDefinition = {
  name: "cardworks",
  kind: "payment",
  dialect: {
    accepts: (headers, { apiKey }) => headers.authorization === `Bearer ${apiKey}`,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, "authentication_error", detail),
        "not-found": problem(404, "route_not_found", detail),
        invalid: problem(400, "invalid_request", detail),
        "key-reused": problem(409, "idempotency_error", detail),
        unavailable: problem(503, "try_later", detail),
        failed: problem(500, "api_error", detail),
      })[kind],
    refusal: (operation) =>
      operation === "cancelCard"
        ? problem(409, "card_not_cancellable", "The card has pending authorisations.")
        : problem(402, "card_program_declined", "The card programme declined the issue."),
  },
  routes: (ledger, settings) => [
    {
      operation: "issueCard",
      method: "POST",
      path: "/v1/virtual_cards",
      write: true,
      body: Issue,
      handle: (request) => issue(ledger, settings().seed, request),
    },
    {
      operation: "loadCard",
      method: "POST",
      path: "/v1/virtual_cards/:id/load",
      write: true,
      body: Load,
      handle: (request) => load(ledger, request),
    },
    {
      operation: "cancelCard",
      method: "POST",
      path: "/v1/virtual_cards/:id/cancel",
      write: true,
      handle: (request) => cancel(ledger, request),
    },
    {
      operation: "lookup",
      method: "GET",
      path: "/v1/virtual_cards",
      write: false,
      handle: (request) => lookup(ledger, request),
    },
    {
      operation: "reconcile",
      method: "GET",
      path: "/v1/virtual_cards/changes",
      write: false,
      handle: (request) => reconcile(ledger, settings(), request),
    },
    {
      operation: "transactions",
      method: "GET",
      path: "/v1/virtual_cards/transactions",
      write: false,
      handle: (request) => transactions(ledger, settings(), request),
    },
    {
      operation: "reveal",
      method: "POST",
      path: "/v1/virtual_cards/:id/reveal_sessions",
      write: false,
      handle: (request) => reveal(ledger, request),
    },
  ],
  till: (ledger, spending, nowMs, settings) => {
    const spent = spend(ledger, spending, nowMs);
    const noted = ledger.entry("transaction", spent.transaction) as CardTransaction;
    const event = { id: `evt_${spent.transaction}`, type: "transaction.created", data: transactionOf(noted) };
    announce(ledger, settings, { id: event.id, event, nowMs });
    return spent;
  },
  wordWebhook: (event, { secret }, nowMs) => {
    const body = JSON.stringify(event);
    const headers = { "content-type": "application/json", "x-vendor-signature": signed(body, secret, nowMs) };
    return { headers, body };
  },
  counts: (ledger) => {
    const cards = ledger.ofKind("card");
    return { issued: cards.length, cancelled: cards.filter((card) => card.state === "CANCELLED").length };
  },
};
