/** Owns what a sub-case is: one group's passengers, its saga, and what the saga has got for them. */
import type { Assignment, Stay } from "../../schemas/assignment.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import type { KnownStage } from "../../schemas/group-note.ts";
import type { Passenger } from "../../schemas/passenger.ts";
import type { Regrouped } from "../../schemas/regroup.ts";
import type { RideNote } from "../../schemas/transport.ts";
import type { StayReport, VendorVerb } from "../../schemas/vendor-call.ts";
import type {
  Language,
  OfferState,
  ReservationStatus,
  SubCaseStatus,
  Tier,
} from "../../schemas/vocabulary.ts";
import { type AmendEvent, type Assigned, evolveAmend } from "./amend-state.ts";
import type { PassengerCard, PaymentCard } from "./cards.ts";
import type { Lock, LockEvent } from "./lock.ts";
import { evolveOddBooking, givingUp, type OddBookingEvent, type OddlyBooked } from "./odd-bookings.ts";
import { evolvePassenger, type PassengerEvent, type PassengersOwn } from "./passenger-state.ts";
import { evolveRegrouped, evolveReleased } from "./regroup-state.ts";
import { type Ride, refusedRide, withRideNoted } from "./ride.ts";
import type { RoomTerms } from "./room-terms.ts";
import { fresh } from "./round-state.ts";
import { evolveSwitch, type Left, type Override, type SwitchEvent } from "./switch-state.ts";

export const forwardSteps = [
  "hold",
  "pay",
  "book",
  "voucher",
  "card",
  "transport",
  "notify",
  "offer",
] as const;
export type ForwardStep = (typeof forwardSteps)[number];
/** In the order in which they run: the reverse of what they undo. */
export const rollbackSteps = [
  "cancel-transport",
  "cancel-card",
  "void-voucher",
  "cancel-room",
  "cancel-payment",
] as const;
export type RollbackStep = (typeof rollbackSteps)[number];
/** What is given back at the hotel that a group leaves. */
export const leaveSteps = ["leave-ride", "leave-room", "leave-payment"] as const;
export type LeaveStep = (typeof leaveSteps)[number];
/** Of a room that stands: what a change of its dates takes. */
export const amendSteps = ["modify", "load-payment", "load-card", "notify-stay"] as const;
export type AmendStep = (typeof amendSteps)[number];
export type Step = ForwardStep | RollbackStep | LeaveStep | AmendStep;

/** The one call that the saga waits for. */
export interface Call {
  step: Step;
  verb: VendorVerb;
  vendor: string;
  reference: string;
  request: Record<string, unknown>;
  /** Times it has been sent. */
  tries: number;
  /** An earlier try may have been carried out. */
  doubt: boolean;
  /** How often a person has had it asked again after a refusal. Absent: never. */
  again?: number;
  /** True: not under way; it is sent again when due. False: a missing answer puts it in doubt when due. */
  postponed: boolean;
  dueAt: Date;
}

export interface StepRecord {
  stepId: string;
  name: Step;
  startedAt: Date;
  completedAt?: Date;
  result?: "DONE" | "REFUSED" | "SKIPPED" | "FAILED";
  detail?: string;
}

export interface Reservation extends RoomTerms {
  reservationId: string;
  status: ReservationStatus;
  hotelUrn: string;
  vendor: string;
  reference: string;
  rooms: number;
  holdId?: string;
  bookingId?: string;
  confirmationNumber?: string;
  totalMinor?: number;
  currency?: string;
  /** How often the hotel has changed its dates. Absent: never. */
  amended?: number;
  /** Set: it is the passengers' own word that they have arrived, and their hotel's counts for more. */
  selfCheckIn?: true;
  /** Set: a person has booked it past every vendor, and a person must cancel it. */
  byHand?: {
    /** The operator's URN. */
    by: string;
    at: Date;
    reason: string;
    /** Of the hotel. */
    phone?: string;
  };
}

