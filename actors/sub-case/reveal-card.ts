/**
 * Owns showing passengers where they see their card's number: a page of the payment vendor's own. Its address is a secret: it goes to
 * who has asked and is kept nowhere. It is handed out once its audit entry stands, and not without; so often a day, and no more.
 */
import type { Document } from "mongodb";
import { Problem } from "../../schemas/problems.ts";
import type { CardRevealView } from "../../schemas/wallet.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import type { PassengerCard } from "./cards.ts";
import type { Story } from "./saga.ts";
import { documentOf } from "./sessions.ts";
import type { SubCaseState } from "./state.ts";
import { requireCard } from "./wallet-view.ts";

const dayMs = 86_400_000;
/** Of one group in a day: who pays with it looks it up a few times. */
const revealsMax = 50;
/** Nothing of how things came about is needed. */
const projection = { handled: 0, outbox: 0, steps: 0 };

const ofLastDay = ({ reveals = [] }: SubCaseState, now: Date): Date[] =>
  reveals.filter((at) => at.getTime() > now.getTime() - dayMs);

/** @throws Problem not-found/resource, conflict/state, rate/exceeded */
const requireReveal = (state: SubCaseState, now: Date): PassengerCard => {
  const card = requireCard(state);
  const recent = ofLastDay(state, now);
  const [first] = recent;
  if (first !== undefined && recent.length >= revealsMax)
    throw new Problem("rate/exceeded", `The card was shown ${revealsMax} times in a day. Come back later.`, {
      retryAfterSeconds: Math.ceil((first.getTime() + dayMs - now.getTime()) / 1000),
    });
  return card;
};

/** Each one counts, also one that was asked for before: another page is handed out for it. @throws as `requireReveal` */
export const noteReveal = (story: Story): void => {
  const { state, now } = story;
  requireReveal(state, now);
  story.tell({ type: "subcase.card-revealed", data: { reveals: [...ofLastDay(state, now), now] } });
};

export const revealCard =
  (
    context: ActorContext,
    { collection, schemaVersion }: { collection: string; schemaVersion: number },
  ): CommandFunction =>
  async (command, dispatch) => {
    const subCases = context.documents.tenant(command.tenant).collection<Document>(collection);
    const found = await documentOf(subCases, command.principal, projection);
    const { state } = loadedOf<SubCaseState>(found, { schemaVersion });
    const { vendor, cardId } = requireReveal(state, context.clock.now());
    const params = { vendor, cardId };
    const ok = await context.call<CardRevealView>("vendor-adapter.reveal-card", { ...command, params });
    await dispatch("reveal-card", { ...command, entity: String(found._id) });
    return { ok };
  };
