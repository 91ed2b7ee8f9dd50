/** Owns CardWorks' dialect: virtual prepaid cards. Its answers carry no card number, and none is read. */
import Type, { type Static } from "typebox";
import type { Money } from "../../../schemas/vocabulary.ts";
import { ledgerPage, refusal, VendorHttp, type VendorOptions, validatorOf, wordFor } from "../http.ts";
import type {
  CallContext,
  Card,
  CardReveal,
  CardTransactionEntry,
  CardTransactionPage,
  LedgerPage,
  LedgerRequest,
  LoadRequest,
  LookupOutcome,
  PaymentPort,
  ReadOutcome,
  RefusalCode,
  Refused,
  WriteOutcome,
} from "../ports.ts";
import { merchantName } from "./merchant-name.ts";

const CardAnswer = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  status: Type.Enum(["active", "cancelled"]),
  last4: Type.String({ pattern: "^\\d{4}$" }),
  exp_month: Type.Integer({ minimum: 1, maximum: 12 }),
  exp_year: Type.Integer({ minimum: 2000, maximum: 2200 }),
  balance: Type.Object({
    value: Type.Integer({ minimum: 0 }),
    currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  }),
  loaded_total: Type.Optional(Type.Integer({ minimum: 0 })),
});
const stateOfStatus = { active: "ACTIVE", frozen: "FROZEN", cancelled: "CANCELLED" } as const;
type Status = keyof typeof stateOfStatus;
const ChangeAnswer = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  external_id: Type.String({ minLength: 1, maxLength: 500 }),
  status: Type.Enum(Object.keys(stateOfStatus) as Status[]),
  /** Seconds, until the year 9999: what a date can be made of. */
  updated: Type.Integer({ minimum: 0, maximum: 253_402_300_799 }),
});
/** What has happened to a card; a capture ends its authorization unless more of it is to come. */
const kindOfType = {
  authorization: "AUTHORIZATION",
  capture: "SETTLEMENT",
  reversal: "REVERSAL",
} as const;
const Seconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });
/** One odd transaction must not stop the page: what it is, of how much and whose is looked at one by one (`transactionOf`). */
export const TransactionAnswer = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  type: Type.String(),
  card: Type.String({ minLength: 1, maxLength: 200 }),
  external_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  authorization: Type.String({ minLength: 1, maxLength: 200 }),
  amount: Type.Object({
    value: Type.Integer({ minimum: 0 }),
    currency: Type.String({ pattern: "^[A-Z]{3}$" }),
  }),
  partial: Type.Optional(Type.Boolean()),
  merchant_name: Type.Optional(Type.String({ maxLength: 1000 })),
  /** When it happened, and when the vendor has noted it. */
  occurred: Seconds,
  created: Seconds,
});
const RevealAnswer = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2000 }),
  expires: Seconds,
});
const ProblemAnswer = Type.Object({ error: Type.Object({ type: Type.String(), message: Type.String() }) });

const isCard = validatorOf(CardAnswer);
const isList = validatorOf(Type.Object({ data: Type.Array(CardAnswer) }));
const isChanges = validatorOf(
  Type.Object({
    data: Type.Array(ChangeAnswer),
    has_more: Type.Boolean(),
    next_cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  }),
);
const isTransactions = validatorOf(
  Type.Object({
    data: Type.Array(TransactionAnswer),
    has_more: Type.Boolean(),
    next_cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  }),
);
const isReveal = validatorOf(RevealAnswer);
const isProblem = validatorOf(ProblemAnswer);

const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  card_program_declined: "PAYMENT_DECLINED",
  card_not_cancellable: "NOT_CANCELLABLE",
  card_not_found: "NOT_FOUND",
  route_not_found: "NOT_FOUND",
  invalid_request: "INVALID_REQUEST",
  idempotency_error: "REFERENCE_REUSED",
};

const refusedBy = ({ error }: Static<typeof ProblemAnswer>, sent: unknown): Refused =>
  refusal(wordFor(error.type, refusalCodeOf) ?? "REFUSED", `${error.type}: ${error.message}`, sent);

const cardOf = (answer: Static<typeof CardAnswer>): Card => ({
  cardId: answer.id,
  last4: answer.last4,
  expiryMonth: answer.exp_month,
  expiryYear: answer.exp_year,
  balance: { amountMinor: answer.balance.value, currency: answer.balance.currency },
  ...(answer.loaded_total !== undefined && {
    loaded: { amountMinor: answer.loaded_total, currency: answer.balance.currency },
  }),
});

const changeOf = ({ id, external_id, status, updated }: Static<typeof ChangeAnswer>) => ({
  kind: "card" as const,
  id,
  reference: external_id,
  state: stateOfStatus[status as Status],
  changedAt: new Date(updated * 1000).toISOString(),
});

const noCursor = { outcome: "unavailable", detail: "more is there, and no cursor" } as const;

