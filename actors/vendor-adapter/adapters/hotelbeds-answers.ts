/**
 * Owns what Hotelbeds' answers look like, and what they say in our words: amounts as text or number, categories as `4EST`, facilities as
 * group and code. From the public reference of APItude (developer.hotelbeds.com): Hotel Booking API, "API reference"; Hotel Content API,
 * "hotels" and "types/facilities"; "API errors".
 */
import Type, { type Static } from "typebox";
import {
  type CancellationStep,
  freeCancellationUntil,
  ladderOfPenalties,
  sumOfLadders,
} from "../../../schemas/cancellation.ts";
import { minorFromDecimal } from "../../../schemas/currency.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { Amenity, Money } from "../../../schemas/vocabulary.ts";
import { refusal, validatorOf, wordsFor } from "../http.ts";
import type { Booking, BookingCancellation, HotelState, RefusalCode, Refused } from "../ports.ts";

const Text = Type.String({ minLength: 1, maxLength: 500 });
const Amount = Type.Union([Type.String({ pattern: "^-?\\d{1,13}(\\.\\d{1,6})?$" }), Type.Number()]);
type Amount = Static<typeof Amount>;
const Degrees = Type.Union([Type.String({ pattern: "^-?\\d{1,3}(\\.\\d+)?$" }), Type.Number()]);
const Currency = Type.String({ pattern: "^[A-Z]{3}$" });
const Day = Type.String({ format: "date" });

const Policies = Type.Array(Type.Object({ amount: Amount, from: Type.String({ format: "date-time" }) }), {
  maxItems: 50,
});
const Rate = Type.Object({
  rateKey: Type.String({ minLength: 1, maxLength: 1000 }),
  rateClass: Type.Optional(Type.String({ maxLength: 20 })),
  rateType: Type.Optional(Type.String()),
  net: Amount,
  allotment: Type.Optional(Type.Integer({ minimum: 0 })),
  paymentType: Type.String(),
  boardCode: Type.String({ maxLength: 20 }),
  rooms: Type.Integer({ minimum: 1 }),
  adults: Type.Integer({ minimum: 0 }),
  children: Type.Optional(Type.Integer({ minimum: 0 })),
  cancellationPolicies: Type.Optional(Policies),
});
export type Rate = Static<typeof Rate>;
const Hotel = Type.Object({
  code: Type.Integer({ minimum: 1 }),
  name: Text,
  categoryCode: Type.Optional(Type.String()),
  latitude: Degrees,
  longitude: Degrees,
  currency: Currency,
  rooms: Type.Array(Type.Object({ code: Type.String({ maxLength: 50 }), rates: Type.Array(Rate) })),
});
export type Hotel = Static<typeof Hotel>;
/** Without hotels where nothing is to be had. */
export const isAvailability = validatorOf(
  Type.Object({ hotels: Type.Object({ hotels: Type.Optional(Type.Array(Hotel)) }) }),
);
export const isCheckedRate = validatorOf(
  Type.Object({
    hotel: Type.Object({
      currency: Currency,
      totalNet: Amount,
      rooms: Type.Array(Type.Object({ rates: Type.Array(Rate, { minItems: 1 }) }), { minItems: 1 }),
    }),
  }),
);

/** A facility that the hotel says it has not: `indYesOrNo` or `indLogic` false. */
const Facility = Type.Object({
  facilityCode: Type.Integer(),
  facilityGroupCode: Type.Integer(),
  indYesOrNo: Type.Optional(Type.Boolean()),
  indLogic: Type.Optional(Type.Boolean()),
});
const Content = Type.Object({
  code: Type.Integer({ minimum: 1 }),
  address: Type.Optional(Type.Object({ content: Type.String({ maxLength: 300 }) })),
  city: Type.Optional(Type.Object({ content: Type.String({ maxLength: 300 }) })),
  countryCode: Type.Optional(Type.String({ maxLength: 10 })),
  chainCode: Type.Optional(Type.String({ maxLength: 50 })),
  facilities: Type.Optional(Type.Array(Facility)),
});
export type Content = Static<typeof Content>;
export const isContent = validatorOf(Type.Object({ hotels: Type.Array(Content) }));

