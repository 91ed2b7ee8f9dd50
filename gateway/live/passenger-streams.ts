/**
 * Owns the passengers' streams of one gateway process: which group each follows, what they hear of the log and in which order, when
 * they end. Nobody polls: the log is read once for all, and what an event changes is read once for its group.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { PassengerSnapshot } from "../../schemas/passenger-events.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ClosedCases } from "../../streams/closed-cases.ts";
import type { Revocations } from "../../streams/revocations.ts";
import { passengerSessionLifetimeSeconds } from "../auth/passenger-token.ts";
import { requireOpenCase } from "../checks/case-standing.ts";
import type { LiveLog } from "./log.ts";
import { type Group, type GroupName, Groups, type HeardEntry, heardBy } from "./passenger-groups.ts";
import { type Heard, heardOf } from "./passenger-mapping.ts";
import type { ReadPast } from "./passenger-past.ts";
import { noneServed, type StreamLimits, StreamPlaces } from "./passenger-places.ts";
import {
  claimedPlace,
  type KnownOffer,
  PassengerStream,
  placeIn,
  type Revocation,
  type Session,
} from "./passenger-stream.ts";
import { isBehind, type Position } from "./position.ts";
import type { LiveEntry } from "./ring.ts";

/** Reads a group: the session's own as it is now, or the one that is named. @throws Problem not-found/resource, upstream/unavailable */
export type ReadGroup = (
  tenant: string,
  whose: Session | { subCaseId: string },
) => Promise<PassengerSnapshot>;

export interface PassengerStreamParts {
  live: LiveLog;
  readPast: ReadPast;
  readGroup: ReadGroup;
  closedCases: ClosedCases;
  revocations: Revocations;
  limits: StreamLimits;
  now: () => Date;
  log: Logger;
}

/** What a proxy in front waits for is longer. */
const beatMs = 15_000;
/** Streams are beaten in so many lots, one after the other. */
const lots = 15;
/** Another gateway may have heard of more than this one has: until it has, or for this long. */
const behindMs = 2000;
/** A change of groups is written group by group. */
const regroupedWithinMs = 10_000;
const regroupedAgainMs = 250;
/** Beyond this a group's streams begin anew: what has to be read for it does not come. */
const untoldMax = 1000;

export class PassengerStreams {
  readonly #parts: PassengerStreamParts;
  /** Each with what it leaves behind. */
  readonly #streams = new Map<PassengerStream, () => void>();
  readonly #groups = new Groups();
  readonly #places: StreamPlaces;
  readonly #lots: Set<PassengerStream>[] = Array.from({ length: lots }, () => new Set());
  readonly #stops: (() => void)[];
  #opened = 0;
  #lot = 0;
  #closed = false;

