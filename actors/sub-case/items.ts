/** Owns the review items that a saga opens: for what, of which category, and what they say. */

import type { OddBooking } from "../../schemas/vendor-call.ts";
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { oddityTold } from "./odd-bookings.ts";
import { currentCandidate } from "./requests.ts";
import type { Call, LeaveStep, Step, SubCaseState } from "./state.ts";

/** @param occurrence tells items apart that a group's hotels may each give cause for */
const openReview = (
  state: SubCaseState,
  category: ReviewCategory,
  origin: string,
  detail: string,
  occurrence?: string,
): Outgoing => ({
  to: "command",
  name: "review.open",
  entity: "",
  data: {
    caseId: state.caseId,
    airport: state.airport,
    ...(state.kind === undefined ? {} : { kind: state.kind }),
    category,
    origin,
    detail,
    attemptedHotels: state.attemptedHotels,
    affectedGroups: [state.groupId],
    ...(occurrence === undefined ? {} : { occurrence }),
  },
});

export const noRoomLeft = (state: SubCaseState): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "booking",
    state.roomLost
      ? "The hotel cancelled the booking; the group has no room any more."
      : `Every hotel tried refused: ${state.attemptedHotels.length} of them.`,
    `round ${state.round}`,
  );

/** Its hotel has not given it the dates that it needs, and nothing is done about it by itself. */
export const otherDates = (state: SubCaseState, code: string): Outgoing => {
  const { wanted, reservation } = state;
  const dates = `${wanted?.checkIn ?? "?"} to ${wanted?.checkOut ?? "?"}`;
  const detail =
    wanted?.nights === 0
      ? "The next flight leaves the group no night to bridge, and it is at its hotel: settle with the hotel when it leaves."
      : code === "BY_HAND"
        ? `The room was booked by hand: ask the hotel for ${dates}.`
        : `The hotel does not change the stay to ${dates} (${code}); arrange it, or find another room.`;
  return openReview(
    state,
    "BOOKING_FAILED",
    "amendment",
    detail,
    `${reservation?.reference ?? ""} ${state.shape}`,
  );
};

/** A call stays in doubt until the vendor tells; after some two minutes a person should ask the vendor, too. */
export const doubtTriesToldOf = 8;

export const inDoubt = (state: SubCaseState, { step, vendor, reference }: Call): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "in-doubt",
    `${vendor} does not say whether ${step} under ${reference} was done; it is still being asked.`,
    `${step} ${reference}`,
  );

/** No answer came to the try at which a doubtful one would have been told of. */
export const unanswered = (state: SubCaseState, call: Call): Outgoing[] =>
  call.doubt && call.tries === doubtTriesToldOf + 1 ? [inDoubt(state, call)] : [];

export const stuckRollback = (state: SubCaseState, step: Step, detail: string): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "rollback",
    `The rollback is stuck at ${step}; reconcile by hand. ${detail}`.trim(),
    // Each time it gets stuck is work of its own: the item of the time before may be resolved.
    String(state.steps.length),
  );

/** A card, ride or message that could not be had; the room stands. */
export const degraded = (state: SubCaseState, step: Step, detail: string): Outgoing[] => {
  const round = `round ${state.round}`;
  if (step === "card") return [openReview(state, "PAYMENT_FAILED", "card", detail, round)];
  if (step === "load-card" || step === "load-payment") {
    const whose = step === "load-card" ? "passengers' card" : "card that pays the hotel";
    const told = `The ${whose} could not be loaded for the longer stay. ${detail}`;
    return [openReview(state, "PAYMENT_FAILED", step, told, `change ${state.shape}`)];
  }
  // On the way to an offer; this is the state after all, which may have no hotel left. A rollback tells of itself.
  if (step === "cancel-payment" && state.offer.state === "PENDING")
    return [
      openReview(
        state,
        "PAYMENT_FAILED",
        "payment",
        `The card of a hotel that refused still stands. ${detail}`,
        state.payment?.reference,
      ),
    ];
  if (step === "leave-room" || step === "leave-payment" || step === "leave-ride")
    return [stillAtFormer(state, step, detail)];
  if (step === "transport" || step === "notify")
    return [openReview(state, "PARTIAL_FULFILLMENT", step, detail, round)];
  if (step === "notify-stay")
    return [openReview(state, "PARTIAL_FULFILLMENT", step, detail, `change ${state.shape}`)];
  return [];
};

/** A room that a person has booked is given up here; only a person can give it up at the hotel. */
export const cancelByHand = (state: SubCaseState): Outgoing[] => {
  const { reservation } = state;
  if (reservation?.byHand === undefined) return [];
  const hotel = currentCandidate(state)?.offer.name ?? reservation.hotelUrn;
  const detail = `Booked by hand, and needed no more: cancel ${reservation.confirmationNumber} at ${hotel}.`;
  return [openReview(state, "BOOKING_FAILED", "manual-cancellation", detail, reservation.reference)];
};

/** Nobody knows where a hotel is that was named without its place: no ride vendor can be sent there. */
export const rideByHand = (state: SubCaseState): Outgoing[] => {
  const { reservation, assignment, round } = state;
  const isSent = currentCandidate(state)?.offer.coordinates !== undefined;
  if (reservation?.byHand === undefined || isSent || assignment?.terms.vendors.transport === undefined)
    return [];
  const detail = "The hotel was named without its coordinates: order the ride by hand.";
  return [openReview(state, "PARTIAL_FULFILLMENT", "transport", detail, `round ${round}`)];
};

/** The hotel chosen by hand has no room: the group stays where it is. */
export const switchRefused = (state: SubCaseState, hotelUrn: string): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "override",
    `${hotelUrn} has no room for the group; it keeps the one at ${currentCandidate(state)?.offer.name ?? "its hotel"}.`,
    `round ${state.round}`,
  );

/** It is billed, or rooms of it are gone, and nobody knows. */
export const oddBooking = (state: SubCaseState, odd: OddBooking): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "reconciliation",
    oddityTold(state, odd),
    `${odd.oddity} ${odd.bookingId}`,
  );

/** Whom the former hotel receives while the group is on its way to another one has two rooms in the end. */
export const arrivedAtLeft = (state: SubCaseState, told: string): Outgoing[] => {
  if (told === "CANCELLED") return [];
  const { reservation } = state.left ?? {};
  const detail = `While the group changed hotels, ${reservation?.vendor ?? "the former hotel"} told of ${told} under ${reservation?.confirmationNumber ?? "its booking"}: settle which room it keeps.`;
  return [openReview(state, "BOOKING_FAILED", "former-hotel", detail, `${told} round ${state.round}`)];
};

/** It costs the airline money until somebody has seen to it; the group has its room. */
const stillAtFormer = (state: SubCaseState, step: LeaveStep, detail: string): Outgoing => {
  const { reservation, payment, ride } = state.left ?? {};
  const what = { "leave-room": reservation, "leave-payment": payment, "leave-ride": ride }[step];
  return openReview(
    state,
    "BOOKING_FAILED",
    "former-hotel",
    `The group has another hotel now, and ${step} was refused at the former one; reconcile by hand. ${detail}`,
    what?.reference,
  );
};
