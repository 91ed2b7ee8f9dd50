/** Owns what a hotel vendor does, whatever its dialect: search, hold, book, modify, cancel, find. Inventory is never oversold. */
import { randomUUID } from "node:crypto";
import { airport as airportKnown } from "../../schemas/airports.ts";
import type { Coordinates } from "../../schemas/hotel.ts";
import { changesOf } from "./changes.ts";
import type { Settings } from "./faults.ts";
import {
  type BookRequest,
  type CancellationStep,
  dayMs,
  feeAt,
  type HoldRequest,
  iso,
  ladderOf,
  nightsOf,
  type Sale,
  type SaleDetails,
  type Stay,
} from "./hotel-sale.ts";
import {
  airportOfCode,
  distanceKm,
  type Listing,
  listingsOf,
  type RoomKind,
  roomsInNight,
} from "./hotels.ts";
import type { Ledger, NightUse } from "./ledger.ts";

/** One kind of room with what is left of it in the scarcest night of the stay. */
export interface Vacancy {
  room: RoomKind;
  roomsLeft: number;
  accessibleLeft: number;
  /** ISO 8601 UTC; undefined: cancelling always costs something. */
  freeCancellationUntil: string | undefined;
  /** What cancelling one room costs. */
  ladder: CancellationStep[];
}

export type DeskRefusal = "UNKNOWN" | "INVALID_STAY" | "SOLD_OUT" | "NOT_HELD" | "HOLD_EXPIRED" | "STAYED";
export type DeskAnswer = { sale: Sale } | { refused: DeskRefusal };

export class HotelDesk {
  readonly #vendor: string;
  readonly #ledger: Ledger;
  readonly #settings: () => Settings;
  /** Listings cost some hashing; they change with the seed alone. */
  readonly #listings = new Map<string, Listing[]>();
  /** Bookings that their hotels will cancel, by id. */
  readonly #oversold: Map<string, number>;

