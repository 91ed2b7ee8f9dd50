/** Owns token buckets: filling, taking, forgetting. Pure; whose buckets they are and what others took is not known here. */
import type { Rate } from "../../config/limits.ts";

/** Levels are counted in parts of a token, so that all arithmetic is on whole numbers: a millisecond adds `perMinute` of them. */
export const partsPerToken = 60_000;

/** A kind of bucket. */
export interface Limit extends Rate {
  /** First part of its buckets' keys; the same on every gateway. */
  readonly name: string;
  /** Such as `120 writes a minute for this airline and route`. */
  readonly says: string;
}

export interface TokenBucket {
  readonly key: string;
  readonly limit: Limit;
  /** In parts of a token, as of `atMs`. Below zero when other gateways have let through more than there was. */
  level: number;
  atMs: number;
  /** Tokens taken here that no other gateway has been told of. */
  untold: number;
}

const fullLevel = (limit: Limit): number => limit.capacity * partsPerToken;

/** What the bucket would hold now. A clock that is set back adds nothing. */
const levelAt = ({ level, atMs, limit }: TokenBucket, nowMs: number): number =>
  Math.min(fullLevel(limit), level + Math.max(0, nowMs - atMs) * limit.perMinute);

/** Whole tokens; 0 when there is none, or less. */
export const tokensIn = ({ level }: TokenBucket): number => Math.max(0, Math.floor(level / partsPerToken));

/** Until there is one token; 0 when there is. */
export const msUntilToken = ({ level, limit }: TokenBucket): number =>
  Math.max(0, Math.ceil((partsPerToken - level) / limit.perMinute));

/** The buckets that aren't full, and some that are. One that is not known is full. */
export class TokenBuckets {
  /** Those that were asked for longest ago come first: they have filled up the most. */
  readonly #byKey = new Map<string, TokenBucket>();
  readonly #keysMax: number;
  /** Those with tokens untold. */
  #taken: TokenBucket[] = [];

  /** @param keysMax past it the one that was asked for longest ago is forgotten, as if it were full */
  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Filled up to now. */
  at(key: string, limit: Limit, nowMs: number): TokenBucket {
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      if (known.atMs === nowMs) return known;
      known.level = levelAt(known, nowMs);
      known.atMs = nowMs;
      this.#byKey.delete(key);
      this.#byKey.set(key, known);
      return known;
    }
    if (this.#byKey.size >= this.#keysMax) this.#forgetLeastUsed();
    const made: TokenBucket = { key, limit, level: fullLevel(limit), atMs: nowMs, untold: 0 };
    this.#byKey.set(key, made);
    return made;
  }

  /** Takes one token, to be told of. Whether there is one is the caller's to have asked. */
  take(bucket: TokenBucket): void {
    bucket.level -= partsPerToken;
    if (bucket.untold === 0) this.#taken.push(bucket);
    bucket.untold += 1;
  }

  /** Undoes a `take`. Others who were told of it meanwhile count it until it has filled up again. */
  giveBack(bucket: TokenBucket): void {
    bucket.level = Math.min(fullLevel(bucket.limit), bucket.level + partsPerToken);
    bucket.untold = Math.max(0, bucket.untold - 1);
  }

  /** What was taken since it was last asked: keys and tokens. */
  untold(): [key: string, tokens: number][] {
    if (this.#taken.length === 0) return [];
    const taken = this.#taken;
    this.#taken = [];
    return taken.flatMap((bucket): [string, number][] => {
      const { key, untold } = bucket;
      bucket.untold = 0;
      return untold === 0 ? [] : [[key, untold]];
    });
  }

  /** Every bucket that isn't full: keys and the parts of a token that it lacks. */
  *lacking(nowMs: number): Generator<[key: string, parts: number]> {
    for (const bucket of this.#byKey.values()) {
      const parts = fullLevel(bucket.limit) - levelAt(bucket, nowMs);
      if (parts > 0) yield [bucket.key, parts];
    }
  }

  /**
   * Forgets those that are full; looks at this many at most, which were asked for longest ago. What isn't full there holds up
   * those behind it until it is, which is as long as its limit takes to fill it.
   */
  forgetFull(nowMs: number, looksMax: number): void {
    let looks = 0;
    for (const [key, bucket] of this.#byKey) {
      if (looks === looksMax) return;
      looks += 1;
      if (levelAt(bucket, nowMs) === fullLevel(bucket.limit)) this.#byKey.delete(key);
    }
  }

  #forgetLeastUsed(): void {
    const { value: key } = this.#byKey.keys().next();
    if (key !== undefined) this.#byKey.delete(key);
  }
}
