/** Owns what every vendor's reconciliation interface lists: changes in their order, by pages. How it is said is the dialect's. */
import type { Settings } from "./faults.ts";
import type { Entry, Ledger } from "./ledger.ts";

const cursorOf = (last: number): string => Buffer.from(`after ${last}`).toString("base64url");

const placeOf = (cursor: string): number | undefined => {
  const [, digits] = /^after (\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

/**
 * @param from `since`: ISO 8601 UTC, inclusive, of the first page; `cursor`: that of the page before
 * @returns undefined for a cursor that is none of ours; `cursor` undefined: this is the end for now
 */
export const changesOf = (
  ledger: Ledger,
  kind: string,
  { ledgerPageSize }: Settings,
  { since, cursor }: { since?: string; cursor?: string },
): { entries: Entry[]; cursor: string | undefined } | undefined => {
  const after = cursor === undefined ? 0 : placeOf(cursor);
  if (after === undefined) return undefined;
  const from = cursor === undefined && since !== undefined ? { since } : { after };
  const { entries, last } = ledger.changes(kind, from, ledgerPageSize);
  return { entries, cursor: last === undefined ? undefined : cursorOf(last) };
};