  constructor(parts: PassengerStreamParts) {
    this.#parts = parts;
    this.#places = new StreamPlaces(parts.limits);
    const beat = setInterval(() => this.#beat(), beatMs / lots);
    beat.unref();
    this.#stops = [
      () => clearInterval(beat),
      parts.live.onEntry((entry) => this.#hear(entry)),
      parts.live.onCountedAnew(() => this.#endAll()),
      parts.closedCases.onChange((caseId) => this.#check(caseId)),
      parts.revocations.onWithdrawal(() => this.#check()),
    ];
  }

  /**
   * Its queue is to be sent, and told when the client goes away.
   * @throws Problem rate/exceeded, upstream/unavailable, not-found/resource
   */
  async open(session: Session, lastEventId: string): Promise<PassengerStream> {
    const stream = this.#admit(session);
    try {
      const claimed = claimedPlace(lastEventId);
      if (claimed !== undefined) await this.#parts.live.reached(claimed, behindMs);
      await this.#join(stream, lastEventId);
    } catch (error) {
      stream.queue.end();
      throw error;
    }
    // What came between the request's own check and now has found no stream to end.
    const over = this.#overBecause(session);
    if (over !== undefined) stream.revoke(over);
    return stream;
  }

  /** Open ones. */
  get size(): number {
    return this.#streams.size;
  }

  /** Every client comes back to another process, and says how far it has come. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#stops) stop();
    this.#endAll();
  }

  #admit(session: Session): PassengerStream {
    if (this.#closed) throw noneServed();
    const giveBack = this.#places.take(session);
    const lot = this.#lots[this.#opened++ % lots] as Set<PassengerStream>;
    const stream = new PassengerStream(session, () => this.#forget(stream));
    const { tokenIssuedAt = 0 } = session.principal;
    const expiresAtMs = 1000 * (tokenIssuedAt + passengerSessionLifetimeSeconds);
    const expiry = setTimeout(() => stream.revoke("EXPIRED"), expiresAtMs - this.#parts.now().getTime());
    expiry.unref();
    lot.add(stream);
    this.#streams.set(stream, () => {
      clearTimeout(expiry);
      lot.delete(stream);
      giveBack();
    });
    return stream;
  }

  #forget(stream: PassengerStream): void {
    this.#streams.get(stream)?.();
    this.#streams.delete(stream);
    this.#groups.leave(stream);
  }

  /**
   * Follows the group that the session's passenger is in now: from where the client was, where that can be told, else from a
   * snapshot on.
   */
  async #join(stream: PassengerStream, lastEventId: string): Promise<void> {
    const { live, readGroup } = this.#parts;
    const { tenant, caseId = "" } = stream.session.principal;
    // Before the read: what is heard from here on is told beside what it shows.
    const at = live.position();
    const { subCaseId, me, offer } = await readGroup(tenant, stream.session);
    const group = { tenant, caseId, subCaseId };
    const place = placeIn(lastEventId, subCaseId);
    const isResumed = place !== undefined && (await this.#resume(stream, group, place, offerOf(offer)));
    if (!isResumed) {
      stream.follow(subCaseId, at);
      this.#noted(stream, stream.snapshot({ me, offer }));
    }
    await this.#catchUp(stream, group);
  }

  /** False: nobody can tell any more what was missed. */
  async #resume(
    stream: PassengerStream,
    group: GroupName,
    place: Position,
    offer: KnownOffer,
  ): Promise<boolean> {
    const { live, readPast, log } = this.#parts;
    if (live.after(group.caseId, place).complete) {
      stream.follow(group.subCaseId, place);
      return true;
    }
    const past = await readPast(group, place, live.position()).catch((error) => {
      log.warn({ tenant: group.tenant, err: error }, "what a passenger has missed could not be read");
      return undefined;
    });
    if (past === undefined) return false;
    const all = past.map((entry) => ({ entry, heard: heardOf(entry.event()) }));
    if (all.some(({ heard }) => heard === "members-changed")) return false;
    stream.follow(group.subCaseId, place);
    const shows = lastShowing(all);
    for (const { entry, heard } of all)
      if (heard !== "members-changed")
        this.#noted(stream, stream.tell(heard, heard === shows ? offer : undefined, entry.position));
    return true;
  }

  /** Until nothing is left that the stream has not been told; from then on it is told with its group. */
  async #catchUp(stream: PassengerStream, group: GroupName): Promise<void> {
    const { live } = this.#parts;
    while (!stream.queue.ended) {
      const missed = heardBy(live.after(group.caseId, stream.position).entries, group);
      if (missed.length === 0) {
        stream.position = live.position();
        this.#groups.enter(stream, group);
        return;
      }
      const shows = lastShowing(missed);
      const offer = shows && (await this.#readOffer(group));
      for (const { entry, heard } of missed) {
        if (heard === "members-changed") return this.#rejoin(stream);
        this.#noted(stream, stream.tell(heard, heard === shows ? offer : undefined, entry.position));
      }
    }
  }

  #hear(entry: LiveEntry): void {
    const group = this.#groups.hear(entry);
    if (group === undefined) return;
    if (group.waiting.length > untoldMax) for (const stream of [...group.streams]) stream.queue.end();
    else if (!group.telling) void this.#tellAll(group);
  }

  async #tellAll(group: Group): Promise<void> {
    group.telling = true;
    while (group.waiting.length > 0) {
      const entries = group.waiting.splice(0);
      const shows = lastShowing(entries);
      const offer = shows && (await this.#readOffer(group));
      for (const one of entries) this.#tellGroup(group, one, one.heard === shows ? offer : undefined);
    }
    group.telling = false;
  }

  #tellGroup(group: Group, { entry, heard }: HeardEntry, offer: KnownOffer | undefined): void {
    for (const stream of [...group.streams]) {
      // It joined after this was heard, and has been told.
      if (isBehind(entry, stream.position)) continue;
      if (heard === "members-changed") void this.#rejoin(stream);
      else this.#noted(stream, stream.tell(heard, offer, entry.position));
    }
  }

  /** Undefined: it cannot be read now, and clients get it themselves. */
  async #readOffer({ tenant, subCaseId }: GroupName): Promise<KnownOffer | undefined> {
    try {
      return offerOf((await this.#parts.readGroup(tenant, { subCaseId })).offer);
    } catch (error) {
      this.#parts.log.warn({ tenant, err: error }, "an offer could not be read for its passengers' streams");
      return undefined;
    }
  }

  /** Its passengers are others now: the stream goes where its own one is, and begins anew there. Never rejects. */
  async #rejoin(stream: PassengerStream): Promise<void> {
    this.#groups.leave(stream);
    const { log, now } = this.#parts;
    const untilMs = now().getTime() + regroupedWithinMs;
    while (!stream.queue.ended) {
      try {
        await this.#join(stream, "");
        return;
      } catch (error) {
        if (error instanceof Problem && now().getTime() < untilMs) {
          await delay(regroupedAgainMs);
          continue;
        }
        log.warn({ tenant: stream.session.principal.tenant, err: error }, "a stream has lost its group");
        stream.queue.end();
      }
    }
  }

  #noted(stream: PassengerStream, isTaken: boolean): void {
    const { tenant } = stream.session.principal;
    if (!isTaken) this.#parts.log.info({ tenant }, "a passenger's stream is read too slowly and cut off");
  }

