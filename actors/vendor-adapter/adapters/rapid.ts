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
import pLimit from "p-limit";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import type { VendorOptions } from "../http.ts";
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
import { changeRefusal } from "../price-recheck.ts";
import { largestRooms, occupanciesAsked } from "./largest-rooms.ts";
import { accountOf } from "./rapid-account.ts";
import {
  alike,
  bookingOf,
  cancellationOf,
  createdHoldOf,
  holdOf,
  type Itinerary,
  isBooked,
  isCancelled,
  isDuplicate,
  isPartlyCancelled,
  isPending,
  offersOf,
  priceOf,
  refusedBy,
  roomsAtOnce,
  stateOf,
} from "./rapid-answers.ts";
import { RapidPlaces } from "./rapid-places.ts";
import { RapidRequests, refused, type Stay, soldOut } from "./rapid-requests.ts";
import { shortReference } from "./short-reference.ts";

interface Clock {
  now(): Date;
}

const impossible = "the vendor's answer has an impossible amount";
const dayMs = 86_400_000;
const nightsOf = ({ checkIn, checkOut }: Stay): number =>
  (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;
const gone = refused("HOLD_EXPIRED", "The hold has ended.");
const notSeen = { outcome: "in-doubt", detail: "It is not to be seen yet." } as const;
const isNotFound = (end: { outcome: string; code?: string }): boolean =>
  end.outcome === "refused" && end.code === "NOT_FOUND";
const noStay = refused("INVALID_REQUEST", "No stay: check-out is not after check-in.");
/** "Handling booking requests": done after minutes, and seen 90 seconds later at the most. */
const settlesMs = 120_000;
/** Of that, how long the answer to a hold or a booking is waited for. */
const shareWaited = 1 / 2;
/** Itineraries asked after at once, in one page of a reconciliation. */
const lookupsAtOnce = 4;

export class Rapid implements HotelPort {
  readonly needsStanding = true;
  readonly settlesMs: { hold: number; book: number };
  readonly #vendor: string;
  readonly #requests: RapidRequests;
  readonly #clock: Clock;
  readonly #places: RapidPlaces;
  readonly #limit = pLimit(lookupsAtOnce);

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions, clock: Clock) {
    this.#vendor = vendor;
    this.#clock = clock;
    const { bookingSettlesMs = settlesMs } = options;
    this.settlesMs = { hold: bookingSettlesMs, book: bookingSettlesMs };
    const patienceMs = Math.round(bookingSettlesMs * shareWaited);
    this.#requests = new RapidRequests(options, accountOf(options.account ?? {}), clock, patienceMs);
    this.#places = new RapidPlaces(this.#requests.http, clock, () => this.#requests.signed());
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
      occupanciesAsked.map((adults) => this.#requests.search(ids, search, adults, context)),
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

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const { offer, rooms, reference } = request;
    if (!(nightsOf(request) >= 1)) return noStay;
    if (rooms > roomsAtOnce) return soldOut;
    const adults = offer.maxOccupancy;
    const occupancy = { rooms, adults };
    const shopped = await this.#requests.shop(offer.providerHotelId, request, occupancy, context);
    if (shopped.outcome !== "done") return shopped;
    const rate = alike(shopped.available, offer.providerOfferId, adults);
    if (rate === undefined || rate.available_rooms < rooms || rate.holdable !== true) return soldOut;
    const checked = await this.#requests.checked(rate, context);
    if (checked.outcome !== "done") return checked;
    const book = checked.check.links?.book;
    const price = checked.check.occupancy_pricing?.[String(adults)];
    const each = price && priceOf(price);
    if (checked.check.status === "sold_out" || book === undefined) return soldOut;
    if (each === undefined) return { outcome: "unavailable", detail: impossible };
    const total = { amountMinor: each.amountMinor * rooms, currency: each.currency };
    const end = await this.#requests.create(book.href, request, context);
    if (end.outcome === "problem")
      return isDuplicate(end.body) ? this.#held(reference, context) : refusedBy(end.body, end.sent);
    // Not looked for: an itinerary may take a minute and a half to be seen.
    return end.outcome === "success"
      ? { outcome: "done", ...createdHoldOf(end.body, total, this.#clock.now()) }
      : end;
  }

  /** So soon after it was first asked for what isn't there may be yet, and what was refused may have been done by the try before. */
  #isSettling({ firstAskedAt }: CallContext, unknown = false): boolean {
    if (firstAskedAt === undefined) return unknown;
    return this.#clock.now().getTime() - firstAskedAt.getTime() < this.settlesMs.book;
  }

  /** Under a reference that was given before: that hold. */
  async #held(reference: string, context: CallContext): Promise<WriteOutcome<Hold>> {
    const found = await this.lookup({ reference }, context);
    if (found.outcome === "done") {
      const { state, ...hold } = found;
      const isHeld = state === "HELD" && "holdId" in hold;
      return isHeld ? hold : refused("REFERENCE_REUSED", "It was booked under before.");
    }
    if (found.outcome !== "none") return found;
    return this.#isSettling(context, true) ? notSeen : refused("HOLD_EXPIRED", "The hold is over.");
  }

  async release(
    { reference, holdId }: { reference: string; holdId: string },
    context: CallContext,
  ): Promise<WriteOutcome<object>> {
    const found = await this.#requests.itinerary(holdId, context);
    if (found.outcome === "refused" && found.code === "NOT_FOUND") return { outcome: "done" };
    if (found.outcome !== "done") return found;
    const { cancel, resume } = found.itinerary.links ?? {};
    if (cancel === undefined || resume === undefined) return { outcome: "done" };
    return this.#requests.follow("DELETE", cancel.href, reference, context);
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { holdId, reference } = request;
    const found = await this.#requests.itinerary(holdId, context);
    if (isNotFound(found)) return this.#isSettling(context) ? notSeen : gone;
    if (found.outcome !== "done") return found;
    const { resume } = found.itinerary.links ?? {};
    if (resume === undefined) return this.#bookedNow(found.itinerary) ?? this.#notBooked(found, context);
    const resumed = await this.#requests.resume(resume.href, reference, context);
    if (resumed.outcome === "refused" && (context.doubt || isNotFound(resumed)))
      return this.#refusedInDoubt(holdId, isNotFound(resumed) ? gone : resumed, context);
    if (resumed.outcome !== "done") return resumed;
    return this.#seen(holdId, context);
  }

  /** A try before may have been the reason for the refusal, and be done yet: until the itinerary is seen booked or cancelled, or its time is over. */
  async #refusedInDoubt(
    holdId: string,
    refusal: Refused,
    context: CallContext,
  ): Promise<WriteOutcome<Booking>> {
    const found = await this.#requests.itinerary(holdId, context);
    if (isNotFound(found)) return this.#isSettling(context) ? notSeen : refusal;
    if (found.outcome !== "done") return { outcome: "in-doubt", detail: found.detail };
    const booked = this.#bookedNow(found.itinerary);
    if (booked !== undefined) return booked;
    if (isCancelled(found.itinerary)) return refusal;
    const hold = holdOf(found.itinerary);
    const isHeld = hold !== undefined && Date.parse(hold.expiresAt) > this.#clock.now().getTime();
    return (isHeld && context.doubt) || this.#isSettling(context) ? notSeen : refusal;
  }

  /** It is neither booked nor to be resumed any more. */
  #notBooked({ itinerary }: { itinerary: Itinerary }, context: CallContext): WriteOutcome<Booking> {
    const isOver = isCancelled(itinerary) || !(isPending(itinerary) || this.#isSettling(context));
    return isOver ? gone : notSeen;
  }

  /** Undefined: it is not. */
  #bookedNow(itinerary: Itinerary): WriteOutcome<Booking> | undefined {
    const booked = isBooked(itinerary) ? bookingOf(itinerary, this.#clock.now()) : undefined;
    return booked && { outcome: "done", ...booked };
  }

  /** What was written is read again: until it is seen, it is in doubt. */
  async #seen(itineraryId: string, context: CallContext): Promise<WriteOutcome<Booking>> {
    const found = await this.#requests.itinerary(itineraryId, context);
    const booked = found.outcome === "done" ? this.#bookedNow(found.itinerary) : undefined;
    const detail = found.outcome === "done" ? "The itinerary is not booked yet." : found.detail;
    return booked ?? { outcome: "in-doubt", detail };
  }

  /** "Hard change": of bookings of one room alone, before the stay; the price is that of the day. */
  async modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { bookingId, checkIn, checkOut, reference } = request;
    if (!(nightsOf(request) >= 1)) return noStay;
    const found = await this.#requests.itinerary(bookingId, context);
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
    const shopped = await this.#requests.available(`${shop.href}&${query}`, context);
    if (shopped.outcome !== "done") return shopped;
    const offered = shopped.available.flatMap((one) => one.rooms ?? []).flatMap((one) => one.rates);
    // Whoever booked has chosen these terms and this price: others are for a person to take.
    const rate = room.rate.id === undefined ? undefined : offered.find(({ id }) => id === room.rate.id);
    if (rate === undefined) return soldOut;
    const checked = await this.#requests.checked(rate, context);
    if (checked.outcome !== "done") return checked;
    const { status, links, occupancy_pricing } = checked.check;
    const commit = links?.commit;
    if (status === "sold_out" || commit === undefined) return soldOut;
    const price = occupancy_pricing?.[String(room.number_of_adults)];
    const refusal = changeRefusal(request, {
      before: priceOf(room.rate.pricing),
      nightsBefore: nightsOf({ checkIn: room.checkin, checkOut: room.checkout }),
      after: price && priceOf(price),
    });
    if (refusal !== undefined) return refusal;
    const body = { change_reference_id: shortReference(reference, 28) };
    const changed = await this.#requests.follow("PUT", commit.href, reference, context, { body });
    return changed.outcome === "done" ? this.#seen(bookingId, context) : changed;
  }

  /** Room by room. One that can't be given back leaves the others given back, and the booking standing. */
  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const found = await this.#requests.itinerary(bookingId, context);
    if (found.outcome !== "done") return found;
    const before = cancellationOf(found.itinerary, this.#clock.now());
    if (before !== undefined) return { outcome: "done", ...before };
    for (const { status, links } of found.itinerary.rooms) {
      if (status === "canceled") continue;
      if (links?.cancel === undefined)
        return refused("NOT_CANCELLABLE", "A room has no way to be cancelled.");
      const end = await this.#requests.follow("DELETE", links.cancel.href, reference, context);
      if (end.outcome !== "done") return end;
    }
    const after = await this.#requests.itinerary(bookingId, context);
    const cancelled =
      after.outcome === "done" ? cancellationOf(after.itinerary, this.#clock.now()) : undefined;
    return cancelled === undefined
      ? { outcome: "in-doubt", detail: "Cancelled, not seen yet." }
      : { outcome: "done", ...cancelled };
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const found = await this.#requests.itineraryUnder(reference, context);
    if (found.outcome !== "done") return found;
    return this.#stateOf(found.itinerary);
  }

  #stateOf(itinerary: Itinerary): ReadOutcome<HotelState> {
    const state = stateOf(itinerary, this.#clock.now());
    if (state === undefined && isPending(itinerary))
      return { outcome: "unavailable", detail: "the vendor has not confirmed it yet" };
    return state === undefined
      ? { outcome: "unavailable", detail: impossible }
      : { outcome: "done", ...state };
  }

  /** Of what stands as far as we know, how it stands, as of now. One that can't be asked after stops no other: the page fails where none can. */
  async reconcile({ standing = [] }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const partly = new Set<string>();
    const found = await Promise.all(
      standing.map((reference) =>
        this.#limit(async () => {
          const end = await this.#requests.itineraryUnder(reference, context);
          if (end.outcome !== "done") return { reference, end };
          if (isBooked(end.itinerary) && isPartlyCancelled(end.itinerary))
            partly.add(end.itinerary.itinerary_id);
          return { reference, end: this.#stateOf(end.itinerary) };
        }),
      ),
    );
    const entries: LedgerEntry[] = [];
    const unreadable: string[] = [];
    for (const { reference, end } of found) {
      if (end.outcome === "unavailable" || end.outcome === "refused") {
        unreadable.push(reference);
        if (unreadable.length === standing.length) return end;
        continue;
      }
      if (end.outcome === "none" || !("bookingId" in end)) continue;
      const { bookingId: id, state } = end;
      const changedAt = end.state === "CANCELLED" ? end.cancelledAt : this.#clock.now().toISOString();
      const oddity = partly.has(id) && { oddity: "PARTLY_CANCELLED" as const };
      entries.push({ kind: "booking", id, reference, state, changedAt, ...oddity });
    }
    entries.sort((a, b) => a.changedAt.localeCompare(b.changedAt));
    return { outcome: "done", entries, ...(unreadable.length > 0 && { unreadable }) };
  }
}
