/**
 * Owns what is told to whom in this process: each entry of the log is encoded once and handed to the rooms that it concerns, changes
 * of a case gathered by window. What a client lacks is made of the same entries. Sockets are the channel's.
 */
import type { OperatorEvent } from "../../schemas/live.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import type { Cases } from "./cases.ts";
import type { LiveLog } from "./log.ts";
import { isTold, type Offset, offsetText } from "./offset.ts";
import { changeOf, toldOf } from "./operator-mapping.ts";
import { covers, isBehind, type Position } from "./position.ts";
import type { LiveEntry } from "./ring.ts";
import { keyOf, type Room } from "./rooms.ts";
import {
  missedUpdates,
  Statuses,
  type Update,
  updatePayload,
  updatesOf,
  windowMs,
  windowOf,
} from "./updates.ts";
import { Waiters } from "./waiters.ts";

/** Whom a message is for; nobody is in two of these for the same message. */
export const topicOf = {
  /** Of who watches the case: what goes to them alone. */
  case: (caseId: string) => `n:${caseId}`,
  /** Of who watches the case and not its airport: what goes to both. */
  wide: (caseId: string) => `w:${caseId}`,
  airport: (tenant: string, airport: string) => keyOf({ kind: "airport", tenant, airport }),
  /** Of everybody who is up to date. */
  all: "all",
};

/** For the entries of the other stream, which may be a little later. */
const graceMs = 5;
/** Contract, "Limits". */
const replayedMs = 60_000;
const caughtUpWithinMs = 2000;

/** `text` is a whole packet. */
export interface Packet {
  text: string;
  offset: Offset;
}

/** Engine.IO "message", Socket.IO "event" of the main namespace: no binary is ever sent. The last argument is the client's offset. */
export const packetOf = (event: OperatorEvent, payload: unknown, offset: Offset): Packet => ({
  text: `42${JSON.stringify([event, payload, offsetText(offset)])}`,
  offset,
});

/** A room that a client is in, and from when on. */
export interface Joined {
  room: Room;
  since: Offset;
}

export interface Wires {
  publish(topic: string, text: string): void;
  /** Whether anybody hears it. */
  hasListeners(topic: string): boolean;
}

export class Fanout {
  readonly #log: LiveLog;
  readonly #cases: Cases;
  readonly #wires: Wires;
  readonly #waiting = new Waiters();
  readonly #forget: (() => void)[];
  #pending: LiveEntry[] = [];
  #window = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Where the last 60 s began when this was the newest entry. */
  #begin: { order: number; position: Position } | undefined;
  #updated: Position;
  #told: Position;

  constructor(log: LiveLog, cases: Cases, wires: Wires) {
    this.#log = log;
    this.#cases = cases;
    this.#wires = wires;
    for (const entry of log.ring) cases.note(entry);
    this.#updated = log.position();
    this.#told = log.position();
    this.#forget = [log.onEntry((entry) => this.#hear(entry)), log.onCountedAnew(() => this.#beginAnew())];
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const forget of this.#forget) forget();
  }