  /** With the place that the process has come to, so that whoever has heard nothing for an hour is not asked what it has missed. */
  #beat(): void {
    for (const stream of this.#lots[this.#lot] ?? []) {
      const group = this.#groups.of(stream);
      if (group === undefined || group.telling) continue;
      stream.position = this.#parts.live.position();
      stream.beat();
    }
    this.#lot = (this.#lot + 1) % lots;
  }

  /** @param ofCase Undefined: all. */
  #check(ofCase?: string): void {
    for (const stream of [...this.#streams.keys()]) {
      const { session } = stream;
      if (ofCase !== undefined && session.principal.caseId !== ofCase) continue;
      const over = this.#overBecause(session);
      if (over !== undefined) stream.revoke(over);
    }
  }

  #overBecause({ principal, presented }: Session): Revocation | undefined {
    const { closedCases, revocations } = this.#parts;
    if (revocations.withdrawalOf(presented) !== undefined) return "REVOKED";
    try {
      requireOpenCase(principal, closedCases);
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return "CASE_CLOSED";
      throw error;
    }
  }

  #endAll(): void {
    for (const stream of [...this.#streams.keys()]) stream.queue.end();
  }
}

/** Of those that are told together: they would all show the offer as it is now, so that one does. Undefined: none would. */
const lastShowing = (entries: readonly { heard: Heard }[]): Heard | undefined =>
  entries.findLast(({ heard }) => heard !== "members-changed" && heard.some(({ showsOffer }) => showsOffer))
    ?.heard;

const offerOf = (offer: PassengerSnapshot["offer"]): KnownOffer => ({
  state: offer.state,
  json: JSON.stringify(offer),
});
