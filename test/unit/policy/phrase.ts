// One written phrase of the synthesis' tables: what it says, and what a draft is to make of it.
import type { PolicyBody } from "../../../schemas/policy.ts";

export interface Phrase {
  says: string;
  /** All of the draft but its name. */
  draft: Omit<PolicyBody, "name">;
  /** Text and pointer of each question; empty: everything was understood. */
  open: readonly (readonly [text: string, pointer: string])[];
}