  /** What everybody who is up to date has been told. */
  get offset(): Offset {
    return { updates: this.#updated, told: this.#told };
  }

  /**
   * Once this process has told all that the offset says was told: another one may be ahead of it by moments.
   * @returns false: not within two seconds
   */
  reached({ updates, partial, told }: Offset): Promise<boolean> {
    const isReached = (): boolean =>
      covers(this.#updated, partial?.next ?? updates) && covers(this.#told, told);
    return this.#waiting.until(isReached, caughtUpWithinMs);
  }

  /** Whether all after the offset is kept. */
  isComplete({ updates, told }: Offset): boolean {
    return this.#log.ring.reachesBackTo(updates) && this.#log.ring.reachesBackTo(told);
  }

  /**
   * What a client in these rooms lacks of what is told now, in order, encoded as it is taken; with the last of it the client has been
   * told what {@link offset} says at the first.
   * @param offset undefined: it is not known what it has been told; then all of the last 60 s
   */
  *missed(joined: readonly Joined[], offset: Offset | undefined): Generator<Packet> {
    const until = this.offset;
    const from = offset !== undefined && this.isComplete(offset) ? offset : this.#recent(offset);
    const heard = [...this.#concerning(joined)].sort((a, b) => a.entry.order - b.entry.order);
    const statuses = new Statuses();
    const changes: LiveEntry[] = [];
    for (const { entry, since } of heard) {
      const change = changeOf(entry);
      if (change === undefined) continue;
      statuses.note(entry, change);
      if (!isBehind(entry, since.updates)) changes.push(entry);
    }
    let told = from.told;
    for (const { entry, isNarrow, since } of heard) {
      if (isTold(entry, from) || isTold(entry, since) || !isBehind(entry, until.told)) continue;
      const one = toldOf(entry);
      if (one === undefined || !(one.wide || isNarrow)) continue;
      if (entry.sequence > told[entry.stream]) told = { ...told, [entry.stream]: entry.sequence };
      yield packetOf(one.event, one.payload, { ...from, told });
    }
    for (const update of missedUpdates(changes, { ...from, told: until.told }, until.updates)) {
      const last = update.entries.at(-1) as LiveEntry;
      yield this.#packetOf(update, statuses.after(last));
    }
  }

  /** Beside the log: nothing is missed by who does not hear it. */
  tell(topic: string, event: OperatorEvent, payload: unknown): void {
    if (this.#wires.hasListeners(topic))
      this.#wires.publish(topic, packetOf(event, payload, this.offset).text);
  }

  /** In rooms that are told of the same case twice, once; each with what was told before its room was joined. */
  *#concerning(joined: readonly Joined[]) {
    const inCase = new Set<string>();
    for (const { room, since } of joined) {
      if (room.kind !== "case") continue;
      inCase.add(room.caseId);
      for (const entry of this.#log.ring.ofCase(room.caseId)) yield { entry, since, isNarrow: true };
    }
    for (const { room, since } of joined) {
      if (room.kind !== "airport") continue;
      for (const caseId of this.#log.ring.caseIds()) {
        if (inCase.has(caseId) || this.#cases.airport(caseId) !== room.airport) continue;
        if (tenantOfId(caseId) !== room.tenant) continue;
        inCase.add(caseId);
        for (const entry of this.#log.ring.ofCase(caseId)) yield { entry, since, isNarrow: false };
      }
    }
  }

  /** Where the last 60 s begin, or what a client has been told of them. */
  #recent(offset: Offset | undefined): Offset {
    const begin = this.#recentBegin();
    const isKnown =
      offset !== undefined && covers(this.#told, offset.told) && covers(this.#updated, offset.updates);
    if (!isKnown) return { updates: begin, told: begin };
    const later = (one: Position): Position => ({
      EVENTS: Math.max(one.EVENTS, begin.EVENTS),
      INTERNAL: Math.max(one.INTERNAL, begin.INTERNAL),
    });
    return { ...offset, updates: later(offset.updates), told: later(offset.told) };
  }

  /** Looked for once between two entries, however many come back at once. */
  #recentBegin(): Position {
    const { ring } = this.#log;
    if (this.#begin?.order === ring.newestOrder) return this.#begin.position;
    const position: Record<keyof Position, number> = { EVENTS: 0, INTERNAL: 0 };
    for (const { atMs, stream, sequence } of ring)
      if (atMs < ring.newestMs - replayedMs) position[stream] = sequence;
    this.#begin = { order: ring.newestOrder, position };
    return position;
  }

  #hear(entry: LiveEntry): void {
    // Before it counts: what is told of a window has the status that its case had then.
    if (this.#pending.length > 0 && windowOf(entry) > this.#window) this.#flush();
    this.#cases.note(entry);
    const told = entry.caseId === undefined ? undefined : toldOf(entry);
    this.#told = entry.position;
    if (told !== undefined) {
      const topics = this.#topicsOf(entry.caseId as string, told.wide);
      if (topics.length > 0) this.#publish(topics, packetOf(told.event, told.payload, this.offset));
    }
    if (entry.caseId !== undefined && changeOf(entry) !== undefined) this.#gather(entry);
    else if (this.#pending.length === 0) this.#updated = entry.position;
    this.#waiting.look();
  }

  /** The window is over by the local clock once as much time has passed as was left of it when its first entry was published. */
  #gather(entry: LiveEntry): void {
    this.#pending.push(entry);
    if (this.#timer !== undefined) return;
    this.#window = windowOf(entry);
    const leftMs = (this.#window + 1) * windowMs - entry.atMs;
    this.#timer = setTimeout(() => this.#flush(), leftMs + graceMs);
  }

  /** All of it in one turn: nobody joins in between. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    for (const update of updatesOf(pending, this.offset, this.#told)) {
      const topics = this.#topicsOf(update.caseId, true);
      if (topics.length > 0) this.#publish(topics, this.#packetOf(update));
    }
    this.#updated = this.#told;
    this.#waiting.look();
  }

  #packetOf(update: Update, status = this.#cases.loggedStatus(update.caseId)): Packet {
    const payload = updatePayload(update, status ?? this.#cases.status(update.caseId));
    return packetOf("case:updated", payload, update.offset);
  }

  #topicsOf(caseId: string, wide: boolean): string[] {
    const airport = this.#cases.airport(caseId);
    const topics = wide
      ? [
          topicOf.wide(caseId),
          ...(airport === undefined ? [] : [topicOf.airport(tenantOfId(caseId), airport)]),
        ]
      : [topicOf.case(caseId)];
    return topics.filter((topic) => this.#wires.hasListeners(topic));
  }

  #publish(topics: readonly string[], { text }: Packet): void {
    for (const topic of topics) this.#wires.publish(topic, text);
  }

  #beginAnew(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = [];
    this.#begin = undefined;
    this.#updated = this.#log.position();
    this.#told = this.#log.position();
  }
}

/** What a room is called where clients read it. */
export const namedRoom = (room: Room): { caseUrn: string } | { airport: string } =>
  room.kind === "case" ? { caseUrn: urn("case", room.caseId) } : { airport: room.airport };
