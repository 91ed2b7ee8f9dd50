/** Owns what a group's passengers have missed longer ago than this process remembers: read from the log by the subjects of the group and of its case, within bounds. */
import type { EventRecord } from "../../schemas/command.ts";
import type { Streams } from "../../streams/connection.ts";
import { type LogEntry, readLog } from "../../streams/read-log.ts";
import { eventSubject, internalSubject } from "../../streams/subjects.ts";
import { type TailStream, tailStreams } from "../../streams/tail.ts";
import { passengerHeardTypes, subCaseOf } from "./passenger-mapping.ts";
import type { Position } from "./position.ts";
import { liveTypes } from "./types.ts";

/** More than any group hears in a night; whoever has missed more is told how things stand. */
const entriesMax = 200;
/** Of all groups of the case, whose public events stand under the case's subjects: a thousand groups have told less. */
const lookedAtMax = 20_000;
const windowMax = 500;
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
  const readBoth = async (group: GroupInLog, after: Position, upTo: Position, signal: AbortSignal) => {
    if (reads >= readsMax) return undefined;
    reads += 1;
    try {
      const both = await Promise.all(
        tailStreams.map((stream) => readOne(streams, stream, { group, after, upTo, signal })),
      );
      return both.includes(undefined) ? undefined : merged(both.flat() as Placed[], after);
    } finally {
      reads -= 1;
    }
  };
  return (group, after, upTo) => {
    const { promise, resolve, reject } = Promise.withResolvers<PastEntry[] | undefined>();
    const over = new AbortController();
    const timer = setTimeout(() => {
      over.abort();
      resolve(undefined);
    }, withinMs);
    readBoth(group, after, upTo, over.signal)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
    return promise;
  };
};

interface Placed extends Pick<LogEntry, "sequence" | "at"> {
  stream: TailStream;
  event: EventRecord;
}

interface Asked {
  group: GroupInLog;
  after: Position;
  upTo: Position;
  /** Nobody waits for it any more. */
  signal: AbortSignal;
}

/** Their id is the case's on EVENTS, and on INTERNAL, where a drill or shadow case tells them, too. */
const publicTypes: ReadonlySet<string> = new Set(liveTypes.EVENTS);

/** The case's of what is public, the group's of all else: what else stands there is passed over unread. */
const subjectsOf = (stream: TailStream, { tenant, caseId, subCaseId }: GroupInLog): string[] => {
  const subject = stream === "EVENTS" ? eventSubject : internalSubject;
  return liveTypes[stream]
    .filter((type) => passengerHeardTypes.includes(type))
    .map((type) => subject(tenant, type, publicTypes.has(type) ? caseId : subCaseId));
};

/** Undefined: something may have aged out since, the position is none of this stream's, or there is too much. */
const readOne = async (
  streams: Streams,
  stream: TailStream,
  { group, after, upTo, signal }: Asked,
): Promise<Placed[] | undefined> => {
  const from = after[stream];
  if (from >= upTo[stream]) return [];
  const { state } = await streams.manager.streams.info(stream);
  if (from + 1 < state.first_seq || from > state.last_seq) return undefined;
  const part = { stream, filterSubjects: subjectsOf(stream, group), after: from };
  const found: Placed[] = [];
  let lookedAt = 0;
  for await (const { entries, left } of readLog(streams, part, windowMax)) {
    lookedAt += entries.length;
    const missed = entries.filter(({ sequence }) => sequence <= upTo[stream]);
    found.push(...missed.flatMap((entry) => eventOfGroup(stream, entry, group)));
    if (signal.aborted || found.length > entriesMax || lookedAt + left > lookedAtMax) return undefined;
    if (missed.length < entries.length) break;
  }
  return found;
};

/** Empty: it is another group's of the same case, of which nobody here may hear. */
const eventOfGroup = (
  stream: TailStream,
  { sequence, at, text, json }: LogEntry,
  { subCaseId }: GroupInLog,
): Placed[] => {
  if (!text().includes(subCaseId)) return [];
  const event = json() as EventRecord;
  return subCaseOf(event) === subCaseId ? [{ stream, sequence, at, event }] : [];
};

/** As they were published; each with the place that is behind it. */
const merged = (entries: Placed[], after: Position): PastEntry[] => {
  let position = after;
  return entries
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.sequence - b.sequence)
    .map(({ stream, sequence, event }) => {
      position = { ...position, [stream]: sequence };
      return { position, event: () => event };
    });
};
