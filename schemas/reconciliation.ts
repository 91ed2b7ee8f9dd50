/** Owns how reconciliation on demand is asked for, and what is told of it; it goes on by itself all the time. */
import type { Money } from "./vocabulary.ts";

/** The data of `vendor-adapter.reconcile`. */
export interface ReconcileNow {
  /** Absent: every vendor of the airline's that is polled. */
  vendor?: string;
}

/** Something that a vendor had on record, and we had not. */
export interface Difference {
  /** Ours, of the room, card or vehicle. */
  reference: string;
  /** Of a vehicle that groups share, the one that it was ordered for first. */
  subCaseUrn: string;
  /** What was on record of the room or vehicle. Absent: nothing was, of this use of a card. */
  from?: string;
  to: string;
  /** Of a card's use. */
  amount?: Money;
  /** ISO 8601 UTC, by the vendor's clock. */
  at: string;
}

export interface ReconciledVendor {
  vendor: string;
  /** `under-way`: a process is at it already; `unfinished`: there is more than the time allowed. Both go on by themselves. */
  outcome: "done" | "under-way" | "unfinished" | "unavailable" | "refused";
  /** Of what went wrong. */
  detail?: string;
  /** How much it had to tell of this airline's, whether it was known or not. */
  told: number;
  differences: Difference[];
}

/** What a sub-case, or a run of vehicles, has on record under a reference. */
export interface OnRecord {
  /** Of a room. */
  room?: string;
  /** Of a card: what is known of its use, by the vendor's ids. */
  cardUses?: string[];
  /** Of a vehicle; what never drives is forgotten once nobody has anything to do with it. */
  ride?: string;
}
