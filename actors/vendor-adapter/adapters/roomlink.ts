/** Owns RoomLink's dialect: camelCase, minor units, [longitude, latitude], epoch seconds, refusals inside 200 answers. */
import Type, { type Static } from "typebox";
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
const Reservation = Type.Object({
  phase: Type.Enum(["OPTION", "OPTION_LAPSED", "CONFIRMED", "CANCELLED"]),
  optionId: Text,
  optionEndsEpoch: Type.Optional(EpochSeconds),
  reservationId: Type.Optional(Text),
  hotelConfirmation: Type.Optional(Text),
  total: Amount,
  penaltyFreeUntilEpoch: Type.Optional(EpochSeconds),
  cancelledEpoch: Type.Optional(EpochSeconds),
  penalty: Type.Optional(Amount),
});
type Reservation = Static<typeof Reservation>;

const Errors = Type.Array(Type.Object({ type: Type.String(), message: Type.String() }));
const Problem = Type.Object({ data: Type.Null(), errors: Errors });
/** `data` is null when `errors` says why; a lookup that finds nothing has neither. */
const answerOf = <Data extends Type.TSchema>(data: Data) =>
  Type.Object({ data: Type.Union([data, Type.Null()]), errors: Errors });
type Answer<Data> = { data: Data | null; errors: Static<typeof Errors> };

const isSearch = validatorOf(answerOf(Type.Object({ properties: Type.Array(Property) })));
const isReservation = validatorOf(answerOf(Reservation));
const isProblem = validatorOf(Problem);

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

const known = <Word>(words: readonly string[], table: Readonly<Record<string, Word>>): Word[] =>
  words.flatMap((word) => table[word] ?? []);

const instant = (epochSeconds: number): string => new Date(epochSeconds * 1000).toISOString();
const money = ({ minorUnits, currencyCode }: Static<typeof Amount>): Money => ({
  amountMinor: minorUnits,
  currency: currencyCode,
});
const freeUntil = (epochSeconds: number | undefined) =>
  epochSeconds !== undefined && { freeCancellationUntil: instant(epochSeconds) };

const offersOf = (vendor: string, properties: Static<typeof Property>[]): HotelOffer[] =>
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
      amenities: known(property.features, amenityOfFeature),
      acceptedPayments: known(offer.settlementModes, paymentOf),
      nightlyRateMinor: offer.perNight.minorUnits,
      currency: offer.perNight.currencyCode,
      roomsLeft: offer.available,
      maxOccupancy: offer.sleeps,
      accessibleRooms: offer.availableBarrierFree,
      ...freeUntil(offer.penaltyFreeUntilEpoch),
    }));
  });

const holdOf = ({ optionId, optionEndsEpoch, total }: Reservation): Hold | undefined =>
  optionEndsEpoch === undefined
    ? undefined
    : { holdId: optionId, expiresAt: instant(optionEndsEpoch), total: money(total) };

const bookingOf = (answer: Reservation): Booking | undefined => {
  const { reservationId: bookingId, hotelConfirmation: confirmationNumber } = answer;
  if (bookingId === undefined || confirmationNumber === undefined) return undefined;
  const until = freeUntil(answer.penaltyFreeUntilEpoch);
  return { bookingId, confirmationNumber, total: money(answer.total), ...until };
};

const cancellationOf = ({ cancelledEpoch, penalty }: Reservation): BookingCancellation | undefined =>
  cancelledEpoch === undefined || penalty === undefined
    ? undefined
    : { cancelledAt: instant(cancelledEpoch), fee: money(penalty) };

const stateOf = (answer: Reservation): HotelState | undefined => {
  if (answer.phase === "OPTION" || answer.phase === "OPTION_LAPSED") {
    const held = holdOf(answer);
    return held && { state: answer.phase === "OPTION" ? "HELD" : "EXPIRED", ...held };
  }
  const booked = bookingOf(answer);
  if (answer.phase === "CONFIRMED") return booked && { state: "BOOKED", ...booked };
  const cancelled = cancellationOf(answer);
  return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
};

