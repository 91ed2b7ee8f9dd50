/** Owns the dialect of the hotel vendor StayHub: snake_case, decimal amounts as text, numbered facilities, 4xx refusals. */
import Type, { type Static } from "typebox";
import { decimalFromMinor } from "../../../schemas/currency.ts";
import type { Amenity } from "../../../schemas/vocabulary.ts";
import { markStays } from "../front-desk.ts";
import { type DeskRefusal, HotelDesk, hotelCounts, type Vacancy } from "../hotel-desk.ts";
import type { CancellationStep, Sale } from "../hotel-sale.ts";
import type { Listing } from "../hotels.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";

const LocalDate = Type.String({ format: "date" });
const Availability = Type.Object({
  airport_iata: Type.String({ pattern: "^[A-Z]{3}$" }),
  latitude: Type.String({ pattern: "^-?\\d+(\\.\\d+)?$" }),
  longitude: Type.String({ pattern: "^-?\\d+(\\.\\d+)?$" }),
  radius_km: Type.Number({ exclusiveMinimum: 0 }),
  check_in: LocalDate,
  check_out: LocalDate,
  rooms: Type.Integer({ minimum: 1 }),
});
const Hold = Type.Object({
  client_ref: Type.String({ minLength: 1, maxLength: 200 }),
  rate_key: Type.String({ minLength: 4 }),
  rooms: Type.Integer({ minimum: 1, maximum: 200 }),
  accessible_rooms: Type.Integer({ minimum: 0, maximum: 200 }),
  check_in: LocalDate,
  check_out: LocalDate,
  special_requests: Type.Array(Type.String()),
});
const Person = Type.Object({ first_name: Type.String(), last_name: Type.String({ minLength: 1 }) });
const Booking = Type.Object({
  client_ref: Type.String({ minLength: 1, maxLength: 200 }),
  hold_id: Type.String({ minLength: 1 }),
  holder: Person,
  guests: Type.Array(Person, { maxItems: 500 }),
  payment: Type.Object({
    type: Type.Enum(["guarantee", "virtual_card"]),
    card_id: Type.Optional(Type.String()),
  }),
});

const Dates = Type.Object({ check_in: LocalDate, check_out: LocalDate });

const facilityCodes: Record<Amenity, string> = {
  "24H_RECEPTION": "010",
  AIRPORT_SHUTTLE: "025",
  BREAKFAST: "031",
  RESTAURANT: "040",
  WIFI: "055",
  PARKING: "060",
  ACCESSIBLE_ROOMS: "071",
  PETS_ALLOWED: "080",
  FAMILY_ROOMS: "091",
  AIR_CONDITIONING: "100",
};
/** A facility nobody has a word for: clients have to live with codes that they don't know. */
const minibar = "143";

const chainCodes: Record<string, string> = {
  NIGHTSTOP: "NS",
  PARKWAY_LODGE: "PL",
  HARTWELL: "HW",
  CASA_NORTE: "CN",
  MERIDIAN_PARK: "MP",
  BLUEFINCH: "BF",
  LINDEN: "LC",
  AUREL: "AG",
};

const problem = (status: number, code: string, message: string): VendorAnswer => ({
  status,
  body: { error: { code, message } },
});

const refusals: Record<DeskRefusal, VendorAnswer> = {
  UNKNOWN: problem(404, "NOT_FOUND", "No such rate, hold or booking."),
  INVALID_STAY: problem(422, "INVALID_STAY", "Check-out must be 1 to 30 nights after check-in."),
  SOLD_OUT: problem(409, "SOLD_OUT", "Not enough rooms are left for these dates."),
  NOT_HELD: problem(409, "HOLD_USED", "The hold was used already."),
  HOLD_EXPIRED: problem(410, "HOLD_EXPIRED", "The hold has expired and the rooms are gone."),
  STAYED: problem(409, "NOT_CANCELLABLE", "The guests have arrived, left or not shown up."),
};

const rateOf = ({ room, roomsLeft, accessibleLeft, freeCancellationUntil }: Vacancy, listing: Listing) => ({
  rate_key: room.rateKey,
  room: { code: room.code, name: room.name, max_guests: room.maxOccupancy },
  nightly_amount: decimalFromMinor(room.nightlyRateMinor, room.currency),
  currency: room.currency,
  allotment: roomsLeft,
  accessible_allotment: accessibleLeft,
  pay_by: listing.payments.map((method) => (method === "CARD" ? "virtual_card" : "guarantee")),
  cancel_free_until: freeCancellationUntil ?? null,
});

