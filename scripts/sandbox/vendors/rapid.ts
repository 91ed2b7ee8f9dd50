/**
 * Owns a vendor that speaks Expedia Rapid's dialect, version 3: signed requests, links with tokens, itineraries on hold. From the same public
 * documentation as the service's adapter, and not from that one's code.
 */
import { createHash } from "node:crypto";
import Type, { type Static } from "typebox";
import { markStays } from "../front-desk.ts";
import { HotelDesk, hotelCounts } from "../hotel-desk.ts";
import type { Sale, Stay } from "../hotel-sale.ts";
import { airportOfCode, codeOfNumber, numberOfCode } from "../hotels.ts";
import type { Ledger } from "../ledger.ts";
import { airportNear } from "../places.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest, VendorRoute } from "../vendor-server.ts";
import {
  contentOf,
  invalid,
  itineraryOf,
  priceCheckOf,
  problem,
  rateOf,
  readToken,
  refusals,
} from "./rapid-wire.ts";

const Polygon = Type.Object({
  type: Type.Enum(["Polygon"]),
  coordinates: Type.Array(
    Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }), { minItems: 4, maxItems: 2000 }),
    { minItems: 1, maxItems: 1 },
  ),
});
const Name = Type.String({ minLength: 1, maxLength: 60, pattern: "^[^<>()&]*$" });
const Itinerary = Type.Object({
  affiliate_reference_id: Type.String({ minLength: 3, maxLength: 28, pattern: "^[^<>()&]+$" }),
  hold: Type.Boolean(),
  email: Type.String({ pattern: "^[^@\\s]+@[^@\\s]+$" }),
  phone: Type.Object({
    country_code: Type.String({ pattern: "^\\d+$" }),
    number: Type.String({ pattern: "^\\d+$" }),
  }),
  rooms: Type.Array(Type.Object({ given_name: Name, family_name: Name }), { minItems: 1, maxItems: 8 }),
  payments: Type.Array(
    Type.Object({
      type: Type.Enum(["affiliate_collect"]),
      billing_contact: Type.Object({
        given_name: Name,
        family_name: Name,
        address: Type.Object({ country_code: Type.String({ pattern: "^[A-Z]{2}$" }) }),
      }),
    }),
    { minItems: 1, maxItems: 1 },
  ),
  affiliate_metadata: Type.Optional(Type.String({ maxLength: 256, pattern: "^[^<>()&]*$" })),
});
type Itinerary = Static<typeof Itinerary>;

const done: VendorAnswer = { status: 204, body: undefined };
const badLink = invalid("link.invalid", "Link is invalid.");
const everywhereKm = 1_000;

/** One property with what it has free. */
const vacanciesOf = (desk: HotelDesk, hotelCode: string, stay: Stay, nowMs: number) => {
  const airport = airportOfCode(hotelCode);
  const coordinates = desk.placeOf(airport);
  if (coordinates === undefined) return [];
  const found = desk.search({ airport, coordinates, radiusKm: everywhereKm, ...stay, nowMs });
  return found.find(({ listing }) => listing.hotelCode === hotelCode)?.vacancies ?? [];
};

const vacancyOf = (desk: HotelDesk, rateKey: string, stay: Stay, nowMs: number) =>
  vacanciesOf(desk, rateKey.slice(0, rateKey.indexOf(".")), stay, nowMs).find(
    ({ room }) => room.rateKey === rateKey,
  );

const required = [
  "currency",
  "country_code",
  "language",
  "rate_plan_count",
  "sales_channel",
  "sales_environment",
];
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

const shop = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const missing = required.find((name) => !query.has(name));
  if (missing !== undefined) return invalid(`${missing}.required`, `${missing} is required.`);
  const stay = { checkIn: query.get("checkin") ?? "", checkOut: query.get("checkout") ?? "" };
  if (!isDay(stay.checkIn) || !isDay(stay.checkOut))
    return invalid("checkin.invalid", "Dates are YYYY-MM-DD.");
  const occupancy = query.getAll("occupancy");
  const rooms = occupancy.length;
  const adults = Number(occupancy[0]);
  const ids = query.getAll("property_id");
  if (rooms < 1 || rooms > 8 || !(adults >= 1)) return invalid("occupancy.invalid", "Occupancy is invalid.");
  if (ids.length < 1 || ids.length > 250) return invalid("property_id.invalid", "1 to 250 properties.");
  const isPaid = query.get("filter") === "expedia_collect";
  const body = ids.flatMap((id) => {
    const code = codeOfNumber(Number(id));
    // A property that wants a card at its desk is not Expedia's to collect for.
    if (isPaid && !desk.listing(code)?.payments.includes("GUARANTEE")) return [];
    const open = vacanciesOf(desk, code, stay, nowMs).filter(
      ({ room, roomsLeft }) => room.maxOccupancy >= adults && roomsLeft >= rooms,
    );
    const kinds = open.map((vacancy) => ({
      id: vacancy.room.code,
      room_name: vacancy.room.name,
      rates: [rateOf(id, vacancy, { stay, rooms, adults }, { nowMs })],
    }));
    return kinds.length === 0 ? [] : [{ property_id: id, status: "available", rooms: kinds, score: 1 }];
  });
  return { status: 200, body };
};

