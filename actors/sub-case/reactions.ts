/** Owns what leaves with a sub-case's events: public events, saga steps, calls to vendors, the case's note; items for people stand in `items.ts`. */

import { drillVendor } from "../../schemas/drill.ts";
import type { GroupNote, KnownStage } from "../../schemas/group-note.ts";
import type { OverrideNote } from "../../schemas/override-note.ts";
import { urn } from "../../schemas/urn.ts";
import type { StayReport, VendorCall } from "../../schemas/vendor-call.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { isOutgrown } from "./amend-state.ts";
import { cardUsed } from "./card-use.ts";
import {
  arrivedAtLeft,
  cancelByHand,
  degraded,
  doubtTriesToldOf,
  inDoubt,
  noRoomLeft,
  oddBooking,
  otherDates,
  rideByHand,
  stuckRollback,
  switchRefused,
  unanswered,
} from "./items.ts";
import { lockChanged } from "./lock.ts";
import { askedBack } from "./odd-bookings.ts";
import { progressOf, stepMessage } from "./progress.ts";
import { problemReported } from "./report-problem.ts";
import { currentCandidate } from "./requests.ts";
import { followedFlights } from "./ride.ts";
import { isOwnWord, stageOf } from "./standing.ts";
import type { Call, Step, SubCaseEvent, SubCaseState } from "./state.ts";
import { isOnDesk, type Override } from "./switch-state.ts";

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
      return [
        stepCompleted(state, event.data.step),
        ...(event.data.result === "SKIPPED" ? [] : degraded(state, event.data.step, event.data.detail)),
      ];
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
      return [noteGroup(state, "W"), ...overrideEnded(state, "FAILED")];
    case "subcase.failed":
      return [
        announced(state, event.type),
        noteGroup(state, "F"),
        ...(isOnDesk(state) ? [] : [noRoomLeft(state)]),
        ...overrideEnded(state, "FAILED"),
      ];
    case "subcase.overridden":
      return event.data.book ? [] : [allocatedByHand(state), ...overrideEnded(state, "DONE")];
    case "subcase.override-refused":
      return [overrideNote(event.data, "REFUSED", event.data.state)];
    case "subcase.switch-begun":
      return [announced(state, "subcase.processing")];
    case "subcase.switch-abandoned":
      return [
        ...(isOnDesk(state) ? [] : [switchRefused(state, event.data.hotelUrn)]),
        ...overrideEnded(state, "FAILED"),
      ];
    case "subcase.switched":
      return switched(state);
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
      return event.data.ofLeft ? arrivedAtLeft(state, event.data.status) : stayed(state, event.data.status);
    case "subcase.room-lost":
      return state.offer.readyAt === undefined
        ? []
        : [voucherAmended(state, "VOID", "The hotel has cancelled the booking.")];
    case "subcase.not-required":
      return isOwnWord(state) ? [noteGroup(state, "N")] : [];
    case "subcase.released":
      return state.voucher?.status === "VOID"
        ? []
        : ifTold(state, voucherAmended(state, "VOID", "No room is required any more."));
    case "subcase.outgrown":
      return outgrown(state, event.data.code);
    case "subcase.choice-outgrown":
    case "subcase.waits-again":
      return [noteGroup(state, "W")];
    case "subcase.stay-amended":
      return event.data.nextFlight === undefined ? [] : followedFlights(state);
    case "subcase.lock-changed":
      return [lockChanged(state, event)];
    case "subcase.card-used":
      return cardUsed(state, event.data);
    case "subcase.problem-reported":
      return problemReported(state, event.data);
    case "subcase.odd-booking":
      return [oddBooking(state, event.data), ...askedBack(state, event.data)];
    case "subcase.ride-noted":
    case "subcase.regrouped":
    case "subcase.card-revealed":
    case "subcase.opened":
    case "subcase.assigned":
    case "subcase.compensation-submitted":
    case "subcase.hotel-refused":
    case "subcase.settled":
    case "subcase.retry-ordered":
    case "subcase.suspended":
      return [];
    case "subcase.resumed":
      return [...standing(state, event.data.known), ...stillOutgrown(state), ...followedFlights(state)];
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

/** What the guests hold is worth nothing any more, or good for other dates. */
const voucherAmended = (state: SubCaseState, status: "VOID" | "AMENDED", reason: string): Outgoing => ({
  to: "public",
  type: "voucher.amended",
  caseId: state.caseId,
  data: {
    voucherUrn: urn("voucher", state.voucher?.voucherId ?? ""),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    status,
    reason,
    ...(status === "VOID"
      ? {}
      : { checkIn: state.assignment?.stay.checkIn, checkOut: state.assignment?.stay.checkOut }),
  },
});

/** Nobody has been told of a voucher whose offer was never ready. */
const ifTold = (state: SubCaseState, message: Outgoing): Outgoing[] =>
  state.offer.readyAt === undefined || state.voucher === undefined ? [] : [message];

/** Another hotel is sought where nobody has moved in yet, and a vendor has said no; else a person sees to it. */
const outgrown = (state: SubCaseState, code: string): Outgoing[] => {
  const canMove = state.reservation?.status === "CONFIRMED" && code !== "BY_HAND" && code !== "UNAVAILABLE";
  return canMove
    ? [
        {
          to: "command",
          name: "case.replace-group",
          entity: state.caseId,
          data: { groupId: state.groupId, shape: state.shape ?? 0 },
        },
      ]
    : [otherDates(state, code)];
};

