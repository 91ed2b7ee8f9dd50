/** Owns what the consistency check finds: one thing that is not as it should be, for a person to put right. */

export const findingKinds = [
  /** A passenger of an open case whom nobody looks after. */
  "no-owner",
  /** Messages that a document should have sent long ago. */
  "outbox",
  /** Something that should have woken long ago. */
  "timer",
  /** A command that nobody has carried out for long. */
  "command",
  "dead-letter",
  /** Ours and a vendor's books differ. */
  "ledger",
  /** A vendor's books could not be looked at. */
  "vendor-silent",
  /** A public event that should be on its stream and is not. */
  "event",
  /** A stream that could not be read to its end. */
  "stream-silent",
  /** A case and a sub-case say different things of one group. */
  "disagreement",
  /** A closed case whose passengers' sessions go on. */
  "session",
] as const;
export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  kind: FindingKind;
  /** The airline's code; `none` where a dead letter had none. */
  tenant: string;
  /** URN of the case, or what else it is about. */
  about: string;
  /** One sentence for a person. */
  detail: string;
}
