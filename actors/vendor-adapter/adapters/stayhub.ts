/** Owns StayHub's dialect: snake_case, decimal amounts as text, numbered facilities, refusals as 4xx. */
import Type, { type Static } from "typebox";
import { minorFromDecimal } from "../../../schemas/currency.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import type { Amenity, Money, PaymentMethod } from "../../../schemas/vocabulary.ts";
import { refusal, type VendorAnswer, VendorHttp, type VendorOptions, validatorOf } from "../http.ts";
import type {
  Booking,
  BookingCancellation,
  BookRequest,
  CallContext,
  Done,
  GuestName,
  Hold,
  HoldRequest,
  HotelPort,
  HotelState,
  InDoubt,
  LookupOutcome,
  ReadOutcome,
  RefusalCode,
  Refused,
  Unavailable,
  WriteOutcome,
} from "../ports.ts";

const Text = Type.String({ minLength: 1, maxLength: 500 });
const Decimal = Type.String({ pattern: "^-?\\d{1,13}(\\.\\d{1,6})?$" });
const Currency = Type.String({ pattern: "^[A-Z]{3}$" });
const Instant = Type.String({ format: "date-time" });
const Degrees = Type.String({ pattern: "^-?\\d{1,3}(\\.\\d+)?$" });
const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const Rate = Type.Object({
  rate_key: Text,
  room: Type.Object({ max_guests: Type.Integer({ minimum: 1 }) }),
  nightly_amount: Decimal,
  currency: Currency,
  allotment: Type.Integer({ minimum: 0 }),
  accessible_allotment: Type.Integer({ minimum: 0 }),
  pay_by: Type.Array(Type.String()),
  cancel_free_until: orNull(Instant),
});
const HotelAnswer = Type.Object({
  hotel_code: Text,
  giata_id: orNull(Text),
  hotel_name: Text,
  address: Type.Object({ line: Type.String(), city: Type.String(), country: Type.String() }),
  geo: Type.Object({ lat: Degrees, lng: Degrees }),
  star_rating: orNull(Type.String({ pattern: "^[1-5]\\.[05]$" })),
  chain_code: orNull(Text),
  facilities: Type.Array(Type.String()),
  rates: Type.Array(Rate),
});
const HoldAnswer = Type.Object({
  hold_id: Text,
  status: Type.Enum(["on_hold", "expired"]),
  expires_at: Instant,
  total_amount: Decimal,
  currency: Currency,
});
const BookingAnswer = Type.Object({
  booking_no: Text,
  confirmation: Text,
  status: Type.Enum(["confirmed", "cancelled"]),
  total_amount: Decimal,
  currency: Currency,
  cancel_free_until: orNull(Instant),
  cancelled_at: Type.Optional(Instant),
  cancellation_fee: Type.Optional(Decimal),
});
const ProblemAnswer = Type.Object({ error: Type.Object({ code: Type.String(), message: Type.String() }) });
type ProblemAnswer = Static<typeof ProblemAnswer>;

const isAvailability = validatorOf(Type.Object({ hotels: Type.Array(HotelAnswer) }));
const isHold = validatorOf(Type.Object({ hold: HoldAnswer }));
const isBooking = validatorOf(Type.Object({ booking: BookingAnswer }));
const isFound = validatorOf(
  Type.Object({ bookings: Type.Array(BookingAnswer), holds: Type.Array(HoldAnswer) }),
);
const isProblem = validatorOf(ProblemAnswer);