  constructor(vendor: string, ledger: Ledger, settings: () => Settings) {
    this.#vendor = vendor;
    this.#ledger = ledger;
    this.#settings = settings;
    const sold = ledger.ofKind("booking") as Sale[];
    this.#oversold = new Map(
      sold.flatMap(({ id, details }) => (details.oversoldAt ? [[id, Date.parse(details.oversoldAt)]] : [])),
    );
  }

  /** What hotels have found out by now. */
  settle(nowMs: number): void {
    for (const [id, atMs] of this.#oversold) {
      if (atMs > nowMs) continue;
      this.#oversold.delete(id);
      const booking = this.#ledger.entry("booking", id) as Sale | undefined;
      if (booking?.state !== "BOOKED") continue;
      const details = { ...booking.details, cancellationFeeMinor: 0 };
      this.#ledger.put({ ...booking, state: "CANCELLED", changedAt: iso(nowMs), details });
      this.#ledger.releaseNights("booking", id);
    }
  }

  #listingsAt(airport: string): Listing[] {
    const { seed } = this.#settings();
    const key = `${seed}\n${airport}`;
    const known = this.#listings.get(key);
    if (known !== undefined) return known;
    const listings = listingsOf(seed, this.#vendor, airport);
    this.#listings.set(key, listings);
    return listings;
  }

  /** Undefined: this vendor doesn't sell it. */
  listing(hotelCode: string): Listing | undefined {
    return this.#listingsAt(airportOfCode(hotelCode)).find((one) => one.hotelCode === hotelCode);
  }

  /** Undefined: no such airport. */
  placeOf(airport: string): Coordinates | undefined {
    return airportKnown(airport);
  }

  listings(airport: string): readonly Listing[] {
    return this.#listingsAt(airport);
  }

  /** Undefined: no such hold, or it is over or used. */
  holding(holdId: string, nowMs: number): Sale | undefined {
    const hold = this.#ledger.entry("hold", holdId) as Sale | undefined;
    return hold?.state === "HELD" && Date.parse(hold.details.expiresAt!) > nowMs ? hold : undefined;
  }

  booking(bookingId: string, nowMs: number): Sale | undefined {
    this.settle(nowMs);
    return this.#ledger.entry("booking", bookingId) as Sale | undefined;
  }

  #find(rateKey: string): { listing: Listing; room: RoomKind } | undefined {
    for (const listing of this.#listingsAt(airportOfCode(rateKey))) {
      const room = listing.rooms.find((one) => one.rateKey === rateKey);
      if (room !== undefined) return { listing, room };
    }
    return undefined;
  }

  #vacancies(rooms: RoomKind[], stay: Stay, nowMs: number): Vacancy[] {
    const nights = nightsOf(stay);
    const taken = this.#ledger.nightsTaken(
      rooms.map((room) => room.rateKey),
      stay.checkIn,
      stay.checkOut,
      nowMs,
    );
    const use = new Map(taken.map((one) => [`${one.room} ${one.night}`, one]));
    return rooms.map((room) => {
      const left = nights.map((night) => {
        const used = use.get(`${room.rateKey} ${night}`);
        const rooms = roomsInNight(this.#settings().seed, this.#vendor, room, night) - (used?.rooms ?? 0);
        return { rooms, accessible: Math.min(rooms, room.accessible - (used?.accessible ?? 0)) };
      });
      return {
        room,
        roomsLeft: Math.max(0, Math.min(...left.map((night) => night.rooms))),
        accessibleLeft: Math.max(0, Math.min(...left.map((night) => night.accessible))),
        freeCancellationUntil: room.freeCancellation ? `${stay.checkIn}T16:00:00Z` : undefined,
        ladder: ladderOf(stay, room.nightlyRateMinor, room.freeCancellation),
      };
    });
  }

  /** Hotels within the radius that have at least one room for every night; empty for dates that make no stay. */
  search(
    query: Stay & { airport: string; coordinates: Coordinates; radiusKm: number; nowMs: number },
  ): { listing: Listing; vacancies: Vacancy[] }[] {
    if (nightsOf(query).length === 0) return [];
    const near = this.#listingsAt(query.airport).filter(
      (listing) => distanceKm(listing.coordinates, query.coordinates) <= query.radiusKm,
    );
    const vacancies = this.#vacancies(
      near.flatMap((listing) => listing.rooms),
      query,
      query.nowMs,
    );
    const byRoom = new Map(vacancies.map((vacancy) => [vacancy.room.rateKey, vacancy]));
    return near.flatMap((listing) => {
      const open = listing.rooms
        .map((room) => byRoom.get(room.rateKey)!)
        .filter((vacancy) => vacancy.roomsLeft > 0);
      return open.length > 0 ? [{ listing, vacancies: open }] : [];
    });
  }

  hold(request: HoldRequest): DeskAnswer {
    const found = this.#find(request.rateKey);
    const nights = nightsOf(request);
    if (found === undefined) return { refused: "UNKNOWN" };
    if (nights.length === 0) return { refused: "INVALID_STAY" };
    const { listing, room } = found;
    const [vacancy] = this.#vacancies([room], request, request.nowMs);
    if (vacancy!.roomsLeft < request.rooms || vacancy!.accessibleLeft < request.accessible) {
      return { refused: "SOLD_OUT" };
    }
    const expiresAtMs = request.nowMs + this.#settings().holdTtlMs;
    const nightlyRateMinor = Math.round(room.nightlyRateMinor * (request.priceFactor ?? 1));
    const hold: Sale = {
      kind: "hold",
      id: `H-${randomUUID()}`,
      reference: request.reference,
      idempotencyKey: request.idempotencyKey,
      state: "HELD",
      createdAt: iso(request.nowMs),
      changedAt: iso(request.nowMs),
      details: {
        rateKey: room.rateKey,
        hotelCode: listing.hotelCode,
        hotelName: listing.name,
        rooms: request.rooms,
        accessible: request.accessible,
        checkIn: request.checkIn,
        checkOut: request.checkOut,
        nightlyRateMinor,
        totalMinor: nightlyRateMinor * request.rooms * nights.length,
        currency: room.currency,
        freeCancellationUntil: vacancy!.freeCancellationUntil ?? null,
        ladder: ladderOf(request, nightlyRateMinor * request.rooms, room.freeCancellation),
        ...request.also,
        expiresAt: iso(expiresAtMs),
      },
    };
    this.#ledger.put(hold);
    this.#ledger.takeNights(hold, this.#nightUse(hold.details), expiresAtMs);
    return { sale: hold };
  }

  /** The client does not want it any more. One that is none, or is used or over, stays what it is. */
  release(holdId: string, nowMs: number): DeskAnswer {
    const hold = this.#ledger.entry("hold", holdId) as Sale | undefined;
    if (hold === undefined) return { refused: "UNKNOWN" };
    if (hold.state !== "HELD") return { sale: hold };
    const released: Sale = { ...hold, state: "EXPIRED", changedAt: iso(nowMs) };
    this.#ledger.put(released);
    this.#ledger.releaseNights("hold", holdId);
    return { sale: released };
  }

  #nightUse(details: SaleDetails): NightUse[] {
    const { rateKey: room, rooms, accessible } = details;
    return nightsOf(details).map((night) => ({ room, night, rooms, accessible }));
  }

  /** Turns a hold into a booking; an expired one too, as long as its rooms are still free. */
  book(request: BookRequest): DeskAnswer {
    const hold = this.#ledger.entry("hold", request.holdId) as Sale | undefined;
    if (hold === undefined) return { refused: "UNKNOWN" };
    if (hold.state === "EXPIRED") return { refused: "HOLD_EXPIRED" };
    if (hold.state !== "HELD") return { refused: "NOT_HELD" };
    const { expiresAt, ...sold } = hold.details;
    if (Date.parse(expiresAt!) <= request.nowMs && !this.#stillFree(hold, request.nowMs)) {
      return { refused: "HOLD_EXPIRED" };
    }
    const id = request.id ?? `B-${randomUUID()}`;
    const oversoldAtMs = request.nowMs + this.#settings().oversellAfterMs;
    if (request.oversold) this.#oversold.set(id, oversoldAtMs);
    const booking: Sale = {
      kind: "booking",
      id,
      reference: request.reference,
      idempotencyKey: request.idempotencyKey,
      state: "BOOKED",
      createdAt: iso(request.nowMs),
      changedAt: iso(request.nowMs),
      details: {
        ...sold,
        holdId: hold.id,
        confirmationNumber: id.slice(2, 10).toUpperCase(),
        leadGuest: request.leadGuest,
        guests: request.guests,
        payment: request.payment,
        ...request.also,
        ...(request.oversold && { oversoldAt: iso(oversoldAtMs) }),
      },
    };
    this.#ledger.put(booking);
    this.#ledger.put({
      ...hold,
      state: "USED",
      changedAt: iso(request.nowMs),
      details: { ...hold.details, bookingId: id },
    });
    this.#ledger.releaseNights("hold", hold.id);
    this.#ledger.takeNights(booking, this.#nightUse(booking.details), null);
    return { sale: booking };
  }

  #stillFree(hold: Sale, nowMs: number): boolean {
    const found = this.#find(hold.details.rateKey);
    if (found === undefined) return false;
    const [vacancy] = this.#vacancies([found.room], hold.details, nowMs);
    return vacancy!.roomsLeft >= hold.details.rooms && vacancy!.accessibleLeft >= hold.details.accessible;
  }

  /** Sets other dates, at the booking's own rate. Its own nights are free for it; those that come on top must be free. @param isSimulated nothing is changed */
  modify(bookingId: string, stay: Stay, nowMs: number, isSimulated = false): DeskAnswer {
    this.settle(nowMs);
    const booking = this.#ledger.entry("booking", bookingId) as Sale | undefined;
    const found = booking && this.#find(booking.details.rateKey);
    const nights = nightsOf(stay);
    if (booking === undefined || found === undefined) return { refused: "UNKNOWN" };
    if (booking.state !== "BOOKED" && booking.state !== "CHECKED_IN") return { refused: "STAYED" };
    if (nights.length === 0) return { refused: "INVALID_STAY" };
    const { rooms, accessible, nightlyRateMinor, freeCancellationUntil } = booking.details;
    const own = new Set(nightsOf(booking.details));
    const isFree = (night: string): boolean => {
      const next = iso(Date.parse(`${night}T00:00:00Z`) + dayMs).slice(0, 10);
      const [vacancy] = this.#vacancies([found.room], { checkIn: night, checkOut: next }, nowMs);
      return vacancy!.roomsLeft >= rooms && vacancy!.accessibleLeft >= accessible;
    };
    if (!nights.every((night) => own.has(night) || isFree(night))) return { refused: "SOLD_OUT" };
    const { checkIn, checkOut } = stay;
    const totalMinor = nightlyRateMinor * rooms * nights.length;
    const modified: Sale = {
      ...booking,
      changedAt: iso(nowMs),
      details: {
        ...booking.details,
        ...{ checkIn, checkOut, totalMinor },
        ladder: ladderOf(stay, nightlyRateMinor * rooms, freeCancellationUntil !== null),
      },
    };
    if (isSimulated) return { sale: modified };
    this.#ledger.put(modified);
    this.#ledger.releaseNights("booking", bookingId);
    this.#ledger.takeNights(modified, this.#nightUse(modified.details), null);
    return { sale: modified };
  }

  /** Cancelling twice answers the same: what is already cancelled stays so, with its fee. */
  cancel(bookingId: string, nowMs: number): DeskAnswer {
    this.settle(nowMs);
    const booking = this.#ledger.entry("booking", bookingId) as Sale | undefined;
    if (booking === undefined) return { refused: "UNKNOWN" };
    if (booking.state === "CANCELLED") return { sale: booking };
    // Who has arrived, left or not come is charged.
    if (booking.state !== "BOOKED") return { refused: "STAYED" };
    const cancelled: Sale = {
      ...booking,
      state: "CANCELLED",
      changedAt: iso(nowMs),
      details: { ...booking.details, cancellationFeeMinor: feeAt(booking.details.ladder, nowMs) },
    };
    this.#ledger.put(cancelled);
    this.#ledger.releaseNights("booking", bookingId);
    return { sale: cancelled };
  }

  /** @param room from 1. With its last room the booking is cancelled; until then it stands. */
  cancelRoom(bookingId: string, room: number, nowMs: number): DeskAnswer {
    const booking = this.booking(bookingId, nowMs);
    if (booking === undefined) return { refused: "UNKNOWN" };
    if (booking.state === "CANCELLED") return { sale: booking };
    if (booking.state !== "BOOKED") return { refused: "STAYED" };
    const before = (booking.details.cancelledRooms as number[] | undefined) ?? [];
    const cancelledRooms = [...new Set([...before, room])];
    const left: Sale = { ...booking, details: { ...booking.details, cancelledRooms } };
    this.#ledger.put(left);
    return cancelledRooms.length < booking.details.rooms ? { sale: left } : this.cancel(bookingId, nowMs);
  }

  /** Bookings in the order of change; undefined for a cursor that is none of ours. */
  changes(from: {
    since?: string;
    cursor?: string;
    nowMs: number;
  }): { sales: Sale[]; cursor: string | undefined } | undefined {
    this.settle(from.nowMs);
    const changed = changesOf(this.#ledger, "booking", this.#settings(), from);
    return changed && { sales: changed.entries as Sale[], cursor: changed.cursor };
  }

  /** The booking made under the reference or from its hold, else the hold; one past its time reads EXPIRED. */
  find(reference: string, nowMs: number): Sale | undefined {
    this.settle(nowMs);
    const [booking] = this.#ledger.byReference("booking", reference) as Sale[];
    if (booking !== undefined) return booking;
    const [hold] = this.#ledger.byReference("hold", reference) as Sale[];
    if (hold === undefined) return undefined;
    if (hold.state === "USED") return this.#ledger.entry("booking", hold.details.bookingId!) as Sale;
    const expired = hold.state === "HELD" && Date.parse(hold.details.expiresAt!) <= nowMs;
    return expired ? { ...hold, state: "EXPIRED" } : hold;
  }
}

/** What the ledger sums up for a hotel vendor. */
export const hotelCounts = (ledger: Ledger): Record<string, number> => {
  const entries = ledger.entries();
  const count = (kind: string, state?: string): number =>
    entries.filter((entry) => entry.kind === kind && (state === undefined || entry.state === state)).length;
  return {
    searched: ledger.requestCounts().search ?? 0,
    held: count("hold"),
    booked: count("booking"),
    cancelled: count("booking", "CANCELLED"),
  };
};
