/** Owns what a hotel tells of a booking after it was made: arrival, departure, no-show, or that it took the room back. */
import type { StayReport } from "../../schemas/vendor-call.ts";
import { NotYet } from "../runtime/decider.ts";
import { leaveNotice, loseRoom, type Story } from "./saga.ts";
import type { Reservation } from "./state.ts";

/** How far a stay has come; a report of something earlier is late and changes nothing. */
const order: Readonly<Record<string, number>> = { CONFIRMED: 0, CHECKED_IN: 1, NO_SHOW: 1, CHECKED_OUT: 2 };

/**
 * Puts on record what the hotel tells; while the case is closed nothing follows from it.
 * @throws NotYet while the booking it is about has not been confirmed to us
 */
export const recordStay = (story: Story, { reference, bookingId, state }: StayReport): void => {
  const { reservation, left } = story.state;
  const leaving = left?.reservation;
  if (leaving?.reference === reference && leaving.bookingId === bookingId) {
    // What follows from it is seen at the end of the change: the group then has the one room or the other.
    if (isNews(story, leaving, state))
      story.tell({ type: "subcase.stay-noted", data: { status: state, at: story.now, ofLeft: true } });
    return;
  }
  if (reservation?.reference !== reference) return;
  if (reservation.bookingId === undefined) throw new NotYet("The booking's own answer has not arrived yet.");
  if (reservation.bookingId !== bookingId || !isNews(story, reservation, state)) return;
  story.tell({ type: "subcase.stay-noted", data: { status: state, at: story.now } });
  if (story.state.closedAt === undefined) resumeStay(story);
};

/**
 * A cancellation of our own is on record, or under way; of the rest only what is further counts. What its guests have said of their
 * arrival, the hotel may know better.
 */
const isNews = (
  { state }: Story,
  { status, selfCheckIn }: Reservation,
  told: StayReport["state"],
): boolean => {
  const known = selfCheckIn ? "CONFIRMED" : status;
  if (told === "CANCELLED") return known === "CONFIRMED" && state.status !== "ROLLING_BACK";
  const standing = order[known];
  return standing !== undefined && standing < (order[told] ?? 0);
};

/**
 * Who has arrived has accepted: an offer that nobody answered counts as taken at the desk. A room that the hotel took back
 * leaves a group that was housed without one, on the very night; a saga on its way finds it out at its offer.
 */
export const resumeStay = (story: Story): void => {
  const { status, reservation, offer } = story.state;
  const stay = reservation?.status;
  if ((stay === "CHECKED_IN" || stay === "CHECKED_OUT") && offer.state === "READY")
    story.tell({ type: "subcase.resolved", data: { at: story.now } });
  if (stay === "CANCELLED") leaveNotice(story);
  // A call for other dates is waited for: what it comes to is put on record first.
  if (story.state.call !== undefined) return;
  if (stay === "CANCELLED" && (status === "OFFER_READY" || status === "RESOLVED")) loseRoom(story);
};
