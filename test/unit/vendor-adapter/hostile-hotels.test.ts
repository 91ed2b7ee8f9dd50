// What wrong and hostile answers of hotel vendors come to, each dialect over real HTTP: the night goes on with what can be believed.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import t, { type Test } from "tap";
import { RoomLink } from "../../../actors/vendor-adapter/adapters/roomlink.ts";
import { StayHub } from "../../../actors/vendor-adapter/adapters/stayhub.ts";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { askHotels } from "../../../actors/vendor-adapter/search.ts";
import { offersMax, soundOffers } from "../../../actors/vendor-adapter/sound-offers.ts";
import { allocateStays } from "../../../actors/wave/allocation/stays.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { hotelUrns } from "../../../schemas/hotel-identity.ts";
import { trace } from "../../harness/given.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";
import { offer as offerOf, north as offNorth } from "../allocation/hotels-at-jfk.ts";

const jfk = { latitude: 40.6398, longitude: -73.7789 };
const stay = { checkIn: "2026-11-21", checkOut: "2026-11-22" };
const search: HotelSearch = { airport: "JFK", coordinates: jfk, radiusKm: 50, ...stay, rooms: 1 };
const log = pino({ level: "silent" });

interface Vendor {
  port: HotelPort;
  /** What it says to everything from now on. */
  says(answer: unknown, status?: number): void;
  /** The body that it got last. */
  heard(): Record<string, unknown>;
}

const vendor = async (t: Test, Dialect: typeof StayHub | typeof RoomLink): Promise<Vendor> => {
  let text = "";
  let status = 200;
  let body: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      body = JSON.parse(Buffer.concat(chunks).toString());
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    port: new Dialect("evil", { baseUrl, apiKey: "key", timeoutMs: 20_000 }),
    says: (answer, code = 200) => {
      text = typeof answer === "string" ? answer : JSON.stringify(answer);
      status = code;
    },
    heard: () => body,
  };
};

const found = async ({ port }: Vendor) => {
  const options = { timeBoxMs: 20_000, traceparent: trace.traceparent, log };
  const [answer] = await askHotels([{ name: "evil", port }], search, options);
  if (answer === undefined) throw new Error("nobody was asked");
  return answer;
};

const rate = (more: object = {}) => ({
  rate_key: "k",
  room: { max_guests: 2 },
  nightly_amount: "50.00",
  currency: "USD",
  allotment: 20,
  accessible_allotment: 5,
  pay_by: ["guarantee"],
  cancel_free_until: null,
  ...more,
});
const hotel = (more: object = {}) => ({
  hotel_code: "inn",
  giata_id: null,
  hotel_name: "Evil Inn",
  address: { line: "1 Street", city: "New York", country: "US" },
  geo: { lat: String(jfk.latitude), lng: String(jfk.longitude) },
  star_rating: "4.0",
  chain_code: null,
  facilities: ["010"],
  rates: [rate()],
  ...more,
});