/** Codes that aren't here have no word in ours and are left out. */
const amenityOfFacility: Readonly<Record<string, Amenity>> = {
  "010": "24H_RECEPTION",
  "025": "AIRPORT_SHUTTLE",
  "031": "BREAKFAST",
  "040": "RESTAURANT",
  "055": "WIFI",
  "060": "PARKING",
  "071": "ACCESSIBLE_ROOMS",
  "080": "PETS_ALLOWED",
  "091": "FAMILY_ROOMS",
  "100": "AIR_CONDITIONING",
};
/** Provider-independent chain ids; a chain that isn't here keeps the vendor's code. */
const chainOfCode: Readonly<Record<string, string>> = {
  NS: "NIGHTSTOP",
  PL: "PARKWAY_LODGE",
  HW: "HARTWELL",
  CN: "CASA_NORTE",
  MP: "MERIDIAN_PARK",
  BF: "BLUEFINCH",
  LC: "LINDEN",
  AG: "AUREL",
};
const paymentOf: Readonly<Record<string, PaymentMethod>> = { guarantee: "GUARANTEE", virtual_card: "CARD" };
const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  SOLD_OUT: "SOLD_OUT",
  HOLD_EXPIRED: "HOLD_EXPIRED",
  HOLD_USED: "INVALID_REQUEST",
  INVALID_STAY: "INVALID_REQUEST",
  INVALID_REQUEST: "INVALID_REQUEST",
  NOT_FOUND: "NOT_FOUND",
  NOT_CANCELLABLE: "NOT_CANCELLABLE",
  IDEMPOTENCY_KEY_REUSED: "REFERENCE_REUSED",
};

const known = <Word>(words: readonly string[], table: Readonly<Record<string, Word>>): Word[] =>
  words.flatMap((word) => table[word] ?? []);

const offersOf = (vendor: string, hotels: Static<typeof HotelAnswer>[]): HotelOffer[] =>
  hotels.flatMap((hotel) =>
    hotel.rates.flatMap((rate) => {
      const nightlyRateMinor = minorFromDecimal(rate.nightly_amount, rate.currency);
      // A rate in fractions of the smallest coin cannot be paid; the hotel's others stand.
      if (nightlyRateMinor === undefined) return [];
      const { hotel_code: providerHotelId, geo, address, chain_code: chain } = hotel;
      return {
        vendor,
        providerOfferId: rate.rate_key,
        providerHotelId,
        ...(hotel.giata_id !== null && { masterHotelId: hotel.giata_id }),
        name: hotel.hotel_name,
        address: `${address.line}, ${address.city}, ${address.country}`,
        coordinates: { latitude: Number(geo.lat), longitude: Number(geo.lng) },
        // Half stars count as the whole ones that are surely there.
        ...(hotel.star_rating !== null && { stars: Math.floor(Number(hotel.star_rating)) }),
        ...(chain !== null && { chain: chainOfCode[chain] ?? chain }),
        amenities: known(hotel.facilities, amenityOfFacility),
        acceptedPayments: known(rate.pay_by, paymentOf),
        nightlyRateMinor,
        currency: rate.currency,
        roomsLeft: rate.allotment,
        maxOccupancy: rate.room.max_guests,
        accessibleRooms: rate.accessible_allotment,
        ...(rate.cancel_free_until !== null && { freeCancellationUntil: rate.cancel_free_until }),
      };
    }),
  );

/** Undefined when the amount has more decimals than its currency: then the answer is as good as malformed. */
const money = (amount: string, currency: string): Money | undefined => {
  const amountMinor = minorFromDecimal(amount, currency);
  return amountMinor === undefined ? undefined : { amountMinor, currency };
};

const holdOf = (answer: Static<typeof HoldAnswer>): Hold | undefined => {
  const total = money(answer.total_amount, answer.currency);
  return total && { holdId: answer.hold_id, expiresAt: answer.expires_at, total };
};

const bookingOf = (answer: Static<typeof BookingAnswer>): Booking | undefined => {
  const total = money(answer.total_amount, answer.currency);
  const until = answer.cancel_free_until !== null && { freeCancellationUntil: answer.cancel_free_until };
  return total && { bookingId: answer.booking_no, confirmationNumber: answer.confirmation, total, ...until };
};

const cancellationOf = (answer: Static<typeof BookingAnswer>): BookingCancellation | undefined => {
  const { cancelled_at: cancelledAt, cancellation_fee } = answer;
  const fee = cancellation_fee === undefined ? undefined : money(cancellation_fee, answer.currency);
  return cancelledAt !== undefined && fee !== undefined ? { cancelledAt, fee } : undefined;
};