export interface SubCaseState extends PassengersOwn, OddlyBooked {
  /** Its own id, for decisions that name what they create after it. */
  subCaseId: string;
  caseId: string;
  groupId: string;
  /** Set: of a drill or shadow case. No real vendor is asked for anything. */
  kind?: CaseKind;
  airport: string;
  tier: Tier;
  status: SubCaseStatus;
  passengers: Passenger[];
  /** Normalised, for logins. */
  pnrs: string[];
  language: Language;
  flight: { number: string; origin: string; destination: string; scheduledDeparture: Date };
  nextFlight?: { number: string; scheduledDeparture: Date };
  assignment?: Assigned;
  /**
   * Counts the sagas that were begun for the group, from 1, and each time that it needs a room after all; 0: none yet. Part of
   * every reference, so that a vendor tells them apart.
   */
  round: number;
  /** Index in `candidates` of the hotel under way or booked. */
  candidate: number;
  /** The candidate that the round began with. */
  firstCandidate: number;
  /** How often it went back to the case because others had taken the rooms. */
  returns: number;
  /** Set since the last of these, until its next round. */
  cameBack?: true;
  /** Compensations that operators submitted, newest last: the same payload again is the same one. */
  compensations: { hash: string; correlationUrn: string; round: number }[];
  /** Set when the hotel took the room back: what went with it is given back, then the group needs another one. */
  roomLost?: true;
  /** Set when a person has seen to the group: no wave's choice is for it any more. */
  settled?: true;
  /** How often the group was changed or its stay amended, as far as the sub-case has heard. Absent: never. */
  shape?: number;
  /** Set: nobody is left in the group, its passengers are in this one. */
  mergedInto?: Regrouped["mergedInto"];
  /** Where those who were in the group before have gone. */
  moved?: Regrouped["moved"];
  /** The newest choice of a hotel by hand. */
  override?: Override;
  /** Set while the group changes hotels: what it has at the one that it leaves. */
  left?: Left;
  /** The dates that it should have a room for, once they were changed. */
  wanted?: Stay;
  /** Set: its hotel cannot give it those dates. */
  unfit?: true;
  /** The `shape` at which more on a card was refused: it is not asked for again until the dates change again. */
  loadRefused?: number;
  /** The `shape` of the change that has given its room other dates, until its passengers are written of them. */
  untold?: number;
  /** Set: it needs no room any more, or another one for whom it is now, and what it has is being given back. */
  released?: Released;
  /** Set: while the case is closed a person has asked for a stuck rollback once more. */
  retryOrdered?: true;
  /** When the case was closed or opened last, as far as the group has heard: what comes late of before is nothing. */
  standingSince?: Date;
  /** Set while the case is closed: nothing goes on, what comes late is only put on record. */
  closedAt?: Date;
  /** Absent: nobody has ever locked it. */
  lock?: Lock;
  call?: Call;
  steps: StepRecord[];
  attemptedHotels: { hotelUrn: string; reason: string; providerError?: string }[];
  reservation?: Reservation;
  payment?: PaymentCard;
  voucher?: { voucherId: string; code: string; status: "ISSUED" | "VOID"; issuedAt: Date };
  card?: PassengerCard;
  ride?: Ride;
  offer: { state: OfferState; readyAt?: Date; decidedAt?: Date; reason?: string };
}

export type Released = "LOCAL_RESIDENT" | "MERGED" | "REGROUPED";