const incomplete = "the vendor's answer lacks what its phase needs";

const refusedBy = (errors: Static<typeof Errors>): Refused => {
  const { type, message } = errors[0] ?? { type: "", message: "no reason was given" };
  return refusal(refusalCodeOf[type] ?? "REFUSED", `${type}: ${message}`);
};

type WriteEnd = VendorAnswer<Answer<Reservation>, Static<typeof Problem>> | Refused | Unavailable | InDoubt;

/** Our words for the end of a write; `read` gives undefined for an answer that means nothing. */
const writeOutcome = <Result>(
  end: WriteEnd,
  read: (reservation: Reservation) => Result | undefined,
): WriteOutcome<Result> => {
  if (end.outcome === "problem") return refusedBy(end.body.errors);
  if (end.outcome !== "success") return end;
  if (end.body.errors.length > 0) return refusedBy(end.body.errors);
  const result = end.body.data === null ? undefined : read(end.body.data);
  if (result === undefined) return { outcome: "in-doubt", detail: incomplete };
  return { outcome: "done", ...result } as Done<Result>;
};

const guest = ({ givenName, familyName }: GuestName) => ({ fullName: `${givenName} ${familyName}`.trim() });

export class RoomLink implements HotelPort {
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#headers = { authorization: `Bearer ${options.apiKey}` };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const body = {
      locationCode: search.airport,
      near: { position: [search.coordinates.longitude, search.coordinates.latitude] },
      radiusMeters: Math.round(search.radiusKm * 1000),
      stay: { arrival: search.checkIn, departure: search.checkOut },
      roomCount: search.rooms,
    };
    const answered = { headers: this.#headers, success: isSearch, problem: isProblem };
    const end = await this.#http.read({ method: "POST", path: "/api/search", body, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body.errors);
    if (end.outcome !== "success") return end;
    if (end.body.data === null) return refusedBy(end.body.errors);
    return { outcome: "done", offers: offersOf(this.#vendor, end.body.data.properties) };
  }

  #write(
    method: "POST" | "PUT",
    path: string,
    body: unknown,
    reference: string,
    context: CallContext,
  ): Promise<WriteEnd> {
    const answered = { headers: this.#headers, success: isReservation, problem: isProblem };
    return this.#http.write({ method, path, body, ...answered }, reference, context);
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const body = {
      externalReference: request.reference,
      offerToken: request.offer.providerOfferId,
      roomCount: request.rooms,
      accessibleRoomCount: request.needs.includes("WHEELCHAIR") ? 1 : 0,
      stay: { arrival: request.checkIn, departure: request.checkOut },
      remarks: request.needs,
    };
    return writeOutcome(await this.#write("POST", "/api/options", body, request.reference, context), holdOf);
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { payment, reference } = request;
    const body = {
      externalReference: reference,
      mainGuest: guest(request.leadGuest),
      otherGuests: request.guests.map(guest),
      settlement:
        payment.method === "CARD"
          ? { mode: "PREPAID_CARD", cardToken: payment.cardId }
          : { mode: "AGENCY_GUARANTEE" },
    };
    const path = `/api/options/${encodeURIComponent(request.holdId)}/confirmation`;
    return writeOutcome(await this.#write("PUT", path, body, reference, context), bookingOf);
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const path = `/api/reservations/${encodeURIComponent(bookingId)}/cancellation`;
    return writeOutcome(await this.#write("POST", path, undefined, reference, context), cancellationOf);
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const path = `/api/references/${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isReservation, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body.errors);
    if (end.outcome !== "success") return end;
    if (end.body.errors.length > 0) return refusedBy(end.body.errors);
    if (end.body.data === null) return { outcome: "none" };
    const state = stateOf(end.body.data);
    return state === undefined
      ? { outcome: "unavailable", detail: incomplete }
      : { outcome: "done", ...state };
  }
}
