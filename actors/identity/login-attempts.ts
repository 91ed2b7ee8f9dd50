/**
 * Owns the limits on logging in with a booking reference (contract, "Limits"): attempts per client address and per
 * reference, in sliding windows, exact over all processes and restarts.
 */
import { createHmac, hkdfSync } from "node:crypto";
import type { Collection } from "mongodb";
import type { AttemptLimit } from "../../config/limits.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ActorContext } from "../runtime/host.ts";
import { KeyedQueue } from "../runtime/serial.ts";

/** Lost races in a row before the caller is told to come back. */
const racesMax = 20;

/** Of one address or reference. Neither stands in it: only a keyed digest, which nobody can go through without the key. */
interface AttemptsDocument {
  _id: string;
  revision: number;
  /** Those that counted and may still matter, oldest first. */
  attempts: { id: string; at: Date }[];
  /** When the last of them no longer matters. */
  expiresAt: Date;
}

export const loginAttemptIndexes = [{ name: "ttl", key: { expiresAt: 1 }, expireAfterSeconds: 0 }] as const;

/** Milliseconds until another attempt is allowed; 0: now. Of a window, its end is out and its start is in. */
export const waitMs = (
  attempts: readonly { at: Date }[],
  { max, windowMs }: AttemptLimit,
  now: Date,
): number => {
  const times = attempts.map(({ at }) => at.getTime()).filter((at) => at > now.getTime() - windowMs);
  const oldestThatCounts = times.sort((a, b) => b - a)[max - 1];
  return oldestThatCounts === undefined ? 0 : oldestThatCounts + windowMs - now.getTime();
};

export interface LoginAttempt {
  tenant: string;
  /** Tells this attempt from every other. */
  id: string;
  address: string;
  /** In its one written form. */
  pnr: string;
}

/** @throws Problem rate/exceeded; the attempt is then counted nowhere */
export type CountLoginAttempt = (attempt: LoginAttempt) => Promise<void>;

/** What of its actor's context it needs. */
export interface LoginAttemptParts extends Pick<ActorContext, "documents" | "clock"> {
  config: Pick<ActorContext["config"], "loginAttempts" | "sealKey">;
}

interface Counter {
  key: string;
  limit: AttemptLimit;
  whom: string;
}

export const createLoginAttempts = (context: LoginAttemptParts): CountLoginAttempt => {
  const { address: perAddress, pnr: perPnr } = context.config.loginAttempts;
  // A key of its own, so that what seals secrets does nothing else.
  const key = Buffer.from(hkdfSync("sha256", context.config.sealKey, "", "login attempts", 32));
  const digest = (kind: string, text: string): string =>
    `${kind}-${createHmac("sha256", key).update(`${kind}\n${text}`).digest("base64url")}`;
  // Of this process' own attempts none loses a race to another.
  const queue = new KeyedQueue();
  const attempt: CountLoginAttempt = async ({ tenant, id, address, pnr }) => {
    const collection = context.documents.tenant(tenant).collection<AttemptsDocument>("loginAttempts");
    const ofAddress: Counter = { key: digest("address", address), limit: perAddress, whom: "address" };
    const ofPnr: Counter = { key: digest("pnr", pnr), limit: perPnr, whom: "booking reference" };
    for (let race = 0; race < racesMax; race++) {
      const now = context.clock.now();
      const [addressHeld, pnrHeld] = await Promise.all([
        collection.findOne({ _id: ofAddress.key }),
        collection.findOne({ _id: ofPnr.key }),
      ]);
      refuseOver([ofAddress, addressHeld], [ofPnr, pnrHeld], now);
      if (!(await count(collection, ofAddress, addressHeld, id, now))) continue;
      if (await count(collection, ofPnr, pnrHeld, id, now)) return;
      // Another process was first at the reference: it may have used up the limit, so this counts for neither.
      await collection.updateOne(
        { _id: ofAddress.key },
        { $pull: { attempts: { id } }, $inc: { revision: 1 } },
      );
    }
    throw new Problem("rate/exceeded", "Many log in with this right now. Repeat in a moment.", {
      retryAfterSeconds: 1,
    });
  };
  return (given) => queue.run(`${given.tenant}/${given.address}`, () => attempt(given));
};

/** @throws Problem rate/exceeded naming the limit that makes wait longest */
const refuseOver = (
  first: [Counter, AttemptsDocument | null],
  second: [Counter, AttemptsDocument | null],
  now: Date,
): void => {
  const waits = [first, second].map(([{ limit, whom }, held]) => ({
    limit,
    whom,
    ms: waitMs(held?.attempts ?? [], limit, now),
  }));
  const [longest] = waits.sort((a, b) => b.ms - a.ms);
  if (longest === undefined || longest.ms === 0) return;
  const { limit, whom, ms } = longest;
  const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1000));
  throw new Problem(
    "rate/exceeded",
    `The limit is ${limit.max} logins in ${inWords(limit.windowMs)} with one ${whom}. Come back in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
};

const inWords = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;

/** One write that only succeeds on what was read. False: another writer was first. */
const count = async (
  collection: Collection<AttemptsDocument>,
  { key, limit }: Counter,
  held: AttemptsDocument | null,
  id: string,
  now: Date,
): Promise<boolean> => {
  const since = now.getTime() - limit.windowMs;
  const attempts = [...(held?.attempts ?? []).filter(({ at }) => at.getTime() > since), { id, at: now }];
  const expiresAt = new Date(now.getTime() + limit.windowMs);
  try {
    if (held === null) {
      await collection.insertOne({ _id: key, revision: 1, attempts, expiresAt });
      return true;
    }
    const { revision } = held;
    const changed = await collection.updateOne(
      { _id: key, revision },
      { $set: { attempts, expiresAt, revision: revision + 1 } },
    );
    return changed.matchedCount === 1;
  } catch (error) {
    if ((error as { code?: number }).code === 11000) return false;
    throw error;
  }
};
