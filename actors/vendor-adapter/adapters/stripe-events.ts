/**
 * Owns what Stripe's events tell of the use of cards. Stripe sends each to our webhook and lists it for 30 days, in the same words, so
 * that both ways tell the same under the same ids. Pure.
 */
import Type, { type Static } from "typebox";
import { validatorOf } from "../http.ts";
import type { CardNotice } from "../inbound.ts";
import { merchantName } from "./merchant-name.ts";
import { fromStripeAmount } from "./stripe-amounts.ts";
import { Currency, Id, isoOf, Metadata, referenceIn, Seconds } from "./stripe-answers.ts";

const EventObject = Type.Object({
  id: Id,
  type: Type.String({ maxLength: 200 }),
  created: Seconds,
  data: Type.Object({ object: Type.Unknown() }),
});
export type EventObject = Static<typeof EventObject>;
export const isEvent = validatorOf(EventObject);
export const isEventList = validatorOf(
  Type.Object({ data: Type.Array(EventObject), has_more: Type.Boolean() }),
);

const CardOfEvent = Type.Object({ id: Id, metadata: Metadata });
const Merchant = Type.Object({ name: Type.Optional(Type.Union([Type.String(), Type.Null()])) });
const Amount = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

const Transaction = Type.Object({
  id: Id,
  /** Below zero what the card is charged, above it what is given back. */
  amount: Amount,
  authorization: Type.Union([Id, Type.Object({ id: Id }), Type.Null()]),
  card: Type.Union([Id, CardOfEvent]),
  created: Seconds,
  currency: Currency,
  merchant_data: Merchant,
});
const Authorization = Type.Object({
  id: Id,
  approved: Type.Boolean(),
  card: CardOfEvent,
  currency: Currency,
  merchant_data: Merchant,
  /** Each request of the merchant's, answered. */
  request_history: Type.Array(Type.Object({ amount: Amount, approved: Type.Boolean(), created: Seconds })),
  status: Type.String({ maxLength: 100 }),
  transactions: Type.Array(Type.Object({ id: Id, amount: Amount, created: Seconds })),
});
export const isTransaction = validatorOf(Transaction);
export const isAuthorization = validatorOf(Authorization);

/** What a card's use is told by; others are nothing to us. */
export const authorizationTypes: readonly string[] = [
  "issuing_authorization.created",
  "issuing_authorization.updated",
];
export const transactionTypes: readonly string[] = ["issuing_transaction.created"];

type CardUse = CardNotice["transaction"];
/** What is alike in all that one object tells. */
type Common = Pick<CardUse, "cardId" | "authorizationId" | "merchant" | "reference">;

const commonOf = (
  card: string | Static<typeof CardOfEvent>,
  authorizationId: string,
  { name }: Static<typeof Merchant>,
): Common => {
  const reference = typeof card === "string" ? undefined : referenceIn(card);
  const merchant = merchantName(name);
  return {
    cardId: typeof card === "string" ? card : card.id,
    authorizationId,
    ...(reference !== undefined && { reference }),
    ...(merchant !== undefined && { merchant }),
  };
};

/** A charge is told as one of several, whether it is or not: how much is held beyond it, the authorization's end tells ({@link usesOfAuthorization}). */
const moneyMoved = (
  { id, amount, created }: Static<typeof Authorization>["transactions"][number],
  common: Common,
  currency: string,
): CardUse[] =>
  amount === 0
    ? []
    : [
        {
          ...common,
          eventId: id,
          kind: amount < 0 ? "SETTLEMENT" : "REVERSAL",
          amount: fromStripeAmount(Math.abs(amount), currency),
          ...(amount < 0 && { isPartial: true }),
          at: isoOf(created),
        },
      ];

/** The card is named by its id alone, unless Stripe was asked for more. */
export const usesOfTransaction = (told: Static<typeof Transaction>): CardUse[] => {
  const { authorization, id, card, merchant_data, currency } = told;
  const authorizationId = typeof authorization === "string" ? authorization : authorization?.id;
  const common = commonOf(card, authorizationId ?? id, merchant_data);
  return moneyMoved(told, common, currency);
};

/**
 * All that has become of an authorization so far: what the merchant asked to hold, and was given; what was charged; and at its end what
 * is held no more. Told again of a later state it is the same and more. What a merchant lets go before the end is told at the end.
 *
 * @param at when this was its state, in seconds
 */
export const usesOfAuthorization = (told: Static<typeof Authorization>, at: number): CardUse[] => {
  const { id, approved, card, currency, status } = told;
  const common = commonOf(card, id, told.merchant_data);
  if (common.reference === undefined) return [];
  const asked = told.request_history.toSorted((a, b) => a.created - b.created);
  const held = asked.flatMap(({ amount, approved, created }, i): CardUse[] => {
    if (!approved || amount <= 0) return [];
    const money = fromStripeAmount(amount, currency);
    return [{ ...common, eventId: `${id}:${i}`, kind: "AUTHORIZATION", amount: money, at: isoOf(created) }];
  });
  const moved = told.transactions.flatMap((one) => moneyMoved(one, common, currency));
  const isOver = approved && status !== "pending";
  const charged = told.transactions.reduce((sum, { amount }) => sum + Math.max(0, -amount), 0);
  const asksMinor = asked.reduce(
    (sum, { amount, approved }) => sum + (approved ? Math.max(0, amount) : 0),
    0,
  );
  const rest = asksMinor - charged;
  if (!isOver || rest <= 0) return [...held, ...moved];
  const released: CardUse = {
    ...common,
    eventId: `${id}:released`,
    kind: "REVERSAL",
    amount: fromStripeAmount(rest, currency),
    at: isoOf(at),
  };
  return [...held, ...moved, released];
};