/** For an itinerary that stands, by its own link. */
const shopForChange = (desk: HotelDesk, { query, params, nowMs }: VendorRequest): VendorAnswer => {
  const kept = readToken(query.get("token"));
  const sale = kept?.itinerary === undefined ? undefined : desk.booking(kept.itinerary, nowMs);
  if (kept === undefined || sale === undefined) return badLink;
  const stay = { checkIn: query.get("checkin") ?? "", checkOut: query.get("checkout") ?? "" };
  const adults = Number(query.get("occupancy") ?? 2);
  const id = params.property!;
  const listing = desk.listing(codeOfNumber(Number(id)));
  const room = listing?.rooms.find(({ rateKey }) => rateKey === sale.details.rateKey);
  if (room === undefined) return { status: 200, body: [] };
  const vacancy = {
    room,
    roomsLeft: sale.details.rooms,
    accessibleLeft: 0,
    freeCancellationUntil: undefined,
  };
  const rate = rateOf(
    id,
    { ...vacancy, ladder: sale.details.ladder },
    { stay, rooms: 1, adults },
    { nowMs, change: kept },
  );
  const rooms = [{ id: room.code, room_name: room.name, rates: [rate] }];
  return { status: 200, body: [{ property_id: id, status: "available", rooms }] };
};

const priceCheck = (desk: HotelDesk, { query, priceFactor, nowMs }: VendorRequest): VendorAnswer => {
  const kept = readToken(query.get("token"));
  const { rateKey, stay, rooms, adults, factor } = kept ?? {};
  if (
    rateKey === undefined ||
    stay === undefined ||
    rooms === undefined ||
    adults === undefined ||
    factor === undefined
  )
    return badLink;
  const whole = { ...kept, rateKey, stay, rooms, adults, factor };
  const standing = kept?.itinerary === undefined ? undefined : desk.booking(kept.itinerary, nowMs);
  const vacancy = vacancyOf(desk, rateKey, stay, nowMs);
  const room = desk
    .listing(rateKey.slice(0, rateKey.indexOf(".")))
    ?.rooms.find((one) => one.rateKey === rateKey);
  const known =
    standing === undefined || room === undefined
      ? vacancy
      : {
          room,
          roomsLeft: rooms,
          accessibleLeft: 0,
          freeCancellationUntil: undefined,
          ladder: standing.details.ladder,
        };
  return { status: 200, body: priceCheckOf(known, whole, factor * priceFactor) };
};

/** The ledger has the client's own reference where its metadata tells one. */
const referenceOf = ({ affiliate_metadata = "", affiliate_reference_id }: Itinerary): string =>
  /(?:^|\|)reference:([^|]+)/.exec(affiliate_metadata)?.[1] ?? affiliate_reference_id;

const create = (desk: HotelDesk, ledger: Ledger, request: VendorRequest<Itinerary>): VendorAnswer => {
  const { query, body, nowMs } = request;
  const kept = readToken(query.get("token"));
  const { rateKey, stay, rooms = 0, adults = 2, factor = 1 } = kept ?? {};
  if (rateKey === undefined || stay === undefined || body.rooms.length !== rooms) return badLink;
  const affiliate = body.affiliate_reference_id;
  if (ledger.byKey("hold", affiliate).length > 0)
    return invalid("duplicate_itinerary", "An itinerary already exists with this affiliate reference id.");
  const { rooms: guests, email, affiliate_metadata: metadata = "" } = body;
  const property = String(numberOfCode(rateKey.slice(0, rateKey.indexOf("."))));
  const held = desk.hold({
    ...{ reference: referenceOf(body), idempotencyKey: affiliate, rateKey, rooms, accessible: 0, ...stay },
    priceFactor: factor,
    also: {
      email,
      metadata,
      adults,
      property,
      guests: guests.length,
      leadGuest: `${guests[0]!.given_name} ${guests[0]!.family_name}`,
    },
    nowMs,
  });
  if ("refused" in held) return refusals[held.refused];
  const { itinerary_id, links } = itineraryOf(held.sale);
  return { status: 201, body: { itinerary_id, links } };
};

