/**
 * Owns hotel vendors for benchmarks, all in one process and without books: each answers a search with the same offers, takes every hold
 * and booking, or answers nothing at all. What vendors do otherwise is the sandbox's.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { listenOnLoopback } from "../sandbox/loopback-http.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

export interface PlainHotel {
  name: string;
  dialect: "stayhub" | "roomlink";
  offers: number;
  latencyMs: number;
  /** It takes every request and answers none. */
  isMute?: true;
}

/** `GET /` of the process: each vendor's own address by its name, and when the last answer to a search had left. */
export interface PlainHotels {
  addresses: Record<string, string>;
  /** Epoch milliseconds. */
  lastSearchAt: number;
}

const vendors = JSON.parse(process.env.PLAIN_HOTELS ?? "[]") as PlainHotel[];
const jfk = { latitude: 40.6398, longitude: -73.7789 };
/** Of the hotels that there are, each vendor has as many as it needs, from another place on: most are sold by several. */
const ratesPerHotel = 2;
const hotelsInTown = 160;
const apartPerVendor = 15;

/** Every third is told by its common id, by its place and stars, by its name and address. */
const hotelOf = (vendor: number, n: number) => {
  const hotel = n % hotelsInTown;
  const way = hotel % 3;
  const aside = way === 1 ? vendor * 0.00005 : 0;
  return {
    code: `P${vendor}${hotel}`,
    masterId: way === 0 ? `9${String(hotel).padStart(5, "0")}` : undefined,
    name: way === 2 ? `House ${hotel}` : `House ${hotel} by ${vendor}`,
    street: way === 2 ? `${hotel} Runway Road` : `${hotel} Runway Road, entrance ${vendor}`,
    latitude: jfk.latitude + ((hotel % 16) - 8) * 0.02 + aside,
    longitude: jfk.longitude + (Math.floor(hotel / 16) - 5) * 0.02 + (way === 2 ? vendor * 0.002 : 0),
    stars: 2 + (hotel % 4),
    rates: Array.from({ length: ratesPerHotel }, (_, rate) => ({
      key: `JFK:${vendor}:${hotel}:${rate}`,
      nightlyRateMinor: 9000 + ((hotel * 37 + vendor * 11 + rate * 500) % 12_000),
    })),
  };
};
type Hotel = ReturnType<typeof hotelOf>;

const stayhubHotel = ({ code, masterId, name, street, latitude, longitude, stars, rates }: Hotel) => ({
  hotel_code: code,
  giata_id: masterId ?? null,
  hotel_name: name,
  address: { line: street, city: "New York", country: "US" },
  geo: { lat: latitude.toFixed(6), lng: longitude.toFixed(6) },
  star_rating: stars.toFixed(1),
  chain_code: "NS",
  facilities: ["010", "025", "055", "143"],
  rates: rates.map(({ key, nightlyRateMinor }) => ({
    rate_key: key,
    room: { code: "DBL", name: "Double", max_guests: 2 },
    nightly_amount: (nightlyRateMinor / 100).toFixed(2),
    currency: "USD",
    allotment: 30,
    accessible_allotment: 2,
    pay_by: ["guarantee", "virtual_card"],
    cancel_free_until: null,
  })),
});

const roomlinkProperty = ({ code, masterId, name, street, latitude, longitude, stars, rates }: Hotel) => ({
  propertyId: code,
  ...(masterId && { externalIds: [{ scheme: "GIATA", value: masterId }] }),
  displayName: name,
  postalAddress: `${street}, New York, US`,
  position: [longitude, latitude],
  category: ["UNRATED", "ONE_STAR", "TWO_STAR", "THREE_STAR", "FOUR_STAR", "FIVE_STAR"][stars],
  brand: "nightstop",
  features: ["frontDeskAroundTheClock", "shuttleToAirport", "wirelessInternet", "rooftopBar"],
  offers: rates.map(({ key, nightlyRateMinor }) => ({
    offerToken: key,
    roomType: "Double",
    sleeps: 2,
    perNight: { minorUnits: nightlyRateMinor, currencyCode: "USD" },
    available: 30,
    availableBarrierFree: 2,
    settlementModes: ["AGENCY_GUARANTEE", "PREPAID_CARD"],
  })),
});

/** Written once: what a vendor takes to write its answer is no part of any figure. */
const searchAnswers = new Map(
  vendors.map(({ name, dialect, offers }, vendor) => {
    const count = offers / ratesPerHotel;
    const hotels = Array.from({ length: count }, (_, n) => hotelOf(vendor, n + vendor * apartPerVendor));
    const body =
      dialect === "stayhub"
        ? { hotels: hotels.map(stayhubHotel) }
        : { data: { properties: hotels.map(roomlinkProperty) }, errors: [] };
    return [name, JSON.stringify(body)];
  }),
);

const told: PlainHotels = { addresses: {}, lastSearchAt: 0 };
const price = { total_amount: "180.00", currency: "USD" };

const stayhubWork: Record<string, () => object> = {
  "POST /v2/holds": () => {
    const expires_at = new Date(Date.now() + 600_000).toISOString();
    return { hold: { hold_id: randomUUID(), status: "on_hold", expires_at, ...price } };
  },
  "POST /v2/bookings": () => {
    const booking_no = randomUUID();
    const confirmation = booking_no.slice(0, 8).toUpperCase();
    return {
      booking: { booking_no, confirmation, status: "confirmed", ...price, cancel_free_until: null },
    };
  },
  "GET /v2/bookings": () => ({ bookings: [], holds: [] }),
  "GET /v2/bookings/changes": () => ({ changes: [], next_page_token: null }),
};
const roomlinkWork: Record<string, () => object> = {
  "POST /api/reservations/changes": () => ({ data: { items: [] }, errors: [] }),
};
const searchPaths = new Set(["POST /v2/availability", "POST /api/search"]);

const serve = async (
  vendor: PlainHotel,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { pathname } = new URL(request.url ?? "/", "http://vendor");
  await text(request);
  if (vendor.isMute) return;
  await delay(vendor.latencyMs);
  const asked = `${request.method} ${pathname}`;
  if (searchPaths.has(asked)) {
    response.once("finish", () => {
      told.lastSearchAt = performance.timeOrigin + performance.now();
    });
    return send(response, searchAnswers.get(vendor.name) ?? "");
  }
  const work = (vendor.dialect === "stayhub" ? stayhubWork : roomlinkWork)[asked];
  if (work === undefined) return void response.writeHead(404).end("{}");
  send(response, JSON.stringify(work()));
};

const send = (response: ServerResponse, body: string): void => {
  response.writeHead(200, { "Content-Type": "application/json" }).end(body);
};

const servers = await Promise.all(
  vendors.map(async (vendor) => {
    const server = createServer((request, response) => {
      serve(vendor, request, response).catch((error: unknown) => {
        console.error(error);
        response.destroy();
      });
    });
    const listening = await listenOnLoopback(server, 0);
    told.addresses[vendor.name] = listening.url;
    return listening;
  }),
);
const own = await listenOnLoopback(
  createServer((_, response) => send(response, JSON.stringify(told))),
  0,
);
const stop = (): void => {
  void Promise.all([own, ...servers].map(({ close }) => close())).then(() => process.exit(0));
};
process.once("SIGTERM", stop);
stopWithParent(stop);
console.log(`listening ${own.url}`);
