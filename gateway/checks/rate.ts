/** Owns the rate check of one request: whom it counts for, when, and what is left. The limits themselves are `rates/`'s. */
import type { Principal, Trace } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Exchange } from "../http/exchange.ts";
import type { AlertPartner } from "../rates/partner-alerts.ts";
import { type CountedRoute, limitMet, type Rates, remainingOf } from "../rates/rates.ts";
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
    try {
      this.#remaining = this.#rates.take(buckets);
    } catch (error) {
      this.#remaining = 0;
      if (this.#caller?.surface === "partner")
        this.#alertPartner(this.#caller, limitMet(buckets), this.#now, this.#trace);
      throw error;
    }
  }

  /**
   * What a refusal is told as. One that came before the request was counted counts all the same: before the caller was
   * admitted for the address, so that nobody guesses tokens or paths without an end. Past the limit that is all that is
   * told. Our own failures and a keyed retry that came too soon don't count.
   */
  refusalOf(problem: Problem): Problem {
    const isOurs = problem.status >= 500 && this.#caller !== undefined;
    if (this.#isCounted || isOurs || problem.code === "conflict/in-flight") return problem;
    try {
      this.take();
      return problem;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /** What was taken is there again: a keyed retry is exempt (contract, "Limits"). */
  giveBack(): void {
    this.#rates.giveBack(this.#buckets());
    this.#remaining = undefined;
  }

  /** Whole tokens left in the tightest bucket that the request counts in, or would. */
  remaining(): number {
    this.#remaining ??= remainingOf(this.#buckets());
    return this.#remaining;
  }

  #buckets(): TokenBucket[] {
    const nowMs = this.#now.getTime();
    if (this.#caller !== undefined && this.#route !== undefined)
      return this.#rates.ofCaller(this.#caller, this.#route, nowMs);
    return this.#rates.ofAddress(this.#exchange.address(), nowMs);
  }
}
