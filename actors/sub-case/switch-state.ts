/** Owns what a sub-case keeps while its group changes hotels: what it leaves stands until the new room is booked. */
import type { Assignment } from "../../schemas/assignment.ts";
import type { SubCaseState } from "./state.ts";

/** What the group has at the hotel that it leaves. Its card stays with it. */
export type Left = Pick<
  SubCaseState,
  | "status"
  | "assignment"
  | "candidate"
  | "firstCandidate"
  | "reservation"
  | "payment"
  | "voucher"
  | "ride"
  | "offer"
>;

/** A supervisor's choice of a hotel, and the saga that carries it out. */
export interface Override {
  waveId: string;
  overrideId: string;
  round: number;
  /** A review item stands open for it. */
  onDesk?: true;
}

/** The names of an override, absent where a wave that was run again has chosen. */
export type OverrideNames = Partial<Pick<Override, "waveId" | "overrideId" | "onDesk">>;

export type SwitchEvent =
  /** For a group without a room. `book` false: it waits for book-rooms. */
  | {
      type: "subcase.overridden";
      data: OverrideNames & { assignment: Omit<Assignment, "book">; book: boolean };
    }
  | { type: "subcase.override-refused"; data: { waveId: string; overrideId: string; state: string } }
  | { type: "subcase.switch-begun"; data: OverrideNames & { at: Date; assignment: Omit<Assignment, "book"> } }
  | { type: "subcase.switch-abandoned"; data: { at: Date; hotelUrn: string } }
  | { type: "subcase.switched"; data: { at: Date } };

const leftOf = (state: SubCaseState): Left => {
  const { status, assignment, candidate, firstCandidate, reservation, payment, voucher, ride, offer } = state;
  const left = { status, assignment, candidate, firstCandidate, reservation, payment, voucher, ride, offer };
  return Object.fromEntries(
    Object.entries(left).filter(([, value]) => value !== undefined),
  ) as unknown as Left;
};

const withoutRoom = ({
  reservation: _r,
  payment: _p,
  voucher: _v,
  ride: _i,
  left: _l,
  ...rest
}: SubCaseState): SubCaseState => rest;

const named = ({ waveId, overrideId, onDesk }: OverrideNames, round: number): { override?: Override } =>
  waveId === undefined || overrideId === undefined
    ? {}
    : { override: { waveId, overrideId, round, ...(onDesk === undefined ? {} : { onDesk }) } };

/** Whether the item by which the hotel of this round was chosen is on a desk still; a room that is lost later is another matter. */
export const isOnDesk = ({
  override,
  round,
  roomLost,
}: Pick<SubCaseState, "override" | "round" | "roomLost">): boolean =>
  override?.onDesk === true && override.round === round && roomLost === undefined;

export const evolveSwitch = (state: SubCaseState, event: SwitchEvent): SubCaseState => {
  switch (event.type) {
    case "subcase.overridden": {
      const { assignment, book } = event.data;
      const round = book ? state.round + 1 : state.round;
      return { ...state, assignment, candidate: 0, ...named(event.data, round) };
    }
    case "subcase.override-refused":
      return state;
    case "subcase.switch-begun": {
      const round = state.round + 1;
      return {
        ...withoutRoom(state),
        left: leftOf(state),
        status: "PROCESSING",
        round,
        assignment: event.data.assignment,
        candidate: 0,
        firstCandidate: 0,
        offer: { state: "PENDING" },
        ...named(event.data, round),
      };
    }
    case "subcase.switch-abandoned":
      return { ...withoutRoom(state), ...(state.left as Left) };
    case "subcase.switched": {
      const { left, ...rest } = state;
      const { status, offer } = left as Left;
      return { ...rest, status, offer };
    }
    default:
      return event satisfies never;
  }
};

/** What passengers and desks are shown: the room that stands, until another one does. */
export const shown = (state: SubCaseState): SubCaseState => {
  const { left, closedAt } = state;
  if (left === undefined || state.status !== "PROCESSING") return state;
  const isWithdrawn = closedAt !== undefined && left.offer.state === "READY";
  return {
    ...withoutRoom(state),
    ...left,
    ...(isWithdrawn ? { offer: { ...left.offer, state: "WITHDRAWN" } } : {}),
  };
};
