/** Owns what Stripe's events say of a card's use: the authorization as it then is, with what was charged of it, and each charge. */
import { randomBytes } from "node:crypto";
import type { Entry, Ledger } from "../ledger.ts";
import type { CardTransaction } from "../till.ts";

export interface StripeEvent {
  id: string;
  object: "event";
  type: string;
  created: number;
  data: { object: unknown };
}

const eventOf = (type: string, created: number, object: unknown): StripeEvent => {
  const id = `evt_${randomBytes(12).toString("hex")}`;
  return { id, object: "event", type, created, data: { object } };
};

const merchantOf = ({ merchant }: CardTransaction["details"]) => ({
  category: "eating_places_restaurants",
  name: merchant,
});

/** What is charged is below zero. */
const transactionOf = ({ id, state, details }: CardTransaction) => ({
  id: id.replace("txn_", "ipi_").replaceAll("-", ""),
  object: "issuing.transaction",
  amount: state === "capture" ? -details.amountMinor : details.amountMinor,
  authorization: details.authorization,
  card: details.card,
  created: details.occurred,
  currency: details.currency.toLowerCase(),
  merchant_data: merchantOf(details),
  type: state === "capture" ? "capture" : "refund",
});

type Status = "pending" | "closed" | "reversed";

/** How far it has come by what was done at the till, oldest first: what is given back after its end is a refund. */
const foldedOf = (uses: readonly CardTransaction[]) => {
  let status: Status = "pending";
  let held = 0;
  const moved: CardTransaction[] = [];
  for (const use of uses) {
    const { amountMinor, partial } = use.details;
    if (use.state === "authorization") {
      held += amountMinor;
      status = "pending";
    } else if (use.state === "capture") {
      moved.push(use);
      held = partial ? Math.max(0, held - amountMinor) : 0;
      status = partial ? status : "closed";
    } else if (status === "pending" && held >= amountMinor) {
      held -= amountMinor;
      status = held === 0 ? "reversed" : "pending";
    } else moved.push(use);
  }
  return { status, held, moved };
};

/** Those of the last use; a charge without an authorization is told by itself. */
export const eventsOf = (
  ledger: Ledger,
  { transaction, authorization: id }: { transaction: string; authorization: string },
  cardOf: (card: Entry) => unknown,
  nowMs: number,
): StripeEvent[] => {
  const all = ledger.ofKind("transaction") as CardTransaction[];
  const uses = all.filter(({ details }) => details.authorization === id);
  const last = uses.find((use) => use.id === transaction)!;
  const created = Math.min(last.details.occurred, 253_402_300_799) || Math.floor(nowMs / 1000);
  const { status, held, moved } = foldedOf(uses);
  const asked = uses.filter(({ state }) => state === "authorization");
  const charge = transactionOf(last);
  const charged = eventOf("issuing_transaction.created", created, {
    ...charge,
    ...(asked.length === 0 && { authorization: null }),
  });
  if (asked.length === 0) return [charged];
  const authorization = {
    id,
    object: "issuing.authorization",
    amount: held,
    approved: true,
    card: cardOf(ledger.entry("card", last.details.card)!),
    created: asked[0]!.details.occurred,
    currency: charge.currency,
    merchant_data: merchantOf(asked[0]!.details),
    request_history: asked.map(({ details }) => ({
      amount: details.amountMinor,
      approved: true,
      created: details.occurred,
      currency: charge.currency,
    })),
    status,
    transactions: moved.map(transactionOf),
  };
  const verb = uses.length === 1 ? "created" : "updated";
  const isMoved = moved.includes(last);
  return [...(isMoved ? [charged] : []), eventOf(`issuing_authorization.${verb}`, created, authorization)];
};
