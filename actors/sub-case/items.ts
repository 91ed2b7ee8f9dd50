/** Owns the review items that a saga opens: for what, of which category, and what they say. */
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Outgoing } from "../runtime/decider.ts";
import type { Call, Step, SubCaseState } from "./state.ts";

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
  if (step === "transport" || step === "notify")
    return [openReview(state, "PARTIAL_FULFILLMENT", step, detail, round)];
  return [];
};
