/** Owns what a sub-case tells a wave of a hotel chosen by hand: the data of `wave.note-override`. */

export interface OverrideNote {
  overrideId: string;
  /** DONE: booked, or allocated where a person books. FAILED: the hotel had no room. REFUSED: nothing was tried. */
  outcome: "DONE" | "FAILED" | "REFUSED";
  /** Of the group, then. */
  state: string;
}
