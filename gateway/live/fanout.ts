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
  statusAfter,
  type Update,
  updatePayload,
  updatesOf,
  windowMs,
  windowOf,
} from "./updates.ts";

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
  readonly #waiting = new Set<() => void>();
  readonly #forget: (() => void)[];
  #pending: LiveEntry[] = [];
  #window = 0;
  #timer: NodeJS.Timeout | undefined;
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
    if (isReached()) return Promise.resolve(true);
    return new Promise((settle) => {
      const look = (): void => {
        if (isReached()) done(true);
      };
      const done = (reached: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle(reached);
      };
      const timer = setTimeout(done, caughtUpWithinMs, false);
      this.#waiting.add(look);
    });
  }

  /** Whether all after the offset is kept. */
  isComplete({ updates, told }: Offset): boolean {
    return this.#log.ring.reachesBackTo(updates) && this.#log.ring.reachesBackTo(told);
  }

  /**
   * What a client in these rooms lacks, in order; with the last of it the client has been told what {@link offset} says.
   * @param offset undefined: it is not known what it has been told; then all of the last 60 s
   */
  missed(joined: readonly Joined[], offset: Offset | undefined): Packet[] {
    const from = offset !== undefined && this.isComplete(offset) ? offset : this.#recent(offset);
    const heard = [...this.#concerning(joined)].sort((a, b) => a.entry.order - b.entry.order);
    const packets: Packet[] = [];
    let told = from.told;
    for (const { entry, isNarrow, since } of heard) {
      if (isTold(entry, from) || isTold(entry, since) || !isBehind(entry, this.#told)) continue;
      const one = toldOf(entry);
      if (one === undefined || !(one.wide || isNarrow)) continue;
      if (entry.sequence > told[entry.stream]) told = { ...told, [entry.stream]: entry.sequence };
      packets.push(packetOf(one.event, one.payload, { ...from, told }));
    }
    const changes = heard
      .filter(({ entry, since }) => changeOf(entry) !== undefined && !isBehind(entry, since.updates))
      .map(({ entry }) => entry);
    const updates = missedUpdates(changes, { ...from, told: this.#told }, this.#updated);
    return [...packets, ...updates.map((update) => this.#packetOf(update))];
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
    let newestMs = 0;
    for (const { atMs } of this.#log.ring) newestMs = Math.max(newestMs, atMs);
    const begin: Record<keyof Position, number> = { EVENTS: 0, INTERNAL: 0 };
    for (const { atMs, stream, sequence } of this.#log.ring)
      if (atMs < newestMs - replayedMs) begin[stream] = sequence;
    const isKnown =
      offset !== undefined && covers(this.#told, offset.told) && covers(this.#updated, offset.updates);
    if (!isKnown) return { updates: begin, told: begin };
    const later = (one: Position): Position => ({
      EVENTS: Math.max(one.EVENTS, begin.EVENTS),
      INTERNAL: Math.max(one.INTERNAL, begin.INTERNAL),
    });
    return { ...offset, updates: later(offset.updates), told: later(offset.told) };
  }

  #hear(entry: LiveEntry): void {
    this.#cases.note(entry);
    if (this.#pending.length > 0 && windowOf(entry) > this.#window) this.#flush();
    const told = entry.caseId === undefined ? undefined : toldOf(entry);
    this.#told = entry.position;
    if (told !== undefined) {
      const topics = this.#topicsOf(entry.caseId as string, told.wide);
      if (topics.length > 0) this.#publish(topics, packetOf(told.event, told.payload, this.offset));
    }
    if (entry.caseId !== undefined && changeOf(entry) !== undefined) this.#gather(entry);
    else if (this.#pending.length === 0) this.#updated = entry.position;
    this.#look();
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
    this.#look();
  }

  #packetOf(update: Update): Packet {
    const history = this.#log.ring.ofCase(update.caseId);
    const last = update.entries.at(-1) as LiveEntry;
    const status = statusAfter(history, last) ?? this.#cases.status(update.caseId);
    return packetOf("case:updated", updatePayload(update, status), update.offset);
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

  #look(): void {
    for (const look of this.#waiting) look();
  }

  #beginAnew(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = [];
    this.#updated = this.#log.position();
    this.#told = this.#log.position();
  }
}

/** What a room is called where clients read it. */
export const namedRoom = (room: Room): { caseUrn: string } | { airport: string } =>
  room.kind === "case" ? { caseUrn: urn("case", room.caseId) } : { airport: room.airport };