/** The vendor counts in whole seconds: rounded down, nothing of that second is missed. */
const from = ({ since, cursor }: LedgerRequest, name: string): URLSearchParams =>
  new URLSearchParams({
    ...(since !== undefined && { [name]: String(Math.floor(Date.parse(since) / 1000)) }),
    ...(cursor !== undefined && { starting_after: cursor }),
  });

const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

const referenceCharactersMax = 500;

/** Of a type that nobody knows, of nothing, or of a card that nobody here has named: only when it was noted. */
export const transactionOf = (answer: Static<typeof TransactionAnswer>): CardTransactionEntry => {
  const changedAt = isoOf(answer.created);
  const kind = wordFor(answer.type, kindOfType);
  const reference = answer.external_id ?? "";
  const isNamed = reference !== "" && reference.length <= referenceCharactersMax;
  if (kind === undefined || answer.amount.value === 0 || !isNamed) return { changedAt };
  const merchant = merchantName(answer.merchant_name);
  const transaction = {
    eventId: answer.id,
    reference,
    cardId: answer.card,
    authorizationId: answer.authorization,
    kind,
    amount: { amountMinor: answer.amount.value, currency: answer.amount.currency },
    ...(answer.partial && { isPartial: true as const }),
    ...(merchant !== undefined && { merchant }),
    at: isoOf(answer.occurred),
  };
  return { changedAt, transaction };
};

export class CardWorks implements PaymentPort {
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;
  readonly #origin: string;

  constructor(options: VendorOptions) {
    this.#http = new VendorHttp(options);
    this.#origin = new URL(options.baseUrl).origin;
    this.#headers = { authorization: `Bearer ${options.apiKey}` };
  }

  issueCard(
    { reference, balance, label }: { reference: string; balance: Money; label: string },
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const body = {
      external_id: reference,
      label,
      balance: { value: balance.amountMinor, currency: balance.currency },
    };
    return this.#write("/v1/virtual_cards", body, reference, context);
  }

  loadCard({ reference, cardId, loaded }: LoadRequest, context: CallContext): Promise<WriteOutcome<Card>> {
    const path = `/v1/virtual_cards/${encodeURIComponent(cardId)}/load`;
    const body = { loaded_total: loaded.amountMinor, currency: loaded.currency };
    return this.#write(path, body, reference, context);
  }

  cancelCard(
    { reference, cardId }: { reference: string; cardId: string },
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const path = `/v1/virtual_cards/${encodeURIComponent(cardId)}/cancel`;
    return this.#write(path, undefined, reference, context);
  }

  async #write(
    path: string,
    body: unknown,
    reference: string,
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const answered = { headers: this.#headers, success: isCard, problem: isProblem };
    const end = await this.#http.write({ method: "POST", path, body, ...answered }, reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", ...cardOf(end.body) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<Card & { state: "ACTIVE" | "CANCELLED" }>> {
    const path = `/v1/virtual_cards?external_id=${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isList, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const [card] = end.body.data;
    if (card === undefined) return { outcome: "none" };
    const state = card.status === "active" ? "ACTIVE" : "CANCELLED";
    return { outcome: "done", state, ...cardOf(card) };
  }

  async reveal({ cardId }: { cardId: string }, context: CallContext): Promise<ReadOutcome<CardReveal>> {
    const path = `/v1/virtual_cards/${encodeURIComponent(cardId)}/reveal_sessions`;
    const answered = { headers: this.#headers, success: isReveal, problem: isProblem };
    const end = await this.#http.read({ method: "POST", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { url, expires } = end.body;
    if (!this.#isPage(url))
      return { outcome: "unavailable", detail: "the vendor's page has no address to go to" };
    return { outcome: "done", url, expiresAt: isoOf(expires) };
  }

  /** A passenger's browser goes there: over TLS, or to where the vendor itself is asked. */
  #isPage(text: string): boolean {
    if (!URL.canParse(text)) return false;
    const { protocol, origin, username } = new URL(text);
    return username === "" && (protocol === "https:" || origin === this.#origin);
  }

  async transactions(
    request: LedgerRequest,
    context: CallContext,
  ): Promise<ReadOutcome<CardTransactionPage>> {
    const answered = { headers: this.#headers, success: isTransactions, problem: isProblem };
    const path = `/v1/virtual_cards/transactions?${from(request, "created_from")}`;
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { data, has_more: hasMore, next_cursor: next } = end.body;
    if (hasMore && next === undefined) return noCursor;
    const entries = data.map(transactionOf);
    return { outcome: "done", entries, ...(hasMore && next !== undefined && { nextCursor: next }) };
  }

  async reconcile(request: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const answered = { headers: this.#headers, success: isChanges, problem: isProblem };
    const path = `/v1/virtual_cards/changes?${from(request, "updated_from")}`;
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { data, has_more: hasMore, next_cursor: next } = end.body;
    if (hasMore && next === undefined) return noCursor;
    return ledgerPage(data.map(changeOf), hasMore ? (next ?? "") : "");
  }
}
