/** Owns what leaves with a sub-case's events: public events, saga steps, calls to vendors, review items, the case's note. */

import { urn } from "../../schemas/urn.ts";
import type { VendorCall } from "../../schemas/vendor-call.ts";
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { currentCandidate } from "./requests.ts";
import type { Call, Step, SubCaseEvent, SubCaseState } from "./state.ts";

export const outgoing = (event: SubCaseEvent, state: SubCaseState): Outgoing[] => {
  switch (event.type) {
    case "subcase.processing":
      return [announced(state, event.type)];
    case "subcase.step-started":
      return [
        stepStarted(state, event.data.record.name),
        ...(event.data.call === undefined ? [] : [vendorCommand(state, event.data.call)]),
      ];
    case "subcase.step-completed":
      return [stepCompleted(state, event.data.step), ...gains(state, event.data.step)];
    case "subcase.step-failed":
      return [stepCompleted(state, event.data.step), ...degraded(state, event.data.step, event.data.detail)];
    case "subcase.call-postponed":
      return event.data.call.doubt && event.data.call.tries === doubtTriesToldOf
        ? [inDoubt(state, event.data.call)]
        : [];
    case "subcase.call-reissued":
      return [vendorCommand(state, event.data.call), ...unanswered(state, event.data.call)];
    case "subcase.failed":
      return [announced(state, event.type), noteGroup(state, "F"), noRoomLeft(state)];
    case "subcase.offer-ready":
      return [announced(state, event.type), voucherIssued(state)];
    case "subcase.resolved":
      return [announced(state, event.type), noteGroup(state, "R")];
    case "subcase.declined":
      return [announced(state, event.type), alertOperators(state, event.data.reason)];
    case "subcase.rolled-back":
      return [noteGroup(state, "D")];
    case "subcase.compensation-failed":
      return [
        announced(state, event.type),
        noteGroup(state, "F"),
        stuckRollback(state, event.data.step, event.data.detail),
      ];
    case "subcase.opened":
    case "subcase.not-required":
    case "subcase.assigned":
    case "subcase.hotel-refused":
      return [];
    default:
      return event satisfies never;
  }
};

/** What a partner may hear: who, which hotel, which state; never a contact, a card or an operator's note. */
const announced = (state: SubCaseState, type: string): Outgoing => {
  const hotel = currentCandidate(state);
  return {
    to: "public",
    type,
    caseId: state.caseId,
    data: {
      subCaseUrn: urn("sub-case", state.subCaseId),
      groupId: state.groupId,
      status: state.status,
      passengerUrns: state.passengers.map((passenger) => passenger.urn),
      ...(hotel === undefined ? {} : { hotelUrn: hotel.hotelUrn, hotelName: hotel.offer.name }),
      ...(state.reservation === undefined
        ? {}
        : { bookingUrn: urn("booking", state.reservation.reservationId) }),
    },
  };
};

const voucherIssued = (state: SubCaseState): Outgoing => ({
  to: "public",
  type: "voucher.issued",
  caseId: state.caseId,
  data: {
    voucherUrn: urn("voucher", state.voucher?.voucherId ?? ""),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    hotelUrn: currentCandidate(state)?.hotelUrn,
    checkIn: state.assignment?.stay.checkIn,
    checkOut: state.assignment?.stay.checkOut,
    rooms: state.reservation?.rooms,
  },
});

const gains = (state: SubCaseState, step: Step): Outgoing[] => {
  if (step === "book") return [noteGroup(state, "B")];
  if (step === "notify") return [noticeDispatched(state)];
  if (step !== "card" || state.card === undefined) return [];
  const { balanceMinor, currency, last4 } = state.card;
  const data = {
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    last4,
    balance: { amountMinor: balanceMinor, currency },
  };
  return [{ to: "public", type: "wallet.card-issued", caseId: state.caseId, data }];
};

