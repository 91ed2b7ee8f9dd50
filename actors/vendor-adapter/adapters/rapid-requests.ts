/**
 * Owns Rapid's single requests, signed, and what each one's answer says: shopping, price checks, links followed, itineraries retrieved. Which
 * of them are made for what is asked is `rapid.ts`'s.
 */
import { createHash } from "node:crypto";
import { type VendorAnswer, VendorHttp, type VendorOptions } from "../http.ts";
import type {
  CallContext,
  HoldRequest,
  InDoubt,
  LookupOutcome,
  ReadOutcome,
  Refused,
  Unavailable,
  WriteOutcome,
} from "../ports.ts";
import { type Account, availabilityQuery, itineraryBody } from "./rapid-account.ts";
import {
  type Availability,
  areItineraries,
  type Created,
  type Itinerary,
  isAnything,
  isAvailability,
  isCreated,
  isItinerary,
  isPriceCheck,
  isProblem,
  type PriceCheck,
  type Problem,
  type Rate,
  refusedBy,
} from "./rapid-answers.ts";
import { shortReference } from "./short-reference.ts";

export interface Stay {
  checkIn: string;
  checkOut: string;
}

/** A hotel's rates in a search; all of them are shopped for a hold. */
const rates = { searched: 3, held: 25 } as const;
/** Properties of one request of a search: its answer stays well below what we read of one. */
const lotSize = 100;

export const refused = (code: Refused["code"], detail: string): Refused => ({
  outcome: "refused",
  code,
  detail,
});
export const soldOut = refused("SOLD_OUT", "The rate is not to be had for so many rooms any more.");

/** `affiliate_reference_id` takes twenty-eight characters, once each; asked again by a person it is another request. */
const affiliateReferenceOf = (reference: string, { again }: CallContext): string =>
  shortReference(again === undefined ? reference : `${reference}.again.${again}`, 28);

export class RapidRequests {
  readonly http: VendorHttp;
  readonly #options: VendorOptions;
  readonly #account: Account;
  readonly #clock: { now(): Date };
  /** How long the answer to a hold or a booking is waited for. */
  readonly #patience: { timeoutMs: number };

  /** @param patienceMs for a hold or a booking, where that is more than for the rest */
  constructor(options: VendorOptions, account: Account, clock: { now(): Date }, patienceMs: number) {
    this.http = new VendorHttp(options);
    this.#options = options;
    this.#account = account;
    this.#clock = clock;
    this.#patience = { timeoutMs: Math.max(options.timeoutMs, patienceMs) };
  }

