/**
 * Owns what a payment vendor tells of the use of a passengers' card, and what it comes to: spent, held, available. Word may come twice
 * and in any order; figures are worked out of all of it by the vendor's own times, so the order of arrival makes no difference.
 */
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { CardTransaction, CardUseKind } from "../../schemas/wallet.ts";
import { NotYet, type Outgoing } from "../runtime/decider.ts";
import type { PassengerCard } from "./cards.ts";
import type { Story } from "./saga.ts";
import type { SubCaseState } from "./state.ts";

export interface CardUse {
  eventId: string;
  authorizationId: string;
  kind: CardUseKind;
  amountMinor: number;
  isPartial?: true;
  merchant?: string;
  at: Date;
}

export interface CardUseEvent {
  type: "subcase.card-used";
  data: { reference: string; use: CardUse };
}

/** Far more than a card for a night's meals sees; what comes beyond is refused, and told so on INTERNAL. */
export const usesMax = 300;
/** Cards of earlier rounds that are kept: what was bought with them may still be settled. */
const formerCardsMax = 5;

/** A new round has another card; word of the one before may still come. */
export const withFormerCard = ({
  card,
  formerCards = [],
}: Pick<SubCaseState, "card" | "formerCards">): Pick<SubCaseState, "formerCards"> =>
  card === undefined ? {} : { formerCards: [...formerCards, card].slice(-formerCardsMax) };

const cardsOf = ({ card, formerCards = [] }: Pick<SubCaseState, "card" | "formerCards">): PassengerCard[] =>
  card === undefined ? formerCards : [...formerCards, card];

const invalid = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", `The transaction cannot be recorded: ${detail}.`, {
    errors: [{ pointer, detail }],
  });

/**
 * @throws NotYet while the card's own answer has not arrived
 * @throws Problem not-found/resource, validation/body, conflict/state: the vendor tells of what cannot be
 */
export const recordCardTransaction = (story: Story, transaction: CardTransaction): void => {
  const { state } = story;
  const { reference, cardId, amount, at: told, eventId, authorizationId, kind } = transaction;
  const card = cardsOf(state).find((one) => one.reference === reference && one.cardId === cardId);
  if (card === undefined) {
    // The card that pays a hotel is nobody's wallet.
    if (reference === state.payment?.reference || reference === state.left?.payment?.reference) return;
    if (state.call?.reference === reference)
      throw new NotYet("The answer to the card's order has not arrived yet.");
    throw new Problem("not-found/resource", "The group has no such card.");
  }
  const uses = card.uses ?? [];
  if (uses.some((use) => use.eventId === eventId)) return;
  if (amount.currency !== card.currency) throw invalid("/amount/currency", "is not the card's currency");
  if (!Number.isSafeInteger(amount.amountMinor) || amount.amountMinor <= 0)
    throw invalid("/amount/amountMinor", "is no amount above zero");
  const at = new Date(told);
  if (Number.isNaN(at.getTime())) throw invalid("/at", "is no time");
  if (uses.length >= usesMax)
    throw new Problem("conflict/state", "The card has been used more often than is kept of it.");
  const { merchant, isPartial } = transaction;
  const use: CardUse = {
    eventId,
    authorizationId,
    kind,
    amountMinor: amount.amountMinor,
    ...(isPartial === undefined ? {} : { isPartial }),
    ...(merchant === undefined ? {} : { merchant }),
    at,
  };
  story.tell({ type: "subcase.card-used", data: { reference, use } });
};

export const evolveCardUse = (state: SubCaseState, { data }: CardUseEvent): SubCaseState => {
  const used = (card: PassengerCard): PassengerCard =>
    card.reference === data.reference ? { ...card, uses: [...(card.uses ?? []), data.use] } : card;
  return {
    ...state,
    ...(state.card === undefined ? {} : { card: used(state.card) }),
    ...(state.formerCards === undefined ? {} : { formerCards: state.formerCards.map(used) }),
  };
};

const rank: Readonly<Record<CardUseKind, number>> = { AUTHORIZATION: 0, SETTLEMENT: 1, REVERSAL: 2 };

/** Oldest first, by the vendor's times; of one moment an authorization comes before what follows from it. */
export const inOrder = (uses: readonly CardUse[]): CardUse[] =>
  uses.toSorted(
    (a, b) =>
      a.at.getTime() - b.at.getTime() ||
      rank[a.kind] - rank[b.kind] ||
      (a.eventId < b.eventId ? -1 : Number(a.eventId > b.eventId)),
  );

interface Authorization {
  held: number;
  settled: number;
  /** Given back before there was anything to give back: the vendor's clocks differ. */
  ahead: number;
  /** Nothing is held any more, whatever was, or is told to have been. */
  isOver: boolean;
}

const after = (before: Authorization, use: CardUse): Authorization => {
  const { held, settled, ahead } = before;
  const { kind, amountMinor, isPartial, eventId, authorizationId } = use;
  switch (kind) {
    case "AUTHORIZATION": {
      if (before.isOver) return before;
      const covered = Math.min(ahead, amountMinor);
      return { ...before, held: held + amountMinor - covered, ahead: ahead - covered };
    }
    case "SETTLEMENT": {
      const isOver = before.isOver || isPartial === undefined;
      const left = isOver ? 0 : Math.max(0, held - amountMinor);
      return { ...before, settled: settled + amountMinor, held: left, isOver };
    }
    case "REVERSAL": {
      // Of no authorization: it can only be money that was settled elsewhere.
      if (authorizationId === eventId) return { ...before, settled: settled - amountMinor };
      const released = Math.min(held, amountMinor);
      const refunded = Math.min(settled, amountMinor - released);
      const rest = amountMinor - released - refunded;
      return { ...before, held: held - released, settled: settled - refunded, ahead: ahead + rest };
    }
    default:
      return kind satisfies never;
  }
};

export interface CardFigures {
  /** All in the card's minor units. `balanceMinor` may be below zero: a hotel may settle more than there is. */
  balanceMinor: number;
  heldMinor: number;
  availableMinor: number;
}

/** A settlement ends its authorization unless more is to come: what it has not taken is held no more. */
export const figuresOf = ({ uses = [], loadedMinor, balanceMinor, status }: PassengerCard): CardFigures => {
  const each = new Map<string, Authorization>();
  const none: Authorization = { held: 0, settled: 0, ahead: 0, isOver: false };
  for (const use of inOrder(uses))
    each.set(use.authorizationId, after(each.get(use.authorizationId) ?? none, use));
  const all = [...each.values()];
  const spent = all.reduce((sum, { settled }) => sum + settled, 0);
  const heldMinor = all.reduce((sum, { held }) => sum + held, 0);
  const balance = (loadedMinor ?? balanceMinor) - spent;
  return {
    balanceMinor: balance,
    heldMinor,
    availableMinor: status === "ACTIVE" ? Math.max(0, balance - heldMinor) : 0,
  };
};

/** What partners hear. */
export const cardUsed = (state: SubCaseState, { reference, use }: CardUseEvent["data"]): Outgoing[] => {
  const card = cardsOf(state).find((one) => one.reference === reference);
  if (card === undefined) return [];
  const { currency, last4 } = card;
  const data = {
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    last4,
    kind: use.kind,
    amount: { amountMinor: use.amountMinor, currency },
    balance: { amountMinor: figuresOf(card).balanceMinor, currency },
  };
  return [{ to: "public", type: "wallet.card-tx", caseId: state.caseId, data }];
};
