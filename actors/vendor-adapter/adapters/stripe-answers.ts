/** Owns what Stripe Issuing's cards look like, and what they are in our words; their use is for `stripe-events.ts`. Pure. */
import Type, { type Static } from "typebox";
import { validatorOf } from "../http.ts";
import type { Card } from "../ports.ts";
import { fromStripeAmount, toStripeAmount } from "./stripe-amounts.ts";

export const Id = Type.String({ minLength: 1, maxLength: 200 });
/** Seconds, until the year 9999: what a date can be made of. */
export const Seconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799 });
export const Currency = Type.String({ pattern: "^[a-z]{3}$" });
export const Metadata = Type.Record(Type.String(), Type.String({ maxLength: 5000 }));

const CardObject = Type.Object({
  id: Id,
  created: Seconds,
  currency: Currency,
  exp_month: Type.Integer({ minimum: 1, maximum: 12 }),
  exp_year: Type.Integer({ minimum: 2000, maximum: 2200 }),
  last4: Type.String({ pattern: "^\\d{4}$" }),
  status: Type.Enum(["active", "inactive", "canceled"]),
  metadata: Metadata,
  spending_controls: Type.Object({
    spending_limits: Type.Union([
      Type.Array(
        Type.Object({ amount: Type.Integer({ minimum: 0 }), interval: Type.String({ maxLength: 100 }) }),
      ),
      Type.Null(),
    ]),
  }),
});
export type CardObject = Static<typeof CardObject>;

export const isCard = validatorOf(CardObject);
/** The cardholder may have cards that are none of ours: what else they are is nobody's matter here. */
export const isCardList = validatorOf(
  Type.Object({ data: Type.Array(Type.Object({ id: Id, metadata: Metadata })), has_more: Type.Boolean() }),
);

export const stateOfStatus = { active: "ACTIVE", inactive: "FROZEN", canceled: "CANCELLED" } as const;

/** What we name a card by at Stripe, which has no field of its own for it; undefined: it is none of ours. */
export const referenceIn = ({ metadata }: { metadata: Static<typeof Metadata> }): string | undefined =>
  metadata.reference === "" ? undefined : metadata.reference;

export const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** What is put on a card is the most that it may ever spend. What was asked for stands beside it, as Stripe's units may be coarser. */
export const spendingUpTo = (money: Card["balance"]) => ({
  spending_controls: {
    spending_limits: [{ amount: toStripeAmount(money), interval: "all_time" as const }],
  },
  metadata: { loaded_minor: String(money.amountMinor) },
});

/** Nothing: it has no limit of ours. */
export const loadedOf = ({ spending_controls, currency, metadata }: CardObject): Card["balance"] => {
  const limit =
    spending_controls.spending_limits?.find(({ interval }) => interval === "all_time")?.amount ?? 0;
  const asked = { amountMinor: Number(metadata.loaded_minor), currency: currency.toUpperCase() };
  const isAsked = Number.isSafeInteger(asked.amountMinor) && toStripeAmount(asked) === limit;
  return isAsked ? asked : fromStripeAmount(limit, currency);
};

/** Stripe's cards don't tell what was spent: the balance is what was put on. */
export const cardOf = (card: CardObject): Card => ({
  cardId: card.id,
  last4: card.last4,
  expiryMonth: card.exp_month,
  expiryYear: card.exp_year,
  balance: loadedOf(card),
  loaded: loadedOf(card),
});
