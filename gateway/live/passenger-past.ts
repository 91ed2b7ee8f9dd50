/** Owns what a group's passengers have missed longer ago than this process remembers: read from the log by the group's own subjects, within bounds. */
import type { EventRecord } from "../../schemas/command.ts";
import type { Streams } from "../../streams/connection.ts";
import { type LogEntry, readLog } from "../../streams/read-log.ts";
import { eventSubject, internalSubject } from "../../streams/subjects.ts";
import { type TailStream, tailStreams } from "../../streams/tail.ts";
import { passengerHeardTypes } from "./passenger-mapping.ts";
import type { Position } from "./position.ts";
import { liveTypes } from "./types.ts";

/** More than any group hears in a night; whoever has missed more is told how things stand. */
const entriesMax = 200;
/** Reads at once: each costs the server a consumer. */
const readsMax = 4;
/** So long somebody who comes back may wait for it. */
const withinMs = 3000;

export interface PastEntry {
  event(): EventRecord;
  position: Position;
}

export interface GroupInLog {
  tenant: string;
  caseId: string;
  subCaseId: string;
}

/** After one position and up to another, in order. Undefined: that cannot be told, or not soon enough. */
export type ReadPast = (
  group: GroupInLog,
  after: Position,
  upTo: Position,
) => Promise<PastEntry[] | undefined>;

export const createReadPast = (streams: Streams): ReadPast => {
  let reads = 0;
  const readBoth = async (group: GroupInLog, after: Position, upTo: Position) => {
    if (reads >= readsMax) return undefined;
    reads += 1;
    try {
      const both = await Promise.all(
        tailStreams.map((stream) => readOne(streams, stream, group, after, upTo)),
      );
      return both.includes(undefined) ? undefined : merged(both.flat() as Placed[], after);
    } finally {
      reads -= 1;
    }
  };
  return (group, after, upTo) => {
    const { promise, resolve, reject } = Promise.withResolvers<PastEntry[] | undefined>();
    const timer = setTimeout(resolve, withinMs, undefined);
    readBoth(group, after, upTo)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
    return promise;
  };
};

interface Placed extends LogEntry {
  stream: TailStream;
}

/** Of EVENTS a case's subjects, of INTERNAL the group's: what else stands there is passed over unread. */
const subjectsOf = (stream: TailStream, { tenant, caseId, subCaseId }: GroupInLog): string[] =>
  liveTypes[stream]
    .filter((type) => passengerHeardTypes.includes(type))
    .map((type) =>
      stream === "EVENTS" ? eventSubject(tenant, type, caseId) : internalSubject(tenant, type, subCaseId),
    );

/** Undefined: something may have aged out since, the position is none of this stream's, or there is too much. */
const readOne = async (
  streams: Streams,
  stream: TailStream,
  group: GroupInLog,
  after: Position,
  upTo: Position,
): Promise<Placed[] | undefined> => {
  const from = after[stream];
  if (from >= upTo[stream]) return [];
  const { state } = await streams.manager.streams.info(stream);
  if (from + 1 < state.first_seq || from > state.last_seq) return undefined;
  const part = { stream, filterSubjects: subjectsOf(stream, group), after: from };
  const found: Placed[] = [];
  for await (const { entries, left } of readLog(streams, part, entriesMax)) {
    found.push(
      ...entries.filter(({ sequence }) => sequence <= upTo[stream]).map((one) => ({ ...one, stream })),
    );
    if (found.length + left > entriesMax) return undefined;
  }
  return found;
};

/** As they were published; each with the place that is behind it. */
const merged = (entries: Placed[], after: Position): PastEntry[] => {
  let position = after;
  return entries
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.sequence - b.sequence)
    .map(({ stream, sequence, json }) => {
      position = { ...position, [stream]: sequence };
      return { position, event: () => json() as EventRecord };
    });
};
