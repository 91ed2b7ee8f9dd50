/** Owns one operator's live connection from its handshake to its end: its rooms, what it is told when, and until when it may last. */
import type { Socket } from "socket.io";
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { KeptSession, LiveSession } from "../../streams/live-sessions.ts";
import type { PresentedToken } from "../../streams/revocations.ts";
import { type Fanout, type Joined, namedRoom, packetOf, topicOf } from "./fanout.ts";
import { type Offset, offsetText } from "./offset.ts";
import { keyOf, mayStay, type Room } from "./rooms.ts";
import { Wire } from "./wire.ts";

export const roomsMax = 100;
/** A client that takes nothing of a replay for this long is closed. */
const drainedWithinMs = 10_000;
/** What a timer can hold. */
const timerMsMax = 2 ** 31 - 1;

/** Who has shown a token, and until when it is good. */
export interface Identity {
  principal: Principal;
  presented: PresentedToken;
  expiresAtMs: number;
}

/** What a handshake has found out. */
export interface Admitted {
  /** Under which it can be gone on with. */
  id: string;
  identity: Identity;
  /** Rooms of the session before. */
  joined: Joined[];
  /** How they are kept under this id; undefined: not yet. */
  kept: KeptSession | undefined;
  /** What the client says that it was told. */
  offset: Offset | undefined;
  /** All that it lacks is known. */
  complete: boolean;
  resumed: boolean;
}

export type EndReason = "token-expired" | "access-withdrawn" | "logged-out";

/** What a session tells of itself. */
export interface SessionHears {
  onWatch(session: Session, caseId: string): void;
  onUnwatch(session: Session, caseId: string): void;
  /** How many sessions hear a topic: counted up or down. */
  onTopic(topic: string, by: 1 | -1): void;
}

export class Session {
  readonly id: string;
  readonly socket: Socket;
  readonly wire: Wire;
  readonly #fanout: Fanout;
  readonly #hears: SessionHears;
  readonly #now: () => Date;
  readonly #joined = new Map<string, Joined>();
  readonly #topics = new Set<string>();
  /** Cases that it has told to be watched. */
  readonly #watched = new Set<string>();
  /** Tells its writes from those of connections before and after it. */
  readonly #connection: string;
  /** As its rooms were read or written last. */
  kept: KeptSession | undefined;
  #identity: Identity;
  #expiry: NodeJS.Timeout | undefined;
  /** Everything that it has not been told yet will be told to its rooms. */
  #upToDate = false;
  #closed = false;
  #turn: Promise<void> = Promise.resolve();
  /** How often rooms were left. */
  #left = 0;

  constructor(
    socket: Socket,
    { id, identity, joined, kept }: Admitted,
    parts: { fanout: Fanout; hears: SessionHears; now: () => Date },
  ) {
    this.id = id;
    this.kept = kept;
    this.#connection = socket.id;
    this.socket = socket;
    this.wire = new Wire(socket);
    this.#fanout = parts.fanout;
    this.#hears = parts.hears;
    this.#now = parts.now;
    this.#identity = identity;
    for (const one of joined) this.#joined.set(keyOf(one.room), one);
    this.#expireLater();
  }

  get identity(): Identity {
    return this.#identity;
  }

  get principal(): Principal {
    return this.#identity.principal;
  }

