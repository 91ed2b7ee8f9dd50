/** Owns the rate check of one request: whom it counts for, when, and what is left. The limits themselves are `rates/`'s. */
import type { Principal, Trace } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Exchange } from "../http/exchange.ts";
import type { AlertPartner } from "../rates/partner-alerts.ts";
import { type CountedAs, type CountedRoute, limitMet, type Rates, remainingOf } from "../rates/rates.ts";
import type { TokenBucket } from "../rates/token-bucket.ts";

/** Of a route: `public` callers are known by nothing but their address. */
type Counted = CountedRoute & { public: boolean };

/** A request's standing with the limits. Until its caller is known it is the address' own. */
export class Quota {
  readonly #rates: Rates;
  readonly #alertPartner: AlertPartner;
  readonly #exchange: Exchange;
  readonly #trace: Trace;
  readonly #now: Date;
  #caller: Principal | undefined;
  #route: Counted | undefined;
  #isCounted = false;
  #remaining: number | undefined;

  constructor(rates: Rates, alertPartner: AlertPartner, exchange: Exchange, trace: Trace, now: Date) {
    this.#rates = rates;
    this.#alertPartner = alertPartner;
    this.#exchange = exchange;
    this.#trace = trace;
    this.#now = now;
  }

  /** The caller may call this route: from now on the request is the caller's, or the address' where everyone may call. */
  admit(route: Counted, principal: Principal): void {
    this.#route = route;
    if (!route.public) this.#caller = principal;
  }

  /** Whose availability its answer counts for; undefined: no partner's. */
  partnerCall(): { partner: Principal; rate: "read" | "write" } | undefined {
    const rate = this.#route?.rate;
    const isPartners = this.#caller?.surface === "partner" && rate !== undefined && rate !== "exempt";
    return isPartners ? { partner: this.#caller as Principal, rate } : undefined;
  }

  /** Whether counting it now would let it through. */
  hasRoom(): boolean {
    return remainingOf(this.#buckets()) > 0;
  }

  /**
   * Counts the request.
   * @throws Problem rate/exceeded; then nothing was taken
   */
  take(): void {
    this.#isCounted = true;
    const buckets = this.#buckets();
    if (this.#route?.rate === "exempt") {
      this.#remaining = remainingOf(buckets);
      return;
    }
    this.#remaining = this.#takeFrom(buckets);
  }

  /**
   * Counts a keyed retry, or what may be one, among the retries: their limit is as high as the quota, and their own. Past
   * both, the quota is what is told, since nobody need know that this was a retry.
   * @throws Problem rate/exceeded; then nothing was taken
   */
  takeRetry(): void {
    const retries = this.#buckets("retries");
    if (remainingOf(retries) > 0) {
      this.#takeFrom(retries);
      return;
    }
    this.#isCounted = true;
    this.#takeFrom(this.hasRoom() ? retries : this.#buckets());
  }

  /**
   * What was counted turned out to be a keyed retry: it is exempt (contract, "Limits") and counts among the retries instead.
   * One past the limit of retries stays counted: else looking keys up would have no end.
   * @throws Problem rate/exceeded
   */
  exemptRetry(): void {
    this.takeRetry();
    this.#rates.giveBack(this.#buckets());
    this.#remaining = undefined;
  }

  /**
   * What a refusal is told as. One that came before the request was counted counts all the same: before the caller was
   * admitted for the address, so that nobody guesses tokens or paths without an end. Past the limit that is all that is
   * told. Our own failures and a keyed retry that came too soon don't count.
   */
  refusalOf(problem: Problem): Problem {
    const isOurs = problem.status >= 500 && this.#caller !== undefined;
    if (problem.code === "auth/bad-signature") return this.#refusedSigner(problem);
    if (this.#isCounted || isOurs || problem.code === "conflict/in-flight") return problem;
    try {
      this.take();
      return problem;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /** Of a route that counts in no limit, as its true callers are known by nothing but their signature: whoever has none counts. */
  #refusedSigner(problem: Problem): Problem {
    try {
      this.#remaining = this.#takeFrom(this.#rates.ofAddress(this.#exchange.address(), this.#now.getTime()));
      return problem;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /** Whole tokens left in the tightest bucket that the request counts in, or would. */
  remaining(): number {
    this.#remaining ??= remainingOf(this.#buckets());
    return this.#remaining;
  }

  /** @returns whole tokens left @throws Problem rate/exceeded */
  #takeFrom(buckets: readonly TokenBucket[]): number {
    try {
      return this.#rates.take(buckets);
    } catch (error) {
      this.#remaining = 0;
      if (this.#caller?.surface === "partner")
        this.#alertPartner(this.#caller, limitMet(buckets), this.#now, this.#trace);
      throw error;
    }
  }

  #buckets(as: CountedAs = "requests"): TokenBucket[] {
    const nowMs = this.#now.getTime();
    if (this.#caller !== undefined && this.#route !== undefined)
      return this.#rates.ofCaller(this.#caller, this.#route, nowMs, as);
    return this.#rates.ofAddress(this.#exchange.address(), nowMs);
  }
}
