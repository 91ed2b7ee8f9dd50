/**
 * Owns Expedia Rapid's dialect, version 3: which requests are made for what is asked, and what their ends mean. Its answers are read in
 * `rapid-answers.ts`, where properties are in `rapid-places.ts`. From the public OpenAPI document of Rapid v3 and its guides
 * (developers.expediagroup.com, Rapid, Lodging): "Signature authentication", "Shopping", "Booking", "Hold and resume", "Manage booking",
 * "Hard change".
 *
 * A hold is an itinerary on hold, made from a rate that is shopped and price-checked anew; booking resumes it. Whoever holds says who
 * comes. The airline is billed (Affiliate Collect): no card number is ever sent. There are no idempotency keys: an `affiliate_reference_id` is
 * taken once, and a second request under it is looked up. Nothing lists what has changed (undelivered notifications are told once, and
 * an answer that is lost with them is lost for good): what stands is asked after, one by one. Whether guests have come is not told.
 */
import { createHash } from "node:crypto";
import pLimit from "p-limit";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { VendorHttp, type VendorOptions } from "../http.ts";
import type {
  Booking,
  BookingCancellation,
  BookRequest,
  CallContext,
  Hold,
  HoldRequest,
  HotelPort,
  HotelState,
  LedgerEntry,
  LedgerPage,
  LedgerRequest,
  LookupOutcome,
  ModifyRequest,
  ReadOutcome,
  Refused,
  WriteOutcome,
} from "../ports.ts";
import { largestRooms, occupanciesAsked } from "./largest-rooms.ts";
import { type Account, accountOf, itineraryBody } from "./rapid-account.ts";
import {
  type Availability,
  areItineraries,
  bookingOf,
  cancellationOf,
  type Itinerary,
  isAnything,
  isAvailability,
  isCreated,
  isDuplicate,
  isItinerary,
  isPriceCheck,
  isProblem,
  offerIdOf,
  offersOf,
  type PriceCheck,
  priceOf,
  type Rate,
  refusedBy,
  roomsAtOnce,
  stateOf,
} from "./rapid-answers.ts";
import { RapidPlaces } from "./rapid-places.ts";
import { shortReference } from "./short-reference.ts";

interface Clock {
  now(): Date;
}
interface Stay {
  checkIn: string;
  checkOut: string;
}