t.test("one vendor's words", async (t) => {
  const evil = await vendor(t, StayHub);
  const table: [what: string, hotels: object[], offers: number, like?: Partial<HotelOffer>][] = [
    ["as it should be", [hotel()], 1, { nightlyRateMinor: 5000, roomsLeft: 20 }],
    ["money for staying there", [hotel({ rates: [rate({ nightly_amount: "-100.00" })] })], 0],
    ["a price beyond belief", [hotel({ rates: [rate({ nightly_amount: "9999999999999.00" })] })], 0],
    ["a currency that isn't one", [hotel({ rates: [rate({ currency: "ZZZ" })] })], 0],
    ["a hotel in Sydney", [hotel({ geo: { lat: "-33.9", lng: "151.2" } })], 0],
    ["a hotel nowhere on earth", [hotel({ geo: { lat: "300.5", lng: "999" } })], 0],
    [
      "more words than a hotel needs",
      [
        hotel({
          hotel_name: "x".repeat(450),
          hotel_code: "y".repeat(450),
          address: { line: "z".repeat(300), city: "", country: "" },
        }),
      ],
      0,
    ],
    ["the same room twice", [hotel(), hotel()], 1],
    ["one bad rate beside a good one", [hotel({ rates: [rate({ nightly_amount: "-1.00" }), rate()] })], 1],
    ["a chain of any name", [hotel({ chain_code: "constructor" })], 1, { chain: "constructor" }],
    [
      "words that objects have",
      [hotel({ facilities: ["010", "constructor", "__proto__"], rates: [rate({ pay_by: ["toString"] })] })],
      1,
      { amenities: ["24H_RECEPTION"], acceptedPayments: [] },
    ],
    [
      "the same amenity for ever",
      [hotel({ facilities: Array.from({ length: 200_000 }, () => "010") })],
      1,
      { amenities: ["24H_RECEPTION"] },
    ],
    [
      "more rooms than the world has",
      [hotel({ rates: [rate({ allotment: 2 ** 32 + 1, accessible_allotment: 2 ** 40 })] })],
      1,
      { roomsLeft: 10_000, accessibleRooms: 10_000 },
    ],
  ];
  for (const [what, hotels, count, like] of table) {
    evil.says({ hotels });
    const { offers, detail } = await found(evil);
    t.equal(detail, undefined, what);
    t.equal(offers.length, count, what);
    if (like !== undefined) t.match(offers[0], like, what);
  }
  const unread: [string, unknown, RegExp][] = [
    ["ten megabytes", "x".repeat(10_000_000), /too long/],
    [
      "an address as long as a book",
      { hotels: [hotel({ address: { line: "x".repeat(3e6) } })] },
      /malformed/,
    ],
    ["a hotel without its rates", { hotels: [{ ...hotel(), rates: undefined }] }, /malformed/],
    ["no answer to the question", { hotels: "many" }, /malformed/],
  ];
  for (const [what, answer, detail] of unread) {
    evil.says(answer);
    t.match(await found(evil), { offers: [], detail }, what);
  }
  evil.says({ error: { code: "constructor", message: "no" } }, 409);
  const request = { reference: "R", offer: {} as HotelOffer, rooms: 1, ...stay, needs: [] };
  t.match(await evil.port.hold(request, trace), { outcome: "refused", code: "REFUSED" });
});

t.test("the other's", async (t) => {
  const evil = await vendor(t, RoomLink);
  const property = {
    propertyId: "inn",
    displayName: "Evil Inn",
    postalAddress: "1 Street",
    position: [jfk.longitude, jfk.latitude],
    category: "FOUR_STAR",
    features: ["constructor", "wirelessInternet", "wirelessInternet"],
    offers: [
      {
        offerToken: "o",
        sleeps: 2,
        perNight: { minorUnits: 1e300, currencyCode: "USD" },
        available: 3,
        availableBarrierFree: 1,
        settlementModes: ["valueOf"],
      },
    ],
  };
  evil.says({ data: { properties: [property] }, errors: [] });
  t.match(await found(evil), { offers: [], detail: undefined }, "a price that no sum can hold");
  const [offer] = property.offers;
  const priced = { ...offer, perNight: { minorUnits: 5000, currencyCode: "USD" } };
  evil.says({ data: { properties: [{ ...property, offers: [priced] }] }, errors: [] });
  t.match((await found(evil)).offers, [{ amenities: ["WIFI"], acceptedPayments: [] }]);
  const swapped = { ...property, offers: [priced], position: [jfk.latitude, jfk.longitude] };
  evil.says({ data: { properties: [swapped] }, errors: [] });
  t.equal((await found(evil)).offers.length, 0, "a place written the wrong way round is another place");
});

t.test("as many accessible rooms are held as the wave has counted", async (t) => {
  const [hub, link] = [await vendor(t, StayHub), await vendor(t, RoomLink)];
  const table: [needs: string[], rooms: number, accessible: number][] = [
    [[], 2, 0],
    [["WHEELCHAIR"], 2, 1],
    [["REDUCED_MOBILITY"], 1, 1],
    [["WHEELCHAIR", "WHEELCHAIR"], 2, 2],
    [["WHEELCHAIR", "WHEELCHAIR"], 1, 1],
    [["WHEELCHAIR", "REDUCED_MOBILITY"], 2, 1],
    [["SERVICE_ANIMAL"], 1, 0],
  ];
  for (const [needs, rooms, accessible] of table) {
    const offer = { providerOfferId: "o" } as HotelOffer;
    const request = { reference: "R", offer, rooms, ...stay, needs };
    for (const { says, port } of [hub, link]) {
      says({});
      await port.hold(request, trace);
    }
    t.equal(hub.heard().accessible_rooms, accessible, needs.join());
    t.equal(link.heard().accessibleRoomCount, accessible, needs.join());
  }
});

