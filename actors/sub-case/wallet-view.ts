/** Owns what passengers see of their card: balance, what is held, and what it was used for. */
import { Problem } from "../../schemas/problems.ts";
import type { WalletView } from "../../schemas/wallet.ts";
import { figuresOf, inOrder } from "./card-use.ts";
import type { PassengerCard } from "./cards.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";

const transactionsShownMax = 50;

/** Undefined: they have none, or have not been told of it yet. */
const cardShown = (whole: SubCaseState): PassengerCard | undefined => {
  const { card, offer } = shown(whole);
  return offer.state === "PENDING" ? undefined : card;
};

const noCard = (): Problem => new Problem("not-found/resource", "There is no card for your group.");

/**
 * The card that can be looked at.
 * @throws Problem not-found/resource, conflict/state
 */
export const requireCard = (state: SubCaseState): PassengerCard => {
  const card = cardShown(state);
  if (card === undefined) throw noCard();
  if (card.status !== "ACTIVE")
    throw new Problem("conflict/state", "The card is cancelled.", { state: card.status });
  return card;
};

/** @throws Problem not-found/resource */
export const walletView = (state: SubCaseState): WalletView => {
  const card = cardShown(state);
  if (card === undefined) throw noCard();
  const { currency, last4, status, uses = [] } = card;
  const { balanceMinor, heldMinor, availableMinor } = figuresOf(card);
  const money = (amountMinor: number) => ({ amountMinor, currency });
  return {
    last4,
    status,
    balance: money(balanceMinor),
    held: money(heldMinor),
    available: money(availableMinor),
    transactions: inOrder(uses)
      .toReversed()
      .slice(0, transactionsShownMax)
      .map(({ kind, amountMinor, merchant, at }) => ({
        kind,
        amount: money(amountMinor),
        ...(merchant === undefined ? {} : { merchant }),
        at: at.toISOString(),
      })),
    ...(status === "ACTIVE" ? { revealUrl: "/v1/me/wallet/reveal" } : {}),
  };
};
