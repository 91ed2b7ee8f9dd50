/**
 * Owns which changes one case:updated tells of: those of a case within a window of 100 ms by the log server's clock, so that every
 * gateway process forms the same ones. Sending them is the channel's.
 */
import { type CaseUpdated, namedSubCasesMax } from "../../schemas/live.ts";
import { urn } from "../../schemas/urn.ts";
import type { CaseStatus } from "../../schemas/vocabulary.ts";
import { isUpdated, type Offset } from "./offset.ts";
import { type CaseChange, changeOf, kindOf } from "./operator-mapping.ts";
import { isBehind, type Position } from "./position.ts";
import type { LiveEntry } from "./ring.ts";

export const windowMs = 100;

export const windowOf = ({ atMs }: Pick<LiveEntry, "atMs">): number => Math.floor(atMs / windowMs);

/** One case:updated to be. */
export interface Update {
  caseId: string;
  /** In order; never empty. */
  entries: LiveEntry[];
  /** What whoever has it has been told. */
  offset: Offset;
}

/**
 * One for each case, in the order of their ids, of entries that are told in one go.
 * @param before what was told before @param next what is told with the last of them
 */
export const updatesOf = (entries: Iterable<LiveEntry>, before: Offset, next: Position): Update[] => {
  const byCase = new Map<string, LiveEntry[]>();
  for (const entry of entries) {
    const { caseId = "" } = entry;
    const ofCase = byCase.get(caseId);
    if (ofCase === undefined) byCase.set(caseId, [entry]);
    else ofCase.push(entry);
  }
  const { updates, told } = before;
  const cases = [...byCase].sort(([a], [b]) => (a < b ? -1 : 1));
  return cases.map(([caseId, ofCase], i) => ({
    caseId,
    entries: ofCase,
    offset:
      i === cases.length - 1
        ? { updates: next, told }
        : { updates, told, partial: { next, upToCase: caseId } },
  }));
};

const further = (position: Position, { stream, sequence }: LiveEntry): Position =>
  sequence > position[stream] ? { ...position, [stream]: sequence } : position;

/**
 * What a client lacks.
 * @param changes of all cases that it hears of, in the order of arrival @param until what is told to everybody
 */
export const missedUpdates = (changes: readonly LiveEntry[], offset: Offset, until: Position): Update[] => {
  const lacking = changes.filter((entry) => !isUpdated(entry, offset) && isBehind(entry, until));
  const updates: Update[] = [];
  let at = offset;
  const { partial } = offset;
  if (partial !== undefined) {
    // Of what was told in one go: the rest of it.
    const rest = updatesOf(
      lacking.filter((entry) => isBehind(entry, partial.next)),
      offset,
      partial.next,
    );
    updates.push(...rest);
    at = { updates: partial.next, told: offset.told };
  }
  for (const entries of windowsOf(lacking.filter((entry) => !isBehind(entry, at.updates)))) {
    const next = entries.reduce(further, at.updates);
    updates.push(...updatesOf(entries, at, next));
    at = { updates: next, told: at.told };
  }
  return updates;
};

/** In each stream windows never go back, whatever the server's clock does: else a position between two of them would hide entries. */
const windowsOf = (entries: readonly LiveEntry[]): LiveEntry[][] => {
  const latest = { EVENTS: 0, INTERNAL: 0 };
  const windows = new Map<number, LiveEntry[]>();
  for (const entry of entries) {
    const window = Math.max(windowOf(entry), latest[entry.stream]);
    latest[entry.stream] = window;
    const others = windows.get(window);
    if (others === undefined) windows.set(window, [entry]);
    else others.push(entry);
  }
  return [...windows].sort(([a], [b]) => a - b).map(([, some]) => some);
};

/** @param status of the case after these entries */
export const updatePayload = (
  { caseId, entries }: Pick<Update, "caseId" | "entries">,
  status: CaseStatus,
): CaseUpdated => {
  const changed = new Map<string, NonNullable<CaseChange["subCase"]>>();
  let kind: Pick<CaseUpdated, "kind"> = {};
  for (const entry of entries) {
    const { subCase } = changeOf(entry) ?? {};
    if (subCase !== undefined) changed.set(subCase.subCaseUrn, subCase);
    kind = kindOf(entry.event().data) as Pick<CaseUpdated, "kind">;
  }
  return {
    caseUrn: urn("case", caseId),
    status,
    occurredAt: entries.at(-1)?.event().occurred_at ?? "",
    subCases: [...changed.values()].slice(0, namedSubCasesMax) as CaseUpdated["subCases"],
    subCasesChanged: changed.size,
    ...kind,
  };
};

/**
 * The case's status after an entry, as the log tells it.
 * @param history all that is kept of the case, in order; undefined is returned where that does not tell
 */
export const statusAfter = (history: readonly LiveEntry[], { order }: LiveEntry): CaseStatus | undefined => {
  let told: CaseStatus | undefined;
  for (const entry of history) {
    const change = changeOf(entry);
    if (entry.order > order) {
      if (told !== undefined) return told;
      if (change?.from !== undefined) return change.from;
    } else told = change?.status ?? told;
  }
  return told;
};
