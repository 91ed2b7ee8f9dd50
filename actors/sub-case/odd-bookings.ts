/** Owns what a vendor has for a group that the group does not know of, or not so: what is asked after, what is given back, what a person hears of. */
import type { BookingOddity, OddBooking, StandingBooking, VendorCall } from "../../schemas/vendor-call.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { currentCandidate, roomReference } from "./requests.ts";
import type { Story } from "./saga.ts";
import type { Reservation, SubCaseState } from "./state.ts";

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

/** The hold or booking at the hotel whose turn it is has been refused, whatever becomes of the group. */
export const givingUp = (state: SubCaseState): OddlyBooked => {
  const { subCaseId, givenUp = [], givenUpAt = [] } = state;
  const vendor = currentCandidate(state)?.offer.vendor;
  if (vendor === undefined) return {};
  return {
    givenUp: [...givenUp, { vendor, reference: roomReference(subCaseId, state) }].slice(-kept),
    givenUpAt: [...new Set([...givenUpAt, vendor])],
  };
};

const keyOf = ({ vendor, bookingId, oddity }: OddBooking): string => `${vendor} ${bookingId} ${oddity}`;

export const evolveOddBooking = (state: SubCaseState, { data }: OddBookingEvent): SubCaseState => ({
  ...state,
  oddities: [...(state.oddities ?? []), keyOf(data)].slice(-kept),
});

type Known = Pick<SubCaseState, "reservation" | "left" | "givenUp" | "call" | "settled">;

/** What it has, and what it leaves. */
const roomsOf = ({ reservation, left }: Known): Reservation[] =>
  [reservation, left?.reservation].filter((one) => one !== undefined);

const isOwn = (state: Known, bookingId: string): boolean =>
  roomsOf(state).some((one) => one.bookingId === bookingId || one.confirmationNumber === bookingId);

/**
 * Of what was asked for under one reference the group has one booking, or none: another one is nobody's. Undefined: it is its own, may
 * become so (the answer to a call about it is not here), or is under a reference that says nothing to it any more.
 */
export const oddityOf = (
  state: Known,
  { reference, bookingId }: StandingBooking,
): "TWIN" | "STRAY" | undefined => {
  if (isOwn(state, bookingId) || state.call?.reference.startsWith(reference)) return undefined;
  if (roomsOf(state).some((one) => one.reference === reference && one.bookingId !== undefined)) return "TWIN";
  return state.givenUp?.some((one) => one.reference === reference) ? "STRAY" : undefined;
};

/** Of its own booking it concerns the group that rooms are gone; of others, that they stand. */
export const noteOddity = (story: Story, odd: OddBooking): void => {
  const { state } = story;
  const isSo =
    odd.oddity === "PARTLY_CANCELLED" ? isOwn(state, odd.bookingId) : oddityOf(state, odd) !== undefined;
  if (isSo && !state.oddities?.includes(keyOf(odd))) story.tell({ type: "subcase.odd-booking", data: odd });
};

/** What no vendor would confirm a person may have settled with it, or with the hotel: their guests may sleep there. */
const isPersons = (state: Known): boolean =>
  state.settled === true || roomsOf(state).some(({ byHand }) => byHand !== undefined);

const isAskedBack = (state: SubCaseState, { oddity }: OddBooking): boolean =>
  oddity !== "PARTLY_CANCELLED" && state.kind === undefined && !isPersons(state);

const told: Readonly<Record<BookingOddity, string>> = {
  TWIN: "was made beside the one that the group has, or had",
  STRAY: "stands, although it was given up",
  PARTLY_CANCELLED: "has lost some of its rooms; see whether the group's rooms are enough",
};

/** What a person hears of it. */
export const oddityTold = (state: SubCaseState, odd: OddBooking): string => {
  const { vendor, reference, bookingId, oddity } = odd;
  const done = isAskedBack(state, odd)
    ? " It is asked back."
    : oddity === "PARTLY_CANCELLED"
      ? ""
      : " A person has seen to the group: it is not asked back, as it may be the group's room.";
  return `${bookingId} of ${vendor} under ${reference} ${told[oddity]}.${done} Ask the vendor what it has.`;
};

/** Nobody waits for the answer: whether it was given back the person sees to. */
export const askedBack = (state: SubCaseState, odd: OddBooking): Outgoing[] => {
  const { vendor, reference, bookingId } = odd;
  if (!isAskedBack(state, odd)) return [];
  const data: VendorCall = {
    ...{ reference: `${reference}.odd.${bookingId}`, tries: 1, doubt: false, request: { bookingId } },
    replyTo: { name: "sub-case.record-answer", entity: state.subCaseId },
  };
  return [{ to: "command", name: `vendor-${vendor}.cancel`, entity: state.subCaseId, data }];
};
