/** Owns what happens to a card away from its issuer, which no client asks for: it is held against, charged, and given back to. */
import { randomUUID } from "node:crypto";
import Type, { type Static } from "typebox";
import type { Entry, Ledger } from "./ledger.ts";
import { readerOf } from "./told.ts";

const Text = Type.String({ minLength: 1, maxLength: 200 });
const Spending = Type.Object(
  {
    reference: Type.Optional(Text),
    cardId: Type.Optional(Text),
    type: Type.Enum(["authorization", "capture", "reversal"]),
    amountMinor: Type.Integer({ minimum: 1 }),
    authorization: Type.Optional(Text),
    partial: Type.Optional(Type.Boolean()),
    merchant: Type.Optional(Text),
    /** Epoch seconds; default: now. */
    occurred: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
type Spending = Static<typeof Spending>;

export type CardTransaction = Entry<{
  card: string;
  authorization: string;
  amountMinor: number;
  currency: string;
  partial: boolean;
  merchant: string;
  occurred: number;
}>;

const readMembers = readerOf(Spending);

const readSpending = (input: unknown): Spending => {
  const told = readMembers(input);
  if ((told.reference === undefined) === (told.cardId === undefined))
    throw new TypeError("One of reference and cardId is needed.");
  return told;
};

/**
 * Survives a restart. A charge takes from the card's balance, also more than is held.
 * @throws TypeError naming what is wrong with the input, or that there is no such card
 */
export const spend = (
  ledger: Ledger,
  input: unknown,
  nowMs: number,
): { transaction: string; authorization: string } =>
  ledger.transaction(() => {
    const {
      reference,
      cardId,
      type,
      amountMinor,
      merchant = "JFK Diner",
      partial = false,
      ...rest
    } = readSpending(input);
    const card =
      cardId === undefined ? ledger.byReference("card", reference ?? "")[0] : ledger.entry("card", cardId);
    if (card === undefined) throw new TypeError(`There is no card ${cardId ?? reference}.`);
    const { currency, balanceMinor } = card.details as { currency: string; balanceMinor: number };
    const { authorization = `auth_${randomUUID()}`, occurred = Math.floor(nowMs / 1000) } = rest;
    const at = new Date(nowMs).toISOString();
    const id = `txn_${randomUUID()}`;
    const transaction: CardTransaction = {
      kind: "transaction",
      id,
      reference: card.reference,
      idempotencyKey: id,
      state: type,
      createdAt: at,
      changedAt: at,
      details: { card: card.id, authorization, amountMinor, currency, partial, merchant, occurred },
    };
    ledger.put(transaction);
    if (type === "capture") {
      const details = { ...card.details, balanceMinor: balanceMinor - amountMinor };
      ledger.put({ ...card, changedAt: at, details });
    }
    return { transaction: id, authorization };
  });