  /** "Signature authentication": SHA-512 in hex of key, secret and seconds. */
  signed(): { headers: Record<string, string>; problem: typeof isProblem } {
    const { apiKey, apiSecret = "" } = this.#options;
    const seconds = Math.floor(this.#clock.now().getTime() / 1000);
    const signature = createHash("sha512").update(`${apiKey}${apiSecret}${seconds}`).digest("hex");
    const authorization = `EAN APIKey=${apiKey},Signature=${signature},timestamp=${seconds}`;
    const headers = { authorization, "customer-ip": this.#account.customerIp, "user-agent": "Stopover/1" };
    return { headers, problem: isProblem };
  }

  /** What is to be had for one room, of all of them. */
  async search(
    ids: readonly string[],
    stay: Stay,
    adults: number,
    context: CallContext,
  ): Promise<ReadOutcome<{ available: Availability[] }>> {
    const lots = Array.from({ length: Math.ceil(ids.length / lotSize) }, (_, i) =>
      ids.slice(i * lotSize, (i + 1) * lotSize),
    );
    const asked = { rooms: 1, adults, ratePlans: rates.searched };
    const found = await Promise.all(lots.map((lot) => this.#shop(lot, stay, asked, context)));
    const failed = found.find((one) => one.outcome !== "done");
    if (failed !== undefined) return failed;
    const available = found.flatMap((one) => (one.outcome === "done" ? one.available : []));
    return { outcome: "done", available };
  }

  /** Every rate of one property. */
  async shop(
    id: string,
    stay: Stay,
    occupancy: { rooms: number; adults: number },
    context: CallContext,
  ): Promise<ReadOutcome<{ available: Availability[] }>> {
    return this.#shop([id], stay, { ...occupancy, ratePlans: rates.held }, context);
  }

  #shop(
    ids: readonly string[],
    stay: Stay,
    asked: { rooms: number; adults: number; ratePlans: number },
    context: CallContext,
  ): Promise<ReadOutcome<{ available: Availability[] }>> {
    const query = availabilityQuery(this.#account, ids, stay, asked);
    return this.available(`/v3/properties/availability?${query}`, context);
  }

  async available(path: string, context: CallContext): Promise<ReadOutcome<{ available: Availability[] }>> {
    const call = { method: "GET", path, success: isAvailability, ...this.signed() } as const;
    const end = await this.http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", available: end.body } : end;
  }

  /** The rate's beds are all the same to us: the first kind of them. */
  async checked(rate: Rate, context: CallContext): Promise<ReadOutcome<{ check: PriceCheck }>> {
    const [beds] = Object.values(rate.bed_groups);
    if (beds === undefined) return soldOut;
    const path = beds.links.price_check.href;
    const call = { method: "GET", path, success: isPriceCheck, ...this.signed() } as const;
    const end = await this.http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", check: end.body } : end;
  }

  /** @param path of the price check's link to book by */
  async create(
    path: string,
    request: HoldRequest,
    context: CallContext,
  ): Promise<VendorAnswer<Created, Problem> | Refused | Unavailable | InDoubt> {
    const { reference } = request;
    const body = itineraryBody(this.#account, request, affiliateReferenceOf(reference, context));
    const call = { method: "POST", path, body, success: isCreated, ...this.#patience } as const;
    return this.http.write({ ...call, ...this.signed() }, reference, context);
  }

  /** "Hold and resume": turns a hold into a booking. */
  resume(path: string, reference: string, context: CallContext): Promise<WriteOutcome<object>> {
    return this.follow("PUT", path, reference, context, this.#patience);
  }

  /** A call whose answer has no body. 202: the vendor doesn't know yet whether it is done. */
  async follow(
    method: "PUT" | "DELETE",
    path: string,
    reference: string,
    context: CallContext,
    more: { body?: object; timeoutMs?: number } = {},
  ): Promise<WriteOutcome<object>> {
    const call = { method, path, success: isAnything, ...more, ...this.signed() } as const;
    const end = await this.http.write(call, reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    return end.status === 202
      ? { outcome: "in-doubt", detail: "the vendor answered 202" }
      : { outcome: "done" };
  }

  async itinerary(id: string, context: CallContext): Promise<ReadOutcome<{ itinerary: Itinerary }>> {
    const query = new URLSearchParams({ email: this.#account.email, include: "history" });
    const path = `/v3/itineraries/${encodeURIComponent(id)}?${query}`;
    const call = { method: "GET", path, success: isItinerary, ...this.signed() } as const;
    const end = await this.http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", itinerary: end.body } : end;
  }

  /** What was made under a reference of ours. */
  async itineraryUnder(
    reference: string,
    context: CallContext,
  ): Promise<LookupOutcome<{ itinerary: Itinerary }>> {
    const query = new URLSearchParams({
      affiliate_reference_id: affiliateReferenceOf(reference, context),
      ...{ email: this.#account.email, include: "history" },
    });
    const call = { method: "GET", path: `/v3/itineraries?${query}`, success: areItineraries } as const;
    const end = await this.http.read({ ...call, ...this.signed() }, context);
    if (end.outcome === "problem")
      return end.status === 404 ? { outcome: "none" } : refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const [itinerary] = end.body;
    return itinerary === undefined ? { outcome: "none" } : { outcome: "done", itinerary };
  }
}
