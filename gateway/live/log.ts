/**
 * Owns what a gateway process knows of the live end of the event log: it reads it once, keeps the last minute of what the live
 * channels need, and tells them of each entry. Whoever comes back is served from here, without a read of the streams.
 */
import type { Logger } from "pino";
import { idOf } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { openTail, type Tail, type TailEntry, type TailStream } from "../../streams/tail.ts";
import { covers, type Position } from "./position.ts";
import { inOrder, type LiveEntry, type Missed, Ring } from "./ring.ts";
import { liveTypes } from "./types.ts";
import { Waiters } from "./waiters.ts";

/** Contract, "Limits": the last 60 s of case:updated; and for how long a position that a client holds may be out of date. */
const keptMs = 90_000;
/** Some 80 MB at the usual size of an entry. */
const entriesMax = 40_000;

export interface LiveLog {
  /** Every entry from now on, in the order of arrival. Returns how to stop. */
  onEntry(hear: (entry: LiveEntry) => void): () => void;
  /** A stream was made anew: positions of before mean nothing any more. */
  onCountedAnew(hear: () => void): () => void;
  /** What is kept of a case after a position. Nothing falls between this and an `onEntry` of the same turn. */
  after(caseId: string, position: Position): Missed;
  /** What is kept, over all cases. */
  readonly ring: Ring;
  position(): Position;
  /** Once this process has heard all up to the position, which may be at once; false: not within the time. */
  reached(position: Position, withinMs: number): Promise<boolean>;
  /** False while the streams are not read. */
  live(): boolean;
  close(): Promise<void>;
}

/** Knows the last minute when it returns. @throws Error when the streams cannot be read */
export const openLiveLog = async (streams: Streams, log: Logger): Promise<LiveLog> => {
  const live = new OpenLog(log);
  const tail = await openTail(streams, {
    types: liveTypes,
    backMs: keptMs,
    hear: (entry) => live.hear(entry),
    onCountedAnew: () => live.countAnew(),
    log,
  });
  live.begin(tail);
  return live;
};

const caseOf = (entry: TailEntry): string | undefined => {
  if (entry.stream === "EVENTS") return entry.id === "" ? undefined : entry.id;
  const { case_urn: caseUrn } = entry.event();
  return caseUrn === undefined ? undefined : idOf(caseUrn);
};

class OpenLog implements LiveLog {
  readonly ring = new Ring({ keptMs, entriesMax });
  readonly #log: Logger;
  readonly #hearing = new Set<(entry: LiveEntry) => void>();
  readonly #countedAnew = new Set<() => void>();
  readonly #waiting = new Waiters();
  /** Of before, until all of it is here. */
  #heard: Record<TailStream, TailEntry[]> | undefined = { EVENTS: [], INTERNAL: [] };
  #tail: Tail | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  hear(entry: TailEntry): void {
    if (this.#heard !== undefined) this.#heard[entry.stream].push(entry);
    else this.#add(entry);
  }

  begin(tail: Tail): void {
    this.#tail = tail;
    const heard = this.#heard ?? { EVENTS: [], INTERNAL: [] };
    this.#heard = undefined;
    this.ring.beginAt(tail.beginning);
    for (const entry of inOrder(heard)) this.#add(entry);
  }

  countAnew(): void {
    this.ring.beginAt({ EVENTS: 0, INTERNAL: 0 });
    this.#log.warn("a stream was made anew: what clients have missed cannot be told any more");
    for (const hear of this.#countedAnew) hear();
  }

  onEntry(hear: (entry: LiveEntry) => void): () => void {
    this.#hearing.add(hear);
    return () => void this.#hearing.delete(hear);
  }

  onCountedAnew(hear: () => void): () => void {
    this.#countedAnew.add(hear);
    return () => void this.#countedAnew.delete(hear);
  }

  after(caseId: string, position: Position): Missed {
    return this.ring.after(caseId, position);
  }

  position(): Position {
    return this.ring.position;
  }

  reached(position: Position, withinMs: number): Promise<boolean> {
    return this.#waiting.until(() => covers(this.ring.position, position), withinMs);
  }

  live(): boolean {
    return this.#tail?.live() ?? false;
  }

  async close(): Promise<void> {
    await this.#tail?.close();
  }

  #add(entry: TailEntry): void {
    const before = this.ring.crowdedOut;
    const added = this.ring.add(entry, caseOf(entry));
    if (before === 0 && this.ring.crowdedOut > 0)
      this.#log.warn({ entriesMax }, "more happens than is kept for who comes back within a minute");
    for (const hear of this.#hearing) {
      try {
        hear(added);
      } catch (error) {
        this.#log.error({ type: entry.type, err: error }, "a live channel has not taken an event");
      }
    }
    this.#waiting.look();
  }
}
