/** Owns how often something may be tried before the next try has to wait: passwords, codes, messages. Persisted, so that a restart forgives nothing. */
import { createHash } from "node:crypto";
import type { Collection } from "mongodb";
import type { IssuerDocuments } from "./documents.ts";

export interface AttemptRule {
  /** This many tries wait for nothing. */
  freeTries: number;
  /** After the last free try; doubled by each further one. */
  delayMs: number;
  delayMaxMs: number;
  /** Since the last try; then all are forgotten. */
  forgottenAfterMs: number;
}

const minuteMs = 60_000;

export const attemptRules = {
  account: { freeTries: 5, delayMs: 30_000, delayMaxMs: 15 * minuteMs, forgottenAfterMs: 1440 * minuteMs },
  /** Many people may share an address: an airport's, say. */
  address: { freeTries: 50, delayMs: minuteMs, delayMaxMs: 15 * minuteMs, forgottenAfterMs: 60 * minuteMs },
  factor: { freeTries: 5, delayMs: 30_000, delayMaxMs: 15 * minuteMs, forgottenAfterMs: 1440 * minuteMs },
  sms: {
    freeTries: 3,
    delayMs: 15 * minuteMs,
    delayMaxMs: 120 * minuteMs,
    forgottenAfterMs: 360 * minuteMs,
  },
} as const satisfies Record<string, AttemptRule>;

export type AttemptKind = keyof typeof attemptRules;

export interface Tries {
  count: number;
  lastAt: Date;
}

/** Until when the next try waits; undefined: it needn't. */
export const waitsUntil = (rule: AttemptRule, tries: Tries | undefined, now: Date): Date | undefined => {
  if (tries === undefined || isForgotten(rule, tries, now) || tries.count < rule.freeTries) return undefined;
  const delayMs = Math.min(rule.delayMs * 2 ** (tries.count - rule.freeTries), rule.delayMaxMs);
  const until = new Date(tries.lastAt.getTime() + delayMs);
  return until > now ? until : undefined;
};

const isForgotten = (rule: AttemptRule, { lastAt }: Tries, now: Date): boolean =>
  now.getTime() - lastAt.getTime() >= rule.forgottenAfterMs;

export interface StoredTries extends Tries {
  /** Kind and digest of who or what tries: no e-mail address stands here. */
  _id: string;
  expiresAt: Date;
}

/** So many at once lose the race for one counter only in an attack, and then waiting is the right answer. */
const racesMax = 8;

export class Attempts {
  readonly #collection: Collection<StoredTries>;

  constructor(documents: IssuerDocuments) {
    this.#collection = documents.attempts;
  }

  /**
   * Counts a try before it is judged, so that many at once are not judged as one.
   * @param who of an account: what was typed, whether or not there is such an account
   * @returns until when it has to wait, in which case nothing was counted; undefined: go on
   */
  async begin(kind: AttemptKind, who: string, now: Date): Promise<Date | undefined> {
    const rule = attemptRules[kind];
    const _id = keyOf(kind, who);
    for (let race = 0; race < racesMax; race++) {
      const found = (await this.#collection.findOne({ _id })) ?? undefined;
      const until = waitsUntil(rule, found, now);
      if (until !== undefined) return until;
      const seen = found === undefined || isForgotten(rule, found, now) ? 0 : found.count;
      const changed = {
        count: seen + 1,
        lastAt: now,
        expiresAt: new Date(now.getTime() + rule.forgottenAfterMs),
      };
      if (await this.#write(_id, found, changed)) return undefined;
    }
    return new Date(now.getTime() + rule.delayMs);
  }

  /** How many tries stand against somebody. */
  async countOf(kind: AttemptKind, who: string, now: Date): Promise<number> {
    const found = await this.#collection.findOne({ _id: keyOf(kind, who) });
    return found === null || isForgotten(attemptRules[kind], found, now) ? 0 : found.count;
  }

  /** A try went well: what stood against this one is forgotten. */
  async forgive(kind: AttemptKind, who: string): Promise<void> {
    await this.#collection.deleteOne({ _id: keyOf(kind, who) });
  }

  /** A try went well: it alone is taken back, the others still stand. */
  async takeBack(kind: AttemptKind, who: string): Promise<void> {
    await this.#collection.updateOne({ _id: keyOf(kind, who), count: { $gt: 0 } }, { $inc: { count: -1 } });
  }

  async #write(
    _id: string,
    found: StoredTries | undefined,
    changed: Omit<StoredTries, "_id">,
  ): Promise<boolean> {
    if (found !== undefined) {
      const { count, lastAt } = found;
      return (await this.#collection.updateOne({ _id, count, lastAt }, { $set: changed })).matchedCount === 1;
    }
    const inserted = await this.#collection.updateOne({ _id }, { $setOnInsert: changed }, { upsert: true });
    return inserted.upsertedCount === 1;
  }
}

const keyOf = (kind: AttemptKind, who: string): string =>
  `${kind}:${createHash("sha256").update(who).digest("base64url")}`;