t.test("a vendor that tells of tens of thousands", async (t) => {
  const evil = await vendor(t, StayHub);
  const many = Array.from({ length: 15_000 }, (_, i) =>
    hotel({
      hotel_code: `h${i}`,
      rates: [rate({ rate_key: `k${i}`, nightly_amount: `${15_000 - i}.00` })],
    }),
  );
  evil.says({ hotels: many });
  const { offers } = await found(evil);
  t.equal(offers.length, offersMax);
  t.equal(offers[0]?.nightlyRateMinor, 100, "in one place the cheapest");
  t.equal(new Set(hotelUrns(offers)).size, offersMax, "a vendor's codes are hotels of their own");
  const groups = Array.from({ length: 30 }, (_, i) => group(`G${i}`, { rooms: 1 + (i % 3), passengers: 2 }));
  const stays = [{ groups, search: { offers } }];
  const [wave] = allocateStays({ stays, policies: { ECONOMY: policy() }, airport: jfk });
  t.equal(wave?.allocations.length, 30);

  const north = (km: number) => ({ ...jfk, latitude: jfk.latitude + km / 111.2 });
  const [one] = offers as [HotelOffer];
  const spread = Array.from({ length: offersMax + 2 }, (_, i) => ({
    ...one,
    providerHotelId: `s${i}`,
    coordinates: north(40 - i / 100),
  }));
  const near = soundOffers(spread, search);
  t.equal(near.length, offersMax);
  t.notOk(
    near.some(({ providerHotelId }) => ["s0", "s1"].includes(providerHotelId)),
    "the nearest",
  );
  const [nearest] = spread.slice(-1) as [HotelOffer];
  const suites = Array.from({ length: offersMax }, (_, i) => ({
    ...nearest,
    providerOfferId: `suite ${i}`,
    nightlyRateMinor: 90_000 + i,
  }));
  const mixed = soundOffers([...suites, ...spread.slice(-3)], search);
  t.equal(mixed.length, offersMax);
  t.equal(
    new Set(mixed.map(({ providerHotelId }) => providerHotelId)).size,
    3,
    "each hotel before any second rate",
  );
  const few = spread.slice(0, 3);
  t.strictSame(soundOffers(few, search), few, "few stand as they were told");
});

t.test("one vendor's refusals leave the others' rooms to try", async (t) => {
  const cheap = Array.from({ length: 8 }, (_, i) =>
    offerOf({
      vendor: "evil",
      providerHotelId: `e${i}`,
      masterHotelId: `e${i}`,
      nightlyRateMinor: 5_000 + i,
    }),
  );
  const dear = (vendor: string, nightlyRateMinor: number) =>
    offerOf({
      vendor,
      providerHotelId: vendor,
      masterHotelId: vendor,
      nightlyRateMinor,
      coordinates: offNorth(9),
    });
  const vendorsOf = (offers: HotelOffer[]) => {
    const [allocation] = [
      allocateStays({
        stays: [{ groups: [group("a")], search: { offers } }],
        policies: { ECONOMY: policy() },
        airport: jfk,
      })[0]?.allocations[0],
    ];
    return [allocation?.offer, ...(allocation?.alternatives.map((one) => one.offer) ?? [])].map(
      (one) => one?.vendor,
    );
  };
  const evil = (times: number) => Array.from({ length: times }, () => "evil");
  t.same(vendorsOf(cheap), evil(6), "where nobody else sells");
  const two = [dear("stayhub", 20_000), dear("roomlink", 30_000)];
  t.same(vendorsOf([...cheap, ...two]), [...evil(4), "stayhub", "roomlink"]);
  t.same(vendorsOf([...cheap, dear("stayhub", 20_000)]), [...evil(5), "stayhub"]);
  const middle = dear("stayhub", 5_003);
  t.equal(
    vendorsOf([...cheap, { ...middle, coordinates: cheap[0]!.coordinates }, dear("roomlink", 9e4)]).length,
    6,
  );
  const full = { ...dear("stayhub", 20_000), roomsLeft: 0 };
  t.same(vendorsOf([...cheap, full]), evil(6), "a full one is nothing to try");
});
