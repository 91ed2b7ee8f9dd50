/** Owns what a case knows of allocated groups that are not booked by themselves, and of policies that have changed since. */
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { CaseState } from "./state.ts";

/** An allocated group whose policy leaves the booking to a person. */
export interface ToBook {
  groupId: string;
  /** Whose choice is to be booked. */
  waveId: string;
}

export type BookingEvent =
  | { type: "case.policies-renewed"; data: { policies: Partial<Record<Tier, ResolvedPolicy>> } }
  | {
      type: "case.booking-requested";
      data: { commandId: string; started: (ToBook & { subCaseId: string })[] };
    }
  | {
      type: "case.override-noted";
      data: { groupId: string; waveId: string; progress: string };
    };

/** Without those whose saga has begun, or who wait for another wave. */
export const stillToBook = (toBook: readonly ToBook[] | undefined, gone: ReadonlySet<string>): ToBook[] =>
  (toBook ?? []).filter(({ groupId }) => !gone.has(groupId));

/** With those of a wave; a group is listed once, with its newest choice. */
export const alsoToBook = (
  toBook: readonly ToBook[] | undefined,
  groups: readonly string[],
  waveId: string,
): ToBook[] => [...stillToBook(toBook, new Set(groups)), ...groups.map((groupId) => ({ groupId, waveId }))];

export const evolveBooking = (state: CaseState, event: BookingEvent): CaseState => {
  switch (event.type) {
    case "case.policies-renewed":
      return { ...state, policies: event.data.policies };
    case "case.booking-requested": {
      const { commandId, started } = event.data;
      const groups = started.map(({ groupId }) => groupId);
      return {
        ...state,
        toBook: stillToBook(state.toBook, new Set(groups)),
        lastBooking: { commandId, groups },
      };
    }
    case "case.override-noted": {
      const { groupId, waveId, progress } = event.data;
      return { ...state, progress, toBook: alsoToBook(state.toBook, [groupId], waveId) };
    }
    default:
      return event satisfies never;
  }
};
