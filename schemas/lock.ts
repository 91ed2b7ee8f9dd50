/** Owns the shapes of a sub-case's lock, and the one rule of who may write beside it; taking and giving it back is the sub-case's. */
import Type, { type Static } from "typebox";
import type { Command, Principal } from "./command.ts";
import { Concurrency } from "./concurrency.ts";
import { Problem } from "./problems.ts";
import { Urn } from "./urn.ts";
import { Reason, Timestamp } from "./vocabulary.ts";

/** What a read shows of a lock. */
export const LockFacts = {
  lockedBy: Type.Union([Type.String(), Type.Null()], {
    examples: [null],
    description: "User URN of the operator who holds its lock; null: nobody.",
  }),
  lockExpiresAt: Type.Union([Timestamp, Type.Null()], {
    examples: [null],
    description: "When the lock lapses unless its holder renews it; null: nobody holds it.",
  }),
};
export interface LockFacts {
  lockedBy: string | null;
  lockExpiresAt: string | null;
}

export const LockBody = Type.Object({ version: Concurrency.version });

export const LockView = Type.Object(
  {
    subCaseUrn: Urn("sub-case"),
    fencingToken: Type.Integer({
      minimum: 1,
      description:
        "Send it with your writes. It stays the same while you renew the lock; whoever takes the lock next gets a greater one.",
    }),
    lockedBy: Type.String({ description: "Your user URN." }),
    expiresAt: Timestamp,
    expiresInSeconds: Type.Integer({ minimum: 0, description: "Lock it again before, to renew it." }),
    version: Type.Integer({ description: "Of the sub-case; a lock does not change it." }),
  },
  { title: "Lock" },
);
export type LockView = Static<typeof LockView>;

export const UnlockBody = Type.Object({
  fencingToken: Concurrency.fencingToken,
  reason: Type.Optional({
    ...Reason,
    description: "A supervisor who gives one breaks another operator's lock; it stands in the audit trail.",
  }),
});

export const UnlockedView = Type.Object(
  { subCaseUrn: Urn("sub-case"), lockedBy: LockFacts.lockedBy, version: Type.Integer() },
  { title: "Unlocked" },
);
export type UnlockedView = Static<typeof UnlockedView>;

export const SessionClosed = Type.Object(
  { released: Type.Array(Urn("sub-case"), { description: "Whose locks were yours, and are free now." }) },
  { title: "SessionClosed" },
);
export type SessionClosed = Static<typeof SessionClosed>;

/** A lease that somebody holds, or held until it lapsed, as one actor tells another of it. */
export interface GroupLock {
  /** The holder's user URN. */
  lockedBy: string;
  fencingToken: number;
  /** ISO 8601 UTC; from this moment on it is nobody's. */
  expiresAt: string;
}

/** One of a case's groups that somebody holds. */
export interface LockedGroup extends GroupLock {
  groupId: string;
}

/** A lease ends with its last moment: at `expiresAt` it has lapsed. */
export const isLive = ({ expiresAt }: Pick<GroupLock, "expiresAt">, now: Date): boolean =>
  now.getTime() < Date.parse(expiresAt);

/** Contract, "Errors": 409 with the holder and the whole seconds that are left, at least one. */
export const lockedProblem = ({ lockedBy, expiresAt }: GroupLock, now: Date, todo: string): Problem =>
  new Problem("conflict/sub-case-locked", `Another operator is working on this group. ${todo}`, {
    lockedBy,
    expiresInSeconds: Math.max(1, Math.ceil((Date.parse(expiresAt) - now.getTime()) / 1000)),
  });

/** The lock that goes with this token has lapsed, or was given back or taken away. */
export const staleToken = (): Problem =>
  new Problem(
    "conflict/stale-fencing-token",
    "The lock of this fencing token is not yours any more. Load the group again, lock it, and decide anew.",
  );

/** Who writes, and under which lock they think they do. */
type Writing = Pick<Command, "fencingToken"> & { principal: Pick<Principal, "surface" | "urn"> };

/**
 * Lets an operator write on groups that nobody else has locked. A token is not needed, but one that is given has to be that of a
 * live lock of theirs on one of the groups. Passengers, partners and the service itself are stopped by no lock.
 * @param locks of the groups that the write is about; undefined where nobody has ever locked one
 * @throws Problem conflict/sub-case-locked, conflict/stale-fencing-token
 */
export const requireUnlocked = (
  locks: readonly (GroupLock | undefined)[],
  { principal, fencingToken }: Writing,
  now: Date,
): void => {
  if (principal.surface !== "operator") return;
  const live = locks.flatMap((lock) => (lock !== undefined && isLive(lock, now) ? [lock] : []));
  const others = live.find(({ lockedBy }) => lockedBy !== principal.urn);
  if (others !== undefined)
    throw lockedProblem(others, now, "Wait until the lock is given back or has lapsed.");
  if (fencingToken !== undefined && !live.some((own) => own.fencingToken === fencingToken))
    throw staleToken();
};

/**
 * Lets an operator order something for a case: others' locks keep them from the groups that they name. What is for the whole case
 * is stopped by nobody's lock; a token that is given with it has to be that of a live lock of theirs on one of its groups.
 * @param locks of the case
 * @param order `isWhole`: it is for the whole case, with or without some groups by name
 * @throws Problem conflict/sub-case-locked, conflict/stale-fencing-token
 */
export const requireCaseUnlocked = (
  locks: readonly LockedGroup[],
  { named, isWhole }: { named: readonly string[]; isWhole: boolean },
  writing: Writing,
  now: Date,
): void => {
  const meant = new Set(named);
  const concerned = locks.filter(
    ({ groupId, lockedBy }) => meant.has(groupId) || (isWhole && lockedBy === writing.principal.urn),
  );
  requireUnlocked(concerned, writing, now);
};
