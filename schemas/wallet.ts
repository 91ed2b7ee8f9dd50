/** Owns the wallet's wire shapes (contract, "Passenger API"): what passengers see of their card, and what a payment vendor tells of its use. */
import Type, { type Static } from "typebox";
import { Money, Timestamp } from "./vocabulary.ts";

export const cardUseKinds = ["AUTHORIZATION", "SETTLEMENT", "REVERSAL"] as const;
export type CardUseKind = (typeof cardUseKinds)[number];

/** The data of `sub-case.record-card-transaction`. Amounts are of the card's currency. */
export interface CardTransaction {
  /** The vendor's own id of what it tells: told twice it is one. */
  eventId: string;
  /** Ours, of the card. */
  reference: string;
  cardId: string;
  /** What a settlement or reversal belongs to has the same. That of what belongs to none is its event's own. */
  authorizationId: string;
  kind: CardUseKind;
  /** Above zero; of a reversal what is given back, held or settled. */
  amount: Money;
  /** Of a settlement: more of the same authorization is to come, and stays held. */
  isPartial?: true;
  /** Where, as the vendor has it. */
  merchant?: string;
  /** ISO 8601 UTC, by the vendor's clock, which gives the order: they arrive in any. */
  at: string;
}

const Balance = (description: string) => Type.Object(Money.properties, { description });

export const WalletView = Type.Object(
  {
    last4: Type.String({ pattern: "^\\d{4}$", examples: ["4821"], description: "Of the card's number." }),
    status: Type.Enum(["ACTIVE", "CANCELLED"]),
    balance: Balance("What was put on the card, less what is settled."),
    held: Balance("Authorized, and not settled yet."),
    available: Balance("What can be spent now: the balance less what is held; nothing once it is cancelled."),
    transactions: Type.Array(
      Type.Object({
        kind: Type.Enum([...cardUseKinds]),
        amount: Money,
        merchant: Type.Optional(Type.String({ examples: ["JFK Diner"] })),
        at: Timestamp,
      }),
      { description: "Newest first, at most 50." },
    ),
    revealUrl: Type.Optional(
      Type.String({
        examples: ["/v1/me/wallet/reveal"],
        description: "Where the way to the card's number is asked for. Absent: the card is cancelled.",
      }),
    ),
  },
  { title: "Wallet" },
);
export type WalletView = Static<typeof WalletView>;

/** The vendor's page shows number and code; they never pass this service. */
export const CardRevealView = Type.Object(
  {
    url: Type.String({
      examples: ["https://cards.example/frame/9f4c1e"],
      description:
        "Of the payment vendor's own page, to be shown in a frame. Whoever has it sees the card: keep it nowhere.",
    }),
    expiresAt: Timestamp,
  },
  { title: "CardReveal" },
);
export type CardRevealView = Static<typeof CardRevealView>;