/** The closed case did not hear that another hotel is to be sought. */
const stillOutgrown = (state: SubCaseState): Outgoing[] =>
  (state.status === "OFFER_READY" || state.status === "RESOLVED") && isOutgrown(state)
    ? outgrown(state, state.reservation?.byHand === undefined ? "UNHEARD" : "BY_HAND")
    : [];

const stayed = (state: SubCaseState, status: StayReport["state"]): Outgoing[] => {
  if (status === "CHECKED_OUT") return [noteGroup(state, "C")];
  return status === "NO_SHOW" ? [noteGroup(state, "O")] : [];
};

/** What the wave keeps beside the choice; of an earlier round's it has heard. */
const overrideEnded = (state: SubCaseState, outcome: OverrideNote["outcome"]): Outgoing[] => {
  const { override, round } = state;
  return override?.round === round ? [overrideNote(override, outcome, state.status)] : [];
};

const overrideNote = (
  { waveId, overrideId }: Pick<Override, "waveId" | "overrideId">,
  outcome: OverrideNote["outcome"],
  state: string,
): Outgoing => {
  const data: OverrideNote = { overrideId, outcome, state };
  return { to: "command", name: "wave.note-override", entity: waveId, data };
};

/** The guest's voucher is another one, for another hotel; an offer that is not decided is a new one. */
const switched = (state: SubCaseState): Outgoing[] => [
  ...(state.status === "OFFER_READY" ? [announced(state, "subcase.offer-ready")] : []),
  {
    to: "public",
    type: "voucher.amended",
    caseId: state.caseId,
    data: {
      voucherUrn: urn("voucher", state.voucher?.voucherId ?? ""),
      subCaseUrn: urn("sub-case", state.subCaseId),
      groupId: state.groupId,
      status: "ISSUED",
      hotelUrn: currentCandidate(state)?.hotelUrn,
      reason: "The group has a room at another hotel.",
    },
  },
  noteGroup(state, state.status === "RESOLVED" ? "R" : "B"),
];

/** A wave tells the case itself whom it has placed; what an operator sets going only the group can tell. */
const begunByHand = (state: SubCaseState, candidate: number | undefined): Outgoing[] =>
  candidate !== undefined &&
  (state.compensations.at(-1)?.round === state.round || state.override?.round === state.round)
    ? [noteGroup(state, "A")]
    : [];

/** The group waits for book-rooms. */
const allocatedByHand = ({ caseId, groupId, round, assignment }: SubCaseState): Outgoing => ({
  to: "command",
  name: "case.note-override",
  entity: caseId,
  data: { groupId, round, waveId: assignment?.waveId },
});

const gains = (state: SubCaseState, step: Step): Outgoing[] => {
  if (step === "leave-room") return cancelByHand({ ...state, ...state.left });
  // Who changes hotels has had a room all along: the case hears of it at the end.
  if (step === "book" && state.left !== undefined) return overrideEnded(state, "DONE");
  if (step === "book") return [noteGroup(state, "B"), ...rideByHand(state), ...overrideEnded(state, "DONE")];
  if (step === "cancel-room") return cancelByHand(state);
  // Of a room that is lost, or needed no more, that was told at once.
  if (step === "void-voucher")
    return state.roomLost || state.released !== undefined
      ? []
      : ifTold(state, voucherAmended(state, "VOID", "The room is given up."));
  if (step === "modify")
    return ifTold(state, voucherAmended(state, "AMENDED", "The next flight has changed."));
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
  const begun = state.steps.findLast(
    ({ name, completedAt }) => name === call.step && completedAt === undefined,
  );
  const data: VendorCall = {
    reference: call.reference,
    tries: call.tries,
    doubt: call.doubt,
    ...(begun === undefined ? {} : { firstAskedAt: begun.startedAt.toISOString() }),
    ...(call.again === undefined ? {} : { again: call.again }),
    request: call.request,
    replyTo: { name: "sub-case.record-answer", entity: state.subCaseId },
  };
  // Whoever chose the vendor, and however: what a drill asks for is asked of nobody real.
  const vendor = state.kind === undefined ? call.vendor : drillVendor;
  // Vehicles are shared: who is asked for one is the transport actor, by the same protocol.
  const isRide = call.verb === "book-ride" || call.verb === "cancel-ride";
  // Who is written to, and how, is the message actor's: it is asked by the same protocol, and finds its message by the reference.
  if (call.verb === "send") return { to: "command", name: "message.send", entity: "", data };
  const asked = isRide ? "transport" : `vendor-${vendor}`;
  return { to: "command", name: `${asked}.${call.verb}`, entity: state.subCaseId, data };
};

const noteGroup = (state: SubCaseState, stage: GroupNote["stage"]): Outgoing => {
  const data: GroupNote = {
    groupId: state.groupId,
    stage,
    round: state.round,
    ...(stage === "N" ? { shape: state.shape ?? 0 } : {}),
  };
  return { to: "command", name: "case.note-group", entity: state.caseId, data };
};

/** The closed case took no notes: it hears again how far the group has come, and a desk of what is a person's. */
const standing = (state: SubCaseState, known: KnownStage | undefined): Outgoing[] => {
  const stage = stageOf(state, known);
  if (stage === undefined) return [];
  const isKnown = known?.stage === stage && known.round === state.round;
  const told = isKnown ? [] : [noteGroup(state, stage)];
  if (stage === "F") return [...told, noRoomLeft(state)];
  const stuck = state.steps.findLast(({ result }) => result === "FAILED");
  return stage === "U" && stuck !== undefined
    ? [...told, stuckRollback(state, stuck.name, stuck.detail ?? "")]
    : told;
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
