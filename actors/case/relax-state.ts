/** Owns what a case keeps of policy limits that were loosened for it; the rules are in `relax.ts`. */
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { ForReview } from "../../schemas/review.ts";

export interface Relaxation {
  /** Whose it is: told again, it is nothing new. */
  commandId: string;
  fields: RelaxedFields;
  /** For whose sake. It binds the whole case all the same. */
  groupIds: string[];
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
