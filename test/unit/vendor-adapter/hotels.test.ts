// The offers that operators' searches are answered from, and the hotels that an airline knows, as tables.
import { pino } from "pino";
import t from "tap";
import { hotelsTold, merged } from "../../../actors/vendor-adapter/catalogue.ts";
import { OfferCache } from "../../../actors/vendor-adapter/recent-offers.ts";
import type { HotelSource } from "../../../actors/vendor-adapter/search.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { evening, secondsLater, trace } from "../../harness/given.ts";

const log = pino({ level: "silent" });
const offer = (vendor: string, providerHotelId: string, more: Partial<HotelOffer> = {}): HotelOffer => ({
  vendor,
  providerOfferId: `${vendor}-${providerHotelId}`,
  providerHotelId,
  name: "Astor",
  address: "1 Astor street",
  coordinates: { latitude: 40.66, longitude: -73.8 },
  stars: 4,
  amenities: [],
  acceptedPayments: ["GUARANTEE"],
  nightlyRateMinor: 10_000,
  currency: "USD",
  roomsLeft: 20,
  maxOccupancy: 2,
  accessibleRooms: 4,
  ...more,
});
const search = (more: Partial<HotelSearch> = {}): HotelSearch => ({
  airport: "JFK",
  coordinates: { latitude: 40.64, longitude: -73.78 },
  radiusKm: 50,
  checkIn: "2026-11-21",
  checkOut: "2026-11-22",
  rooms: 1,
  ...more,
});

t.test("a crowd asks a vendor once", async (t) => {
  let now = evening;
  let hears = true;
  const asked: string[] = [];
  const answers: PromiseWithResolvers<void>[] = [];
  let outcome: "done" | "unavailable" = "done";
  const source = (name: string): HotelSource => ({
    name,
    port: {
      search: async () => {
        asked.push(name);
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        await answer.promise;
        if (outcome === "unavailable") return { outcome: "unavailable", detail: "busy" };
        return { outcome: "done", offers: [offer(name, "h1")] };
      },
    },
  });
  const sources = ["stayhub", "roomlink", "direct"].map(source);
  const cache = new OfferCache({ now: () => now }, () => hears);
  const options = { timeBoxMs: 60_000, traceparent: trace.traceparent, log };
  const crowd = (count: number) =>
    Array.from({ length: count }, () => cache.search("XN", sources, search(), options));
  /** What each of them was told, once the vendors have answered, and how often each vendor was asked. */
  const told = async (searches: ReturnType<typeof crowd>) => {
    for (const { resolve } of answers.splice(0)) resolve();
    const all = await Promise.all(searches);
    const counts = Object.fromEntries(
      [...Map.groupBy(asked.splice(0), (name) => name)].map(([name, times]) => [name, times.length]),
    );
    return { all, counts };
  };

  const first = crowd(30);
  now = secondsLater(1);
  const { all, counts } = await told([...first, ...crowd(20)]);
  t.same(counts, { stayhub: 1, roomlink: 1, direct: 50 }, "contracts are counted down next door");
  for (const { recent } of all) {
    t.equal(recent.offers.length, 3);
    t.match(recent.vendors, [{ vendor: "stayhub", askedAt: evening.toISOString() }]);
  }
  t.equal(all.flatMap((one) => one.asked).length, 52, "and whoever asked it notes what it said");

  now = secondsLater(100);
  outcome = "unavailable";
  const failed = await told(crowd(10));
  t.same(failed.counts, { stayhub: 1, roomlink: 1, direct: 10 });
  for (const { recent } of failed.all) t.equal(recent.partialFailures.length, 3, "all hear that it failed");
  outcome = "done";
  const before = crowd(2);
  cache.invalidate("XN", "JFK");
  t.match((await told([...before, ...crowd(2)])).counts, { stayhub: 2 }, "forced, it is asked anew");
  now = secondsLater(200);
  hears = false;
  t.match((await told(crowd(3))).counts, { stayhub: 3 }, "others' invalidations are not heard of");
});

