/** Owns the last minute of the event log in memory: bounded by age and number, found by case, in the order of arrival. */
import type { TailEntry, TailStream } from "../../streams/tail.ts";
import { covers, isBehind, type Position } from "./position.ts";

export interface LiveEntry extends TailEntry {
  /** Undefined: it is about no case. */
  caseId: string | undefined;
  /** Grows from entry to entry, over both streams, in this process. */
  order: number;
  /** Behind it is this entry, and all that arrived before. */
  position: Position;
}

export interface Missed {
  entries: LiveEntry[];
  /** False: what has left the ring may have belonged to it. */
  complete: boolean;
}

export interface RingLimits {
  /** Kept for this long after they were published, by the server's clock. */
  keptMs: number;
  entriesMax: number;
}

export class Ring {
  readonly #limits: RingLimits;
  readonly #byCase = new Map<string, LiveEntry[]>();
  #entries: LiveEntry[] = [];
  /** Entries in front of this one have left. */
  #first = 0;
  #order = 0;
  #newestMs = 0;
  #floor: Position = { EVENTS: 0, INTERNAL: 0 };
  #position: Position = { EVENTS: 0, INTERNAL: 0 };
  #crowdedOut = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  /** Of the newest entry. */
  get position(): Position {
    return this.#position;
  }

  /** {@link LiveEntry.order} of the newest one; 0: there was none. */
  get newestOrder(): number {
    return this.#order;
  }

  get size(): number {
    return this.#entries.length - this.#first;
  }

  /** Entries that left before their time. */
  get crowdedOut(): number {
    return this.#crowdedOut;
  }

  /** Empty, with everything up to here unknown to it. */
  beginAt(position: Position): void {
    this.#byCase.clear();
    this.#entries = [];
    this.#first = 0;
    this.#floor = position;
    this.#position = position;
  }

  add(entry: TailEntry, caseId: string | undefined): LiveEntry {
    const { stream, sequence } = entry;
    const position = { ...this.#position, [stream]: sequence };
    const added: LiveEntry = { ...entry, caseId, order: ++this.#order, position };
    this.#position = position;
    this.#newestMs = Math.max(this.#newestMs, entry.atMs);
    this.#entries.push(added);
    if (caseId !== undefined) {
      const ofCase = this.#byCase.get(caseId);
      if (ofCase === undefined) this.#byCase.set(caseId, [added]);
      else ofCase.push(added);
    }
    this.#letGo();
    return added;
  }

  /** The ids of the cases that it has entries of. */
  caseIds(): Iterable<string> {
    return this.#byCase.keys();
  }

  /** All of a case, in the order of arrival. */
  ofCase(caseId: string): readonly LiveEntry[] {
    return this.#byCase.get(caseId) ?? [];
  }

  *[Symbol.iterator](): Generator<LiveEntry> {
    for (let i = this.#first; i < this.#entries.length; i++) yield this.#entries[i] as LiveEntry;
  }

  /** Whether everything after the position is in it: nothing has left since, and the position is none of the future. */
  reachesBackTo(position: Position): boolean {
    return covers(position, this.#floor) && covers(this.#position, position);
  }

  after(caseId: string, position: Position): Missed {
    const complete = this.reachesBackTo(position);
    const entries = this.ofCase(caseId).filter((entry) => !isBehind(entry, position));
    return { entries, complete };
  }

  #letGo(): void {
    const oldest = this.#newestMs - this.#limits.keptMs;
    for (;;) {
      const entry = this.#entries[this.#first];
      if (entry === undefined) break;
      const isOld = entry.atMs < oldest;
      if (!isOld && this.size <= this.#limits.entriesMax) break;
      if (!isOld) this.#crowdedOut++;
      this.#forget(entry);
    }
    // Now and then: each moves all that are left.
    if (this.#first > 1024 && this.#first > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  #forget({ stream, sequence, caseId }: LiveEntry): void {
    this.#entries[this.#first] = undefined as never;
    this.#first++;
    this.#floor = { ...this.#floor, [stream]: sequence };
    if (caseId === undefined) return;
    const ofCase = this.#byCase.get(caseId);
    ofCase?.shift();
    if (ofCase?.length === 0) this.#byCase.delete(caseId);
  }
}

/** Two streams' entries of before, each in its order, as they were published. */
export const inOrder = (heard: Readonly<Record<TailStream, readonly TailEntry[]>>): TailEntry[] => {
  const { EVENTS, INTERNAL } = heard;
  const merged: TailEntry[] = [];
  for (let e = 0, i = 0; e < EVENTS.length || i < INTERNAL.length; ) {
    const event = EVENTS[e];
    const internal = INTERNAL[i];
    const isEvent = internal === undefined || (event !== undefined && event.atMs <= internal.atMs);
    merged.push((isEvent ? event : internal) as TailEntry);
    if (isEvent) e++;
    else i++;
  }
  return merged;
};
