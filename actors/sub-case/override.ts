/** Owns a hotel chosen by hand, or by a wave that was run again: for a group without a room as any other, else by changing hotels. */
import type { Assignment } from "../../schemas/assignment.ts";
import { NotYet } from "../runtime/decider.ts";
import { runFrom, type Story } from "./saga.ts";

/** The data of `sub-case.override`. Without `overrideId` a wave that was run again has chosen, and nobody waits for an answer. */
export interface OverrideOrder {
  overrideId?: string;
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
  const names = overrideId === undefined ? {} : { waveId: assignment.waveId, overrideId };
  if (overrideId !== undefined && state.override?.overrideId === overrideId) return;
  const refusal = refusalOf(story, order.assignment);
  if (refusal !== undefined) {
    if (overrideId === undefined) return;
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
 * Books what a wave has allocated under a policy that leaves it to a person.
 * @throws NotYet while the wave's choice has not arrived
 */
export const bookAllocated = (story: Story, { waveId }: { waveId: string }): void => {
  const { status, assignment, settled, round } = story.state;
  if (settled || (status !== "PENDING" && status !== "FAILED")) return;
  if (assignment === undefined && round > 0 && status === "PENDING") return;
  if (assignment === undefined || assignment.waveId < waveId)
    throw new NotYet("The wave's choice has not arrived yet.");
  story.tell({ type: "subcase.processing", data: { candidate: 0 } });
  runFrom(story, "hold");
};
