/** Owns what a sub-case keeps of dates that were changed: those that it should have, until its room has them. */
import type { StayAmended } from "../../schemas/reaccommodate.ts";
import type { SubCaseState } from "./state.ts";

/** Its room is for other dates than it needs one for, and its hotel has not refused them yet. */
export const isUnmet = ({ wanted, unfit, assignment }: SubCaseState): boolean =>
  wanted !== undefined &&
  !unfit &&
  assignment !== undefined &&
  (wanted.checkIn !== assignment.stay.checkIn || wanted.checkOut !== assignment.stay.checkOut);

/** Hotels that were sought for other dates are forgotten where none is booked; who needed none may need one now. */
export const evolveAmended = (
  state: SubCaseState,
  { shape, nextFlight, stay }: StayAmended,
): SubCaseState => {
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
  if (state.status === "NOT_REQUIRED" && stay !== undefined && stay.nights > 0 && !state.mergedInto) {
    const {
      released: _r,
      reservation: _s,
      voucher: _v,
      card: _c,
      ride: _i,
      payment: _p,
      ...waiting
    } = amended;
    return { ...waiting, status: "PENDING", offer: { state: "PENDING" } };
  }
  if ((state.status !== "PENDING" && state.status !== "FAILED") || !isUnmet(amended)) return amended;
  const { assignment: _a, ...waiting } = amended;
  return waiting;
};
