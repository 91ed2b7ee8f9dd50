/** Owns the live end of the event log in one process: EVENTS and INTERNAL read once, from some time back on; what is made of it is the hearers'. */
import type { Logger } from "pino";
import type { EventRecord } from "../schemas/command.ts";
import type { Streams } from "./connection.ts";
import { type Followed, type FollowedStream, follow } from "./follow.ts";
import { parseSubject, typeFilter } from "./subjects.ts";

export const tailStreams = ["EVENTS", "INTERNAL"] as const;
export type TailStream = (typeof tailStreams)[number];

/** One event as it stands in the log. */
export interface TailEntry {
  stream: TailStream;
  /** In its stream; grows from entry to entry of it. */
  sequence: number;
  /** When it was published, by the server's clock, in milliseconds since 1970. */
  atMs: number;
  /** The airline's code. */
  tenant: string;
  /** `<entity>.<what>`. */
  type: string;
  /** On EVENTS the case's id, on INTERNAL that of who tells it; empty where there is none. */
  id: string;
  event(): EventRecord;
}

export interface TailOptions {
  /** The types that are read of each stream. */
  types: Readonly<Record<TailStream, readonly string[]>>;
  /** How far back it begins. */
  backMs: number;
  /** Each stream in its order, each entry once; between the two in the order of arrival. */
  hear(entry: TailEntry): void;
  /** A stream was made anew, so that its sequences begin again. */
  onCountedAnew(): void;
  log: Logger;
}

export interface Tail {
  /** The last sequence of each stream before its beginning. */
  readonly beginning: Readonly<Record<TailStream, number>>;
  /** False while a stream is not read; what stands there then is heard later. */
  live(): boolean;
  close(): Promise<void>;
}

/** Returns once everything of before that stood there is heard. @throws Error when a stream cannot be followed */
export const openTail = async (streams: Streams, options: TailOptions): Promise<Tail> => {
  const begun = await Promise.allSettled(tailStreams.map((stream) => followOne(streams, stream, options)));
  const followed = begun.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async (): Promise<void> => {
    await Promise.all(followed.map((one) => one.stop()));
  };
  const failed = begun.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  const [events, internal] = followed as [FollowedStream, FollowedStream];
  const beginning = { EVENTS: events.beginning, INTERNAL: internal.beginning };
  return { beginning, live: () => followed.every((one) => one.live()), close };
};

const roots = { EVENTS: "evt", INTERNAL: "int" } as const;

const followOne = (
  streams: Streams,
  stream: TailStream,
  { types, backMs, hear, onCountedAnew, log }: TailOptions,
): Promise<FollowedStream> =>
  follow(streams, {
    stream,
    filterSubjects: types[stream].map((type) => typeFilter(roots[stream], type)),
    backMs,
    onCountedAnew,
    log,
    handle: (message) => hear(entryOf(stream, message)),
  });

const entryOf = (stream: TailStream, { subject, sequence, atMs, json }: Followed): TailEntry => {
  const parsed = parseSubject(subject);
  if (parsed === undefined) throw new TypeError(`not a subject of ours: ${subject.slice(0, 100)}`);
  const { tenant, owner, what, id = "" } = parsed;
  let event: EventRecord | undefined;
  return {
    stream,
    sequence,
    atMs,
    tenant,
    type: `${owner}.${what}`,
    id,
    event: () => {
      event ??= json() as EventRecord;
      return event;
    },
  };
};
