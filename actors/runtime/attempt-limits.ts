/**
 * Owns limits on how often something may be done in any time of a length, counted in documents: exact over all processes and
 * restarts. Who is counted, and for what, is the actor's.
 */
import type { Collection } from "mongodb";
import type { AttemptLimit } from "../../config/limits.ts";
import { Problem } from "../../schemas/problems.ts";

/** Lost races in a row before the caller is told to come back. */
const racesMax = 20;

/** Of one counter. */
export interface AttemptsDocument {
  /** The counter's key. */
  _id: string;
  revision: number;
  /** Those that counted and may still matter, oldest first. */
  attempts: { id: string; at: Date }[];
  /** When the last of them no longer matters. */
  expiresAt: Date;
}

/** Of a collection of counters. */
export const attemptIndexes = [{ name: "ttl", key: { expiresAt: 1 }, expireAfterSeconds: 0 }] as const;

export interface AttemptCounter {
  key: string;
  limit: AttemptLimit;
  /** As in "The limit is 5 logins with one address in 15 min". */
  what: string;
}

/** Milliseconds until another attempt is allowed; 0: now. Of a window, its end is out and its start is in. */
export const waitMs = (
  attempts: readonly { at: Date }[],
  { max, windowMs }: AttemptLimit,
  now: Date,
): number => {
  if (max === 0) return windowMs;
  const times = attempts.map(({ at }) => at.getTime()).filter((at) => at > now.getTime() - windowMs);
  const oldestThatCounts = times.sort((a, b) => b - a)[max - 1];
  return oldestThatCounts === undefined ? 0 : oldestThatCounts + windowMs - now.getTime();
};

/**
 * Counts in all of them, or in none. Whoever counts one after another in a process loses no race to itself.
 * @param id tells this attempt from every other: the same again is not counted again
 * @throws Problem rate/exceeded naming the limit that makes wait longest
 */
export const countAttempt = async (
  collection: Collection<AttemptsDocument>,
  id: string,
  counters: readonly AttemptCounter[],
  now: () => Date,
): Promise<void> => {
  for (let race = 0; race < racesMax; race++) {
    const at = now();
    const held = await Promise.all(counters.map(({ key }) => collection.findOne({ _id: key })));
    const open = counters.flatMap((counter, i) => {
      const document = held[i] ?? null;
      return document?.attempts.some((attempt) => attempt.id === id) ? [] : [{ counter, document }];
    });
    refuseOver(open, at);
    const counted: AttemptCounter[] = [];
    for (const { counter, document } of open) {
      if (!(await count(collection, counter, document, { id, at }))) break;
      counted.push(counter);
    }
    if (counted.length === open.length) return;
    // Another process was first at one of them: it may have used up the limit, so this counts for none.
    await takeAttemptBack(collection, id, counted);
  }
  throw new Problem("rate/exceeded", "Many do this at the same moment. Repeat in a moment.", {
    retryAfterSeconds: 1,
  });
};

/** As if it had not been made. */
export const takeAttemptBack = async (
  collection: Collection<AttemptsDocument>,
  id: string,
  counters: readonly Pick<AttemptCounter, "key">[],
): Promise<void> => {
  for (const { key } of counters)
    await collection.updateOne({ _id: key }, { $pull: { attempts: { id } }, $inc: { revision: 1 } });
};

interface Held {
  counter: AttemptCounter;
  document: AttemptsDocument | null;
}

const refuseOver = (held: readonly Held[], now: Date): void => {
  const [longest] = held
    .map(({ counter, document }) => ({
      counter,
      ms: waitMs(document?.attempts ?? [], counter.limit, now),
    }))
    .sort((a, b) => b.ms - a.ms);
  if (longest === undefined || longest.ms === 0) return;
  const { limit, what } = longest.counter;
  const retryAfterSeconds = Math.max(1, Math.ceil(longest.ms / 1000));
  throw new Problem(
    "rate/exceeded",
    `The limit is ${limit.max} ${what} in ${inWords(limit.windowMs)}. Come back in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
};

const inWords = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;

const duplicateKey = 11000;

/** One write that only succeeds on what was read. False: another writer was first. */
const count = async (
  collection: Collection<AttemptsDocument>,
  { key, limit }: AttemptCounter,
  held: AttemptsDocument | null,
  attempt: { id: string; at: Date },
): Promise<boolean> => {
  const since = attempt.at.getTime() - limit.windowMs;
  const attempts = [...(held?.attempts ?? []).filter(({ at }) => at.getTime() > since), attempt];
  const expiresAt = new Date(attempt.at.getTime() + limit.windowMs);
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
    if ((error as { code?: number }).code === duplicateKey) return false;
    throw error;
  }
};
