/** Owns what clients of the operators' channel ask: rooms, which are authorised and kept before they are joined, and newer tokens. */
import type { Logger } from "pino";
import { isLive, type LockedGroup } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Fanout } from "./fanout.ts";
import { type HandshakeParts, identify } from "./handshake.ts";
import type { LiveLog } from "./log.ts";
import { offsetText } from "./offset.ts";
import type { Presence } from "./presence.ts";
import type { LiveEntry } from "./ring.ts";
import { type Named, namedBy, type Room } from "./rooms.ts";
import type { Session } from "./session.ts";

export interface RequestParts extends HandshakeParts {
  fanout: Fanout;
  presence: Presence;
  live: LiveLog;
  now: () => Date;
  log: Logger;
}

/** What an acknowledgement says beside `ok`. Made in the turn in which it is sent: nothing that it leaves out has been told before it. */
export type Answer = () => Record<string, unknown>;

export class Requests {
  readonly #parts: RequestParts;

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  async subscribe(session: Session, payload: unknown): Promise<Answer> {
    const named = namedBy(payload, session.principal);
    return "airport" in named ? this.#watchAirport(session, named) : this.#watchCase(session, named);
  }

  async #watchCase(
    session: Session,
    { caseUrn, caseId }: Extract<Named, { caseUrn: string }>,
  ): Promise<Answer> {
    const { live, cases, fanout, now } = this.#parts;
    const begun = live.ring.newestOrder;
    const [{ airport }, read] = await Promise.all([
      cases.load(session.principal, caseUrn),
      cases.locks(caseId),
    ]);
    const room: Room = { kind: "case", caseId, airport };
    await this.#keepWith(session, room);
    return () => {
      session.join(room);
      const locks = new Map<string, HeldLock>(read.map((lock) => [urn("sub-case", lock.subCaseId), lock]));
      for (const entry of live.ring.ofCase(caseId)) if (entry.order > begun) relock(locks, entry);
      return {
        caseUrn: urn("case", caseId),
        status: cases.status(caseId),
        position: offsetText(fanout.offset),
        locks: lockViews(locks, now()),
        ...this.#watching(caseId),
      };
    };
  }

  async #watchAirport(session: Session, { airport }: { airport: string }): Promise<Answer> {
    const { cases, fanout } = this.#parts;
    const { tenant } = session.principal;
    const open = await cases.loadAirport(tenant, airport);
    const room: Room = { kind: "airport", tenant, airport };
    await this.#keepWith(session, room);
    return () => {
      session.join(room);
      const now = open.map(({ caseUrn }) => ({ caseUrn, status: cases.status(idOf(caseUrn)) }));
      return { airport, position: offsetText(fanout.offset), cases: now };
    };
  }

  /** Before it is joined: whoever has the answer can go on with the room elsewhere. @throws Problem conflict/state */
  async #keepWith(session: Session, room: Room): Promise<void> {
    session.requireRoomFor(room);
    if (session.has(room)) return;
    const { tenant, operatorUrn, rooms } = session.record();
    const joined = { room, since: offsetText(this.#parts.fanout.offset) };
    await this.#write(session.id, { tenant, operatorUrn, rooms: [...rooms, joined] });
  }

  async unsubscribe(session: Session, payload: unknown): Promise<Answer> {
    const named = namedBy(payload, session.principal);
    const { tenant } = session.principal;
    const room: Room =
      "airport" in named
        ? { kind: "airport", tenant, airport: named.airport }
        : { kind: "case", caseId: named.caseId, airport: this.#parts.cases.airport(named.caseId) ?? "" };
    session.leave(room);
    await this.keep(session);
    return () => ({});
  }

  async authenticate(session: Session, payload: unknown): Promise<Answer> {
    const { token } = (typeof payload === "object" && payload !== null ? payload : {}) as { token?: unknown };
    const identity = await identify(token, this.#parts);
    const { tenant, urn: operator } = session.principal;
    if (identity.principal.tenant !== tenant || identity.principal.urn !== operator)
      throw new Problem("auth/invalid-token", "This connection is another operator's.");
    if (session.renew(identity)) await this.keep(session);
    return () => ({ expiresAt: new Date(identity.expiresAtMs).toISOString() });
  }

  /** As another process would go on with it. @throws Problem upstream/unavailable */
  keep(session: Session): Promise<void> {
    return this.#write(session.id, session.record());
  }

  async #write(id: string, record: ReturnType<Session["record"]>): Promise<void> {
    try {
      await this.#parts.sessions.write(id, record);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "a live session was not kept");
      throw new Problem("upstream/unavailable", "The room could not be noted. Try again in a moment.", {
        failedDomain: "streams",
      });
    }
  }

  #watching(caseId: string) {
    const { watchers, watcherCount } = this.#parts.presence.of(caseId);
    return { watchers, watcherCount };
  }
}

type HeldLock = Pick<LockedGroup, "groupId" | "lockedBy" | "expiresAt">;

const lockViews = (locks: ReadonlyMap<string, HeldLock>, now: Date) =>
  [...locks]
    .filter(([, lock]) => isLive(lock, now))
    .map(([subCaseUrn, { groupId, lockedBy, expiresAt }]) => ({ subCaseUrn, groupId, lockedBy, expiresAt }));

/** What the log has told of locks since they were read. */
const relock = (locks: Map<string, HeldLock>, entry: LiveEntry): void => {
  if (entry.type !== "subcase.lock-changed") return;
  const { subCaseUrn, groupId, lockedBy, expiresAt } = entry.event().data as unknown as HeldLock & {
    subCaseUrn: string;
    lockedBy: string | null;
  };
  if (lockedBy === null) locks.delete(subCaseUrn);
  else locks.set(subCaseUrn, { groupId, lockedBy, expiresAt });
};
