/** Owns what a hotel tells of a booking after it was made: arrival, departure, no-show, or that it took the room back. */
import type { StayReport } from "../../schemas/vendor-call.ts";
import { NotYet } from "../runtime/decider.ts";
import { runFrom, type Story } from "./saga.ts";
import { type Reservation, rollbackSteps } from "./state.ts";

/** How far a stay has come; a report of something earlier is late and changes nothing. */
const order: Readonly<Record<string, number>> = { CONFIRMED: 0, CHECKED_IN: 1, NO_SHOW: 1, CHECKED_OUT: 2 };

/** Who has arrived has accepted: an offer that nobody answered counts as taken at the desk. */
export const recordStay = (story: Story, { reference, bookingId, state }: StayReport): void => {
  const { reservation, offer } = story.state;
  if (reservation?.reference !== reference || reservation.bookingId !== bookingId) return;
  if (state === "CANCELLED") {
    takenBack(story, reservation);
    return;
  }
  const standing = order[reservation.status];
  if (standing === undefined || standing >= (order[state] ?? 0)) return;
  const at = story.now;
  story.tell({ type: "subcase.stay-noted", data: { status: state, at } });
  if (state !== "NO_SHOW" && offer.state === "READY") story.tell({ type: "subcase.resolved", data: { at } });
};

/**
 * A cancellation of our own is on record, or under way, or was refused and now done after all; any other leaves the group
 * without a room, on the very night.
 * @throws NotYet while the saga is on its way to an offer: it ends first
 */
const takenBack = (story: Story, { status, hotelUrn }: Reservation): void => {
  if (status !== "CONFIRMED" || story.state.status === "ROLLING_BACK") return;
  if (story.state.status === "PROCESSING") throw new NotYet("The saga of this group is under way.");
  const at = story.now;
  story.tell({ type: "subcase.stay-noted", data: { status: "CANCELLED", at } });
  if (story.state.offer.state === "DECLINED") return;
  story.tell({ type: "subcase.room-lost", data: { at, hotelUrn } });
  runFrom(story, rollbackSteps[0]);
};