const hotelOf = (listing: Listing, vacancies: Vacancy[]) => ({
  hotel_code: listing.hotelCode,
  giata_id: listing.masterHotelId ?? null,
  hotel_name: listing.name,
  address: { line: listing.street, city: listing.city, country: listing.country },
  geo: {
    lat: listing.coordinates.latitude.toFixed(6),
    lng: listing.coordinates.longitude.toFixed(6),
  },
  star_rating: listing.stars === undefined ? null : listing.stars.toFixed(1),
  chain_code: listing.chain === undefined ? null : (chainCodes[listing.chain] ?? listing.chain),
  facilities: [...listing.amenities.map((amenity) => facilityCodes[amenity]), minibar],
  rates: vacancies.map((vacancy) => rateOf(vacancy, listing)),
});

const stepOf =
  (currency: string) =>
  ({ until, feeMinor }: CancellationStep) => ({
    until,
    amount: decimalFromMinor(feeMinor, currency),
  });

const holdOf = ({ id, state, reference, details }: Sale) => ({
  hold_id: id,
  client_ref: reference,
  status: state === "HELD" ? "on_hold" : "expired",
  expires_at: details.expiresAt,
  total_amount: decimalFromMinor(details.totalMinor, details.currency),
  currency: details.currency,
});

const statuses: Record<string, string> = {
  BOOKED: "confirmed",
  CHECKED_IN: "in_house",
  CHECKED_OUT: "departed",
  NO_SHOW: "no_show",
  CANCELLED: "cancelled",
};

const changeOf = ({ id, state, reference, changedAt }: Sale) => ({
  booking_no: id,
  client_ref: reference,
  status: statuses[state],
  last_modified: changedAt,
});

const bookingOf = ({ id, state, reference, changedAt, details }: Sale) => ({
  booking_no: id,
  client_ref: reference,
  confirmation: details.confirmationNumber,
  status: statuses[state],
  total_amount: decimalFromMinor(details.totalMinor, details.currency),
  currency: details.currency,
  cancel_free_until: details.freeCancellationUntil,
  cancellation: details.ladder.map(stepOf(details.currency)),
  check_in: details.checkIn,
  check_out: details.checkOut,
  ...(state === "CANCELLED" && {
    cancelled_at: changedAt,
    cancellation_fee: decimalFromMinor(details.cancellationFeeMinor ?? 0, details.currency),
  }),
});

const search = (
  desk: HotelDesk,
  { body, nowMs }: VendorRequest<Static<typeof Availability>>,
): VendorAnswer => {
  const found = desk.search({
    airport: body.airport_iata,
    coordinates: { latitude: Number(body.latitude), longitude: Number(body.longitude) },
    radiusKm: body.radius_km,
    checkIn: body.check_in,
    checkOut: body.check_out,
    nowMs,
  });
  return { status: 200, body: { hotels: found.map((one) => hotelOf(one.listing, one.vacancies)) } };
};

const hold = (desk: HotelDesk, request: VendorRequest<Static<typeof Hold>>): VendorAnswer => {
  const { body, idempotencyKey, nowMs } = request;
  const held = desk.hold({
    reference: body.client_ref,
    idempotencyKey,
    rateKey: body.rate_key,
    rooms: body.rooms,
    accessible: body.accessible_rooms,
    priceFactor: request.priceFactor,
    checkIn: body.check_in,
    checkOut: body.check_out,
    nowMs,
  });
  return "refused" in held ? refusals[held.refused] : { status: 201, body: { hold: holdOf(held.sale) } };
};

const release = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const released = desk.release(params.hold!, nowMs);
  return "refused" in released
    ? refusals[released.refused]
    : { status: 200, body: { hold: holdOf(released.sale) } };
};

const book = (desk: HotelDesk, request: VendorRequest<Static<typeof Booking>>): VendorAnswer => {
  const { body, idempotencyKey, nowMs } = request;
  const booked = desk.book({
    reference: body.client_ref,
    idempotencyKey,
    holdId: body.hold_id,
    leadGuest: `${body.holder.first_name} ${body.holder.last_name}`.trim(),
    guests: body.guests.length,
    payment: body.payment.type,
    oversold: request.oversold,
    nowMs,
  });
  if ("refused" in booked) return refusals[booked.refused];
  return { status: 201, body: { booking: bookingOf(booked.sale) } };
};

