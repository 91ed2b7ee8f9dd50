/** Owns a sub-case's lock: a lease that one operator holds, renews, gives back or lets lapse, and the token that counts up with it. */
import {
  type GroupLock,
  isLive,
  type LockFacts,
  type LockView,
  lockedProblem,
  staleToken,
  type UnlockedView,
} from "../../schemas/lock.ts";
import { urn } from "../../schemas/urn.ts";
import { NotYet, type Outgoing, type Received, type Timer } from "../runtime/decider.ts";
import type { Story } from "./saga.ts";
import type { SubCaseState } from "./state.ts";

export interface Lock {
  /** Of the newest lease, from 1; the next one's is greater by one, whoever takes it. */
  fencingToken: number;
  /** Absent: given back, taken away or lapsed. */
  held?: {
    /** The operator's URN. */
    by: string;
    /** When it was taken, or renewed last. */
    at: Date;
    expiresAt: Date;
  };
}

export interface LockSettings {
  /** How long a lease runs unless its holder renews it. */
  lockLeaseMs: number;
}

export interface LockEvent {
  type: "subcase.lock-changed";
  data: { lock: Lock; how: "TAKEN" | "RENEWED" | "GIVEN_BACK" | "BROKEN" | "LAPSED" };
}

/** The lease as other actors hear of it; undefined: nobody holds one. It may have lapsed by now. */
export const groupLock = ({ lock }: Pick<SubCaseState, "lock">): GroupLock | undefined =>
  lock?.held === undefined
    ? undefined
    : {
        lockedBy: lock.held.by,
        fencingToken: lock.fencingToken,
        expiresAt: lock.held.expiresAt.toISOString(),
      };

const liveLock = (state: Pick<SubCaseState, "lock">, now: Date): GroupLock | undefined => {
  const lock = groupLock(state);
  return lock !== undefined && isLive(lock, now) ? lock : undefined;
};

/** What a read shows. A lease that has lapsed is nobody's, whether or not its timer has come by. */
export const lockFacts = (state: Pick<SubCaseState, "lock">, now: Date): LockFacts => {
  const lock = liveLock(state, now);
  return { lockedBy: lock?.lockedBy ?? null, lockExpiresAt: lock?.expiresAt ?? null };
};

/**
 * Takes the lease, or renews the holder's own under the same token.
 * @throws Problem conflict/sub-case-locked while another operator holds it
 */
export const takeLock = (story: Story, { principal }: Received, { lockLeaseMs }: LockSettings): void => {
  const { state, now } = story;
  const lock = liveLock(state, now);
  if (lock !== undefined && lock.lockedBy !== principal.urn)
    throw lockedProblem(lock, now, "Wait until the lock is given back or has lapsed.");
  const fencingToken = lock?.fencingToken ?? (state.lock?.fencingToken ?? 0) + 1;
  const held = { by: principal.urn, at: now, expiresAt: new Date(now.getTime() + lockLeaseMs) };
  const how = lock === undefined ? "TAKEN" : "RENEWED";
  story.tell({ type: "subcase.lock-changed", data: { lock: { fencingToken, held }, how } });
};

/**
 * Gives the holder's lease back; a supervisor who says why takes another's away. Where nobody holds one nothing is to do.
 * @throws Problem conflict/sub-case-locked for another's, conflict/stale-fencing-token for a lease of one's own before this one
 */
export const giveBackLock = (story: Story, { principal, data, fencingToken }: Received): void => {
  const { state, now } = story;
  const lock = liveLock(state, now);
  if (lock === undefined) return;
  const isOwn = lock.lockedBy === principal.urn;
  const mayBreak = principal.role === "OPS_SUPERVISOR" || principal.role === "ADMIN";
  const { reason } = data as { reason?: string };
  if (!isOwn && !(mayBreak && reason !== undefined))
    throw lockedProblem(
      lock,
      now,
      mayBreak ? "To take its lock away, say why." : "Its lock is theirs to give back.",
    );
  if (isOwn && fencingToken !== undefined && fencingToken !== lock.fencingToken) throw staleToken();
  endLease(story, isOwn ? "GIVEN_BACK" : "BROKEN");
};

/** The data of `sub-case.release-lock`. */
export interface Release {
  /** The operator's URN. */
  holder: string;
  /** ISO 8601 UTC: a lease that was taken or renewed later is not meant. Absent: any is. */
  upTo?: string;
}

/** Its holder has left. What is another's by now, or was taken after coming back, stays. */
export const releaseLock = (story: Story, { data }: Received): void => {
  const { held } = story.state.lock ?? {};
  const { holder, upTo } = data as Release;
  if (held === undefined || held.by !== holder) return;
  if (upTo === undefined || held.at <= new Date(upTo)) endLease(story, "GIVEN_BACK");
};

/**
 * The timer of a lease; of one that was renewed or has ended since it is nothing.
 * @throws NotYet where this process's clock is behind that of the one that sent it
 */
export const lapseLock = (story: Story, { data }: Received): void => {
  const { expiresAt } = story.state.lock?.held ?? {};
  if (expiresAt === undefined || expiresAt.toISOString() !== (data as { dueAt?: string }).dueAt) return;
  if (story.now < expiresAt) throw new NotYet("The lease has not lapsed yet.");
  endLease(story, "LAPSED");
};

const endLease = (story: Story, how: LockEvent["data"]["how"]): void => {
  const fencingToken = story.state.lock?.fencingToken ?? 0;
  story.tell({ type: "subcase.lock-changed", data: { lock: { fencingToken }, how } });
};

export const lockTimers = ({ lock }: Pick<SubCaseState, "lock">): Timer[] =>
  lock?.held === undefined ? [] : [{ name: "lapse-lock", dueAt: lock.held.expiresAt }];

/** The same lease, a little longer. */
export const isRenewal = (event: { type: string }): boolean =>
  event.type === "subcase.lock-changed" && (event as LockEvent).data.how === "RENEWED";

/** For whoever watches the case: every change, a renewal too. */
export const lockChanged = (state: SubCaseState, { data: { lock } }: LockEvent): Outgoing => ({
  to: "internal",
  type: "subcase.lock-changed",
  id: state.subCaseId,
  caseId: state.caseId,
  data: {
    caseUrn: urn("case", state.caseId),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    airport: state.airport,
    status: state.status,
    lockedBy: lock.held?.by ?? null,
    fencingToken: lock.fencingToken,
    expiresAt: lock.held?.expiresAt.toISOString() ?? null,
  },
});

/**
 * The lease as its holder is told of it.
 * @throws Problem conflict/sub-case-locked, conflict/stale-fencing-token where a command comes again after its lease has ended
 */
export const lockView = (
  state: SubCaseState,
  { principal, version, now }: { principal: Received["principal"]; version: number; now: Date },
): LockView => {
  const lock = liveLock(state, now);
  if (lock === undefined) throw staleToken();
  if (lock.lockedBy !== principal.urn)
    throw lockedProblem(lock, now, "Your lock has ended, and another operator has taken it.");
  const leftMs = Date.parse(lock.expiresAt) - now.getTime();
  return {
    subCaseUrn: urn("sub-case", state.subCaseId),
    ...lock,
    expiresInSeconds: Math.floor(leftMs / 1000),
    version,
  };
};

export const unlockedView = (state: SubCaseState, version: number, now: Date): UnlockedView => ({
  subCaseUrn: urn("sub-case", state.subCaseId),
  lockedBy: lockFacts(state, now).lockedBy,
  version,
});