  /** Its rooms, and since when. */
  get joined(): Joined[] {
    return [...this.#joined.values()];
  }

  has(room: Room): boolean {
    return this.#joined.has(keyOf(room));
  }

  /** One after another, in the order of the calls; once it is closed, none. @param act never fails */
  inTurn(act: () => Promise<void>): void {
    this.#turn = this.#turn.then(() => (this.#closed ? undefined : act()));
  }

  /** Tells what was missed, no faster than the client takes it, and then joins the rooms: in one turn, so that nothing falls between. */
  async begin({ offset, complete, resumed }: Admitted): Promise<void> {
    let told = offset;
    for (;;) {
      const left = this.#left;
      let hasWaited = false;
      for (const packet of this.#fanout.missed(this.joined, told)) {
        if (!this.wire.keepsUp()) {
          hasWaited = true;
          if (!(await this.wire.drained(drainedWithinMs))) this.wire.end(1008, "too slow");
          if (this.#closed) return;
          // What is left of a room that it is not in any more is not told.
          if (left !== this.#left) break;
        }
        this.wire.send(packet.text);
        told = packet.offset;
      }
      // In the meantime more has happened.
      if (!hasWaited) break;
    }
    if (this.#closed) return;
    this.#upToDate = true;
    this.#hear(topicOf.all);
    for (const { room } of this.joined) this.#enter(room);
    const rooms = this.joined.map(({ room }) => namedRoom(room));
    this.wire.send(packetOf("session:ready", { resumed, complete, rooms }, this.#fanout.offset).text);
  }

  /** From now on. @throws Problem rate/exceeded */
  join(room: Room): void {
    if (this.#closed || this.has(room)) return;
    this.#joined.set(keyOf(room), { room, since: this.#fanout.offset });
    if (this.#upToDate) this.#enter(room);
  }

  /** @throws Problem conflict/state */
  requireRoomFor(room: Room): void {
    if (!this.has(room) && this.#joined.size >= roomsMax)
      throw new Problem("conflict/state", `A connection has ${roomsMax} rooms at most: leave one first.`);
  }

  leave(room: Room): void {
    if (this.#closed || !this.#joined.delete(keyOf(room))) return;
    this.#left++;
    if (room.kind === "case") {
      this.#unhear(topicOf.case(room.caseId));
      this.#unhear(topicOf.wide(room.caseId));
      if (this.#watched.delete(room.caseId)) this.#hears.onUnwatch(this, room.caseId);
      return;
    }
    this.#unhear(topicOf.airport(room.tenant, room.airport));
    if (!this.#upToDate) return;
    for (const { room: other } of this.joined)
      if (other.kind === "case" && other.airport === room.airport) this.#hear(topicOf.wide(other.caseId));
  }

  /** @returns whether rooms were left that the newer token does not open */
  renew(identity: Identity): boolean {
    if (this.#closed) return false;
    this.#identity = identity;
    this.#expireLater();
    const lost = this.joined.filter(({ room }) => !mayStay(room, identity.principal));
    for (const { room } of lost) this.leave(room);
    return lost.length > 0;
  }

  /** Tells why, and closes with 4401. */
  end(reason: EndReason): void {
    this.wire.send(packetOf("session:ended", { reason }, this.#fanout.offset).text);
    this.wire.end(4401, reason);
  }

  /** Its connection is gone. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#expiry);
    for (const topic of this.#topics) this.#hears.onTopic(topic, -1);
    this.#topics.clear();
    for (const caseId of this.#watched) this.#hears.onUnwatch(this, caseId);
    this.#watched.clear();
  }

  /** As another process goes on with it. */
  record(): LiveSession {
    const { tenant, urn } = this.principal;
    const rooms = this.joined.map(({ room, since }) => ({ room, since: offsetText(since) }));
    return { tenant, operatorUrn: urn, rooms, connection: this.#connection };
  }

  #enter(room: Room): void {
    if (room.kind === "case") {
      this.#hear(topicOf.case(room.caseId));
      const { tenant } = this.principal;
      // What goes to both comes by the airport.
      if (!this.has({ kind: "airport", tenant, airport: room.airport }))
        this.#hear(topicOf.wide(room.caseId));
      this.#watched.add(room.caseId);
      this.#hears.onWatch(this, room.caseId);
      return;
    }
    for (const { room: other } of this.joined)
      if (other.kind === "case" && other.airport === room.airport) this.#unhear(topicOf.wide(other.caseId));
    this.#hear(topicOf.airport(room.tenant, room.airport));
  }

  #hear(topic: string): void {
    if (this.#closed || this.#topics.has(topic)) return;
    this.#topics.add(topic);
    this.wire.hear(topic);
    this.#hears.onTopic(topic, 1);
  }

  #unhear(topic: string): void {
    if (!this.#topics.delete(topic)) return;
    this.wire.unhear(topic);
    this.#hears.onTopic(topic, -1);
  }

  #expireLater(): void {
    clearTimeout(this.#expiry);
    const leftMs = this.#identity.expiresAtMs - this.#now().getTime();
    this.#expiry = setTimeout(() => this.end("token-expired"), Math.min(Math.max(0, leftMs), timerMsMax));
  }
}
