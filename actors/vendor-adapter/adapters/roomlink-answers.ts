/** Owns what RoomLink's answers look like, and what they say in our words: camelCase, minor units, [longitude, latitude], epoch seconds. */
import Type, { type Static } from "typebox";
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
const Amount = Type.Object({
  minorUnits: Type.Integer({ minimum: 0 }),
  currencyCode: Type.String({ pattern: "^[A-Z]{3}$" }),
});
/** Until the year 9999: what a date can be made of. */
const EpochSeconds = Type.Number({ minimum: 0, maximum: 253_402_300_799 });
const categories = ["UNRATED", "ONE_STAR", "TWO_STAR", "THREE_STAR", "FOUR_STAR", "FIVE_STAR"] as const;

const Offer = Type.Object({
  offerToken: Text,
  sleeps: Type.Integer({ minimum: 1 }),
  perNight: Amount,
  available: Type.Integer({ minimum: 0 }),
  availableBarrierFree: Type.Integer({ minimum: 0 }),
  settlementModes: Type.Array(Type.String()),
  penaltyFreeUntilEpoch: Type.Optional(EpochSeconds),
});
const Property = Type.Object({
  propertyId: Text,
  externalIds: Type.Optional(Type.Array(Type.Object({ scheme: Type.String(), value: Text }))),
  displayName: Text,
  postalAddress: Type.String({ maxLength: 500 }),
  position: Type.Array(Type.Number({ minimum: -180, maximum: 180 }), { minItems: 2, maxItems: 2 }),
  category: Type.Enum([...categories]),
  brand: Type.Optional(Text),
  features: Type.Array(Type.String()),
  offers: Type.Array(Offer),
});
const stateOfPhase = {
  CONFIRMED: "BOOKED",
  ARRIVED: "CHECKED_IN",
  DEPARTED: "CHECKED_OUT",
  NO_SHOW: "NO_SHOW",
  CANCELLED: "CANCELLED",
} as const satisfies Record<string, BookedState | "CANCELLED">;
type Phase = keyof typeof stateOfPhase;
const phases = Object.keys(stateOfPhase) as Phase[];

const Change = Type.Object({
  reservationId: Text,
  externalReference: Text,
  phase: Type.Enum(phases),
  modifiedEpoch: EpochSeconds,
});
const Penalty = Type.Object({ untilEpoch: Type.Optional(EpochSeconds), penalty: Amount });
const Reservation = Type.Object({
  phase: Type.Enum(["OPTION", "OPTION_LAPSED", ...phases]),
  optionId: Text,
  optionEndsEpoch: Type.Optional(EpochSeconds),
  reservationId: Type.Optional(Text),
  hotelConfirmation: Type.Optional(Text),
  total: Amount,
  penaltyFreeUntilEpoch: Type.Optional(EpochSeconds),
  penalties: Type.Optional(Type.Array(Penalty)),
  stay: Type.Optional(Type.Object({ arrival: Text, departure: Text })),
  cancelledEpoch: Type.Optional(EpochSeconds),
  penalty: Type.Optional(Amount),
});
export type Reservation = Static<typeof Reservation>;

const Errors = Type.Array(Type.Object({ type: Type.String(), message: Type.String() }));
const Problem = Type.Object({ data: Type.Null(), errors: Errors });
export type Problem = Static<typeof Problem>;
/** `data` is null when `errors` says why; a lookup that finds nothing has neither. */
const answerOf = <Data extends Type.TSchema>(data: Data) =>
  Type.Object({ data: Type.Union([data, Type.Null()]), errors: Errors });
export type Answer<Data> = { data: Data | null; errors: Static<typeof Errors> };

export const isSearch = validatorOf(answerOf(Type.Object({ properties: Type.Array(Property) })));
export const isReservation = validatorOf(answerOf(Reservation));
export const isChanges = validatorOf(
  answerOf(Type.Object({ items: Type.Array(Change), continuation: Type.Optional(Text) })),
);
export const isProblem = validatorOf(Problem);

/** Features that aren't here have no word in ours and are left out. */
const amenityOfFeature: Readonly<Record<string, Amenity>> = {
  frontDeskAroundTheClock: "24H_RECEPTION",
  shuttleToAirport: "AIRPORT_SHUTTLE",
  breakfastServed: "BREAKFAST",
  restaurantOnSite: "RESTAURANT",
  wirelessInternet: "WIFI",
  parkingOnSite: "PARKING",
  barrierFreeRooms: "ACCESSIBLE_ROOMS",
  petsWelcome: "PETS_ALLOWED",
  familyRooms: "FAMILY_ROOMS",
  airConditioned: "AIR_CONDITIONING",
};
const paymentOf: Readonly<Record<string, PaymentMethod>> = {
  AGENCY_GUARANTEE: "GUARANTEE",
  PREPAID_CARD: "CARD",
};
const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  NoAvailability: "SOLD_OUT",
  OptionLapsed: "HOLD_EXPIRED",
  OptionConsumed: "INVALID_REQUEST",
  BadStay: "INVALID_REQUEST",
  BadRequest: "INVALID_REQUEST",
  NoSuchThing: "NOT_FOUND",
  NoSuchRoute: "NOT_FOUND",
  CancellationRefused: "NOT_CANCELLABLE",
  KeyReused: "REFERENCE_REUSED",
};