const impossible = "the vendor's answer has an impossible amount";
const dayMs = 86_400_000;
const nightsOf = ({ checkIn, checkOut }: Stay): number =>
  (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;
const refused = (code: Refused["code"], detail: string): Refused => ({ outcome: "refused", code, detail });
const soldOut = refused("SOLD_OUT", "The rate is not to be had for so many rooms any more.");
const noStay = refused("INVALID_REQUEST", "No stay: check-out is not after check-in.");
/** Itineraries asked after at once, in one page of a reconciliation. */
const lookupsAtOnce = 4;

/** `affiliate_reference_id` takes twenty-eight characters, once each; asked again by a person it is another request. */
const affiliateReferenceOf = (reference: string, { again }: CallContext): string =>
  shortReference(again === undefined ? reference : `${reference}.again.${again}`, 28);

export class Rapid implements HotelPort {
  readonly needsStanding = true;
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #options: VendorOptions;
  readonly #account: Account;
  readonly #clock: Clock;
  readonly #places: RapidPlaces;
  readonly #limit = pLimit(lookupsAtOnce);

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions, clock: Clock) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#options = options;
    this.#account = accountOf(options.account ?? {});
    this.#clock = clock;
    this.#places = new RapidPlaces(this.#http, clock, () => this.#signed());
  }

  /** "Signature authentication": SHA-512 in hex of key, secret and seconds. */
  #signed(): { headers: Record<string, string>; problem: typeof isProblem } {
    const { apiKey, apiSecret = "" } = this.#options;
    const seconds = Math.floor(this.#clock.now().getTime() / 1000);
    const signature = createHash("sha512").update(`${apiKey}${apiSecret}${seconds}`).digest("hex");
    const authorization = `EAN APIKey=${apiKey},Signature=${signature},timestamp=${seconds}`;
    const headers = { authorization, "customer-ip": this.#account.customerIp, "user-agent": "Stopover/1" };
    return { headers, problem: isProblem };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const nights = nightsOf(search);
    if (!(nights >= 1)) return { outcome: "done", offers: [] };
    const near = await this.#places.near(search, context);
    if (near.outcome !== "done") return near;
    const { properties } = near;
    if (properties.size === 0) return { outcome: "done", offers: [] };
    const ids = [...properties.keys()];
    const found = await Promise.all(
      occupanciesAsked.map((adults) => this.#shop(ids, search, { rooms: 1, adults }, context)),
    );
    const failed = found.find((one) => one.outcome !== "done");
    if (failed !== undefined) return failed;
    const now = this.#clock.now();
    const offers = found.flatMap((one, i) => {
      const adults = occupanciesAsked[i] as number;
      const available = one.outcome === "done" ? one.available : [];
      return available.flatMap((property) => {
        const known = properties.get(property.property_id);
        return known === undefined ? [] : offersOf(this.#vendor, property, known, { adults, nights, now });
      });
    });
    return { outcome: "done", offers: largestRooms(offers) };
  }

  async #shop(
    ids: readonly string[],
    { checkIn, checkOut }: Stay,
    { rooms, adults }: { rooms: number; adults: number },
    context: CallContext,
  ): Promise<ReadOutcome<{ available: Availability[] }>> {
    const { countryCode, currency } = this.#account;
    const query = new URLSearchParams({
      ...{ checkin: checkIn, checkout: checkOut, currency, country_code: countryCode, language: "en-US" },
      ...{ rate_plan_count: "25", sales_channel: "agent_tool", sales_environment: "hotel_only" },
      ...{ filter: "expedia_collect", include: "rooms.rates.holdable" },
    });
    for (const id of ids) query.append("property_id", id);
    for (let room = 0; room < rooms; room += 1) query.append("occupancy", String(adults));
    return this.#available(`/v3/properties/availability?${query}`, context);
  }

  async #available(path: string, context: CallContext): Promise<ReadOutcome<{ available: Availability[] }>> {
    const call = { method: "GET", path, success: isAvailability, ...this.#signed() } as const;
    const end = await this.#http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", available: end.body } : end;
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const { offer, rooms, reference } = request;
    if (!(nightsOf(request) >= 1)) return noStay;
    if (rooms > roomsAtOnce) return soldOut;
    const adults = offer.maxOccupancy;
    const shopped = await this.#shop([offer.providerHotelId], request, { rooms, adults }, context);
    if (shopped.outcome !== "done") return shopped;
    const rate = alike(shopped.available, offer.providerOfferId, adults);
    if (rate === undefined || rate.available_rooms < rooms || rate.holdable !== true) return soldOut;
    const checked = await this.#checked(rate, context);
    if (checked.outcome !== "done") return checked;
    const book = checked.check.links?.book;
    const price = checked.check.occupancy_pricing?.[String(adults)];
    const each = price && priceOf(price);
    if (checked.check.status === "sold_out" || book === undefined) return soldOut;
    if (each === undefined) return { outcome: "unavailable", detail: impossible };
    const total = { amountMinor: each.amountMinor * rooms, currency: each.currency };
    const affiliateReference = affiliateReferenceOf(reference, context);
    const body = itineraryBody(this.#account, request, affiliateReference);
    const call = { method: "POST", path: book.href, body, success: isCreated, ...this.#signed() } as const;
    const end = await this.#http.write(call, reference, context);
    if (end.outcome === "problem")
      return isDuplicate(end.body) ? this.#held(reference, context) : refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    // What the link says of its time counts, and only the retrieved itinerary has it for certain.
    const held = await this.#held(reference, context);
    return held.outcome === "done"
      ? { ...held, total }
      : { outcome: "in-doubt", detail: "Held, not seen yet." };
  }

  /** Under a reference that was given before: that hold. */
  async #held(reference: string, context: CallContext): Promise<WriteOutcome<Hold>> {
    const found = await this.lookup({ reference }, context);
    if (found.outcome === "done")
      return found.state === "HELD" ? found : refused("REFERENCE_REUSED", "It was booked under before.");
    return found.outcome === "none" ? refused("HOLD_EXPIRED", "The hold is over.") : found;
  }

  /** The rate's beds are all the same to us: the first kind of them. */
  async #checked(rate: Rate, context: CallContext): Promise<ReadOutcome<{ check: PriceCheck }>> {
    const [beds] = Object.values(rate.bed_groups);
    if (beds === undefined) return soldOut;
    const path = beds.links.price_check.href;
    const call = { method: "GET", path, success: isPriceCheck, ...this.#signed() } as const;
    const end = await this.#http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", check: end.body } : end;
  }

  async release(
    { reference, holdId }: { reference: string; holdId: string },
    context: CallContext,
  ): Promise<WriteOutcome<object>> {
    const found = await this.#itinerary(holdId, context);
    if (found.outcome === "refused" && found.code === "NOT_FOUND") return { outcome: "done" };
    if (found.outcome !== "done") return found;
    const { cancel, resume } = found.itinerary.links ?? {};
    if (cancel === undefined || resume === undefined) return { outcome: "done" };
    return this.#follow("DELETE", cancel.href, reference, context);
  }

  /** A call whose answer has no body. 202: the vendor doesn't know yet whether it is done. */
  async #follow(
    method: "PUT" | "DELETE",
    path: string,
    reference: string,
    context: CallContext,
    body?: object,
  ): Promise<WriteOutcome<object>> {
    const call = { method, path, success: isAnything, ...(body && { body }), ...this.#signed() } as const;
    const end = await this.#http.write(call, reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    return end.status === 202
      ? { outcome: "in-doubt", detail: "the vendor answered 202" }
      : { outcome: "done" };
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { holdId, reference } = request;
    const gone = refused("HOLD_EXPIRED", "The hold has ended.");
    const found = await this.#itinerary(holdId, context);
    if (found.outcome === "refused" && found.code === "NOT_FOUND") return gone;
    if (found.outcome !== "done") return found;
    const { resume } = found.itinerary.links ?? {};
    if (resume === undefined) return this.#bookedNow(found.itinerary) ?? gone;
    const resumed = await this.#follow("PUT", resume.href, reference, context);
    if (resumed.outcome === "refused" && resumed.code === "NOT_FOUND") return gone;
    if (resumed.outcome !== "done") return resumed;
    return this.#seen(holdId, context);
  }

  /** Undefined: it is not. */
  #bookedNow(itinerary: Itinerary): WriteOutcome<Booking> | undefined {
    const now = this.#clock.now();
    const isBooked = itinerary.rooms.some(({ status }) => status === "booked");
    const booked = isBooked ? bookingOf(itinerary, now) : undefined;
    return booked && { outcome: "done", ...booked };
  }

  /** What was written is read again: until it is seen, it is in doubt. */
  async #seen(itineraryId: string, context: CallContext): Promise<WriteOutcome<Booking>> {
    const found = await this.#itinerary(itineraryId, context);
    const booked = found.outcome === "done" ? this.#bookedNow(found.itinerary) : undefined;
    const detail = found.outcome === "done" ? "The itinerary is not booked yet." : found.detail;
    return booked ?? { outcome: "in-doubt", detail };
  }

  /** "Hard change": of bookings of one room alone, before the stay; the price is that of the day. */
  async modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { bookingId, checkIn, checkOut, reference } = request;
    if (!(nightsOf(request) >= 1)) return noStay;
    const found = await this.#itinerary(bookingId, context);
    if (found.outcome !== "done") return found;
    const { rooms } = found.itinerary;
    const [room] = rooms as [Itinerary["rooms"][0]];
    if (room.checkin === checkIn && room.checkout === checkOut) {
      const booked = this.#bookedNow(found.itinerary);
      if (booked !== undefined) return booked;
    }
    const shop = room.links?.shop_for_change;
    if (rooms.length > 1 || shop === undefined)
      return refused("REFUSED", "Only a standing booking of one room can have other dates.");
    const query = new URLSearchParams({ checkin: checkIn, checkout: checkOut });
    query.append("occupancy", String(room.number_of_adults));
    const shopped = await this.#available(`${shop.href}&${query}`, context);
    if (shopped.outcome !== "done") return shopped;
    const rates = shopped.available.flatMap((one) => one.rooms ?? []).flatMap((one) => one.rates);
    const rate = rates.find(({ id }) => id === room.rate.id) ?? rates[0];
    if (rate === undefined) return soldOut;
    const checked = await this.#checked(rate, context);
    if (checked.outcome !== "done") return checked;
    const commit = checked.check.links?.commit;
    if (checked.check.status === "sold_out" || commit === undefined) return soldOut;
    const body = { change_reference_id: shortReference(reference, 28) };
    const changed = await this.#follow("PUT", commit.href, reference, context, body);
    return changed.outcome === "done" ? this.#seen(bookingId, context) : changed;
  }

  /** Room by room. One that can't be given back leaves the others given back, and the booking standing. */
  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const found = await this.#itinerary(bookingId, context);
    if (found.outcome !== "done") return found;
    const before = cancellationOf(found.itinerary, this.#clock.now());
    if (before !== undefined) return { outcome: "done", ...before };
    for (const { status, links } of found.itinerary.rooms) {
      if (status === "canceled") continue;
      if (links?.cancel === undefined)
        return refused("NOT_CANCELLABLE", "A room has no way to be cancelled.");
      const end = await this.#follow("DELETE", links.cancel.href, reference, context);
      if (end.outcome !== "done") return end;
    }
    const after = await this.#itinerary(bookingId, context);
    const cancelled =
      after.outcome === "done" ? cancellationOf(after.itinerary, this.#clock.now()) : undefined;
    return cancelled === undefined
      ? { outcome: "in-doubt", detail: "Cancelled, not seen yet." }
      : { outcome: "done", ...cancelled };
  }

  async #itinerary(id: string, context: CallContext): Promise<ReadOutcome<{ itinerary: Itinerary }>> {
    const query = new URLSearchParams({ email: this.#account.email, include: "history" });
    const path = `/v3/itineraries/${encodeURIComponent(id)}?${query}`;
    const call = { method: "GET", path, success: isItinerary, ...this.#signed() } as const;
    const end = await this.#http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", itinerary: end.body } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const query = new URLSearchParams({
      affiliate_reference_id: affiliateReferenceOf(reference, context),
      ...{ email: this.#account.email, include: "history" },
    });
    const call = { method: "GET", path: `/v3/itineraries?${query}`, success: areItineraries } as const;
    const end = await this.#http.read({ ...call, ...this.#signed() }, context);
    if (end.outcome === "problem")
      return end.status === 404 ? { outcome: "none" } : refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const [itinerary] = end.body;
    if (itinerary === undefined) return { outcome: "none" };
    const state = stateOf(itinerary, this.#clock.now());
    return state === undefined
      ? { outcome: "unavailable", detail: impossible }
      : { outcome: "done", ...state };
  }

  /** Of what stands as far as we know, how it stands, as of now. One that can't be asked after fails the page: it comes again. */
  async reconcile({ standing = [] }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const found = await Promise.all(
      standing.map((reference) =>
        this.#limit(async () => ({ reference, end: await this.lookup({ reference }, context) })),
      ),
    );
    const entries: LedgerEntry[] = [];
    for (const { reference, end } of found) {
      if (end.outcome === "unavailable" || end.outcome === "refused") return end;
      if (end.outcome === "none" || !("bookingId" in end)) continue;
      const { bookingId: id, state } = end;
      const changedAt = end.state === "CANCELLED" ? end.cancelledAt : this.#clock.now().toISOString();
      entries.push({ kind: "booking", id, reference, state, changedAt });
    }
    return { outcome: "done", entries: entries.sort((a, b) => a.changedAt.localeCompare(b.changedAt)) };
  }
}

/** The offer's own rate. Undefined: not to be had any more. */
const alike = (available: readonly Availability[], offerId: string, adults: number): Rate | undefined =>
  available
    .flatMap(({ property_id, rooms = [] }) =>
      rooms.flatMap((room) =>
        room.rates.map((rate) => ({ id: offerIdOf(property_id, room.id, rate, adults), rate })),
      ),
    )
    .find(({ id }) => id === offerId)?.rate;
