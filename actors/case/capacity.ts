/** Owns the arithmetic of approved rooms: how many there are, which groups have some, and whom the rest is for. */
import { priorityOfGroups } from "./priority-state.ts";
import type { CaseState } from "./state.ts";

/** Of a demand whose rooms may be searched for. */
export const approvedStates: ReadonlySet<string> = new Set(["APPROVED", "PARTIAL", "FULFILLED"]);

/** Demands that a policy or supervisor has approved, in the order of their requests. */
export const approvedDemands = ({ demands }: CaseState): CaseState["demands"] =>
  demands.filter(({ state }) => approvedStates.has(state));

/** A wave and all that it sends stand in one document; what is left over makes the next wave. */
export const waveGroupsMax = 1500;

/** A room was booked: it may have been given back since, or be stuck in a rollback. */
export const bookedStages = "BRDCOMU";

/** Rooms of the groups in any of these stages. */
export const roomsIn = (state: CaseState, stages: string): number =>
  state.groups.reduce(
    (sum, { stay }, i) => sum + (stages.includes(state.progress[i] ?? "?") ? (stay?.rooms ?? 0) : 0),
    0,
  );

/**
 * Indexes of the waiting groups that the approved rooms suffice for: first those that go first, then in the manifest's order; one too
 * large for what is left is passed over. What a failed or declined group had been given is there again.
 */
export const placeable = (state: CaseState): number[] => {
  const approved = approvedDemands(state).reduce((sum, { roomsRequested }) => sum + roomsRequested, 0);
  let left = approved - roomsIn(state, "ABRCOMU");
  return inTurn(state).filter((i) => {
    const stay = state.groups[i]?.stay;
    if (state.progress[i] !== "W" || stay === undefined || stay.rooms > left) return false;
    left -= stay.rooms;
    return true;
  });
};

const inTurn = (state: CaseState): number[] => {
  const first = priorityOfGroups(state);
  const places = state.groups.map((_, i) => i);
  if (first.size === 0) return places;
  const goesFirst = (i: number): boolean => first.has(state.groups[i]?.groupId ?? "");
  return [...places.filter(goesFirst), ...places.filter((i) => !goesFirst(i))];
};
