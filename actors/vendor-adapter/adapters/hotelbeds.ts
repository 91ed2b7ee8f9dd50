/**
 * Owns Hotelbeds' dialect, APItude: which requests are made for what is asked, and what their ends mean. Its answers are read in
 * `hotelbeds-answers.ts`, what it knows of hotels in `hotelbeds-content.ts`. From the public documentation (developer.hotelbeds.com):
 * "Getting started" (signature), Hotel Booking API "Workflow", "Booking", "Best practices", "API errors", and the Postman collection of
 * the post-booking operations.
 *
 * It holds no rooms: what we call a hold is the rate, asked for anew for as many rooms (`/hotels`), and checked where it is to be checked
 * (`/checkrates`, rate type RECHECK), with an expiry of our own. It has no idempotency keys, and takes a `clientReference` twice: a
 * booking is looked for before it is made. Whether guests have come is not told.
 */
import { createHash } from "node:crypto";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { type VendorAnswer, VendorHttp, type VendorOptions } from "../http.ts";
import type {
  Booking,
  BookingCancellation,
  BookRequest,
  CallContext,
  Done,
  Hold,
  HoldRequest,
  HotelPort,
  HotelState,
  InDoubt,
  LedgerPage,
  LedgerRequest,
  LookupOutcome,
  ModifyRequest,
  ReadOutcome,
  Refused,
  Unavailable,
  WriteOutcome,
} from "../ports.ts";
import { changeRefusal } from "../price-recheck.ts";
import {
  bookingOf,
  cancellationOf,
  cheapestAlike,
  type Hotel,
  isAvailability,
  isBooking,
  isCheckedRate,
  isList,
  isPending,
  isProblem,
  isProductError,
  listedIn,
  moneyOf,
  offersOf,
  type Problem,
  type Rate,
  refusedBy,
  remarkOf,
  roomsIn,
  stateOf,
} from "./hotelbeds-answers.ts";
import { HotelbedsContent } from "./hotelbeds-content.ts";
import { type CheckedRate, nameOf, paxesOf, readHold, writeHold } from "./hotelbeds-hold.ts";
import {
  type BookingFilter,
  entryOf,
  firstPlace,
  listsDays,
  readPlace,
  writePlace,
} from "./hotelbeds-ledger.ts";
import { largestRooms, occupanciesAsked } from "./largest-rooms.ts";
import { shortReference } from "./short-reference.ts";

interface Clock {
  now(): Date;
}

const impossible = "the vendor's answer has an impossible amount";
const unreadably = "the vendor's answer is malformed: a booking in its list";
const pending = "the vendor has not confirmed it yet";
/** What the documentation leaves open; keys outlive it by far. */
const holdMs = 10 * 60_000;
const dayMs = 86_400_000;
const pageSize = 100;

