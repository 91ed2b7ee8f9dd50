/** Owns the dialect of the hotel vendor RoomLink: camelCase, minor units, [longitude, latitude], refusals inside 200 answers. */
import Type, { type Static } from "typebox";
import type { Amenity } from "../../../schemas/vocabulary.ts";
import { markStays } from "../front-desk.ts";
import { type DeskRefusal, HotelDesk, hotelCounts, type Vacancy } from "../hotel-desk.ts";
import type { CancellationStep, Sale } from "../hotel-sale.ts";
import type { Listing } from "../hotels.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";

const LocalDate = Type.String({ format: "date" });
const Stay = Type.Object({ arrival: LocalDate, departure: LocalDate });
const Search = Type.Object({
  locationCode: Type.String({ pattern: "^[A-Z]{3}$" }),
  near: Type.Object({ position: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }) }),
  radiusMeters: Type.Integer({ minimum: 1 }),
  stay: Stay,
  roomCount: Type.Integer({ minimum: 1 }),
});
const Option = Type.Object({
  externalReference: Type.String({ minLength: 1, maxLength: 200 }),
  offerToken: Type.String({ minLength: 4 }),
  roomCount: Type.Integer({ minimum: 1, maximum: 200 }),
  accessibleRoomCount: Type.Integer({ minimum: 0, maximum: 200 }),
  stay: Stay,
  remarks: Type.Array(Type.String()),
});
const Guest = Type.Object({ fullName: Type.String({ minLength: 1 }) });
const Confirm = Type.Object({
  externalReference: Type.String({ minLength: 1, maxLength: 200 }),
  mainGuest: Guest,
  otherGuests: Type.Array(Guest, { maxItems: 500 }),
  settlement: Type.Object({
    mode: Type.Enum(["AGENCY_GUARANTEE", "PREPAID_CARD"]),
    cardToken: Type.Optional(Type.String()),
  }),
});

const Modification = Type.Object({ stay: Stay });

const features: Record<Amenity, string> = {
  "24H_RECEPTION": "frontDeskAroundTheClock",
  AIRPORT_SHUTTLE: "shuttleToAirport",
  BREAKFAST: "breakfastServed",
  RESTAURANT: "restaurantOnSite",
  WIFI: "wirelessInternet",
  PARKING: "parkingOnSite",
  ACCESSIBLE_ROOMS: "barrierFreeRooms",
  PETS_ALLOWED: "petsWelcome",
  FAMILY_ROOMS: "familyRooms",
  AIR_CONDITIONING: "airConditioned",
};

const categories = ["UNRATED", "ONE_STAR", "TWO_STAR", "THREE_STAR", "FOUR_STAR", "FIVE_STAR"];

const done = (data: unknown): VendorAnswer => ({ status: 200, body: { data, errors: [] } });
const failed = (status: number, type: string, message: string): VendorAnswer => ({
  status,
  body: { data: null, errors: [{ type, message }] },
});

const refusals: Record<DeskRefusal, VendorAnswer> = {
  UNKNOWN: failed(200, "NoSuchThing", "There is no such offer, option or reservation."),
  INVALID_STAY: failed(200, "BadStay", "Departure must be 1 to 30 nights after arrival."),
  SOLD_OUT: failed(200, "NoAvailability", "The property has no room left for this stay."),
  NOT_HELD: failed(200, "OptionConsumed", "This option was confirmed already."),
  HOLD_EXPIRED: failed(200, "OptionLapsed", "The option has lapsed and the rooms are gone."),
  STAYED: failed(200, "CancellationRefused", "The guests have arrived, left or not shown up."),
};

const offerOf = ({ room, roomsLeft, accessibleLeft, freeCancellationUntil }: Vacancy, listing: Listing) => ({
  offerToken: room.rateKey,
  roomType: room.name,
  sleeps: room.maxOccupancy,
  perNight: { minorUnits: room.nightlyRateMinor, currencyCode: room.currency },
  available: roomsLeft,
  availableBarrierFree: accessibleLeft,
  settlementModes: listing.payments.map((method) =>
    method === "CARD" ? "PREPAID_CARD" : "AGENCY_GUARANTEE",
  ),
  ...(freeCancellationUntil && { penaltyFreeUntilEpoch: Date.parse(freeCancellationUntil) / 1000 }),
});

