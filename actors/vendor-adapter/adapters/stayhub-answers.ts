/** Owns what StayHub's answers look like, and what they say in our words: snake_case, decimal amounts as text, numbered facilities. */
import Type, { type Static } from "typebox";
import type { CancellationStep } from "../../../schemas/cancellation.ts";
import { minorFromDecimal } from "../../../schemas/currency.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { Amenity, Money, PaymentMethod } from "../../../schemas/vocabulary.ts";
import { refusal, validatorOf, wordFor, wordsFor } from "../http.ts";
import type {
  BookedState,
  Booking,
  BookingCancellation,
  Hold,
  HotelState,
  LedgerEntry,
  RefusalCode,
  Refused,
} from "../ports.ts";

const Text = Type.String({ minLength: 1, maxLength: 500 });
/** What a hotel says travels on in messages: no part of it may be as long as a vendor likes. */
const AddressPart = Type.String({ maxLength: 300 });
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
  address: Type.Object({ line: AddressPart, city: AddressPart, country: AddressPart }),
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
const stateOfStatus = {
  confirmed: "BOOKED",
  in_house: "CHECKED_IN",
  departed: "CHECKED_OUT",
  no_show: "NO_SHOW",
  cancelled: "CANCELLED",
} as const satisfies Record<string, BookedState | "CANCELLED">;
type Status = keyof typeof stateOfStatus;
const Status = Type.Enum(Object.keys(stateOfStatus) as Status[]);

const Step = Type.Object({ until: orNull(Instant), amount: Decimal });

const BookingAnswer = Type.Object({
  booking_no: Text,
  confirmation: Text,
  status: Status,
  total_amount: Decimal,
  currency: Currency,
  cancel_free_until: orNull(Instant),
  cancellation: Type.Optional(Type.Array(Step)),
  check_in: Type.Optional(Text),
  check_out: Type.Optional(Text),
  cancelled_at: Type.Optional(Instant),
  cancellation_fee: Type.Optional(Decimal),
});
const ChangeAnswer = Type.Object({
  booking_no: Text,
  client_ref: Text,
  status: Status,
  last_modified: Instant,
});
const ProblemAnswer = Type.Object({
  error: Type.Object({ code: Type.String(), message: Type.String() }),
});
export type ProblemAnswer = Static<typeof ProblemAnswer>;

export const isAvailability = validatorOf(Type.Object({ hotels: Type.Array(HotelAnswer) }));
export const isHold = validatorOf(Type.Object({ hold: HoldAnswer }));
export const isBooking = validatorOf(Type.Object({ booking: BookingAnswer }));
export const isFound = validatorOf(
  Type.Object({ bookings: Type.Array(BookingAnswer), holds: Type.Array(HoldAnswer) }),
);
export const isChanges = validatorOf(
  Type.Object({ changes: Type.Array(ChangeAnswer), next_page_token: orNull(Text) }),
);
export const isProblem = validatorOf(ProblemAnswer);

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

export const offersOf = (vendor: string, hotels: Static<typeof HotelAnswer>[]): HotelOffer[] =>
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
        ...(chain !== null && { chain: wordFor(chain, chainOfCode) ?? chain }),
        amenities: wordsFor(hotel.facilities, amenityOfFacility),
        acceptedPayments: wordsFor(rate.pay_by, paymentOf),
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

/** Undefined: an impossible amount; so in each of the following. */
export const holdOf = (answer: Static<typeof HoldAnswer>): Hold | undefined => {
  const total = money(answer.total_amount, answer.currency);
  return total && { holdId: answer.hold_id, expiresAt: answer.expires_at, total };
};

/** Undefined: one of its amounts is impossible. */
const ladderOf = (
  steps: readonly Static<typeof Step>[],
  currency: string,
): CancellationStep[] | undefined => {
  const ladder = steps.flatMap(({ until, amount }) => {
    const price = money(amount, currency);
    return price === undefined ? [] : [{ ...(until !== null && { until }), price }];
  });
  return ladder.length < steps.length ? undefined : ladder;
};

export const bookingOf = (answer: Static<typeof BookingAnswer>): Booking | undefined => {
  const total = money(answer.total_amount, answer.currency);
  const until = answer.cancel_free_until !== null && { freeCancellationUntil: answer.cancel_free_until };
  const { check_in: checkIn, check_out: checkOut } = answer;
  const stay = checkIn !== undefined && checkOut !== undefined && { stay: { checkIn, checkOut } };
  const { booking_no: bookingId, confirmation: confirmationNumber } = answer;
  const cancellation = ladderOf(answer.cancellation ?? [], answer.currency);
  if (total === undefined || cancellation === undefined) return undefined;
  const told = cancellation.length > 0 && { cancellation };
  return { bookingId, confirmationNumber, total, ...until, ...told, ...stay };
};

/** Undefined, too, for a booking that is not cancelled. */
export const cancellationOf = (answer: Static<typeof BookingAnswer>): BookingCancellation | undefined => {
  const { cancelled_at: cancelledAt, cancellation_fee } = answer;
  const fee = cancellation_fee === undefined ? undefined : money(cancellation_fee, answer.currency);
  return cancelledAt !== undefined && fee !== undefined ? { cancelledAt, fee } : undefined;
};

/** The booking says more than the hold that it came from. */
export const stateOf = (
  booking: Static<typeof BookingAnswer> | undefined,
  hold: Static<typeof HoldAnswer> | undefined,
): HotelState | undefined => {
  if (booking?.status === "cancelled") {
    const booked = bookingOf(booking);
    const cancelled = cancellationOf(booking);
    return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
  }
  const booked = booking && bookingOf(booking);
  if (booked !== undefined)
    return { state: stateOfStatus[booking?.status as Exclude<Status, "cancelled">], ...booked };
  const held = hold && holdOf(hold);
  return held && { state: hold?.status === "on_hold" ? "HELD" : "EXPIRED", ...held };
};

export const refusedBy = ({ error }: ProblemAnswer, sent: unknown): Refused =>
  refusal(wordFor(error.code, refusalCodeOf) ?? "REFUSED", `${error.code}: ${error.message}`, sent);

export const changeOf = ({
  booking_no,
  client_ref,
  status,
  last_modified,
}: Static<typeof ChangeAnswer>): LedgerEntry => ({
  kind: "booking",
  id: booking_no,
  reference: client_ref,
  state: stateOfStatus[status as Status],
  changedAt: last_modified,
});
