/** Owns the chain of digests: how an entry is bound to the one before it, and how a break in the chain shows. Pure. */
import { createHash } from "node:crypto";
import { deserialize, serialize } from "bson";
import canonicalize from "canonicalize";
import { urn } from "../../schemas/urn.ts";
import type { AuditEntry, Report } from "./entry.ts";

/** How far a chain goes: the last entry's place and digest. */
export interface Tip {
  sequence: number;
  digest: string;
}

/** The chain's end as it was last told, in a document of its own: what shows that entries were cut off. */
export interface ChainHead extends Tip {
  /** The chain's name. */
  _id: string;
}

/** Before the first entry. */
export const origin: Tip = { sequence: 0, digest: "0".repeat(64) };

/** A case's entries are a chain; those of no case are the airline's, one for all: a chain left out as a whole would not be missed. */
export const chainOf = (tenant: string, { caseId }: Pick<Report, "caseId">): string =>
  caseId === undefined ? urn("airline", tenant) : urn("case", caseId);

/** The next entry of a chain: the report as a database will give it back, bound to what is before it. */
export const linkTo = (tip: Tip, chain: string, report: Report): AuditEntry => {
  const linked = {
    ...asKept(report),
    chain,
    sequence: tip.sequence + 1,
    previousDigest: tip.digest,
  };
  return { ...linked, digest: digestOf(linked) };
};

/** BSON tells some values in another way than JSON (half a surrogate pair): the digest is of what will be read. */
const asKept = (report: Report): Report =>
  deserialize(serialize(report, { ignoreUndefined: true })) as unknown as Report;

/** SHA-256 over RFC 8785 of all members but the digest itself. @throws Error for what JSON cannot tell */
const digestOf = ({ digest: _, ...entry }: Omit<AuditEntry, "digest"> & { digest?: string }): string =>
  createHash("sha256")
    .update(canonicalize(entry) ?? "")
    .digest("hex");

/**
 * How an entry breaks the chain that has come as far as `tip`; undefined: it goes on with it. `gap`: entries before it are
 * missing. `place`: it stands where none may. `digest`: it is not what was written there. `link`: it was written after another.
 */
export const breakAfter = (tip: Tip, entry: AuditEntry): "gap" | "place" | "digest" | "link" | undefined => {
  if (!Number.isInteger(entry.sequence) || entry.sequence <= tip.sequence) return "place";
  if (entry.sequence > tip.sequence + 1) return "gap";
  if (!isAsWritten(entry)) return "digest";
  return entry.previousDigest === tip.digest ? undefined : "link";
};

/** The place for which an entry was written, looked for up to `last`; undefined: for none, its content was changed. */
export const placeWrittenFor = (entry: AuditEntry, last: number): number | undefined => {
  for (let sequence = 1; sequence <= last; sequence++)
    if (isAsWritten({ ...entry, sequence })) return sequence;
  return undefined;
};

/** What JSON cannot tell (not a number, a lone half of a character) was never written by us. */
const isAsWritten = (entry: AuditEntry): boolean => {
  try {
    return digestOf(entry) === entry.digest;
  } catch {
    return false;
  }
};
