/** Owns which limits count for whom (contract, "Limits"), and counting by them. How a bucket fills is `token-bucket.ts`'s. */
import type { Rates as RateSettings } from "../../config/config.ts";
import type { Rate, RatePair } from "../../config/limits.ts";
import type { Principal } from "../../schemas/command.ts";
import type { PartnerTier } from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import { addressBlock } from "../http/address.ts";
import {
  type Limit,
  msUntilToken,
  partsPerToken,
  type TokenBucket,
  TokenBuckets,
  tokensIn,
} from "./token-bucket.ts";

/** What counting needs of a route. */
export interface CountedRoute {
  id: string;
  rate: "read" | "write" | "exempt";
}

/** About 25 MB when all of them are there. */
const keysMax = 100_000;
/** Full buckets are looked for among this many at each interval. */
const looksMax = 2000;

interface LimitPair {
  read: Limit;
  write: Limit;
}

const limitOf = (name: string, rate: Rate, kind: string, whom: string): Limit => {
  const { perMinute, capacity } = rate;
  const atOnce = capacity === perMinute ? "" : `, at most ${capacity} at once`;
  return { ...rate, name, says: `${perMinute} ${kind} a minute ${whom}${atOnce}` };
};

const limitPair = (name: string, { read, write }: RatePair, whom: string): LimitPair => ({
  read: limitOf(`${name}-read`, read, "reads", whom),
  write: limitOf(`${name}-write`, write, "writes", whom),
});

/**
 * The buckets of one gateway. Callers who are known and addresses are kept apart: nobody's strange addresses push out the
 * buckets of known callers.
 */
export class Rates {
  readonly #limits: ReadonlyMap<string, Limit>;
  readonly #operator: LimitPair;
  readonly #passenger: LimitPair;
  readonly #session: LimitPair;
  readonly #partner: Readonly<Record<PartnerTier, LimitPair>>;
  readonly #address: Limit;
  readonly #tierOf: (clientId: string) => PartnerTier | undefined;
  readonly #callers = new TokenBuckets(keysMax);
  readonly #addresses = new TokenBuckets(keysMax);