const noticeDispatched = (state: SubCaseState): Outgoing => {
  const { caseId, subCaseId } = state;
  const data = {
    caseUrn: urn("case", caseId),
    subCaseUrn: urn("sub-case", subCaseId),
    channel: state.notices.at(-1)?.channel,
  };
  return { to: "internal", type: "notification.dispatched", id: subCaseId, caseId, data };
};

/** Of a step that ran twice (a hold at the next hotel) the one that has just begun, or just ended. */
const graph = (state: SubCaseState, step: Step, ended: boolean) => {
  const record = state.steps.findLast(
    ({ name, completedAt }) => name === step && (!ended || completedAt !== undefined),
  );
  return {
    record,
    about: {
      caseUrn: urn("case", state.caseId),
      subCaseUrn: urn("sub-case", state.subCaseId),
      stepUrn: urn("step", record?.stepId ?? ""),
    },
  };
};

const stepStarted = (state: SubCaseState, step: Step): Outgoing => {
  const { record, about } = graph(state, step, false);
  const data = { ...about, name: step, startedAt: record?.startedAt };
  return { to: "internal", type: "graph.step-started", id: state.subCaseId, caseId: state.caseId, data };
};

const stepCompleted = (state: SubCaseState, step: Step): Outgoing => {
  const { record, about } = graph(state, step, true);
  const data = { ...about, name: step, completedAt: record?.completedAt, result: record?.result };
  return { to: "internal", type: "graph.step-completed", id: state.subCaseId, caseId: state.caseId, data };
};

const vendorCommand = (state: SubCaseState, call: Call): Outgoing => {
  const data: VendorCall = {
    reference: call.reference,
    tries: call.tries,
    doubt: call.doubt,
    request: call.request,
    replyTo: { name: "sub-case.record-answer", entity: state.subCaseId },
  };
  return { to: "command", name: `vendor-${call.vendor}.${call.verb}`, entity: state.subCaseId, data };
};

const noteGroup = (state: SubCaseState, stage: "B" | "F" | "R" | "D"): Outgoing => ({
  to: "command",
  name: "case.note-group",
  entity: state.caseId,
  data: { groupId: state.groupId, stage },
});

const alertOperators = (state: SubCaseState, reason: string | undefined): Outgoing => ({
  to: "internal",
  type: "operator.alerted",
  id: state.subCaseId,
  caseId: state.caseId,
  data: {
    kind: "offer-declined",
    airport: state.airport,
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    reason,
  },
});

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

const noRoomLeft = (state: SubCaseState): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "booking",
    `Every hotel tried refused: ${state.attemptedHotels.length} of them.`,
  );

/** A call stays in doubt until the vendor tells; after some two minutes a person should ask the vendor, too. */
const doubtTriesToldOf = 8;

const inDoubt = (state: SubCaseState, { step, vendor, reference }: Call): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "in-doubt",
    `${vendor} does not say whether ${step} under ${reference} was done; it is still being asked.`,
    `${step} ${reference}`,
  );

/** No answer came to the try at which a doubtful one would have been told of. */
const unanswered = (state: SubCaseState, call: Call): Outgoing[] =>
  call.doubt && call.tries === doubtTriesToldOf + 1 ? [inDoubt(state, call)] : [];

const stuckRollback = (state: SubCaseState, step: Step, detail: string): Outgoing =>
  openReview(
    state,
    "BOOKING_FAILED",
    "rollback",
    `The rollback is stuck at ${step}; reconcile by hand. ${detail}`.trim(),
  );

/** A card, ride or message that could not be had; the room stands. */
const degraded = (state: SubCaseState, step: Step, detail: string): Outgoing[] => {
  if (step === "card") return [openReview(state, "PAYMENT_FAILED", "card", detail)];
  if (step === "cancel-payment" && state.status === "PROCESSING")
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
    return [openReview(state, "PARTIAL_FULFILLMENT", step, detail)];
  return [];
};