const statuses = ["PRECONFIRMED", "CONFIRMED", "CANCELLED"] as const;
const Listed = Type.Object({
  reference: Text,
  clientReference: Type.Optional(Type.String({ maxLength: 100 })),
  creationDate: Day,
  status: Type.Enum([...statuses]),
  remark: Type.Optional(Type.String({ maxLength: 2000 })),
});
export type Listed = Static<typeof Listed>;
const BookedRoom = Type.Object({
  /** As the booking's; absent in some answers. */
  status: Type.Optional(Type.String()),
  rates: Type.Array(
    Type.Object({
      /** Alike, in one; absent in some answers. */
      rooms: Type.Optional(Type.Integer({ minimum: 1 })),
      cancellationPolicies: Type.Optional(Policies),
    }),
  ),
});
const BookingAnswer = Type.Object({
  ...Listed.properties,
  totalNet: Amount,
  currency: Currency,
  hotel: Type.Object({
    checkIn: Day,
    checkOut: Day,
    cancellationAmount: Type.Optional(Amount),
    rooms: Type.Array(BookedRoom),
  }),
});
export type BookingAnswer = Static<typeof BookingAnswer>;
export const isBooking = validatorOf(Type.Object({ booking: BookingAnswer }));
export const isList = validatorOf(
  Type.Object({
    bookings: Type.Object({
      total: Type.Integer({ minimum: 0 }),
      bookings: Type.Optional(Type.Array(Type.Object({ reference: Text }))),
    }),
  }),
);
const isListed = validatorOf(Listed);

/** One booking that cannot be read, which may be another client's of the account, stops no other. `unreadable`: their ids. */
export const listedIn = (
  rows: readonly { reference: string }[],
): { bookings: Listed[]; unreadable: string[] } => ({
  bookings: rows.filter((row) => isListed(row)),
  unreadable: rows.flatMap((row) => (isListed(row) ? [] : [row.reference])),
});

/** "API errors": formatted as code and message, or a bare message. */
const Problem = Type.Object({
  error: Type.Union([
    Type.Object({ code: Type.String(), message: Type.Optional(Type.String()) }),
    Type.String(),
  ]),
});
export type Problem = Static<typeof Problem>;
export const isProblem = validatorOf(Problem);
/** With status 500: "the product is not available anymore" ("Best practices"). A SYSTEM_ERROR of that status says nothing of what was done. */
export const isProductError = validatorOf(
  Type.Object({
    error: Type.Object({ code: Type.Enum(["PRODUCT_ERROR"]), message: Type.Optional(Type.String()) }),
  }),
);

/** What the messages speak of, in lower case; the codes alone don't tell one no from another. */
const refusalOfWords: readonly (readonly [RegExp, RefusalCode])[] = [
  [/insufficient allotment|allotment exceeded|stop sales|not available/, "SOLD_OUT"],
  [/price has (increased|changed)/, "PRICE_CHANGED"],
  [/ratekey|rate key/, "HOLD_EXPIRED"],
  [
    /after the check-in|check-in date in the past|not allow cancel|cannot be (cancel|amend)/,
    "NOT_CANCELLABLE",
  ],
  [/does not exist|not found/, "NOT_FOUND"],
];
const refusalOfCode: Readonly<Record<string, RefusalCode>> = {
  PRODUCT_ERROR: "SOLD_OUT",
  INVALID_REQUEST: "INVALID_REQUEST",
  INVALID_DATA: "INVALID_REQUEST",
};

export const refusedBy = ({ error }: Problem, sent: unknown): Refused => {
  const { code, message = "" } = typeof error === "string" ? { code: "", message: error } : error;
  const said = message.toLowerCase();
  const spoken = refusalOfWords.find(([words]) => words.test(said))?.[1];
  const known = Object.hasOwn(refusalOfCode, code) ? refusalOfCode[code] : undefined;
  return refusal(spoken ?? known ?? "REFUSED", `${code}: ${message}`, sent);
};

