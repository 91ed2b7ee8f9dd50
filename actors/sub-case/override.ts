/** Owns a hotel chosen by hand, or by a wave that was run again: for a group without a room as any other, else by changing hotels. */
import type { Assignment } from "../../schemas/assignment.ts";
import { NotYet } from "../runtime/decider.ts";
import { isOutgrown } from "./amend-state.ts";
import { lockFacts } from "./lock.ts";
import { leaveNotice, runFrom, type Story } from "./saga.ts";

/** The data of `sub-case.override`. Without `overrideId` a wave that was run again has chosen, and nobody waits for an answer. */
export interface OverrideOrder {
  overrideId?: string;
  /** The operator's URN; absent where nobody has chosen by hand. */
  by?: string;
  /** A review item that asked for this stands open and hears how it ends: no other is opened when no room is left. */
  onDesk?: true;
  assignment: Assignment;
}

/**
 * The new room is booked before the old one is given back, so that nobody is ever without; when no hotel of the choice has
 * one, the old one stands. What cannot be done is told to the wave.
 */
export const override = (story: Story, order: OverrideOrder): void => {
  const { state } = story;
  const { book, ...assignment } = order.assignment;
  const { overrideId } = order;
  const desk = order.onDesk === undefined ? {} : { onDesk: order.onDesk };
  const names = overrideId === undefined ? {} : { waveId: assignment.waveId, overrideId, ...desk };
  if (overrideId !== undefined && state.override?.overrideId === overrideId) return;
  leaveNotice(story);
  const refusal = isHeldFrom(order.by, story) ? "LOCKED" : refusalOf(story, order.assignment);
  if (refusal !== undefined) {
    if (overrideId === undefined) {
      stayPut(story, refusal);
      return;
    }
    const told = { waveId: assignment.waveId, overrideId, state: refusal };
    story.tell({ type: "subcase.override-refused", data: told });
    return;
  }
  // Of two waves the later one counts, also after a choice by hand under the earlier one.
  const [waveId = assignment.waveId] = [assignment.waveId, state.assignment?.waveId ?? ""].sort().reverse();
  const chosen = { ...assignment, waveId };
  if (state.status === "PENDING" || state.status === "FAILED") {
    story.tell({ type: "subcase.overridden", data: { ...names, assignment: chosen, book } });
    if (!book) return;
    story.tell({ type: "subcase.processing", data: { candidate: 0 } });
  } else story.tell({ type: "subcase.switch-begun", data: { ...names, at: story.now, assignment: chosen } });
  runFrom(story, "hold");
};

/**
 * A wave that was run again has chosen in vain. A group whose hotel has not the dates that it needs would be left with them:
 * a person hears. @throws NotYet while its hotel is being asked for something
 */
const stayPut = (story: Story, refusal: string): void => {
  if (refusal === "AMENDING") throw new NotYet("The group's hotel is being asked for other dates.");
  if (refusal === "CHECKED_IN" && isOutgrown(story.state))
    story.tell({ type: "subcase.outgrown", data: { code: refusal } });
};

/**
 * Another operator has taken the lock since the wave looked. The chooser's own lease may be given back by now: what was accepted
 * under it is carried out.
 */
const isHeldFrom = (by: string | undefined, { state, now }: Story): boolean => {
  const { lockedBy } = lockFacts(state, now);
  return by !== undefined && lockedBy !== null && lockedBy !== by;
};

/** The state that stands in the way; undefined: it can be done. */
const refusalOf = ({ state }: Story, { candidates, shape, stay }: Assignment): string | undefined => {
  const { status, settled, reservation, closedAt, call } = state;
  if (closedAt !== undefined) return "CLOSED";
  if ((shape ?? 0) !== (state.shape ?? 0)) return "REGROUPED";
  if (status === "PENDING" || status === "FAILED") return settled ? "SETTLED" : undefined;
  if (status !== "OFFER_READY" && status !== "RESOLVED") return status;
  if (reservation?.status !== "CONFIRMED") return reservation?.status ?? status;
  // Its hotel is being asked for other dates.
  if (call !== undefined) return "AMENDING";
  const had = state.assignment?.stay;
  const sameDates = had?.checkIn === stay.checkIn && had.checkOut === stay.checkOut;
  // A hotel that could not change the dates of a booking may have another room for them.
  return sameDates && reservation.hotelUrn === candidates[0]?.hotelUrn ? "BOOKED_THERE" : undefined;
};

/**
 * Books what a wave has allocated under a policy that leaves it to a person. @param order.shape the group's, as the case knew it
 * @throws NotYet while the wave's choice has not arrived
 */
export const bookAllocated = (
  story: Story,
  { waveId, shape = 0 }: { waveId: string; shape?: number },
): void => {
  const { status, assignment, settled, cameBack } = story.state;
  if (settled) return;
  if (shape > (story.state.shape ?? 0)) throw new NotYet("The change before this wave has not arrived.");
  if (status !== "PENDING" && status !== "FAILED") return;
  const isHere = assignment !== undefined && assignment.waveId >= waveId;
  // The choice was for other dates, and is forgotten or will be.
  if (!isHere && shape < (story.state.shape ?? 0)) {
    story.tell({ type: "subcase.choice-outgrown", data: { waveId } });
    return;
  }
  if (assignment === undefined && cameBack && status === "PENDING") return;
  if (assignment === undefined || assignment.waveId < waveId)
    throw new NotYet("The wave's choice has not arrived yet.");
  story.tell({ type: "subcase.processing", data: { candidate: 0 } });
  runFrom(story, "hold");
};