const instant = (epochSeconds: number): string => new Date(epochSeconds * 1000).toISOString();
const money = ({ minorUnits, currencyCode }: Static<typeof Amount>): Money => ({
  amountMinor: minorUnits,
  currency: currencyCode,
});
const freeUntil = (epochSeconds: number | undefined) =>
  epochSeconds !== undefined && { freeCancellationUntil: instant(epochSeconds) };

export const offersOf = (vendor: string, properties: Static<typeof Property>[]): HotelOffer[] =>
  properties.flatMap((property) => {
    const [longitude, latitude] = property.position;
    const masterHotelId = property.externalIds?.find(({ scheme }) => scheme === "GIATA")?.value;
    const stars = categories.indexOf(property.category);
    return property.offers.map((offer) => ({
      vendor,
      providerOfferId: offer.offerToken,
      providerHotelId: property.propertyId,
      ...(masterHotelId !== undefined && { masterHotelId }),
      name: property.displayName,
      address: property.postalAddress,
      coordinates: { latitude: latitude!, longitude: longitude! },
      ...(stars > 0 && { stars }),
      ...(property.brand !== undefined && { chain: property.brand.toUpperCase().replaceAll("-", "_") }),
      amenities: wordsFor(property.features, amenityOfFeature),
      acceptedPayments: wordsFor(offer.settlementModes, paymentOf),
      nightlyRateMinor: offer.perNight.minorUnits,
      currency: offer.perNight.currencyCode,
      roomsLeft: offer.available,
      maxOccupancy: offer.sleeps,
      accessibleRooms: offer.availableBarrierFree,
      ...freeUntil(offer.penaltyFreeUntilEpoch),
    }));
  });

/** Undefined: what its phase needs is not there; so in each of the following. */
export const holdOf = ({ optionId, optionEndsEpoch, total }: Reservation): Hold | undefined =>
  optionEndsEpoch === undefined
    ? undefined
    : { holdId: optionId, expiresAt: instant(optionEndsEpoch), total: money(total) };

export const bookingOf = (answer: Reservation): Booking | undefined => {
  const { reservationId: bookingId, hotelConfirmation: confirmationNumber } = answer;
  if (bookingId === undefined || confirmationNumber === undefined) return undefined;
  const until = freeUntil(answer.penaltyFreeUntilEpoch);
  const dates = answer.stay;
  const stay = dates !== undefined && { stay: { checkIn: dates.arrival, checkOut: dates.departure } };
  const cancellation = (answer.penalties ?? []).map(({ untilEpoch, penalty }) => ({
    ...(untilEpoch !== undefined && { until: instant(untilEpoch) }),
    price: money(penalty),
  }));
  const told = cancellation.length > 0 && { cancellation };
  return { bookingId, confirmationNumber, total: money(answer.total), ...until, ...told, ...stay };
};

export const cancellationOf = ({ cancelledEpoch, penalty }: Reservation): BookingCancellation | undefined =>
  cancelledEpoch === undefined || penalty === undefined
    ? undefined
    : { cancelledAt: instant(cancelledEpoch), fee: money(penalty) };

export const stateOf = (answer: Reservation): HotelState | undefined => {
  if (answer.phase === "OPTION" || answer.phase === "OPTION_LAPSED") {
    const held = holdOf(answer);
    return held && { state: answer.phase === "OPTION" ? "HELD" : "EXPIRED", ...held };
  }
  const booked = bookingOf(answer);
  const state = stateOfPhase[answer.phase as Phase];
  if (state !== "CANCELLED") return booked && { state, ...booked };
  const cancelled = cancellationOf(answer);
  return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
};

export const incomplete = "the vendor's answer lacks what its phase needs";

export const refusedBy = (errors: Static<typeof Errors>, sent: unknown): Refused => {
  const { type, message } = errors[0] ?? { type: "", message: "no reason was given" };
  return refusal(wordFor(type, refusalCodeOf) ?? "REFUSED", `${type}: ${message}`, sent);
};

export const changeOf = ({
  reservationId,
  externalReference,
  phase,
  modifiedEpoch,
}: Static<typeof Change>): LedgerEntry => ({
  kind: "booking",
  id: reservationId,
  reference: externalReference,
  state: stateOfPhase[phase as Phase],
  changedAt: instant(modifiedEpoch),
});