/** Group and code, as `70/550`; those that aren't here have no word in ours and are left out. */
const amenityOfFacility: Readonly<Record<string, Amenity>> = {
  "70/30": "24H_RECEPTION",
  "70/562": "AIRPORT_SHUTTLE",
  "80/30": "BREAKFAST",
  "80/160": "BREAKFAST",
  "80/200": "BREAKFAST",
  "71/200": "RESTAURANT",
  "70/550": "WIFI",
  "60/261": "WIFI",
  "70/320": "PARKING",
  "70/330": "PARKING",
  "70/500": "PARKING",
  "70/295": "ACCESSIBLE_ROOMS",
  "60/250": "ACCESSIBLE_ROOMS",
  "10/124": "ACCESSIBLE_ROOMS",
  "70/535": "PETS_ALLOWED",
  "70/540": "PETS_ALLOWED",
  "10/131": "FAMILY_ROOMS",
  "60/170": "AIR_CONDITIONING",
  "60/180": "AIR_CONDITIONING",
  "70/10": "AIR_CONDITIONING",
};

const amenitiesOf = ({ facilities = [] }: Content): Amenity[] =>
  wordsFor(
    facilities
      .filter(({ indYesOrNo, indLogic }) => (indYesOrNo ?? indLogic ?? true) !== false)
      .map(({ facilityGroupCode, facilityCode }) => `${facilityGroupCode}/${facilityCode}`),
    amenityOfFacility,
  );

/** `4EST`, `5LUX`, `3LL`; `H4_5` is four and a half, of which four are surely there. */
const starsOf = (categoryCode = ""): number | undefined => {
  const digit = /^H?([1-5])(?:_5)?[A-Z]*\d?$/.exec(categoryCode)?.[1];
  return digit === undefined ? undefined : Number(digit);
};

/** Undefined: more decimals than the currency has. */
export const moneyOf = (amount: Amount, currency: string): Money | undefined => {
  const amountMinor = minorFromDecimal(String(amount), currency);
  return amountMinor === undefined ? undefined : { amountMinor, currency };
};

const ladderOf = (
  policies: Static<typeof Policies> | undefined,
  currency: string,
  now: Date,
): CancellationStep[] => {
  if (policies === undefined) return [];
  const penalties = policies.flatMap(({ amount, from }) => {
    const price = moneyOf(amount, currency);
    return price === undefined ? [] : [{ from, price }];
  });
  return penalties.length < policies.length
    ? []
    : ladderOfPenalties(penalties, { amountMinor: 0, currency }, now);
};

/** What tells a rate from all others whatever its key, which no two answers share ("Best practices": keys are not to be read). */
const offerIdOf = (
  hotelCode: number,
  roomCode: string,
  { boardCode, rateClass = "" }: Rate,
  adults: number,
): string => [hotelCode, roomCode, boardCode, rateClass, adults].join("/");

/** The offer's own rate, for so many rooms. Undefined: not to be had any more. */
export const cheapestAlike = (
  hotels: readonly Hotel[],
  offer: Pick<HotelOffer, "providerOfferId">,
  { rooms, adults }: { rooms: number; adults: number },
): Rate | undefined =>
  hotels
    .flatMap(({ code, rooms: kinds }) =>
      kinds.flatMap((room) =>
        room.rates.filter((rate) => offerIdOf(code, room.code, rate, adults) === offer.providerOfferId),
      ),
    )
    .filter((rate) => rate.rooms === rooms && rate.adults === adults && rate.paymentType === "AT_WEB")
    .sort((a, b) => Number(a.net) - Number(b.net))[0];

/**
 * Only what is paid by the airline's account (AT_WEB) is offered: a hotel that wants a card number gets none from us. How many rooms
 * are accessible is not told, so none counts as such.
 * @param adults that one room was asked for
 */