/** The hold, or what it has become; nothing of one that is over. */
const standing = (desk: HotelDesk, id: string, nowMs: number): Sale | undefined =>
  desk.booking(id, nowMs) ?? desk.holding(id, nowMs);

const resume = (desk: HotelDesk, { query, oversold, nowMs }: VendorRequest): VendorAnswer => {
  const id = readToken(query.get("token"))?.itinerary;
  const sale = id === undefined ? undefined : standing(desk, id, nowMs);
  if (id === undefined) return badLink;
  if (sale === undefined) return refusals.UNKNOWN;
  if (sale.kind === "booking") return done;
  const { email, metadata, adults, property, leadGuest = "", guests = 1 } = sale.details;
  const booked = desk.book({
    ...{ reference: sale.reference, idempotencyKey: sale.idempotencyKey, holdId: id, id, leadGuest, guests },
    ...{ payment: "affiliate_collect", also: { email, metadata, adults, property }, oversold, nowMs },
  });
  return "refused" in booked ? refusals[booked.refused] : done;
};

const release = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const id = readToken(query.get("token"))?.itinerary;
  if (id === undefined) return badLink;
  const released = desk.release(id, nowMs);
  return "refused" in released ? refusals[released.refused] : done;
};

const retrieve = (desk: HotelDesk, { params, query, nowMs }: VendorRequest): VendorAnswer => {
  const sale = standing(desk, params.itinerary!, nowMs);
  const isOwn = sale !== undefined && (query.has("token") || query.get("email") === sale.details.email);
  return isOwn ? { status: 200, body: itineraryOf(sale) } : refusals.UNKNOWN;
};

const find = (desk: HotelDesk, ledger: Ledger, { query, nowMs }: VendorRequest): VendorAnswer => {
  const holds = ledger.byKey("hold", query.get("affiliate_reference_id") ?? "");
  const found = holds.flatMap(({ id }) => standing(desk, id, nowMs) ?? []);
  const own = found.filter(({ details }) => details.email === query.get("email"));
  return own.length === 0 ? refusals.UNKNOWN : { status: 200, body: own.map(itineraryOf) };
};

/** Room by room; with the last one the booking is cancelled. */
const cancelRoom = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const { itinerary, room } = readToken(query.get("token")) ?? {};
  if (itinerary === undefined || room === undefined) return badLink;
  const cancelled = desk.cancelRoom(itinerary, room, nowMs);
  return "refused" in cancelled ? refusals[cancelled.refused] : done;
};

const commit = (desk: HotelDesk, { query, nowMs }: VendorRequest): VendorAnswer => {
  const { itinerary, stay } = readToken(query.get("token")) ?? {};
  if (itinerary === undefined || stay === undefined) return badLink;
  const modified = desk.modify(itinerary, stay, nowMs);
  return "refused" in modified ? refusals[modified.refused] : done;
};

const geography = (desk: HotelDesk, { body }: VendorRequest<Static<typeof Polygon>>): VendorAnswer => {
  const [ring] = body.coordinates as [[number, number][]];
  const middle = (values: number[]): number => (Math.min(...values) + Math.max(...values)) / 2;
  const [east, north] = [ring.map(([longitude]) => longitude), ring.map(([, latitude]) => latitude)];
  const centre = { latitude: middle(north), longitude: middle(east) };
  const within = ({ latitude, longitude }: { latitude: number; longitude: number }): boolean =>
    latitude >= Math.min(...north) &&
    latitude <= Math.max(...north) &&
    longitude >= Math.min(...east) &&
    longitude <= Math.max(...east);
  const listings = desk.listings(airportNear(centre).code).filter(({ coordinates }) => within(coordinates));
  const ids = listings.map(({ hotelCode }) => String(numberOfCode(hotelCode)));
  return { status: 200, body: Object.fromEntries(ids.map((property_id) => [property_id, { property_id }])) };
};