t.test("a vendor is asked once a minute", async (t) => {
  let now = evening;
  let hears = true;
  const asked: string[] = [];
  const outcomes: Record<string, "done" | "unavailable"> = {};
  let onAsked: (name: string) => void = () => undefined;
  const source = (name: string): HotelSource => ({
    name,
    port: {
      search: async () => {
        asked.push(name);
        onAsked(name);
        if (outcomes[name] === "unavailable") return { outcome: "unavailable", detail: "busy" };
        return { outcome: "done", offers: [offer(name, `h${asked.length}`)] };
      },
    },
  });
  const sources = ["stayhub", "roomlink", "direct"].map(source);
  const cache = new OfferCache({ now: () => now }, () => hears);
  const options = { timeBoxMs: 1000, traceparent: trace.traceparent, log };
  const ask = async (more: Partial<HotelSearch> = {}, tenant = "XN") => {
    asked.length = 0;
    const { recent } = await cache.search(tenant, sources, search(more), options);
    return { asked: [...asked].sort(), ...recent };
  };
  const all = ["direct", "roomlink", "stayhub"];

  t.same((await ask()).asked, all);
  now = secondsLater(59);
  const second = await ask();
  t.same(second.asked, ["direct"], "contracts are counted down next door, and always asked");
  t.same(
    second.vendors.map(({ vendor, askedAt }) => [vendor, askedAt]),
    [
      ["stayhub", evening.toISOString()],
      ["roomlink", evening.toISOString()],
      ["direct", now.toISOString()],
    ],
    "each in its place, with its age",
  );
  t.equal(second.offers.length, 3);
  for (const other of [{ rooms: 2 }, { checkOut: "2026-11-23" }, { airport: "LGA" }, { radiusKm: 60 }])
    t.same((await ask(other)).asked, all, JSON.stringify(other));
  t.same((await ask({}, "QZ")).asked, all, "another airline's offers are its own");
  now = secondsLater(60);
  t.same((await ask()).asked, all, "a minute old is too old");

  outcomes.roomlink = "unavailable";
  now = secondsLater(200);
  t.match(await ask(), { asked: all, partialFailures: [{ failedDomain: "roomlink", detail: "busy" }] });
  const again = await ask();
  t.same(again.asked, ["direct", "roomlink"], "who has failed is asked again");
  t.same(
    again.vendors.map(({ vendor }) => vendor),
    ["stayhub", "direct"],
  );
  outcomes.roomlink = "done";
  t.match(await ask(), { asked: ["direct", "roomlink"], partialFailures: [] });

  cache.invalidate("XN", "LGA");
  cache.invalidate("QZ", "JFK");
  t.same((await ask()).asked, ["direct"], "other airports and airlines are untouched");
  cache.invalidate("XN", "JFK");
  t.same((await ask()).asked, all);
  cache.invalidate("XN", "JFK");
  onAsked = (name) => (name === "stayhub" ? cache.invalidate("XN", "JFK") : undefined);
  t.same((await ask()).asked, all);
  onAsked = () => undefined;
  t.same((await ask()).asked, all, "what was asked before the invalidation is not kept for after it");
  hears = false;
  t.same((await ask()).asked, all, "nothing is kept while others' invalidations are not heard of");
});

t.test("the hotels among offers", async (t) => {
  const told = hotelsTold(
    [
      offer("stayhub", "s1", { amenities: ["WIFI"], chain: "grand" }),
      offer("roomlink", "r1", { name: "ASTOR", amenities: ["PARKING"] }),
      offer("direct", "d1", { name: "The Astor" }),
      offer("roomlink", "r2", { name: "Other", coordinates: { latitude: 41, longitude: -74 } }),
    ],
    "JFK",
    evening,
  );
  t.equal(told.length, 2);
  t.strictSame(told[0], {
    _id: "direct-d1",
    name: "The Astor",
    address: "1 Astor street",
    coordinates: { latitude: 40.66, longitude: -73.8 },
    stars: 4,
    chain: "grand",
    amenities: ["PARKING", "WIFI"],
    codes: ["direct-d1", "roomlink-r1", "stayhub-s1"],
    vendors: ["direct", "roomlink", "stayhub"],
    airports: ["JFK"],
    toldAt: new Date("2026-11-21"),
  });
});

t.test("a hotel that is told of again is the same one, whoever was late", async (t) => {
  const of = (airport: string, ...offers: HotelOffer[]) => {
    const [only] = hotelsTold(offers, airport, evening);
    if (only === undefined) throw new Error("no hotel");
    return only;
  };
  const [a, b] = [offer("stayhub", "s1"), offer("roomlink", "r1")];
  const master = (id: string, one: HotelOffer): HotelOffer => ({ ...one, masterHotelId: id });
  const rows: [
    string,
    ReturnType<typeof of>,
    ReturnType<typeof of>[],
    { id: string; codes: string[]; gone: string[] },
  ][] = [
    ["new", of("JFK", a), [], { id: "stayhub-s1", codes: ["stayhub-s1"], gone: [] }],
    [
      "one vendor was late then",
      of("JFK", a, b),
      [of("JFK", a)],
      { id: "roomlink-r1", codes: ["roomlink-r1", "stayhub-s1"], gone: ["stayhub-s1"] },
    ],
    [
      "one vendor is late now",
      of("JFK", a),
      [of("JFK", a, b)],
      { id: "roomlink-r1", codes: ["roomlink-r1", "stayhub-s1"], gone: [] },
    ],
    [
      "each was late once",
      of("JFK", a, b),
      [of("JFK", a), of("JFK", b)],
      { id: "roomlink-r1", codes: ["roomlink-r1", "stayhub-s1"], gone: ["stayhub-s1"] },
    ],
    [
      "its own id is learnt",
      of("JFK", master("giata-1", a)),
      [of("JFK", a)],
      { id: "giata-1", codes: ["stayhub-s1"], gone: ["stayhub-s1"] },
    ],
    [
      "two ids are two hotels",
      of("JFK", master("giata-2", a)),
      [of("JFK", master("giata-1", a))],
      { id: "giata-2", codes: ["stayhub-s1"], gone: [] },
    ],
  ];
  for (const [what, told, known, { id, codes, gone }] of rows) {
    const found = merged(told, known);
    t.equal(found.hotel._id, id, what);
    t.strictSame(found.hotel.codes, codes, what);
    t.strictSame(found.gone, gone, what);
    t.strictSame(merged(told, [found.hotel]).hotel, found.hotel, `${what}: told again, it stays as it is`);
  }
  t.strictSame(merged(of("LGA", a), [of("JFK", a)]).hotel.airports, ["JFK", "LGA"]);
});
