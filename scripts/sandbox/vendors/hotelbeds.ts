/**
 * Owns a vendor that speaks Hotelbeds' dialect (APItude): signed requests, amounts as text, rate keys, errors of code and message. From the
 * same public documentation as the service's adapter, and not from that one's code.
 */
import { createHash } from "node:crypto";
import Type, { type Static } from "typebox";
import { markStays } from "../front-desk.ts";
import { HotelDesk, hotelCounts } from "../hotel-desk.ts";
import type { Sale, Stay } from "../hotel-sale.ts";
import { airportOfCode, codeOfNumber } from "../hotels.ts";
import type { Ledger } from "../ledger.ts";
import { airportNear } from "../places.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest, VendorRoute } from "../vendor-server.ts";
import {
  answer,
  badKey,
  bookingOf,
  facilityCodes,
  hotelOf,
  kindOfRoom,
  problem,
  rateOf,
  readKey,
  refusals,
  roomCodes,
} from "./hotelbeds-wire.ts";

const Day = Type.String({ format: "date" });
const Availability = Type.Object({
  stay: Type.Object({ checkIn: Day, checkOut: Day }),
  occupancies: Type.Array(
    Type.Object({
      rooms: Type.Integer({ minimum: 1 }),
      adults: Type.Integer({ minimum: 1 }),
      children: Type.Integer({ minimum: 0 }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
  geolocation: Type.Optional(
    Type.Object({
      latitude: Type.Number(),
      longitude: Type.Number(),
      radius: Type.Number({ exclusiveMinimum: 0, maximum: 200 }),
      unit: Type.Enum(["km"]),
    }),
  ),
  filter: Type.Optional(
    Type.Object(
      {
        maxHotels: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
        maxRooms: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
        maxRatesPerRoom: Type.Optional(Type.Integer({ minimum: 1 })),
        paymentType: Type.Optional(Type.Enum(["AT_WEB", "AT_HOTEL", "BOTH"])),
      },
      { additionalProperties: false },
    ),
  ),
  hotels: Type.Optional(Type.Object({ hotel: Type.Array(Type.Integer(), { minItems: 1 }) })),
});
const CheckRates = Type.Object({
  rooms: Type.Array(Type.Object({ rateKey: Type.String() }), { minItems: 1, maxItems: 1 }),
});
const Name = Type.String({ minLength: 1, maxLength: 50 });
const Pax = Type.Object({
  roomId: Type.Integer({ minimum: 1 }),
  type: Type.Enum(["AD"]),
  name: Type.Optional(Name),
  surname: Type.Optional(Name),
});
const BookingRequest = Type.Object({
  holder: Type.Object({ name: Name, surname: Name }),
  rooms: Type.Array(Type.Object({ rateKey: Type.String(), paxes: Type.Array(Pax, { minItems: 1 }) }), {
    minItems: 1,
    maxItems: 1,
  }),
  clientReference: Type.String({ minLength: 1, maxLength: 20 }),
  remark: Type.Optional(Type.String({ maxLength: 2000 })),
});
const Change = Type.Object({
  mode: Type.Enum(["SIMULATION", "UPDATE"]),
  booking: Type.Object({ hotel: Type.Object({ checkIn: Day, checkOut: Day }) }),
});

const everywhereKm = 1_000;

/** One hotel with what it has free; undefined: no such hotel, or nothing free. */
const vacanciesOf = (desk: HotelDesk, hotel: number, stay: Stay, nowMs: number) => {
  const hotelCode = codeOfNumber(hotel);
  const airport = airportOfCode(hotelCode);
  const coordinates = desk.placeOf(airport);
  if (coordinates === undefined) return undefined;
  const found = desk.search({ airport, coordinates, radiusKm: everywhereKm, ...stay, nowMs });
  return found.find(({ listing }) => listing.hotelCode === hotelCode);
};

const search = (
  desk: HotelDesk,
  { body, nowMs }: VendorRequest<Static<typeof Availability>>,
): VendorAnswer => {
  const { stay, occupancies, geolocation, hotels, filter = {} } = body;
  const { maxHotels, maxRooms, paymentType = "BOTH" } = filter;
  const { rooms, adults } = occupancies[0]!;
  const place = geolocation && { latitude: geolocation.latitude, longitude: geolocation.longitude };
  const found =
    place === undefined
      ? (hotels?.hotel ?? []).flatMap((hotel) => vacanciesOf(desk, hotel, stay, nowMs) ?? [])
      : desk.search({
          airport: airportNear(place).code,
          coordinates: place,
          radiusKm: geolocation!.radius,
          ...stay,
          nowMs,
        });
  const offered = found.flatMap(({ listing, vacancies }) => {
    const open = vacancies.filter(({ room, roomsLeft }) => room.maxOccupancy >= adults && roomsLeft >= rooms);
    if (open.length === 0) return [];
    const hotel = hotelOf(listing);
    const key = { ...stay, hotel: hotel.code, rooms, adults, factor: 10_000 };
    const kinds = open.map((vacancy) => {
      const code = roomCodes[vacancy.room.code]!;
      const rate = rateOf(vacancy, listing, { ...key, roomCode: code }, nowMs);
      return { code, name: vacancy.room.name.toUpperCase(), rates: [rate] };
    });
    const paid = kinds.filter(({ rates }) => paymentType === "BOTH" || rates[0]?.paymentType === paymentType);
    const shown = paid.slice(0, maxRooms);
    return shown.length === 0 ? [] : [{ ...hotel, currency: open[0]!.room.currency, rooms: shown }];
  });
  const list = offered.slice(0, maxHotels);
  return answer({ hotels: { ...(list.length > 0 && { hotels: list, ...stay }), total: list.length } });
};

/** The room that a key names, as many of it as it names. */
const keyed = (desk: HotelDesk, rateKey: string, nowMs: number) => {
  const key = readKey(rateKey);
  const found = key && vacanciesOf(desk, key.hotel, key, nowMs);
  const vacancy = found?.vacancies.find(({ room }) => room.code === kindOfRoom(key?.roomCode ?? ""));
  return key === undefined ? undefined : { key, listing: found?.listing, vacancy };
};

const checkRates = (desk: HotelDesk, request: VendorRequest<Static<typeof CheckRates>>): VendorAnswer => {
  const { body, nowMs, priceFactor } = request;
  const asked = keyed(desk, body.rooms[0]!.rateKey, nowMs);
  if (asked === undefined) return badKey;
  const { listing, vacancy } = asked;
  if (listing === undefined || vacancy === undefined || vacancy.roomsLeft < asked.key.rooms)
    return refusals.SOLD_OUT;
  const key = { ...asked.key, factor: Math.round(asked.key.factor * priceFactor) };
  const rate = { ...rateOf(vacancy, listing, key, nowMs), rateType: "BOOKABLE" };
  const { currency, name } = vacancy.room;
  const rooms = [{ code: key.roomCode, name, rates: [rate] }];
  const stay = { checkIn: key.checkIn, checkOut: key.checkOut };
  return answer({
    hotel: { ...hotelOf(listing), ...stay, currency, rooms, totalNet: rate.net, paymentDataRequired: false },
  });
};

/** The ledger has the client's own reference where its remark tells one. */
const referenceOf = ({ remark, clientReference }: Static<typeof BookingRequest>): string =>
  /\bRef\. (\S+)/.exec(remark ?? "")?.[1] ?? clientReference;

/** Hotelbeds takes the same `clientReference` twice, and so does this one: each is a booking. */
const book = (desk: HotelDesk, request: VendorRequest<Static<typeof BookingRequest>>): VendorAnswer => {
  const { body, nowMs, oversold } = request;
  const asked = keyed(desk, body.rooms[0]!.rateKey, nowMs);
  if (asked === undefined) return badKey;
  const { key, vacancy } = asked;
  const own = { reference: referenceOf(body), idempotencyKey: body.clientReference };
  const held =
    vacancy === undefined
      ? ({ refused: "SOLD_OUT" } as const)
      : desk.hold({
          ...own,
          rateKey: vacancy.room.rateKey,
          rooms: key.rooms,
          accessible: 0,
          checkIn: key.checkIn,
          checkOut: key.checkOut,
          priceFactor: key.factor / 10_000,
          nowMs,
        });
  if ("refused" in held) return refusals[held.refused];
  const booked = desk.book({
    ...own,
    holdId: held.sale.id,
    leadGuest: `${body.holder.name} ${body.holder.surname}`,
    guests: body.rooms[0]!.paxes.length,
    payment: "AT_WEB",
    also: { holder: body.holder, remark: body.remark ?? "" },
    oversold,
    nowMs,
  });
  return "refused" in booked ? refusals[booked.refused] : answer({ booking: bookingOf(booked.sale) });
};

const detail = (desk: HotelDesk, { params, nowMs }: VendorRequest): VendorAnswer => {
  const sale = desk.booking(params.reference!, nowMs);
  return sale === undefined ? refusals.UNKNOWN : answer({ booking: bookingOf(sale) });
};

const modify = (desk: HotelDesk, request: VendorRequest<Static<typeof Change>>): VendorAnswer => {
  const { params, body, nowMs } = request;
  const { checkIn, checkOut } = body.booking.hotel;
  const isSimulated = body.mode === "SIMULATION";
  const modified = desk.modify(params.reference!, { checkIn, checkOut }, nowMs, isSimulated);
  return "refused" in modified ? refusals[modified.refused] : answer({ booking: bookingOf(modified.sale) });
};

const cancel = (desk: HotelDesk, request: VendorRequest): VendorAnswer => {
  const { params, query, nowMs } = request;
  if (query.get("cancellationFlag") === "SIMULATION") return detail(desk, request);
  const cancelled = desk.cancel(params.reference!, nowMs);
  return "refused" in cancelled
    ? refusals[cancelled.refused]
    : answer({ booking: bookingOf(cancelled.sale) });
};

/** By days: of making, or of the last change. Each booking once, in the order of making. */
const list = (desk: HotelDesk, ledger: Ledger, { query, nowMs }: VendorRequest): VendorAnswer => {
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const [start, end] = [query.get("start") ?? "", query.get("end") ?? ""];
  const isRange = from >= 1 && to >= from && to - from < 1000;
  if (!isRange || !/^\d{4}-\d\d-\d\d$/.test(start) || !/^\d{4}-\d\d-\d\d$/.test(end))
    return problem(400, "INVALID_DATA", "from, to, start and end are mandatory.");
  desk.settle(nowMs);
  const client = query.get("clientReference");
  const isModified = query.get("filterType") === "MODIFIED";
  const sales = (client === null ? ledger.ofKind("booking") : ledger.byKey("booking", client)) as Sale[];
  const matching = sales.filter(({ createdAt, changedAt }) => {
    const day = (isModified ? changedAt : createdAt).slice(0, 10);
    return start <= day && day <= end;
  });
  const page = matching.slice(from - 1, to).map(bookingOf);
  const rows = query.get("extend") === "true" ? page : page.map(({ remark: _, ...row }) => row);
  return answer({ bookings: { bookings: rows, from, to, total: matching.length } });
};

const content = (desk: HotelDesk, { query }: VendorRequest): VendorAnswer => {
  const codes = (query.get("codes") ?? "").split(",").filter(Boolean).map(Number);
  const hotels = codes.flatMap((code) => {
    const listing = desk.listing(codeOfNumber(code));
    if (listing === undefined) return [];
    const { street, city, country, chain, amenities } = listing;
    const facilities = amenities.map((amenity) => {
      const [facilityGroupCode, facilityCode] = facilityCodes[amenity];
      return { facilityGroupCode, facilityCode, order: 1, indYesOrNo: true };
    });
    // What a hotel says it has not is listed, too.
    const none = { facilityGroupCode: 74, facilityCode: 420, order: 1, indYesOrNo: false };
    return [
      {
        code,
        name: { content: listing.name },
        address: { content: street },
        city: { content: city },
        countryCode: country,
        ...(chain !== undefined && { chainCode: chain }),
        facilities: [...facilities, none],
      },
    ];
  });
  return answer({ from: 1, to: hotels.length, total: hotels.length, hotels });
};

const signatureWindowS = 300;

/** The signature of any second of the last and next five minutes. */
const isSigned = (signature: string, secret: string, nowMs: number): boolean => {
  const now = Math.floor(nowMs / 1000);
  for (let off = 0; off <= signatureWindowS; off += 1) {
    for (const second of off === 0 ? [now] : [now - off, now + off]) {
      if (createHash("sha256").update(`${secret}${second}`).digest("hex") === signature) return true;
    }
  }
  return false;
};

const bookings = "/hotel-api/1.0/bookings";

const routesOf = (desk: HotelDesk, ledger: Ledger): VendorRoute[] => [
  {
    operation: "search",
    operationOf: ({ body }) =>
      (body as Static<typeof Availability>).geolocation === undefined ? "quote" : "search",
    method: "POST",
    path: "/hotel-api/1.0/hotels",
    write: false,
    body: Availability,
    handle: (request) => search(desk, request),
  },
  {
    operation: "hold",
    method: "POST",
    path: "/hotel-api/1.0/checkrates",
    // So that a fault can refuse it; nothing is written.
    write: "unkeyed",
    shock: "price-change",
    body: CheckRates,
    handle: (request) => checkRates(desk, request),
  },
  {
    operation: "book",
    method: "POST",
    path: bookings,
    write: "unkeyed",
    shock: "oversell",
    body: BookingRequest,
    handle: (request) => book(desk, request),
  },
  {
    operation: "modify",
    operationOf: ({ body }) => ((body as Static<typeof Change>).mode === "SIMULATION" ? "quote" : "modify"),
    method: "PUT",
    path: `${bookings}/:reference`,
    write: "unkeyed",
    body: Change,
    handle: (request) => modify(desk, request),
  },
  {
    operation: "cancel",
    method: "DELETE",
    path: `${bookings}/:reference`,
    write: "unkeyed",
    handle: (request) => cancel(desk, request),
  },
  {
    operation: "detail",
    method: "GET",
    path: `${bookings}/:reference`,
    write: false,
    handle: (request) => detail(desk, request),
  },
  {
    operation: "lookup",
    operationOf: ({ query }) => (query.has("clientReference") ? "lookup" : "reconcile"),
    method: "GET",
    path: bookings,
    write: false,
    handle: (request) => list(desk, ledger, request),
  },
  {
    operation: "content",
    method: "GET",
    path: "/hotel-content-api/1.0/hotels",
    write: false,
    handle: (request) => content(desk, request),
  },
];

export const hotelbeds: VendorDefinition = {
  name: "hotelbeds",
  kind: "hotel",
  dialect: {
    hasSecret: true,
    accepts: (headers, { apiKey, apiSecret }, nowMs) =>
      headers["api-key"] === apiKey &&
      isSigned(String(headers["x-signature"] ?? ""), `${apiKey}${apiSecret}`, nowMs),
    problem: (kind, detail) =>
      ({
        unauthorized: { status: 401, body: { error: "Not Authorized" } },
        "not-found": { status: 404, body: { error: "Not Found" } },
        invalid: problem(400, "INVALID_REQUEST", detail),
        "key-reused": problem(400, "INVALID_REQUEST", detail),
        unavailable: { status: 503, body: { error: "no healthy upstream" } },
        failed: problem(500, "SYSTEM_ERROR", detail),
      })[kind],
    refusal: (operation) => (operation === "cancel" ? refusals.STAYED : refusals.SOLD_OUT),
  },
  routes: (ledger, settings) => routesOf(new HotelDesk("hotelbeds", ledger, settings), ledger),
  frontDesk: markStays,
  counts: hotelCounts,
};
