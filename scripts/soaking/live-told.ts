/** Owns holding what one client of the live channel was told of a case against the event log: each change once, in order, and nothing else. */
import { isDeepStrictEqual } from "node:util";
import { isTold, isUpdated, type Offset, readOffset } from "../../gateway/live/offset.ts";
import { changeOf, toldOf } from "../../gateway/live/operator-mapping.ts";
import { covers } from "../../gateway/live/position.ts";
import type { LiveEntry } from "../../gateway/live/ring.ts";
import { updatePayload } from "../../gateway/live/updates.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { idOf } from "../../schemas/urn.ts";
import type { TailStream } from "../../streams/tail.ts";
import type { LiveEvent } from "./live-client.ts";

export interface LoggedEvent extends EventRecord {
  stream: TailStream;
  sequence: number;
}

/** A case's part of the log, oldest first, as the channel reads it. */
export const entriesOf = (events: readonly LoggedEvent[], caseUrn: string): LiveEntry[] =>
  events
    .filter((event) => event.case_urn === caseUrn)
    .map((event) => ({
      ...event,
      atMs: 0,
      tenant: "",
      id: "",
      caseId: idOf(caseUrn),
      order: 0,
      position: { EVENTS: 0, INTERNAL: 0 },
      event: () => event,
    }));

/**
 * @param entries of the one case that the client watches alone
 * @param from what the acknowledgement of its subscription said: from then on it is told
 * @param events over all its connections, one after another; those that were not gone on with break it
 * @returns what is wrong; empty: nothing
 */
export const wrongIn = (
  entries: readonly LiveEntry[],
  from: string,
  events: readonly LiveEvent[],
): { faults: string[]; last: Offset } => {
  const faults: string[] = [];
  let before = readOffset(from) as Offset;
  for (const { event, payload, offset } of events) {
    const after = readOffset(offset);
    if (after === undefined) {
      faults.push(`${event} has no offset: ${offset}`);
      continue;
    }
    const updated = entries.filter(
      (entry) => changeOf(entry) && isUpdated(entry, after) && !isUpdated(entry, before),
    );
    const told = entries.filter((entry) => toldOf(entry) && isTold(entry, after) && !isTold(entry, before));
    if (event === "case:updated") {
      const caseId = entries[0]?.caseId ?? "";
      const expected = updatePayload({ caseId, entries: updated }, payload.status as never);
      const same = ["subCases", "subCasesChanged"].every((name) =>
        isDeepStrictEqual(payload[name], expected[name as keyof typeof expected]),
      );
      if (updated.length === 0) faults.push(`a case:updated up to ${offset} tells of nothing new`);
      else if (!same)
        faults.push(
          `a case:updated up to ${offset} tells ${JSON.stringify(payload)}, not ${JSON.stringify(expected)}`,
        );
      if (told.length > 0) faults.push(`a case:updated up to ${offset} hides ${told.length} events`);
    } else {
      if (updated.length > 0) faults.push(`${event} up to ${offset} hides ${updated.length} changes`);
      const [one] = told.map((entry) => toldOf(entry));
      const isLogged =
        one?.event === event && isDeepStrictEqual(payload, JSON.parse(JSON.stringify(one.payload)));
      if (told.length > 1 || (told.length === 1 && !isLogged))
        faults.push(
          `${event} up to ${offset} stands for ${told.length} events: ${JSON.stringify(told[0]?.type)}`,
        );
      if (told.length === 0 && toldByLog.test(event)) faults.push(`${event} up to ${offset} is told twice`);
    }
    // What came before the room was joined is of no concern.
    const isOlder = covers(before.updates, after.updates) && covers(before.told, after.told);
    if (!isOlder || after.partial !== undefined) before = after;
  }
  return { faults, last: before };
};

const toldByLog = /^(subcase|graph|notification):/;

/** What of the log the client has not been told. */
export const untold = (entries: readonly LiveEntry[], last: Offset): LiveEntry[] =>
  entries.filter(
    (entry) => (changeOf(entry) && !isUpdated(entry, last)) || (toldOf(entry) && !isTold(entry, last)),
  );