export type SubCaseEvent =
  | { type: "subcase.opened"; data: SubCaseState }
  | { type: "subcase.not-required"; data: Record<string, never> }
  | { type: "subcase.assigned"; data: { assignment: Omit<Assignment, "book"> } }
  | { type: "subcase.compensation-submitted"; data: { hash: string; correlationUrn: string } }
  /** `candidate`: where the new round begins. Absent: the rollback is tried again. */
  | { type: "subcase.processing"; data: { candidate?: number } }
  | { type: "subcase.step-started"; data: { record: StepRecord; call?: Call } }
  | { type: "subcase.step-completed"; data: { step: Step; at: Date; gained: Gained } }
  | {
      type: "subcase.step-failed";
      data: { step: Step; at: Date; result: "REFUSED" | "SKIPPED" | "FAILED"; detail: string };
    }
  | { type: "subcase.call-postponed"; data: { call: Call } }
  | { type: "subcase.call-reissued"; data: { call: Call } }
  | { type: "subcase.hotel-refused"; data: { hotelUrn: string; reason: string; providerError?: string } }
  | { type: "subcase.returned"; data: { at: Date } }
  | { type: "subcase.failed"; data: { at: Date } }
  | { type: "subcase.offer-ready"; data: { at: Date } }
  | { type: "subcase.resolved"; data: { at: Date } }
  | { type: "subcase.declined"; data: { at: Date; reason?: string } }
  | { type: "subcase.rolled-back"; data: { at: Date } }
  | { type: "subcase.compensation-failed"; data: { at: Date; step: Step; detail: string } }
  /** `ofLeft`: at the hotel that the group leaves. `bySelf`: its passengers say so. */
  | {
      type: "subcase.stay-noted";
      data: { status: StayReport["state"]; at: Date; ofLeft?: true; bySelf?: true };
    }
  | { type: "subcase.room-lost"; data: { at: Date; hotelUrn: string } }
  | { type: "subcase.settled"; data: Record<string, never> }
  | { type: "subcase.regrouped"; data: Regrouped }
  | { type: "subcase.released"; data: { at: Date; cause: Released } }
  | { type: "subcase.retry-ordered"; data: Record<string, never> }
  | { type: "subcase.ride-noted"; data: RideNote }
  | { type: "subcase.suspended"; data: { at: Date } }
  /** `known`: where the case thinks that the group stands. */
  | { type: "subcase.resumed"; data: { at: Date; known?: KnownStage } }
  | AmendEvent
  | PassengerEvent
  | OddBookingEvent
  | LockEvent
  | SwitchEvent;

/** What a completed step brought or took back. */
export type Gained = Pick<
  Partial<SubCaseState>,
  "reservation" | "payment" | "voucher" | "card" | "ride" | "left" | "assignment" | "untold"
>;

/** Calls sent again are work under way, not a change that a reader should be told of. */
export const technicalEvents: ReadonlySet<string> = new Set<SubCaseEvent["type"]>([
  "subcase.call-postponed",
  "subcase.call-reissued",
  "subcase.lock-changed",
  "subcase.card-used",
  "subcase.card-revealed",
  "subcase.problem-reported",
]);

const without = <K extends keyof SubCaseState>(state: SubCaseState, key: K): SubCaseState => {
  const { [key]: _, ...rest } = state;
  return rest as SubCaseState;
};

/** Of the replays that an operator's client may send. */
const compensationsMax = 20;

const finishStep = (state: SubCaseState, step: Step, change: Partial<StepRecord>): SubCaseState => ({
  ...without(state, "call"),
  steps: state.steps.map((record) =>
    record.name === step && record.completedAt === undefined ? { ...record, ...change } : record,
  ),
});

