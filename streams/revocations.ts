/** Owns what every gateway knows of withdrawn access (the revocation list) and of ended sessions, so that each request is checked without asking anybody. */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { changeEntry, watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

const revocationsName = "revocations";
const endedName = "ended-sessions";
/** An access token of the operators' issuer lives 15 minutes: after this none of an ended session is left. */
const endedForMs = 16 * 60_000;
const endedOptions = { ttlMs: endedForMs };

/** What a revocation is about, and whose tokens it holds for. Exactly one of `subject` and `tokenId` is set. */
export interface Revocation {
  /** The airline's code. */
  tenant: string;
  /** In the one form in which subjects are compared (`schemas/revocation.ts`). */
  subject?: string;
  tokenId?: string;
}

/** Of a token whose signature and claims are good. */
export interface PresentedToken {
  /** The airline's code. */
  tenant: string;
  /** Every name that an entry may give to who it was issued to. */
  subjects: readonly string[];
  tokenId: string;
  /** Unix seconds. */
  issuedAt: number;
}

export type Withdrawal = "revoked" | "ended";

export interface Revocations {
  /** Undefined: nothing is known against it. */
  withdrawalOf(token: PresentedToken): Withdrawal | undefined;
  /** Called once more is known to be withdrawn, for all that was learnt in one turn. @returns how to stop */
  onWithdrawal(hear: () => void): () => void;
}

export interface WatchedRevocations extends Revocations {
  /** False once withdrawals are no longer heard of. */
  live(): boolean;
  close(): void;
}

/** Knows every entry when it returns, and learns of each later one, and of each removal, within moments. */
export const openRevocations = async (streams: Streams, log: Logger): Promise<WatchedRevocations> => {
  const list = new RevocationList();
  const sessions = new EndedSessions();
  const hearers = new WithdrawalHearers(log);
  const entries = await watchBucket<Revocation>(streams, revocationsName, {
    onValue: (id, entry) => {
      list.learn(id, entry);
      hearers.tell();
    },
    onRemoved: (id) => list.forget(id),
    onUnreadable: (id, error) => log.error({ revocation: id, err: error }, "revocation not taken over"),
    onEnd: (error) => log.error({ err: error }, "revocations are not heard of any more"),
  });
  const ends = await watchBucket<EndedSession>(
    streams,
    endedName,
    {
      onValue: (_key, ended, putAt) => {
        sessions.learn(ended, putAt);
        hearers.tell();
      },
      onUnreadable: (key, error) => log.error({ key, err: error }, "end of a session not taken over"),
      onEnd: (error) => log.error({ err: error }, "ends of sessions are not heard of any more"),
    },
    endedOptions,
  ).catch((error) => {
    entries.close();
    throw error;
  });
  return {
    withdrawalOf: (token) => (list.holds(token) ? "revoked" : sessions.hold(token) ? "ended" : undefined),
    onWithdrawal: (hear) => hearers.add(hear),
    live: () => entries.live() && ends.live(),
    close: () => {
      hearers.close();
      entries.close();
      ends.close();
    },
  };
};

/** Whoever hears of withdrawals walks all connections, and after a lost watch the whole list comes again: one telling is for all of a turn. */
export class WithdrawalHearers {
  readonly #log: Pick<Logger, "error">;
  readonly #hearers = new Set<() => void>();
  #telling: NodeJS.Immediate | undefined;

  constructor(log: Pick<Logger, "error">) {
    this.#log = log;
  }

  /** @returns how to stop */
  add(hear: () => void): () => void {
    this.#hearers.add(hear);
    return () => void this.#hearers.delete(hear);
  }

  tell(): void {
    this.#telling ??= setImmediate(() => {
      this.#telling = undefined;
      for (const hear of this.#hearers) {
        try {
          hear();
        } catch (error) {
          this.#log.error({ err: error }, "a withdrawal was not taken over");
        }
      }
    });
  }

  close(): void {
    clearImmediate(this.#telling);
  }
}

/** What entries are about, and which are about it: entries of two documents may have one target for a moment. */
type Targets = Map<string, Set<string>>;

/** The revocation list in one process: a handful of entries, looked at by every request. */
export class RevocationList {
  readonly #byId = new Map<string, Revocation>();
  readonly #byTenant = new Map<string, { subjects: Targets; tokens: Targets }>();

  holds({ tenant, subjects, tokenId }: PresentedToken): boolean {
    const known = this.#byTenant.get(tenant);
    if (known === undefined) return false;
    return known.tokens.has(tokenId) || subjects.some((subject) => known.subjects.has(subject));
  }

