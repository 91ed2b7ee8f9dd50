/** Owns CardWorks' dialect: virtual prepaid cards. Its answers carry no card number, and none is read. */
import Type, { type Static } from "typebox";
import type { Money } from "../../../schemas/vocabulary.ts";
import { refusal, VendorHttp, type VendorOptions, validatorOf } from "../http.ts";
import type {
  CallContext,
  Card,
  LookupOutcome,
  PaymentPort,
  RefusalCode,
  Refused,
  WriteOutcome,
} from "../ports.ts";

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
});
const ProblemAnswer = Type.Object({ error: Type.Object({ type: Type.String(), message: Type.String() }) });

const isCard = validatorOf(CardAnswer);
const isList = validatorOf(Type.Object({ data: Type.Array(CardAnswer) }));
const isProblem = validatorOf(ProblemAnswer);

const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  card_program_declined: "PAYMENT_DECLINED",
  card_not_cancellable: "NOT_CANCELLABLE",
  card_not_found: "NOT_FOUND",
  route_not_found: "NOT_FOUND",
  invalid_request: "INVALID_REQUEST",
  idempotency_error: "REFERENCE_REUSED",
};

const refusedBy = ({ error }: Static<typeof ProblemAnswer>): Refused =>
  refusal(refusalCodeOf[error.type] ?? "REFUSED", `${error.type}: ${error.message}`);

const cardOf = (answer: Static<typeof CardAnswer>): Card => ({
  cardId: answer.id,
  last4: answer.last4,
  expiryMonth: answer.exp_month,
  expiryYear: answer.exp_year,
  balance: { amountMinor: answer.balance.value, currency: answer.balance.currency },
});

export class CardWorks implements PaymentPort {
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  constructor(options: VendorOptions) {
    this.#http = new VendorHttp(options);
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
    if (end.outcome === "problem") return refusedBy(end.body);
    return end.outcome === "success" ? { outcome: "done", ...cardOf(end.body) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<Card & { state: "ACTIVE" | "CANCELLED" }>> {
    const path = `/v1/virtual_cards?external_id=${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isList, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body);
    if (end.outcome !== "success") return end;
    const [card] = end.body.data;
    if (card === undefined) return { outcome: "none" };
    const state = card.status === "active" ? "ACTIVE" : "CANCELLED";
    return { outcome: "done", state, ...cardOf(card) };
  }
}
