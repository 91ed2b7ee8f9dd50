/** Owns what a case keeps of policy limits that were loosened for it; the rules are in `relax.ts`. */
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { ForReview } from "../../schemas/review.ts";
import type { Tier } from "../../schemas/vocabulary.ts";

export interface Relaxation {
  /** Whose it is: told again, it is nothing new. */
  commandId: string;
  fields: RelaxedFields;
  /** For whose sake. It holds for all of their tiers' groups. */
  groupIds: string[];
  /** The tiers whose policies it loosens. Absent: all of the case's (kept before tiers were told apart). */
  tiers?: Tier[];
  reason: string;
  by: string;
  at: Date;
}

export interface RelaxEvent {
  type: "case.policy-relaxed";
  data: Relaxation;
}

/** The review item that a wave is run about, and which of its groups. */
export type WaveReview = ForReview & { groupIds: string[] };
