/** Owns the hotels that supervisors have chosen over a wave's own: what a wave keeps of them, and what it shows. */
import type { OverrideNote } from "../../schemas/override-note.ts";
import type { ForReview } from "../../schemas/review.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { WaveState } from "./state.ts";

export interface KeptOverride {
  overrideId: string;
  groupId: string;
  subCaseId: string;
  tier: Tier;
  hotelUrn: string;
  hotelName: string;
  /** Where the wave had placed the group; absent: nowhere. */
  formerHotelUrn?: string;
  rooms: number;
  nights: number;
  totalMinor: number;
  currency: string;
  reason: string;
  by: string;
  at: Date;
  /** Set: chosen about this review item, which hears how it ends. */
  review?: ForReview;
  /** Absent: it is being carried out. */
  outcome?: OverrideNote["outcome"];
  endedAt?: Date;
  /** The group's state at the end. */
  groupState?: string;
}

export type OverrideEvent =
  | { type: "wave.overridden"; data: KeptOverride }
  | { type: "wave.override-ended"; data: OverrideNote & { at: Date } };

export const evolveOverride = (state: WaveState, event: OverrideEvent): WaveState => {
  const overrides = state.overrides ?? [];
  if (event.type === "wave.overridden") return { ...state, overrides: [...overrides, event.data] };
  const { overrideId, outcome, state: groupState, at } = event.data;
  return {
    ...state,
    overrides: overrides.map((one) =>
      one.overrideId === overrideId ? { ...one, outcome, groupState, endedAt: at } : one,
    ),
  };
};

/** Of each group the newest choice that was carried out. */
export const standingOverrides = ({ overrides = [] }: WaveState): Map<string, KeptOverride> =>
  new Map(overrides.filter(({ outcome }) => outcome === "DONE").map((one) => [one.groupId, one]));