const modify = (
  desk: HotelDesk,
  { params, body, nowMs }: VendorRequest<Static<typeof Dates>>,
): VendorAnswer => {
  const stay = { checkIn: body.check_in, checkOut: body.check_out };
  const modified = desk.modify(params.number!, stay, nowMs);
  if ("refused" in modified) return refusals[modified.refused];
  return { status: 200, body: { booking: bookingOf(modified.sale) } };
};

const cancel = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const cancelled = desk.cancel(params.number!, nowMs);
  if ("refused" in cancelled) return refusals[cancelled.refused];
  return { status: 200, body: { booking: bookingOf(cancelled.sale) } };
};

const lookup = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const sale = desk.find(query.get("client_ref") ?? "", nowMs);
  const bookings = sale?.kind === "booking" ? [bookingOf(sale)] : [];
  const holds = sale?.kind === "hold" ? [holdOf(sale)] : [];
  return { status: 200, body: { bookings, holds } };
};

const reconcile = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const since = query.get("changed_since");
  const cursor = query.get("page_token");
  const isTime = since === null || !Number.isNaN(Date.parse(since));
  const found = isTime ? desk.changes({ ...asked(since, cursor), nowMs }) : undefined;
  if (found === undefined) return problem(400, "INVALID_REQUEST", "Not a time or page token of ours.");
  return {
    status: 200,
    body: { changes: found.sales.map(changeOf), next_page_token: found.cursor ?? null },
  };
};

/** Times in any offset; those of the ledger are UTC. */
const asked = (since: string | null, cursor: string | null) => ({
  ...(since !== null && { since: new Date(since).toISOString() }),
  ...(cursor !== null && { cursor }),
});

export const stayhub: VendorDefinition = {
  name: "stayhub",
  kind: "hotel",
  dialect: {
    accepts: (headers, { apiKey }) => headers["x-api-key"] === apiKey,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, "UNAUTHORIZED", detail),
        "not-found": problem(404, "NOT_FOUND", detail),
        invalid: problem(400, "INVALID_REQUEST", detail),
        "key-reused": problem(422, "IDEMPOTENCY_KEY_REUSED", detail),
        unavailable: problem(503, "TRY_LATER", detail),
        failed: problem(500, "INTERNAL", detail),
      })[kind],
    refusal: (operation) =>
      operation === "cancel"
        ? problem(409, "NOT_CANCELLABLE", "The hotel does not release this booking.")
        : refusals.SOLD_OUT,
  },
  routes: (ledger, settings) => {
    const desk = new HotelDesk("stayhub", ledger, settings);
    const bookings = "/v2/bookings";
    return [
      {
        operation: "search",
        method: "POST",
        path: "/v2/availability",
        write: false,
        body: Availability,
        handle: (request) => search(desk, request),
      },
      {
        operation: "release",
        method: "DELETE",
        path: "/v2/holds/:hold",
        write: true,
        handle: (request) => release(desk, request),
      },
      {
        operation: "hold",
        method: "POST",
        path: "/v2/holds",
        write: true,
        shock: "price-change",
        body: Hold,
        handle: (request) => hold(desk, request),
      },
      {
        operation: "book",
        method: "POST",
        path: bookings,
        write: true,
        shock: "oversell",
        body: Booking,
        handle: (request) => book(desk, request),
      },
      {
        operation: "modify",
        method: "PATCH",
        path: `${bookings}/:number`,
        write: true,
        body: Dates,
        handle: (request) => modify(desk, request),
      },
      {
        operation: "cancel",
        method: "DELETE",
        path: `${bookings}/:number`,
        write: true,
        handle: (request) => cancel(desk, request),
      },
      {
        operation: "lookup",
        method: "GET",
        path: bookings,
        write: false,
        handle: (request) => lookup(desk, request),
      },
      {
        operation: "reconcile",
        method: "GET",
        path: `${bookings}/changes`,
        write: false,
        handle: (request) => reconcile(desk, request),
      },
    ];
  },
  frontDesk: markStays,
  counts: hotelCounts,
};
