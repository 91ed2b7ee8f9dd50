/** Owns what leaves with a sub-case's events: public events, saga steps, calls to vendors, the case's note; items for people stand in `items.ts`. */

import type { GroupNote } from "../../schemas/group-note.ts";
import { urn } from "../../schemas/urn.ts";
import type { StayReport, VendorCall } from "../../schemas/vendor-call.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { degraded, doubtTriesToldOf, inDoubt, noRoomLeft, stuckRollback, unanswered } from "./items.ts";
import { progressOf, stepMessage } from "./progress.ts";
import { currentCandidate } from "./requests.ts";
import type { Call, Step, SubCaseEvent, SubCaseState } from "./state.ts";

export const outgoing = (event: SubCaseEvent, state: SubCaseState): Outgoing[] => {
  switch (event.type) {
    case "subcase.processing":
      return [announced(state, event.type), ...begunByHand(state, event.data.candidate)];
    case "subcase.step-started":
      return [
        stepStarted(state, event.data.record.name),
        ...(event.data.call === undefined ? [] : [vendorCommand(state, event.data.call)]),
      ];
    case "subcase.step-completed":
      return [stepCompleted(state, event.data.step), ...gains(state, event.data.step)];
    case "subcase.step-failed":
      return [stepCompleted(state, event.data.step), ...degraded(state, event.data.step, event.data.detail)];
    case "subcase.call-postponed": {
      const { call } = event.data;
      const told = call.doubt && call.tries === doubtTriesToldOf;
      return [stepProgress(state, call), ...(told ? [inDoubt(state, call)] : [])];
    }
    case "subcase.call-reissued": {
      const { call } = event.data;
      return [vendorCommand(state, call), stepProgress(state, call), ...unanswered(state, call)];
    }
    case "subcase.returned":
      return [noteGroup(state, "W")];
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
        noteGroup(state, "U"),
        stuckRollback(state, event.data.step, event.data.detail),
      ];
    case "subcase.stay-noted":
      return stayed(state, event.data.status);
    case "subcase.room-lost":
      return state.offer.readyAt === undefined ? [] : [voucherAmended(state)];
    case "subcase.opened":
    case "subcase.not-required":
    case "subcase.assigned":
    case "subcase.compensation-submitted":
    case "subcase.hotel-refused":
    case "subcase.settled":
    case "subcase.suspended":
      return [];
    case "subcase.resumed":
      return standing(state);
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

/** The hotel has taken the room back: what the guest holds is worth nothing any more. */
const voucherAmended = (state: SubCaseState): Outgoing => ({
  to: "public",
  type: "voucher.amended",
  caseId: state.caseId,
  data: {
    voucherUrn: urn("voucher", state.voucher?.voucherId ?? ""),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    status: "VOID",
    reason: "The hotel has cancelled the booking.",
  },
});

const stayed = (state: SubCaseState, status: StayReport["state"]): Outgoing[] => {
  if (status === "CHECKED_OUT") return [noteGroup(state, "C")];
  return status === "NO_SHOW" ? [noteGroup(state, "O")] : [];
};

/** A wave tells the case itself whom it has placed; what an operator sets going only the group can tell. */
const begunByHand = (state: SubCaseState, candidate: number | undefined): Outgoing[] =>
  candidate !== undefined && state.compensations.at(-1)?.round === state.round ? [noteGroup(state, "A")] : [];

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

/** The heartbeat of a step that a vendor keeps waiting. */
const stepProgress = (state: SubCaseState, call: Call): Outgoing => {
  const { about } = graph(state, call.step, false);
  const data = { ...about, name: call.step, progress: progressOf(state), message: stepMessage(call) };
  return { to: "internal", type: "graph.step-progress", id: state.subCaseId, caseId: state.caseId, data };
};

const vendorCommand = (state: SubCaseState, call: Call): Outgoing => {
  const data: VendorCall = {
    reference: call.reference,
    tries: call.tries,
    doubt: call.doubt,
    ...(call.again === undefined ? {} : { again: call.again }),
    request: call.request,
    replyTo: { name: "sub-case.record-answer", entity: state.subCaseId },
  };
  return { to: "command", name: `vendor-${call.vendor}.${call.verb}`, entity: state.subCaseId, data };
};

const noteGroup = (state: SubCaseState, stage: GroupNote["stage"]): Outgoing => {
  const data: GroupNote = { groupId: state.groupId, stage, round: state.round };
  return { to: "command", name: "case.note-group", entity: state.caseId, data };
};

/** The closed case took no notes: it hears again how far the group has come, and a desk of what is a person's. */
const standing = (state: SubCaseState): Outgoing[] => {
  const stage = stageOf(state);
  if (stage === undefined) return [];
  const told = noteGroup(state, stage);
  if (stage === "F") return [told, noRoomLeft(state)];
  const stuck = state.steps.findLast(({ result }) => result === "FAILED");
  return stage === "U" && stuck !== undefined
    ? [told, stuckRollback(state, stuck.name, stuck.detail ?? "")]
    : [told];
};

/** Undefined: the case knows by itself. */
const stageOf = ({ status, reservation, assignment }: SubCaseState): GroupNote["stage"] | undefined => {
  if (reservation?.status === "CHECKED_OUT") return "C";
  if (reservation?.status === "NO_SHOW") return "O";
  switch (status) {
    case "PENDING":
      // A choice that came while the case was closed was not taken, and a return not heard.
      return assignment === undefined ? "W" : undefined;
    case "NOT_REQUIRED":
    case "ROLLING_BACK":
      return undefined;
    case "PROCESSING":
      return reservation?.status === "CONFIRMED" ? "B" : "A";
    case "OFFER_READY":
      return "B";
    case "RESOLVED":
      return "R";
    case "DECLINED":
      return "D";
    case "FAILED":
      return "F";
    case "COMPENSATION_FAILED":
      return "U";
    default:
      return status satisfies never;
  }
};

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
