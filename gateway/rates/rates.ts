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

/** Of one store; about 25 MB when all of them are there. */
const keysMax = 100_000;
/** Full buckets are looked for among this many of a store at each interval. */
const looksMax = 2000;

interface LimitPair {
  read: Limit;
  write: Limit;
}

/** What a caller's request counts as. A keyed retry is exempt from the quota (contract, "Limits"), and has a limit as high. */
export type CountedAs = "requests" | "retries";

type CallerLimits = Readonly<Record<CountedAs, LimitPair>>;

const limitOf = (name: string, rate: Rate, kind: string, whom: string): Limit => {
  const { perMinute, capacity } = rate;
  const atOnce = capacity === perMinute ? "" : `, at most ${capacity} at once`;
  return { ...rate, name, says: `${perMinute} ${kind} a minute ${whom}${atOnce}` };
};

const callerLimits = (name: string, { read, write }: RatePair, whom: string): CallerLimits => ({
  requests: {
    read: limitOf(`${name}-read`, read, "reads", whom),
    write: limitOf(`${name}-write`, write, "writes", whom),
  },
  retries: {
    read: limitOf(`${name}-read-retry`, read, "retried reads", whom),
    write: limitOf(`${name}-write-retry`, write, "retried writes", whom),
  },
});

/** A limit by its name, and where its buckets are kept. */
interface KeptLimit {
  limit: Limit;
  store: TokenBuckets;
}

const keptIn = (store: TokenBuckets, limits: readonly Limit[]): [string, KeptLimit][] =>
  limits.map((limit) => [limit.name, { limit, store }]);

const limitsOf = ({ requests, retries }: CallerLimits): Limit[] =>
  [requests, retries].flatMap(({ read, write }) => [read, write]);

/**
 * The buckets of one gateway. Routes and clients, sessions, and addresses are kept apart: nobody's new sessions or strange
 * addresses push out the buckets of the others.
 */
export class Rates {
  readonly #kept: ReadonlyMap<string, KeptLimit>;
  readonly #operator: CallerLimits;
  readonly #passenger: CallerLimits;
  readonly #session: CallerLimits;
  readonly #partner: Readonly<Record<PartnerTier, CallerLimits>>;
  readonly #address: Limit;
  readonly #tierOf: (clientId: string) => PartnerTier | undefined;
  readonly #stores: readonly TokenBuckets[];

  /** @param tierOf undefined for a client whose registration this gateway has not heard of: it counts as tier 3 */
  constructor(settings: RateSettings, tierOf: (clientId: string) => PartnerTier | undefined) {
    const { partner } = settings;
    const tier = (n: PartnerTier) => callerLimits(`partner${n}`, partner[n], `for a partner of tier ${n}`);
    this.#operator = callerLimits("operator", settings.operator, "for this airline and route");
    this.#passenger = callerLimits("passenger", settings.passenger, "for this airline and route");
    this.#session = callerLimits("session", settings.session, "for this session");
    this.#partner = { 1: tier(1), 2: tier(2), 3: tier(3) };
    this.#address = limitOf(
      "address",
      settings.address,
      "requests",
      "from this address without a valid token",
    );
    this.#tierOf = tierOf;
    // Few: airlines times routes, and clients.
    const shared = new TokenBuckets(keysMax);
    const sessions = new TokenBuckets(keysMax);
    const addresses = new TokenBuckets(keysMax);
    this.#stores = [shared, sessions, addresses];
    this.#kept = new Map([
      ...[this.#operator, this.#passenger, ...Object.values(this.#partner)].flatMap((limits) =>
        keptIn(shared, limitsOf(limits)),
      ),
      ...keptIn(sessions, limitsOf(this.#session)),
      ...keptIn(addresses, [this.#address]),
    ]);
  }

  /** Every bucket that a caller's request to a route counts in. */
  ofCaller(
    principal: Principal,
    { id, rate }: CountedRoute,
    nowMs: number,
    as: CountedAs = "requests",
  ): TokenBucket[] {
    const kind = rate === "write" ? "write" : "read";
    switch (principal.surface) {
      case "operator":
        return [this.#of(this.#operator[as][kind], `${principal.tenant}/${id}`, nowMs)];
      case "passenger":
        return [
          this.#of(this.#passenger[as][kind], `${principal.tenant}/${id}`, nowMs),
          this.#of(this.#session[as][kind], principal.urn, nowMs),
        ];
      case "partner": {
        const clientId = principal.clientId ?? "";
        return [this.#of(this.#partner[this.#tierOf(clientId) ?? 3][as][kind], clientId, nowMs)];
      }
      case "system":
        throw new Error("the service does not call itself over HTTP");
    }
  }

  /** @param address as `clientAddress` gives it */
  ofAddress(address: string, nowMs: number): TokenBucket[] {
    return [this.#of(this.#address, addressBlock(address), nowMs)];
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
    return this.#stores.flatMap((store) => store.untold());
  }

  /** Everything that others must know to count as this gateway does: buckets and the parts of a token that each lacks. */
  *lacking(nowMs: number): Generator<[key: string, parts: number]> {
    for (const store of this.#stores) yield* store.lacking(nowMs);
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
    for (const store of this.#stores) store.forgetFull(nowMs, looksMax);
  }

  #of(limit: Limit, subject: string, nowMs: number): TokenBucket {
    return this.#storeOf(limit).at(`${limit.name}/${subject}`, limit, nowMs);
  }

  #storeOf({ name }: Limit): TokenBuckets {
    const kept = this.#kept.get(name);
    if (kept === undefined) throw new Error(`no buckets are kept of ${name}`);
    return kept.store;
  }

  #byKey(key: string, nowMs: number): TokenBucket | undefined {
    const kept = this.#kept.get(key.slice(0, Math.max(0, key.indexOf("/"))));
    return kept?.store.at(key, kept.limit, nowMs);
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