const content = (desk: HotelDesk, { query }: VendorRequest): VendorAnswer => {
  const ids = query.getAll("property_id");
  if (ids.length < 1 || ids.length > 250) return invalid("property_id.invalid", "1 to 250 properties.");
  const entries = ids.flatMap((id) => {
    const listing = desk.listing(codeOfNumber(Number(id)));
    return listing === undefined ? [] : [[id, contentOf(id, listing)] as const];
  });
  return { status: 200, body: Object.fromEntries(entries) };
};

const signatureWindowS = 300;

const isSigned = (authorization: string, apiKey: string, apiSecret: string, nowMs: number): boolean => {
  const read = /^EAN APIKey=([^,]+),Signature=([0-9a-f]{128}),timestamp=(\d+)$/.exec(authorization);
  if (read === null || read[1] !== apiKey) return false;
  const [, , signature, timestamp] = read;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > signatureWindowS) return false;
  return createHash("sha512").update(`${apiKey}${apiSecret}${timestamp}`).digest("hex") === signature;
};

const itineraries = "/v3/itineraries";

const routesOf = (desk: HotelDesk, ledger: Ledger): VendorRoute[] => {
  const read = (operation: string, path: string, handle: VendorRoute["handle"]): VendorRoute => ({
    ...{ operation, method: "GET", path, write: false, handle },
  });
  const write = (
    operation: string,
    method: string,
    path: string,
    handle: VendorRoute["handle"],
  ): VendorRoute => ({
    ...{ operation, method, path, write: "unkeyed", handle },
  });
  const quote = read("quote", "/v3/properties/:property/rooms/:room/rates/:rate", (request) =>
    priceCheck(desk, request),
  );
  const hold = write("hold", "POST", itineraries, (request) => create(desk, ledger, request));
  const book = write("book", "PUT", `${itineraries}/:itinerary`, (request) => resume(desk, request));
  const places = read("places", "/v3/properties/geography", (request) => geography(desk, request));
  return [
    {
      ...read("search", "/v3/properties/availability", (request) => shop(desk, request)),
      operationOf: ({ query }) => (query.getAll("property_id").length === 1 ? "shop" : "search"),
    },
    { ...places, method: "POST", body: Polygon },
    read("content", "/v3/properties/content", (request) => content(desk, request)),
    { ...quote, shock: "price-change" },
    read("shop", "/v3/properties/:property/availability", (request) => shopForChange(desk, request)),
    { ...hold, body: Itinerary },
    { ...book, shock: "oversell" },
    write("release", "DELETE", `${itineraries}/:itinerary`, (request) => release(desk, request)),
    read("lookup", itineraries, (request) => find(desk, ledger, request)),
    read("detail", `${itineraries}/:itinerary`, (request) => retrieve(desk, request)),
    write("cancel", "DELETE", `${itineraries}/:itinerary/rooms/:room`, (request) =>
      cancelRoom(desk, request),
    ),
    write("modify", "PUT", `${itineraries}/:itinerary/rooms/:room/pricing`, (request) =>
      commit(desk, request),
    ),
  ];
};

export const rapid: VendorDefinition = {
  name: "rapid",
  kind: "hotel",
  account: {
    ...{
      email: "duty-desk@airline.example",
      phoneCountryCode: "1",
      phone: "2125550100",
      customerIp: "192.0.2.10",
    },
    ...{ countryCode: "US", currency: "USD", city: "New York", addressLine: "1 Station Road" },
  },
  dialect: {
    hasSecret: true,
    accepts: (headers, { apiKey, apiSecret }, nowMs) =>
      isSigned(String(headers.authorization ?? ""), apiKey, apiSecret, nowMs) &&
      headers["customer-ip"] !== undefined,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, "request_unauthenticated", detail),
        "not-found": problem(404, "resource_not_found", detail),
        invalid: invalid("invalid", detail),
        "key-reused": invalid("invalid", detail),
        unavailable: problem(503, "service_unavailable", "This service is currently unavailable."),
        failed: problem(500, "unknown_internal_error", "An internal server error has occurred."),
      })[kind],
    refusal: (operation) => (operation === "cancel" ? refusals.STAYED : refusals.SOLD_OUT),
  },
  routes: (ledger, settings) => routesOf(new HotelDesk("rapid", ledger, settings), ledger),
  frontDesk: markStays,
  counts: hotelCounts,
};