const propertyOf = (listing: Listing, vacancies: Vacancy[]) => ({
  propertyId: listing.hotelCode,
  ...(listing.masterHotelId && { externalIds: [{ scheme: "GIATA", value: listing.masterHotelId }] }),
  displayName: listing.name,
  postalAddress: `${listing.street}, ${listing.city}, ${listing.country}`,
  position: [listing.coordinates.longitude, listing.coordinates.latitude],
  category: categories[listing.stars ?? 0],
  ...(listing.chain && { brand: listing.chain.toLowerCase().replaceAll("_", "-") }),
  features: [...listing.amenities.map((amenity) => features[amenity]), "rooftopBar"],
  offers: vacancies.map((vacancy) => offerOf(vacancy, listing)),
});

const phases: Record<string, string> = {
  HELD: "OPTION",
  EXPIRED: "OPTION_LAPSED",
  BOOKED: "CONFIRMED",
  CHECKED_IN: "ARRIVED",
  CHECKED_OUT: "DEPARTED",
  NO_SHOW: "NO_SHOW",
  CANCELLED: "CANCELLED",
};

const stepOf =
  (currencyCode: string) =>
  ({ until, feeMinor }: CancellationStep) => ({
    ...(until !== null && { untilEpoch: Date.parse(until) / 1000 }),
    penalty: { minorUnits: feeMinor, currencyCode },
  });

const reservationOf = ({ kind, id, state, reference, changedAt, details }: Sale) => ({
  externalReference: reference,
  phase: phases[state],
  ...(kind === "hold" ? { optionId: id } : { reservationId: id, optionId: details.holdId }),
  ...(kind === "hold" && { optionEndsEpoch: Date.parse(details.expiresAt!) / 1000 }),
  ...(details.confirmationNumber && { hotelConfirmation: details.confirmationNumber }),
  total: { minorUnits: details.totalMinor, currencyCode: details.currency },
  stay: { arrival: details.checkIn, departure: details.checkOut },
  penalties: details.ladder.map(stepOf(details.currency)),
  ...(details.freeCancellationUntil && {
    penaltyFreeUntilEpoch: Date.parse(details.freeCancellationUntil) / 1000,
  }),
  ...(state === "CANCELLED" && {
    cancelledEpoch: Date.parse(changedAt) / 1000,
    penalty: { minorUnits: details.cancellationFeeMinor ?? 0, currencyCode: details.currency },
  }),
});

const changeOf = ({ id, state, reference, changedAt }: Sale) => ({
  reservationId: id,
  externalReference: reference,
  phase: phases[state],
  modifiedEpoch: Date.parse(changedAt) / 1000,
});

const search = (desk: HotelDesk, { body, nowMs }: VendorRequest<Static<typeof Search>>): VendorAnswer => {
  const [longitude, latitude] = body.near.position;
  const found = desk.search({
    airport: body.locationCode,
    coordinates: { latitude: latitude!, longitude: longitude! },
    radiusKm: body.radiusMeters / 1000,
    checkIn: body.stay.arrival,
    checkOut: body.stay.departure,
    nowMs,
  });
  return done({ properties: found.map((one) => propertyOf(one.listing, one.vacancies)) });
};

const hold = (desk: HotelDesk, request: VendorRequest<Static<typeof Option>>): VendorAnswer => {
  const { body, idempotencyKey, nowMs } = request;
  const held = desk.hold({
    reference: body.externalReference,
    idempotencyKey,
    rateKey: body.offerToken,
    rooms: body.roomCount,
    accessible: body.accessibleRoomCount,
    priceFactor: request.priceFactor,
    checkIn: body.stay.arrival,
    checkOut: body.stay.departure,
    nowMs,
  });
  return "refused" in held ? refusals[held.refused] : done(reservationOf(held.sale));
};

const release = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const released = desk.release(params.optionId!, nowMs);
  return "refused" in released ? refusals[released.refused] : done(reservationOf(released.sale));
};

const book = (desk: HotelDesk, request: VendorRequest<Static<typeof Confirm>>): VendorAnswer => {
  const { body, params, idempotencyKey, nowMs } = request;
  const booked = desk.book({
    reference: body.externalReference,
    idempotencyKey,
    holdId: params.optionId!,
    leadGuest: body.mainGuest.fullName,
    guests: body.otherGuests.length + 1,
    payment: body.settlement.mode,
    oversold: request.oversold,
    nowMs,
  });
  return "refused" in booked ? refusals[booked.refused] : done(reservationOf(booked.sale));
};