export const offersOf = (
  vendor: string,
  hotel: Hotel,
  content: Content,
  { adults, nights, now }: { adults: number; nights: number; now: Date },
): HotelOffer[] =>
  hotel.rooms.flatMap((room) =>
    room.rates.flatMap((rate): HotelOffer[] => {
      const net = moneyOf(rate.net, hotel.currency);
      if (net === undefined || rate.paymentType !== "AT_WEB" || rate.adults !== adults) return [];
      const { chainCode, address, city, countryCode } = content;
      const stars = starsOf(hotel.categoryCode);
      const until = freeCancellationUntil(ladderOf(rate.cancellationPolicies, hotel.currency, now));
      return [
        {
          vendor,
          providerOfferId: offerIdOf(hotel.code, room.code, rate, adults),
          providerHotelId: String(hotel.code),
          name: hotel.name,
          address: [address?.content, city?.content, countryCode].filter(Boolean).join(", "),
          coordinates: { latitude: Number(hotel.latitude), longitude: Number(hotel.longitude) },
          ...(stars !== undefined && { stars }),
          ...(chainCode !== undefined && { chain: chainCode }),
          amenities: amenitiesOf(content),
          acceptedPayments: ["GUARANTEE"],
          nightlyRateMinor: Math.ceil(net.amountMinor / nights),
          currency: hotel.currency,
          roomsLeft: rate.allotment ?? 0,
          maxOccupancy: adults,
          accessibleRooms: 0,
          ...(until !== undefined && { freeCancellationUntil: until }),
        },
      ];
    }),
  );

/** Undefined: an impossible amount. */
export const bookingOf = (answer: BookingAnswer, now: Date): Booking | undefined => {
  const total = moneyOf(answer.totalNet, answer.currency);
  const { checkIn, checkOut, rooms } = answer.hotel;
  const ladder = sumOfLadders(
    rooms.flatMap(({ rates }) =>
      rates.map(({ cancellationPolicies }) => ladderOf(cancellationPolicies, answer.currency, now)),
    ),
  );
  const until = freeCancellationUntil(ladder);
  return (
    total && {
      bookingId: answer.reference,
      confirmationNumber: answer.reference,
      total,
      ...(until !== undefined && { freeCancellationUntil: until }),
      ...(ladder.length > 0 && { cancellation: ladder }),
      stay: { checkIn, checkOut },
    }
  );
};

/**
 * Undefined: an impossible amount, or a booking that stands. No answer says when it was cancelled.
 * @param knownAt when we heard of it
 */
export const cancellationOf = (answer: BookingAnswer, knownAt: Date): BookingCancellation | undefined => {
  const fee = moneyOf(answer.hotel.cancellationAmount ?? 0, answer.currency);
  return answer.status === "CANCELLED" && fee !== undefined
    ? { cancelledAt: knownAt.toISOString(), fee }
    : undefined;
};

/** Several that are alike may stand as one ("Booking", example of two rooms). */
export const roomsIn = ({ hotel }: BookingAnswer): number =>
  hotel.rooms.reduce((sum, { rates }) => sum + (rates[0]?.rooms ?? 1), 0);

/** No room that counts on it yet: the booking, or a room of it, waits for the hotel's word. */
export const isPending = ({ status, hotel }: BookingAnswer): boolean =>
  status === "PRECONFIRMED" ||
  (status === "CONFIRMED" &&
    hotel.rooms.some((room) => room.status !== undefined && !/^(CONFIRMED|CANCELLED)$/.test(room.status)));

/** Whether guests have come is not told: what is not cancelled is booked. */
export const stateOf = (answer: BookingAnswer, knownAt: Date): HotelState | undefined => {
  const booked = bookingOf(answer, knownAt);
  if (answer.status !== "CANCELLED") return booked && { state: "BOOKED", ...booked };
  const cancelled = cancellationOf(answer, knownAt);
  return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
};

/** Where our own reference stands, too long for `clientReference`: the remark comes back with every booking. */
export const remarkOf = (reference: string, needs: readonly string[]): string =>
  [`Ref. ${reference}`, ...needs].join(" - ");

/** Empty: a booking that was not made by us. Texts come back capitalised: of a reference only the group's id is in capitals. */
export const referenceIn = ({ remark = "" }: Listed): string =>
  (/\bRef\. (\S+)/i.exec(remark)?.[1] ?? "").replace(/\..*/, (attempt) => attempt.toLowerCase());