  /** @param tierOf undefined for a client whose registration this gateway has not heard of: it counts as tier 3 */
  constructor(settings: RateSettings, tierOf: (clientId: string) => PartnerTier | undefined) {
    const { partner } = settings;
    const tier = (n: PartnerTier) => limitPair(`partner${n}`, partner[n], `for a partner of tier ${n}`);
    this.#operator = limitPair("operator", settings.operator, "for this airline and route");
    this.#passenger = limitPair("passenger", settings.passenger, "for this airline and route");
    this.#session = limitPair("session", settings.session, "for this session");
    this.#partner = { 1: tier(1), 2: tier(2), 3: tier(3) };
    this.#address = limitOf(
      "address",
      settings.address,
      "requests",
      "from this address without a valid token",
    );
    this.#tierOf = tierOf;
    const pairs = [this.#operator, this.#passenger, this.#session, ...Object.values(this.#partner)];
    const all = [...pairs.flatMap(({ read, write }) => [read, write]), this.#address];
    this.#limits = new Map(all.map((limit) => [limit.name, limit]));
  }

  /** Every bucket that a caller's request to a route counts in. */
  ofCaller(principal: Principal, { id, rate }: CountedRoute, nowMs: number): TokenBucket[] {
    const kind = rate === "write" ? "write" : "read";
    switch (principal.surface) {
      case "operator":
        return [this.#of(this.#operator[kind], `${principal.tenant}/${id}`, nowMs)];
      case "passenger":
        return [
          this.#of(this.#passenger[kind], `${principal.tenant}/${id}`, nowMs),
          this.#of(this.#session[kind], principal.urn, nowMs),
        ];
      case "partner": {
        const clientId = principal.clientId ?? "";
        return [this.#of(this.#partner[this.#tierOf(clientId) ?? 3][kind], clientId, nowMs)];
      }
      case "system":
        throw new Error("the service does not call itself over HTTP");
    }
  }

  /** @param address as `clientAddress` gives it */
  ofAddress(address: string, nowMs: number): TokenBucket[] {
    const key = `${this.#address.name}/${addressBlock(address)}`;
    return [this.#addresses.at(key, this.#address, nowMs)];
  }

  /**
   * One token of each, or none of any.
   * @returns whole tokens left in the one that has the fewest
   * @throws Problem rate/exceeded
   */
  take(buckets: readonly TokenBucket[]): number {
    for (const { level } of buckets) if (level < partsPerToken) throw exceeded(buckets);
    for (const bucket of buckets) this.#storeOf(bucket.limit).take(bucket);
    return remainingOf(buckets);
  }

  /** One token to each, after all. */
  giveBack(buckets: readonly TokenBucket[]): void {
    for (const bucket of buckets) this.#storeOf(bucket.limit).giveBack(bucket);
  }

  /** What was let through since it was last asked. */
  untold(): [key: string, tokens: number][] {
    return [...this.#callers.untold(), ...this.#addresses.untold()];
  }

  /** Everything that others must know to count as this gateway does: buckets and the parts of a token that each lacks. */
  *lacking(nowMs: number): Generator<[key: string, parts: number]> {
    yield* this.#callers.lacking(nowMs);
    yield* this.#addresses.lacking(nowMs);
  }

  /** Another gateway let this many through. Of a kind that is not known here, it does nothing. */
  subtract(key: string, tokens: number, nowMs: number): void {
    const bucket = this.#byKey(key, nowMs);
    if (bucket !== undefined) bucket.level -= tokens * partsPerToken;
  }

  /** Another gateway knows that so much is lacking, which it has heard of from all. */
  lackAtLeast(key: string, parts: number, nowMs: number): void {
    const bucket = this.#byKey(key, nowMs);
    if (bucket === undefined) return;
    bucket.level = Math.min(bucket.level, bucket.limit.capacity * partsPerToken - parts);
  }

  /** To be called now and then; each call is short however many buckets there are. */
  forgetFull(nowMs: number): void {
    this.#callers.forgetFull(nowMs, looksMax);
    this.#addresses.forgetFull(nowMs, looksMax);
  }

  #of(limit: Limit, subject: string, nowMs: number): TokenBucket {
    return this.#callers.at(`${limit.name}/${subject}`, limit, nowMs);
  }

  #storeOf(limit: Limit): TokenBuckets {
    return limit === this.#address ? this.#addresses : this.#callers;
  }

  #byKey(key: string, nowMs: number): TokenBucket | undefined {
    const limit = this.#limits.get(key.slice(0, Math.max(0, key.indexOf("/"))));
    return limit && this.#storeOf(limit).at(key, limit, nowMs);
  }
}

/** Whole tokens left in the bucket that has the fewest. */
export const remainingOf = (buckets: readonly TokenBucket[]): number => {
  let least = Number.MAX_SAFE_INTEGER;
  for (const bucket of buckets) least = Math.min(least, tokensIn(bucket));
  return least;
};

/** The limit that keeps the caller waiting longest, in words. */
export const limitMet = (buckets: readonly TokenBucket[]): string => longestEmpty(buckets).limit.says;

const longestEmpty = (buckets: readonly TokenBucket[]): TokenBucket =>
  buckets.toSorted((a, b) => msUntilToken(b) - msUntilToken(a))[0]!;

const exceeded = (buckets: readonly TokenBucket[]): Problem => {
  const longest = longestEmpty(buckets);
  const retryAfterSeconds = Math.max(1, Math.ceil(msUntilToken(longest) / 1000));
  const detail = `The limit is ${longest.limit.says}. Come back in ${retryAfterSeconds} s.`;
  return new Problem("rate/exceeded", detail, { retryAfterSeconds });
};
