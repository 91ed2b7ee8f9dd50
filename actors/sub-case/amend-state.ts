/** Owns what a sub-case keeps of dates that were changed: those that it should have, until its room has them. */
import type { HotelCandidate, SagaTerms, Stay } from "../../schemas/assignment.ts";
import type { StayAmended } from "../../schemas/reaccommodate.ts";
import { fresh } from "./round-state.ts";
import type { SubCaseState } from "./state.ts";

/** What a wave, or a person, has chosen for the group. */
export interface Assigned {
  waveId: string;
  stay: Stay;
  candidates: HotelCandidate[];
  /** As the wave gave them, whatever becomes of the stay. */
  terms: SagaTerms;
  /** The nights that the terms' incidentals are for. Absent: those of `stay`, whose dates no hotel has changed yet. */
  termsNights?: number;
}

export type AmendEvent =
  | { type: "subcase.stay-amended"; data: StayAmended }
  /** `code`: why the hotel does not give it the dates that it needs. */
  | { type: "subcase.outgrown"; data: { code: string } }
  /** A wave's choice was for the group as it is no more. */
  | { type: "subcase.choice-outgrown"; data: { waveId: string } }
  /** It was let go, or is on the way to be, and needs a room after all. */
  | { type: "subcase.waits-again"; data: { at: Date } };

export const evolveAmend = (state: SubCaseState, event: AmendEvent): SubCaseState => {
  switch (event.type) {
    case "subcase.stay-amended":
      return evolveAmended(state, event.data);
    case "subcase.outgrown":
      return { ...state, unfit: true };
    case "subcase.choice-outgrown":
      return state;
    case "subcase.waits-again": {
      const { assignment: _, ...waiting } = fresh(state);
      // A round of its own, so that its note counts after whatever the case has heard of the one before.
      return { ...waiting, status: "PENDING", round: state.round + 1 };
    }
    default:
      return event satisfies never;
  }
};

const isForOtherDates = ({ wanted, assignment }: SubCaseState): boolean =>
  wanted !== undefined &&
  assignment !== undefined &&
  (wanted.checkIn !== assignment.stay.checkIn || wanted.checkOut !== assignment.stay.checkOut);

/** Its room is for other dates than it needs one for, and its hotel has not refused them yet. */
export const isUnmet = (state: SubCaseState): boolean => !state.unfit && isForOtherDates(state);

/** Its hotel has refused the dates that it needs. */
export const isOutgrown = (state: SubCaseState): boolean => state.unfit === true && isForOtherDates(state);

/** What was being given back has an end: it needs a room again by then. */
export const isWantedAgain = ({ released, wanted }: SubCaseState): boolean =>
  released === "REGROUPED" || (released === "LOCAL_RESIDENT" && (wanted?.nights ?? 0) > 0);

/** Hotels that were sought for other dates are forgotten where none is booked; who needed none may need one now. */
const evolveAmended = (state: SubCaseState, { shape, nextFlight, stay }: StayAmended): SubCaseState => {
  const { unfit: _, wanted: __, ...rest } = state;
  const flight = nextFlight && {
    nextFlight: { ...nextFlight, scheduledDeparture: new Date(nextFlight.scheduledDeparture) },
  };
  const amended: SubCaseState = {
    ...rest,
    shape,
    ...flight,
    ...(stay === undefined ? {} : { wanted: stay }),
  };
  const needsRoom = stay !== undefined && stay.nights > 0 && !state.mergedInto;
  if (state.status === "NOT_REQUIRED" && needsRoom)
    return { ...fresh(amended), ...(state.settled && { settled: true }), status: "PENDING" };
  // Who has declined, or whose hotel took the room back, is at that end again.
  const hasAnEnd = state.roomLost === true || state.offer.state === "DECLINED";
  if (state.released === "LOCAL_RESIDENT" && needsRoom && hasAnEnd) {
    const { released: _r, ...ending } = amended;
    return ending;
  }
  if ((state.status !== "PENDING" && state.status !== "FAILED") || !isUnmet(amended)) return amended;
  const { assignment: _a, ...waiting } = amended;
  return waiting;
};