  /** @throws TypeError for an entry that makes no sense */
  learn(id: string, entry: Revocation): void {
    const isOne = (text: unknown): boolean => typeof text === "string" && text !== "";
    if (!isOne(entry.tenant) || isOne(entry.subject) === isOne(entry.tokenId))
      throw new TypeError("not an airline and one of subject and token");
    this.forget(id);
    this.#byId.set(id, entry);
    const [targets, target] = this.#placeOf(entry);
    targets.set(target, (targets.get(target) ?? new Set()).add(id));
  }

  forget(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    const [targets, target] = this.#placeOf(entry);
    const ids = targets.get(target);
    ids?.delete(id);
    if (ids?.size === 0) targets.delete(target);
  }

  #placeOf({ tenant, subject, tokenId }: Revocation): [Targets, string] {
    const known = this.#byTenant.get(tenant) ?? { subjects: new Map(), tokens: new Map() };
    this.#byTenant.set(tenant, known);
    return subject === undefined ? [known.tokens, tokenId ?? ""] : [known.subjects, subject];
  }
}

/** Of one subject: every token issued up to a moment is over. */
export interface EndedSession {
  /** The airline's code. */
  tenant: string;
  /** The tokens' `sub`. */
  subject: string;
  /** Unix seconds, the last that is over. */
  issuedUpTo: number;
}

/** The ends of sessions in one process, as long as a token of one can be alive. */
export class EndedSessions {
  /** In the order in which they were learnt, which is that in which they are forgotten. */
  readonly #byKey = new Map<string, EndedSession & { putAt: Date }>();

  hold({ tenant, subjects, issuedAt }: PresentedToken): boolean {
    if (this.#byKey.size === 0) return false;
    return subjects.some((subject) => {
      const ended = this.#byKey.get(`${tenant} ${subject}`);
      return ended !== undefined && issuedAt <= ended.issuedUpTo;
    });
  }

  /**
   * @param putAt by the bucket's clock, which alone says what has aged out of it
   * @throws TypeError for an entry that makes no sense
   */
  learn(ended: EndedSession, putAt: Date): void {
    const { tenant, subject, issuedUpTo } = ended;
    if (typeof tenant !== "string" || typeof subject !== "string" || !Number.isFinite(issuedUpTo))
      throw new TypeError("not an airline, a subject and a time");
    const key = `${tenant} ${subject}`;
    this.#byKey.delete(key);
    this.#byKey.set(key, { ...ended, putAt });
    for (const [old, { putAt: at }] of this.#byKey) {
      if (putAt.getTime() - at.getTime() <= endedForMs) return;
      this.#byKey.delete(old);
    }
  }
}

/**
 * Ends every session of a subject at one airline whose token was issued up to a moment, on all gateways within a second: for a
 * refresh token that was used twice or an account that was disabled. It is no entry of the revocation list and goes by itself,
 * once no such token can be alive. Comes as often and in whatever order: the latest moment stands.
 * @param ended.issuedUpTo Unix seconds
 * @throws Error when it could not be noted; doing it again is safe
 */
export const endSessionsOf = (streams: Streams, ended: EndedSession): Promise<void> => {
  const { tenant, subject, issuedUpTo } = ended;
  // A subject may hold characters that no key can.
  const key = `${tenant}.${createHash("sha256").update(subject).digest("base64url")}`;
  return changeEntry<EndedSession>(
    streams,
    endedName,
    key,
    (held) =>
      held !== undefined && held.issuedUpTo >= issuedUpTo ? undefined : { tenant, subject, issuedUpTo },
    endedOptions,
  );
};

/**
 * Brings the list's entry into line with its document, whoever else does so at the same time.
 * @param id the revocation's
 * @param read what the document says now: undefined when it was lifted
 * @throws Error when it could not be noted; doing it again is safe
 */
export const alignRevocation = (
  streams: Streams,
  id: string,
  read: () => Promise<Revocation | undefined>,
): Promise<void> =>
  changeEntry<Revocation>(streams, revocationsName, id, async (held) => {
    const wanted = await read();
    if (wanted === undefined) return null;
    return held === undefined ? wanted : undefined;
  });

/** The ids of all entries of the list. */
export const listedRevocations = async (streams: Streams): Promise<string[]> => {
  const bucket = await streams.kv.create(revocationsName, { history: 1 });
  const ids: string[] = [];
  for await (const id of await bucket.keys()) ids.push(id);
  return ids;
};
