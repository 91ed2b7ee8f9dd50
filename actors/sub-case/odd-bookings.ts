/** Owns what a vendor has for a group that the group does not know of, or not so: what is asked after, what is given back, what a person hears of. */
import type { BookingOddity, OddBooking, VendorCall } from "../../schemas/vendor-call.ts";
import { NotYet, type Outgoing } from "../runtime/decider.ts";
import type { Story } from "./saga.ts";
import type { SubCaseState } from "./state.ts";

/** Part of a sub-case. */
export interface OddlyBooked {
  /** Attempts that were given up, newest last: a slow vendor may have booked one all the same. Absent: none. */
  givenUp?: { vendor: string; reference: string }[];
  /** Their vendors, each once, by which they are found. */
  givenUpAt?: string[];
  /** What was told of already: booking and oddity. */
  oddities?: string[];
}

export interface OddBookingEvent {
  type: "subcase.odd-booking";
  data: OddBooking;
}

const kept = 20;

/** The attempt at the hotel whose turn it is has been refused. */
export const givingUp = (state: SubCaseState): OddlyBooked => {
  const { subCaseId, round, candidate, assignment, givenUp = [], givenUpAt = [] } = state;
  const vendor = assignment?.candidates[candidate]?.offer.vendor;
  if (vendor === undefined) return {};
  const reference = `${subCaseId}.room.${round}.${candidate + 1}`;
  return {
    givenUp: [...givenUp, { vendor, reference }].slice(-kept),
    givenUpAt: [...new Set([...givenUpAt, vendor])],
  };
};

const keyOf = ({ vendor, bookingId, oddity }: OddBooking): string => `${vendor} ${bookingId} ${oddity}`;

export const evolveOddBooking = (state: SubCaseState, { data }: OddBookingEvent): SubCaseState => ({
  ...state,
  oddities: [...(state.oddities ?? []), keyOf(data)].slice(-kept),
});

/**
 * Of two bookings under one reference the group has one: the other is nobody's. What it does have concerns it only where rooms of it are gone.
 * @throws NotYet while the answer that tells which one it has is on its way
 */
export const noteOddity = (story: Story, odd: OddBooking): void => {
  const { reservation, left, call, oddities = [] } = story.state;
  const isOwn = [reservation, left?.reservation].some(
    (one) => one?.bookingId === odd.bookingId || one?.confirmationNumber === odd.bookingId,
  );
  if (isOwn !== (odd.oddity === "PARTLY_CANCELLED") || oddities.includes(keyOf(odd))) return;
  if (call?.reference === odd.reference) throw new NotYet("Its own answer has not arrived yet.");
  story.tell({ type: "subcase.odd-booking", data: odd });
};

const told: Readonly<Record<BookingOddity, string>> = {
  TWIN: "was made twice; the group has the other booking, and this one is asked back",
  STRAY: "stands, although it was given up; it is asked back",
  PARTLY_CANCELLED: "has lost some of its rooms; see whether the group's rooms are enough",
};

/** What a person hears of it. */
export const oddityTold = ({ vendor, reference, bookingId, oddity }: OddBooking): string =>
  `${bookingId} of ${vendor} under ${reference} ${told[oddity]}. Ask the vendor what it has.`;

/** Nobody waits for the answer: whether it was given back the person sees to. */
export const askedBack = (state: SubCaseState, odd: OddBooking): Outgoing[] => {
  const { vendor, reference, bookingId, oddity } = odd;
  if (oddity === "PARTLY_CANCELLED" || state.kind !== undefined) return [];
  const data: VendorCall = {
    ...{ reference: `${reference}.odd.${bookingId}`, tries: 1, doubt: false, request: { bookingId } },
    replyTo: { name: "sub-case.record-answer", entity: state.subCaseId },
  };
  return [{ to: "command", name: `vendor-${vendor}.cancel`, entity: state.subCaseId, data }];
};
