/** Owns naming what was done to a chain of the audit trail: where it breaks first, and by what kind of tampering. */

import { type breakAfter, placeWrittenFor, type Tip } from "../../../actors/audit/chain.ts";
import type { AuditEntry } from "../../../actors/audit/entry.ts";
import type { Trail } from "../../../actors/audit/trail.ts";
import { urn } from "../../../schemas/urn.ts";

export const breakKinds = ["changed", "removed", "inserted", "reordered", "truncated", "headless"] as const;

/** The first place of a chain that is not as it was written. */
export interface Break {
  kind: (typeof breakKinds)[number];
  chain: string;
  sequence: number;
  /** URN of the entry that stands there; undefined: none does. */
  entry?: string;
  /** One sentence for a person. */
  detail: string;
}

/** An entry that does not go on from the tip before it, and in which way. */
export interface Fault {
  tip: Tip;
  entry: AuditEntry;
  how: NonNullable<ReturnType<typeof breakAfter>>;
}

export const breakAt = (
  kind: Break["kind"],
  chain: string,
  sequence: number,
  entry: Pick<AuditEntry, "_id"> | null | undefined,
  detail: string,
): Break => ({
  kind,
  chain,
  sequence,
  ...(entry == null ? {} : { entry: urn("event", entry._id) }),
  detail,
});

/** Looks at the entries around a fault; reads the chain again where an order has to be told from a loss. */
export const diagnose = async (trail: Trail, chain: string, { tip, entry, how }: Fault): Promise<Break> => {
  const here = tip.sequence + 1;
  switch (how) {
    case "gap":
      return breakAt("removed", chain, here, undefined, "no entry stands here, and later ones do");
    case "place":
      return breakAt("inserted", chain, entry.sequence, entry, "a second entry where there is one already");
    case "link":
      return tip.sequence === 0
        ? breakAt("changed", chain, here, entry, "a first entry that was written after another one")
        : breakAt(
            "changed",
            chain,
            tip.sequence,
            await at(trail, chain, tip.sequence),
            "it is not the entry that the next one was written after",
          );
    case "digest":
      return diagnoseContent(trail, chain, here, entry);
  }
};

const at = ({ entries }: Trail, chain: string, sequence: number): Promise<AuditEntry | null> =>
  entries.findOne({ chain, sequence }, { hint: "chain" });

/** Of an entry that was not written for its place: was it written for another, or is its content another one? */
const diagnoseContent = async (
  trail: Trail,
  chain: string,
  here: number,
  entry: AuditEntry,
): Promise<Break> => {
  const last = await trail.entries.findOne({ chain }, { sort: { sequence: -1 }, hint: "chain" });
  const farthest = (last?.sequence ?? here) + 1;
  const writtenFor = placeWrittenFor(entry, farthest);
  if (writtenFor === undefined) {
    const next = await at(trail, chain, here + 1);
    const isPushedOn = next !== null && placeWrittenFor(next, farthest) === here;
    return isPushedOn
      ? breakAt("inserted", chain, here, entry, "the entry that was written here stands after it")
      : breakAt("changed", chain, here, entry, "its content is not what was written");
  }
  if (writtenFor < here)
    return breakAt(
      "inserted",
      chain,
      writtenFor,
      await at(trail, chain, writtenFor),
      `the entry that was written here stands at ${here}`,
    );
  for await (const other of trail.entries.find({ chain, sequence: { $gt: here } }, { hint: "chain" }))
    if (placeWrittenFor(other, here) === here)
      return breakAt("reordered", chain, here, entry, `it was written as entry ${writtenFor}`);
  return breakAt("removed", chain, here, undefined, "the entries after it were moved up");
};
