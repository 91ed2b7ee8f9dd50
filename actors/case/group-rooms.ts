/** Owns the rooms of a case's groups as one short text, which overviews read in place of the groups. */
import type { CaseState, GroupHead } from "./state.ts";

const roomsZero = "0".charCodeAt(0);

/** One character a group counting up from `0`; groups are small (`groupPassengersMax`). */
const roomsText = (groups: readonly GroupHead[]): string =>
  groups.map(({ stay }) => String.fromCharCode(roomsZero + (stay?.rooms ?? 0))).join("");

/** Rooms of the group at this place in {@link CaseState.rooms}; 0 before it is planned. */
export const roomsAt = (rooms: string | undefined, at: number): number =>
  (rooms?.charCodeAt(at) || roomsZero) - roomsZero;

export const withGroups = (state: CaseState, groups: GroupHead[]): CaseState => ({
  ...state,
  groups,
  rooms: roomsText(groups),
});