const stateOf = (
  booking: Static<typeof BookingAnswer> | undefined,
  hold: Static<typeof HoldAnswer> | undefined,
): HotelState | undefined => {
  if (booking?.status === "cancelled") {
    const booked = bookingOf(booking);
    const cancelled = cancellationOf(booking);
    return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
  }
  const booked = booking && bookingOf(booking);
  if (booked !== undefined) return { state: "BOOKED", ...booked };
  const held = hold && holdOf(hold);
  return held && { state: hold?.status === "on_hold" ? "HELD" : "EXPIRED", ...held };
};

const malformed: InDoubt = { outcome: "in-doubt", detail: "the vendor's answer has an impossible amount" };

/** Our words for the end of a write; `read` gives undefined for an answer that means nothing. */
const writeOutcome = <Body, Result>(
  end: VendorAnswer<Body, ProblemAnswer> | Refused | Unavailable | InDoubt,
  read: (body: Body) => Result | undefined,
): WriteOutcome<Result> => {
  if (end.outcome === "problem") return refusedBy(end.body);
  if (end.outcome !== "success") return end;
  const result = read(end.body);
  return result === undefined ? malformed : ({ outcome: "done", ...result } as Done<Result>);
};

const refusedBy = ({ error }: ProblemAnswer): Refused =>
  refusal(refusalCodeOf[error.code] ?? "REFUSED", `${error.code}: ${error.message}`);

const person = ({ givenName, familyName }: GuestName) => ({ first_name: givenName, last_name: familyName });

export class StayHub implements HotelPort {
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#headers = { "x-api-key": options.apiKey };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const body = {
      airport_iata: search.airport,
      latitude: search.coordinates.latitude.toFixed(6),
      longitude: search.coordinates.longitude.toFixed(6),
      radius_km: search.radiusKm,
      check_in: search.checkIn,
      check_out: search.checkOut,
      rooms: search.rooms,
    };
    const answered = { headers: this.#headers, success: isAvailability, problem: isProblem };
    const end = await this.#http.read(
      { method: "POST", path: "/v2/availability", body, ...answered },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body);
    if (end.outcome !== "success") return end;
    return { outcome: "done", offers: offersOf(this.#vendor, end.body.hotels) };
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const body = {
      client_ref: request.reference,
      rate_key: request.offer.providerOfferId,
      rooms: request.rooms,
      accessible_rooms: request.needs.includes("WHEELCHAIR") ? 1 : 0,
      check_in: request.checkIn,
      check_out: request.checkOut,
      special_requests: request.needs,
    };
    const answered = { headers: this.#headers, success: isHold, problem: isProblem };
    const call = { method: "POST", path: "/v2/holds", body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    return writeOutcome(end, ({ hold }) => holdOf(hold));
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { payment } = request;
    const body = {
      client_ref: request.reference,
      hold_id: request.holdId,
      holder: person(request.leadGuest),
      guests: request.guests.map(person),
      payment:
        payment.method === "CARD" ? { type: "virtual_card", card_id: payment.cardId } : { type: "guarantee" },
    };
    const answered = { headers: this.#headers, success: isBooking, problem: isProblem };
    const call = { method: "POST", path: "/v2/bookings", body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    return writeOutcome(end, ({ booking }) => bookingOf(booking));
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const path = `/v2/bookings/${encodeURIComponent(bookingId)}`;
    const answered = { headers: this.#headers, success: isBooking, problem: isProblem };
    const end = await this.#http.write({ method: "DELETE", path, ...answered }, reference, context);
    return writeOutcome(end, ({ booking }) => cancellationOf(booking));
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const path = `/v2/bookings?client_ref=${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isFound, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body);
    if (end.outcome !== "success") return end;
    const { bookings, holds } = end.body;
    if (bookings.length === 0 && holds.length === 0) return { outcome: "none" };
    const state = stateOf(bookings[0], holds[0]);
    return state === undefined
      ? { outcome: "unavailable", detail: malformed.detail }
      : { outcome: "done", ...state };
  }
}