export const evolve = (before: SubCaseState | undefined, event: SubCaseEvent): SubCaseState => {
  if (event.type === "subcase.opened") return event.data;
  const state = before as SubCaseState;
  switch (event.type) {
    case "subcase.not-required":
      return { ...without(state, "assignment"), status: "NOT_REQUIRED" };
    case "subcase.regrouped":
      return evolveRegrouped(state, event.data);
    case "subcase.stay-amended":
    case "subcase.outgrown":
    case "subcase.choice-outgrown":
    case "subcase.waits-again":
      return evolveAmend(state, event);
    case "subcase.released":
      return evolveReleased(state, event.data);
    case "subcase.assigned":
      return { ...state, assignment: event.data.assignment, candidate: 0 };
    case "subcase.compensation-submitted": {
      const submitted = { ...event.data, round: state.round + 1 };
      return { ...state, compensations: [...state.compensations, submitted].slice(-compensationsMax) };
    }
    case "subcase.processing": {
      const { candidate } = event.data;
      return candidate === undefined
        ? { ...state, status: "ROLLING_BACK" }
        : {
            ...fresh(state),
            status: "PROCESSING",
            round: state.round + 1,
            firstCandidate: candidate,
            candidate,
          };
    }
    case "subcase.step-started": {
      const started = { ...state, steps: [...state.steps, event.data.record] };
      return event.data.call === undefined ? started : { ...started, call: event.data.call };
    }
    case "subcase.step-completed": {
      const { step, at, gained } = event.data;
      const done = { ...finishStep(state, step, { completedAt: at, result: "DONE" }), ...gained };
      return step === "notify" || step === "notify-stay" ? without(done, "untold") : done;
    }
    case "subcase.step-failed": {
      const { step, at, result, detail } = event.data;
      const failed = finishStep(state, step, { completedAt: at, result, detail });
      if (step === "notify-stay" && result === "REFUSED") return without(failed, "untold");
      if (step === "transport" && state.call !== undefined)
        return { ...failed, ride: refusedRide(state.call) };
      if (result === "REFUSED" && (step === "hold" || step === "book"))
        return { ...failed, ...givingUp(state) };
      const isLoad = step === "load-payment" || step === "load-card";
      return isLoad ? { ...failed, loadRefused: state.shape ?? 0 } : failed;
    }
    case "subcase.call-postponed":
    case "subcase.call-reissued":
      return { ...state, call: event.data.call };
    case "subcase.hotel-refused":
      return {
        ...without(state, "reservation"),
        candidate: state.candidate + 1,
        attemptedHotels: [...state.attemptedHotels, event.data],
      };
    case "subcase.returned":
      return {
        ...without(state, "assignment"),
        status: "PENDING",
        returns: state.returns + 1,
        cameBack: true,
      };
    case "subcase.failed":
      return { ...state, status: "FAILED" };
    case "subcase.offer-ready":
      return { ...state, status: "OFFER_READY", offer: { state: "READY", readyAt: event.data.at } };
    case "subcase.resolved":
      return {
        ...state,
        status: "RESOLVED",
        offer: { ...state.offer, state: "ACCEPTED", decidedAt: event.data.at },
      };
    case "subcase.declined": {
      const { at, reason } = event.data;
      const offer = { ...state.offer, state: "DECLINED" as const, decidedAt: at };
      return { ...state, status: "ROLLING_BACK", offer: reason === undefined ? offer : { ...offer, reason } };
    }
    case "subcase.rolled-back":
      return { ...state, status: "DECLINED" };
    case "subcase.compensation-failed":
      return { ...without(state, "call"), status: "COMPENSATION_FAILED" };
    case "subcase.stay-noted": {
      const { status, ofLeft, bySelf } = event.data;
      if (ofLeft && state.left?.reservation !== undefined)
        return { ...state, left: { ...state.left, reservation: { ...state.left.reservation, status } } };
      const { selfCheckIn: _, ...reservation } = state.reservation as Reservation;
      return { ...state, reservation: { ...reservation, status, ...(bySelf && { selfCheckIn: bySelf }) } };
    }
    case "subcase.room-lost":
      return {
        ...state,
        attemptedHotels: [
          ...state.attemptedHotels,
          { hotelUrn: event.data.hotelUrn, reason: "CANCELLED_BY_HOTEL" },
        ],
        status: "ROLLING_BACK",
        roomLost: true,
        offer: { ...state.offer, state: "WITHDRAWN" },
      };
    case "subcase.settled":
      return { ...state, settled: true };
    case "subcase.retry-ordered":
      return { ...state, retryOrdered: true };
    case "subcase.ride-noted":
      return withRideNoted(state, event.data);
    case "subcase.suspended": {
      const closed = { ...state, closedAt: event.data.at, standingSince: event.data.at };
      return state.offer.state === "READY"
        ? { ...closed, offer: { ...state.offer, state: "WITHDRAWN" } }
        : closed;
    }
    case "subcase.resumed": {
      const open = { ...without(without(state, "closedAt"), "retryOrdered"), standingSince: event.data.at };
      const stands = state.status === "OFFER_READY" && state.offer.state === "WITHDRAWN";
      return stands ? { ...open, offer: { ...state.offer, state: "READY" } } : open;
    }
    case "subcase.lock-changed":
      return { ...state, lock: event.data.lock };
    case "subcase.odd-booking":
      return evolveOddBooking(state, event);
    case "subcase.card-used":
    case "subcase.card-revealed":
    case "subcase.problem-reported":
      return evolvePassenger(state, event);
    case "subcase.overridden":
    case "subcase.override-refused":
    case "subcase.switch-begun":
    case "subcase.switch-abandoned":
    case "subcase.switched":
      return evolveSwitch(state, event);
    default:
      return event satisfies never;
  }
};