const nightsOf = ({ checkIn, checkOut }: { checkIn: string; checkOut: string }): number =>
  (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;
const isStay = (stay: { checkIn: string; checkOut: string }): boolean => nightsOf(stay) >= 1;
const refused = (code: Refused["code"], detail: string): Refused => ({ outcome: "refused", code, detail });

/** Throttled ("API errors"), by a header or by words alone: nothing was done, and later it may work. */
const isBusy = (status: number, headers: Headers, text: string): boolean =>
  status === 403 &&
  (/OVER_(QPS|RATE)/.test(headers.get("x-mashery-error-code") ?? "") || /over (qps|rate)|quota/i.test(text));

/** "Booking": wait for a confirmation for 60 seconds at the least; a booking that is late is made until then, and listed a little later. */
const settlesMs = 90_000;
/** Of that, how long the answer is waited for. */
const shareWaited = 65 / 90;
/** Bookings whose last try is remembered. */
const triesMax = 5_000;

/** Whole answers are larger than we read: so many hotels, kinds of rooms and rates are more than any night needs. */
const searchFilter = { maxHotels: 400, maxRooms: 6, maxRatesPerRoom: 2, paymentType: "AT_WEB" };

/** `clientReference` takes twenty characters: ours, shortened, the same each time. A booking is found by it, and carries the whole one in its remark. */
const clientReferenceOf = (reference: string): string => shortReference(reference, 20);

export class Hotelbeds implements HotelPort {
  readonly listsDays = listsDays;
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #options: VendorOptions;
  readonly #clock: Clock;
  readonly #content: HotelbedsContent;
  readonly settlesMs: { book: number };
  /** When a booking was asked for that nobody has an answer to, by reference; the oldest is forgotten first. */
  readonly #triedMs = new Map<string, number>();
  /** Bookings on their way from this process: asked for twice at once, one is made. */
  readonly #underWay = new Map<string, Promise<WriteOutcome<Booking>>>();

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions, clock: Clock) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#options = options;
    this.#clock = clock;
    this.settlesMs = { book: options.bookingSettlesMs ?? settlesMs };
    this.#content = new HotelbedsContent(this.#http, clock, () => this.#signed());
  }

  /** "Getting started": SHA-256 in hex of key, secret and seconds. */
  #signed(): { headers: Record<string, string>; problem: typeof isProblem; isBusy: typeof isBusy } {
    const { apiKey, apiSecret = "" } = this.#options;
    const seconds = Math.floor(this.#clock.now().getTime() / 1000);
    const signature = createHash("sha256").update(`${apiKey}${apiSecret}${seconds}`).digest("hex");
    return { headers: { "api-key": apiKey, "x-signature": signature }, problem: isProblem, isBusy };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    if (!isStay(search)) return { outcome: "done", offers: [] };
    const { latitude, longitude } = search.coordinates;
    const geolocation = { latitude, longitude, radius: search.radiusKm, unit: "km" };
    const found = await Promise.all(
      occupanciesAsked.map((adults) =>
        this.#availability({ ...search, rooms: 1, adults }, { geolocation, filter: searchFilter }, context),
      ),
    );
    const failed = found.find((one) => one.outcome !== "done");
    if (failed !== undefined) return failed;
    const asked = found.flatMap((one, i) =>
      one.outcome === "done" ? [{ hotels: one.hotels, adults: occupanciesAsked[i] as number }] : [],
    );
    const known = await this.#content.of(
      asked.flatMap(({ hotels }) => hotels.map(({ code }) => code)),
      context,
    );
    if (known.outcome !== "done") return known;
    const nights = nightsOf(search);
    const now = this.#clock.now();
    const offers = asked.flatMap(({ hotels, adults }) =>
      hotels.flatMap((hotel) => {
        const content = known.hotels.get(hotel.code);
        return content === undefined ? [] : offersOf(this.#vendor, hotel, content, { adults, nights, now });
      }),
    );
    return { outcome: "done", offers: largestRooms(offers) };
  }

  async #availability(
    asked: { checkIn: string; checkOut: string; rooms: number; adults: number },
    where: object,
    context: CallContext,
  ): Promise<ReadOutcome<{ hotels: Hotel[] }>> {
    const { checkIn, checkOut, rooms, adults } = asked;
    const body = { stay: { checkIn, checkOut }, occupancies: [{ rooms, adults, children: 0 }], ...where };
    const call = { method: "POST", path: "/hotel-api/1.0/hotels", body, success: isAvailability } as const;
    const end = await this.#http.read({ ...call, ...this.#signed() }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", hotels: end.body.hotels.hotels ?? [] } : end;
  }

  /** Nothing is kept at the vendor: whatever happens, nothing was done. */
  async hold(request: HoldRequest, context: CallContext): Promise<ReadOutcome<Hold>> {
    const { offer, rooms, needs } = request;
    if (!isStay(request)) return refused("INVALID_REQUEST", "No stay: check-out is not after check-in.");
    const adults = offer.maxOccupancy;
    const where = { hotels: { hotel: [Number(offer.providerHotelId)] } };
    const found = await this.#availability({ ...request, adults }, where, context);
    if (found.outcome !== "done") return found;
    const rate = cheapestAlike(found.hotels, offer, { rooms, adults });
    if (rate === undefined)
      return refused("SOLD_OUT", "The rate is not to be had for so many rooms any more.");
    const checked = await this.#checked(rate, found.hotels[0] as Hotel, context);
    if (checked.outcome !== "done") return checked;
    const expiresAt = new Date(this.#clock.now().getTime() + holdMs).toISOString();
    const holdId = writeHold({ rateKey: checked.rateKey, rooms, adults, needs: [...needs] });
    return { outcome: "done", holdId, expiresAt, total: checked.total };
  }

  /** A rate that is BOOKABLE was priced a moment ago, and is not to be asked about again ("Best practices"). */
  async #checked(rate: Rate, hotel: Hotel, context: CallContext): Promise<ReadOutcome<CheckedRate>> {
    if (rate.rateType !== "RECHECK") return priced(rate.rateKey, moneyOf(rate.net, hotel.currency));
    const body = { rooms: [{ rateKey: rate.rateKey }] };
    const call = { method: "POST", path: "/hotel-api/1.0/checkrates", body, success: isCheckedRate } as const;
    const final = { finalProblem: isProductError };
    const end = await this.#http.read({ ...call, ...final, ...this.#signed() }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { rooms, totalNet, currency } = end.body.hotel;
    return priced(rooms[0]?.rates[0]?.rateKey ?? rate.rateKey, moneyOf(totalNet, currency));
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { reference } = request;
    const known = this.#underWay.get(reference);
    if (known !== undefined) return known;
    const booking = this.#bookOnce(request, context).finally(() => this.#underWay.delete(reference));
    this.#underWay.set(reference, booking);
    return booking;
  }

  async #bookOnce(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { reference, leadGuest, guests } = request;
    const checked = readHold(request.holdId);
    if (checked === undefined) return refused("NOT_FOUND", "No rate that was checked by us.");
    const found = await this.lookup({ reference }, context);
    if (found.outcome === "done")
      return found.state === "BOOKED"
        ? found
        : refused("HOLD_EXPIRED", "It was booked and cancelled before.");
    if (found.outcome !== "none") return found;
    const nowMs = this.#clock.now().getTime();
    // It takes a reference twice: what was sent a moment ago may be made yet.
    if (nowMs - (this.#triedMs.get(reference) ?? -Infinity) < this.settlesMs.book)
      return { outcome: "in-doubt", detail: "Booked a moment ago; not listed yet." };
    const { rateKey, rooms, adults, needs } = checked;
    const paxes = paxesOf([leadGuest, ...guests], { rooms, adults });
    const body = {
      holder: { name: nameOf(leadGuest.givenName), surname: nameOf(leadGuest.familyName) },
      rooms: [{ rateKey, paxes }],
      clientReference: clientReferenceOf(reference),
      remark: remarkOf(reference, needs),
    };
    const timeoutMs = Math.max(this.#options.timeoutMs, Math.round(this.settlesMs.book * shareWaited));
    const call = { method: "POST", path: "/hotel-api/1.0/bookings", body, timeoutMs } as const;
    this.#triedMs.delete(reference);
    this.#triedMs.set(reference, nowMs);
    const [oldest] = this.#triedMs.keys();
    if (this.#triedMs.size > triesMax && oldest !== undefined) this.#triedMs.delete(oldest);
    const end = await this.#written(call, reference, context, this.#booking);
    if (end.outcome !== "in-doubt") this.#triedMs.delete(reference);
    return end;
  }

  readonly #booking = (answer: BookingEnd): Booking | undefined => bookingOf(answer, this.#clock.now());

  async #written<Result>(
    call: { method: "POST" | "PUT" | "DELETE"; path: string; body?: unknown; timeoutMs?: number },
    reference: string,
    context: CallContext,
    read: (answer: BookingEnd) => Result | undefined,
  ): Promise<WriteOutcome<Result>> {
    const answered = { success: isBooking, finalProblem: isProductError, ...this.#signed() };
    const end: WriteEnd = await this.#http.write({ ...call, ...answered }, reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const result = read(end.body.booking);
    if (isPending(end.body.booking)) return { outcome: "in-doubt", detail: pending };
    return result === undefined
      ? { outcome: "in-doubt", detail: impossible }
      : ({ outcome: "done", ...result } as Done<Result>);
  }

  /** "BookingChange": the whole booking is sent back, with other dates. */
  async modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { bookingId, checkIn, checkOut, reference } = request;
    if (!isStay(request)) return refused("INVALID_REQUEST", "No stay: check-out is not after check-in.");
    const found = await this.#detail(bookingId, context);
    if (found.outcome !== "done") return found;
    const { booking } = found;
    if (booking.status === "CANCELLED") return refused("NOT_CANCELLABLE", "The booking is cancelled.");
    const stands = booking.hotel.checkIn === checkIn && booking.hotel.checkOut === checkOut;
    const known = stands ? this.#booking(booking) : undefined;
    if (known !== undefined) return { outcome: "done", ...known };
    const changed = { ...booking, hotel: { ...booking.hotel, checkIn, checkOut } };
    const call = { method: "PUT", path: pathOf(bookingId) } as const;
    if (request.nightlyMax !== undefined) {
      const body = { mode: "SIMULATION", booking: changed };
      const answered = { success: isBooking, finalProblem: isProductError, ...this.#signed() };
      const end = await this.#http.read({ ...call, body, ...answered }, context);
      if (end.outcome === "problem") return refusedBy(end.body, end.sent);
      if (end.outcome !== "success") return end;
      const refusal = changeRefusal(
        { ...request, rooms: roomsIn(booking) },
        {
          before: moneyOf(booking.totalNet, booking.currency),
          nightsBefore: nightsOf(booking.hotel),
          after: moneyOf(end.body.booking.totalNet, end.body.booking.currency),
        },
      );
      if (refusal !== undefined) return refusal;
    }
    const body = { mode: "UPDATE", booking: changed };
    return this.#written({ ...call, body }, reference, context, this.#booking);
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const found = await this.#detail(bookingId, context);
    if (found.outcome !== "done") return found;
    const read = (answer: BookingEnd) => cancellationOf(answer, this.#clock.now());
    const before = read(found.booking);
    if (before !== undefined) return { outcome: "done", ...before };
    const path = `${pathOf(bookingId)}?cancellationFlag=CANCELLATION`;
    return this.#written({ method: "DELETE", path }, reference, context, read);
  }

  async #detail(bookingId: string, context: CallContext): Promise<ReadOutcome<{ booking: BookingEnd }>> {
    const call = { method: "GET", path: pathOf(bookingId), success: isBooking } as const;
    const final = { finalProblem: isProductError };
    const end = await this.#http.read({ ...call, ...final, ...this.#signed() }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", booking: end.body.booking } : end;
  }

  /** By `clientReference`, among the bookings of the last weeks; of several the one that stands, for a name may have been given twice. */
  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const listed = await this.#list(
      { ...firstPlace(this.#clock.now()).filter, clientReference: clientReferenceOf(reference) },
      1,
      context,
    );
    if (listed.outcome !== "done") return listed;
    const { bookings, unreadable } = listed;
    if (unreadable.length > 0) return { outcome: "unavailable", detail: unreadably };
    const booking = bookings.find(({ status }) => status !== "CANCELLED") ?? bookings[0];
    if (booking === undefined) return { outcome: "none" };
    const found = await this.#detail(booking.reference, context);
    if (found.outcome !== "done") return found;
    if (isPending(found.booking)) return { outcome: "unavailable", detail: pending };
    const state = stateOf(found.booking, this.#clock.now());
    return state === undefined
      ? { outcome: "unavailable", detail: impossible }
      : { outcome: "done", ...state };
  }

  async #list(
    filter: BookingFilter & { clientReference?: string },
    from: number,
    context: CallContext,
  ): Promise<ReadOutcome<ReturnType<typeof listedIn> & { total: number }>> {
    const to = from + pageSize - 1;
    const query = new URLSearchParams({
      ...{ from: String(from), to: String(to) },
      ...filter,
      ...{ status: "ALL", extend: "true" },
    });
    const call = { method: "GET", path: `/hotel-api/1.0/bookings?${query}`, success: isList } as const;
    const end = await this.#http.read({ ...call, ...this.#signed() }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { bookings = [], total } = end.body.bookings;
    return { outcome: "done", ...listedIn(bookings), total };
  }

  /**
   * It lists bookings by days, not changes by their moment: from the beginning those made in the last weeks, since a time those modified
   * since its day. A cancelled one counts as changed when it was listed, and is listed until its day is over.
   */
  async reconcile({ since, cursor }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const now = this.#clock.now();
    const place = cursor === undefined ? firstPlace(now, since) : readPlace(cursor);
    if (place === undefined) return refused("INVALID_REQUEST", "Not a place in a list of ours.");
    const { filter, from } = place;
    const listed = await this.#list(filter, from, context);
    if (listed.outcome !== "done") return listed;
    const { bookings, unreadable } = listed;
    if (bookings.length === 0 && unreadable.length > 0) return { outcome: "unavailable", detail: unreadably };
    const entries = bookings.flatMap((booking) => entryOf(booking, now));
    const next = from + pageSize;
    return {
      outcome: "done",
      entries: entries.sort((a, b) => a.changedAt.localeCompare(b.changedAt)),
      ...(unreadable.length > 0 && { unreadable }),
      ...(next <= listed.total && { nextCursor: writePlace({ filter, from: next }) }),
    };
  }
}

type BookingEnd = Parameters<typeof bookingOf>[0];
type WriteEnd = VendorAnswer<{ booking: BookingEnd }, Problem> | Refused | Unavailable | InDoubt;

const pathOf = (bookingId: string): string => `/hotel-api/1.0/bookings/${encodeURIComponent(bookingId)}`;

const priced = (rateKey: string, total: CheckedRate["total"] | undefined): ReadOutcome<CheckedRate> =>
  total === undefined ? { outcome: "unavailable", detail: impossible } : { outcome: "done", rateKey, total };