const modify = (
  desk: HotelDesk,
  { params, body, nowMs }: VendorRequest<Static<typeof Modification>>,
): VendorAnswer => {
  const stay = { checkIn: body.stay.arrival, checkOut: body.stay.departure };
  const modified = desk.modify(params.reservationId!, stay, nowMs);
  return "refused" in modified ? refusals[modified.refused] : done(reservationOf(modified.sale));
};

const cancel = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const cancelled = desk.cancel(params.reservationId!, nowMs);
  return "refused" in cancelled ? refusals[cancelled.refused] : done(reservationOf(cancelled.sale));
};

const lookup = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const sale = desk.find(decodeURIComponent(params.reference!), nowMs);
  return done(sale === undefined ? null : reservationOf(sale));
};

/** Until the year 9999: what a date can be made of. */
const Changes = Type.Object({
  fromEpoch: Type.Optional(Type.Number({ minimum: 0, maximum: 253_402_300_799 })),
  continuation: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
});

const reconcile = (desk: HotelDesk, { body, nowMs }: VendorRequest<Static<typeof Changes>>): VendorAnswer => {
  const { fromEpoch, continuation: cursor } = body;
  const found = desk.changes({
    ...(fromEpoch !== undefined && { since: new Date(fromEpoch * 1000).toISOString() }),
    ...(cursor !== undefined && { cursor }),
    nowMs,
  });
  if (found === undefined) return failed(200, "BadRequest", "This continuation is none of ours.");
  return done({
    items: found.sales.map(changeOf),
    ...(found.cursor !== undefined && { continuation: found.cursor }),
  });
};

export const roomlink: VendorDefinition = {
  name: "roomlink",
  kind: "hotel",
  dialect: {
    accepts: (headers, { apiKey }) => headers.authorization === `Bearer ${apiKey}`,
    problem: (kind, detail) =>
      ({
        unauthorized: failed(401, "BadCredentials", detail),
        "not-found": failed(404, "NoSuchRoute", detail),
        invalid: failed(400, "BadRequest", detail),
        "key-reused": failed(409, "KeyReused", detail),
        unavailable: failed(503, "Overloaded", detail),
        failed: failed(500, "Unexpected", detail),
      })[kind],
    refusal: (operation) =>
      operation === "cancel"
        ? failed(200, "CancellationRefused", "The property does not release this reservation.")
        : refusals.SOLD_OUT,
  },
  routes: (ledger, settings) => {
    const desk = new HotelDesk("roomlink", ledger, settings);
    return [
      {
        operation: "search",
        method: "POST",
        path: "/api/search",
        write: false,
        body: Search,
        handle: (request) => search(desk, request),
      },
      {
        operation: "release",
        method: "POST",
        path: "/api/options/:optionId/release",
        write: true,
        handle: (request) => release(desk, request),
      },
      {
        operation: "hold",
        method: "POST",
        path: "/api/options",
        write: true,
        shock: "price-change",
        body: Option,
        handle: (request) => hold(desk, request),
      },
      {
        operation: "book",
        method: "PUT",
        path: "/api/options/:optionId/confirmation",
        write: true,
        shock: "oversell",
        body: Confirm,
        handle: (request) => book(desk, request),
      },
      {
        operation: "modify",
        method: "POST",
        path: "/api/reservations/:reservationId/modification",
        write: true,
        body: Modification,
        handle: (request) => modify(desk, request),
      },
      {
        operation: "cancel",
        method: "POST",
        path: "/api/reservations/:reservationId/cancellation",
        write: true,
        handle: (request) => cancel(desk, request),
      },
      {
        operation: "lookup",
        method: "GET",
        path: "/api/references/:reference",
        write: false,
        handle: (request) => lookup(desk, request),
      },
      {
        operation: "reconcile",
        method: "POST",
        path: "/api/reservations/changes",
        write: false,
        body: Changes,
        handle: (request) => reconcile(desk, request),
      },
    ];
  },
  frontDesk: markStays,
  counts: hotelCounts,
};
