// A duty manager looks for rooms by hand: searches that every vendor answers or is named for, what the airline knows of hotels, and
// a room booked by phone for whom no hotel took.
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { pino } from "pino";
import t, { type Test } from "tap";
import { watchInvalidations } from "../../actors/vendor-adapter/invalidation.ts";
import { OfferCache } from "../../actors/vendor-adapter/recent-offers.ts";
import type { HotelSource } from "../../actors/vendor-adapter/search.ts";
import { readSealKey } from "../../config/config.ts";
import type { AirportView } from "../../schemas/airports.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView, ReservationView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { CaseHotelView, CatalogueHotelView } from "../../schemas/hotel-catalogue.ts";
import type { HotelSearchBody, HotelSearchView } from "../../schemas/hotel-search.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import type { ReservationDetail } from "../../schemas/reservation.ts";
import { checkConsistency } from "../../scripts/administration/consistency.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t);
const [xn] = night.airlines;
const { events } = night;
const [operator, supervisor, elsewhere] = await Promise.all([
  night.operatorToken(xn.urn, "AIRPORT_OPERATOR"),
  night.operatorToken(xn.urn, "OPS_SUPERVISOR"),
  night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LHR"),
]);

const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const body = (more: Partial<HotelSearchBody> = {}): HotelSearchBody => ({
  airport: "JFK",
  checkIn: dayFromNow(1),
  nights: 2,
  rooms: 3,
  ...more,
});
const search = async (more: Partial<HotelSearchBody> = {}, token = operator): Promise<HotelSearchView> =>
  (await night.call<HotelSearchView>("searchHotels", { token, body: body(more) })).body;
/** What another process keeps: this one, which hears of invalidations as every service does. Gives how often a vendor was asked. */
const otherProcess = async (t: Test): Promise<() => Promise<number>> => {
  const cache = new OfferCache({ now: () => new Date() }, () => true);
  const log = pino({ level: "silent" });
  const invalidations = await watchInvalidations(cache, { streams: night.streams, log });
  t.teardown(() => invalidations.close());
  let asked = 0;
  const source: HotelSource = {
    name: "stayhub",
    port: {
      search: async () => {
        asked += 1;
        return { outcome: "done", offers: [] };
      },
    },
  };
  const coordinates = { latitude: 40.6, longitude: -73.8 };
  const wanted = { airport: "JFK", coordinates, radiusKm: 50, checkIn: "", checkOut: "", rooms: 1 };
  return async () => {
    await cache.search("XN", [source], wanted, { timeBoxMs: 1000, traceparent: "", log });
    return asked;
  };
};
const askedAt = ({ vendors }: HotelSearchView, wanted: string): string | undefined =>
  vendors.find(({ vendor }) => vendor === wanted)?.askedAt;
const searchesAt = async (vendor: string): Promise<number> =>
  (await night.ledger(vendor)).requests.filter(({ operation }) => operation === "search").length;

t.test("a search: each hotel once, whoever sells it, and held against a policy", async (t) => {
  const found = await search();
  t.match(found, { airport: "JFK", checkOut: dayFromNow(3), rooms: 3, partialFailures: [] });
  t.same(found.vendors.map(({ vendor }) => vendor).sort(), ["direct", "roomlink", "stayhub"]);
  t.equal(found.hotelCount, found.hotels.length);
  t.equal(new Set(found.hotels.map(({ hotelUrn }) => hotelUrn)).size, found.hotels.length);
  const shared = found.hotels.find(({ offers }) => new Set(offers.map(({ vendor }) => vendor)).size === 2);
  t.ok(shared, "some are sold by both");
  const rates = shared?.offers.map(({ nightlyRateMinor }) => nightlyRateMinor) ?? [];
  t.same(
    rates,
    [...rates].sort((a, b) => a - b),
    "the cheapest first",
  );
  for (const { offers } of found.hotels)
    for (const one of offers) t.equal(one.totalMinor, one.nightlyRateMinor * 6);
  t.ok(found.hotels.every(({ distanceKm }) => distanceKm <= 50));

  const held = await search({ tier: "BUSINESS", limit: 5 });
  t.match(held, {
    policyUrn: /^urn:policy:XN-/,
    maxNightlyRate: { currency: "USD" },
    hotelCount: found.hotelCount,
  });
  t.equal(held.hotels.length, 5);
  t.ok(held.hotels[0]?.offers[0]?.policy?.allowed);
  const strict = await search({ tier: "BUSINESS", constraints: { maxNightlyRate: 1 } });
  t.ok(strict.hotels.every(({ offers }) => offers.every(({ policy }) => policy?.allowed === false)));
  t.ok(strict.hotels.some(({ offers }) => offers[0]?.policy?.reason === "RATE_TOO_HIGH"));

  const caseUrn = "urn:case:QZ-01JD0000000000000000000000";
  const refusals: [object, string, number, string][] = [
    [{ ...body(), airport: "ZZZ" }, operator, 422, "validation/body"],
    [{ ...body(), nights: 0 }, operator, 422, "validation/body"],
    [{ ...body(), checkIn: "tomorrow" }, operator, 422, "validation/body"],
    [{ ...body(), checkIn: dayFromNow(-4) }, operator, 422, "validation/body"],
    [{ ...body(), caseUrn }, operator, 403, "auth/foreign-tenant"],
    [body(), elsewhere, 403, "auth/foreign-airport"],
    [{ ...body(), tier: "CREW", airport: "LHR" }, operator, 200, ""],
  ];
  for (const [asked, token, status, code] of refusals) {
    const told = await night.call<{ type?: string }>("searchHotels", { token, body: asked });
    t.equal(told.status, status, JSON.stringify(asked));
    t.match(told.body.type ?? "", code);
  }
});

t.test("a late vendor is named, and the others' offers stand", async (t) => {
  await night.control({ stayhub: { latencyMs: 10_000 } });
  const begun = performance.now();
  const found = await search({ nights: 1 });
  const tookMs = performance.now() - begun;
  await night.control({ stayhub: { latencyMs: 0 } });
  t.match(found.partialFailures, [{ failedDomain: "stayhub", detail: /time-box/ }]);
  t.ok(found.hotelCount > 0);
  t.ok(tookMs > 1900 && tookMs < 8000, `within the time-box, long before it answers: ${tookMs} ms`);
  const again = await search({ nights: 1 });
  t.same(again.partialFailures, [], "it is asked again at once");
  t.equal(askedAt(again, "roomlink"), askedAt(found, "roomlink"), "and only it");
});

t.test("a vendor whose key cannot be sent is refused when it is put", async (t) => {
  const vendor = { name: "unsendable", dialect: "stayhub", baseUrl: "http://127.0.0.1:9" };
  for (const apiKey of ["", "two words", "a line\n", "schlüssel"]) {
    const put = night.client.command("vendor-adapter.put-vendor", {
      tenant: "XN",
      data: { ...vendor, apiKey },
    });
    await t.rejects(put, { code: "validation/body" }, JSON.stringify(apiKey));
  }
});

t.test("offers are kept for a minute, in each process, until somebody forces fresh ones", async (t) => {
  const first = await search();
  const before = await searchesAt("stayhub");
  t.equal(askedAt(await search(), "stayhub"), askedAt(first, "stayhub"));
  t.equal(await searchesAt("stayhub"), before, "nobody was asked");
  const nextDoor = await otherProcess(t);
  await nextDoor();
  t.equal(await nextDoor(), 1, "kept there, too");

  t.equal(
    (await night.refused("invalidateHotels", { token: operator, query: { airport: "JFK" } })).status,
    403,
  );
  t.equal(
    (await night.refused("invalidateHotels", { token: elsewhere, query: { airport: "JFK" } })).status,
    403,
  );
  t.equal(
    (await night.refused("invalidateHotels", { token: supervisor, query: { airport: "jfk" } })).status,
    400,
  );
  t.match(await night.refused("invalidateHotels", { token: supervisor, query: { airport: "ZZZ" } }), {
    status: 400,
    errors: [{ pointer: "?airport" }],
  });
  await night.call("invalidateHotels", { token: supervisor, query: { airport: "LAX" } });
  t.equal(
    askedAt(await search(), "stayhub"),
    askedAt(first, "stayhub"),
    "another airport's offers are forgotten",
  );
  await night.call("invalidateHotels", { token: supervisor, query: { airport: "JFK" } });
  t.not(askedAt(await search(), "stayhub"), askedAt(first, "stayhub"), "here at once");
  await night.eventually("next door, too", nextDoor, (asked) => asked > 1);
  const trail = { token: supervisor, params: { entityUrn: "urn:airport:JFK" } };
  await night.eventually(
    "who did it is in the trail",
    async () => (await night.call<Page<AuditEntryView>>("getEntityAudit", trail)).body.items,
    (items) => items.length === 1 && items[0]?.action === "vendor-adapter.invalidate-hotels",
  );
});

t.test("the catalogue: what vendors have told of, page by page", async (t) => {
  const list = async (query: Record<string, string | number>, token = operator) =>
    (await night.call<Page<CatalogueHotelView>>("listHotels", { token, query })).body;
  const { hotelCount } = await search();
  const all = await night.eventually(
    "each hotel is noted",
    async () => (await list({ airport: "JFK", limit: 200 })).items,
    (items) => items.length >= hotelCount,
  );
  t.equal(new Set(all.map(({ hotelUrn }) => hotelUrn)).size, all.length, "once");
  t.ok(all.every(({ airports }) => airports[0]?.airport === "JFK"));
  t.ok(all.some(({ vendors }) => vendors.length === 2));
  const paged: CatalogueHotelView[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page<CatalogueHotelView> = await list({
      airport: "JFK",
      limit: 7,
      ...(cursor === "" ? {} : { cursor }),
    });
    paged.push(...page.items);
    cursor = page.nextCursor;
  }
  t.same(paged, all);
  const four = all.filter(({ stars }) => stars === 4);
  t.same((await list({ airport: "JFK", stars: 4, limit: 200 })).items, four);
  const better = all.filter(({ stars = 0 }) => stars >= 4);
  t.same((await list({ minStars: 4, airport: "JFK", limit: 200 })).items, better);
  t.same((await list({ airport: "LHR" }, elsewhere)).items.length > 0, true, "searched for crew above");
  t.same(await list({}, elsewhere), await list({ airport: "LHR" }, elsewhere), "its own airport's alone");
  t.equal((await night.refused("listHotels", { token: elsewhere, query: { airport: "JFK" } })).status, 403);
});

t.test("airports by code, place or name", async (t) => {
  const found = async (q: string, more = {}) =>
    (await night.call<Page<AirportView>>("searchAirports", { token: operator, query: { q, ...more } })).body;
  t.match(
    (await found("jfk")).items,
    [{ code: "JFK", airportUrn: "urn:airport:JFK", coordinates: { latitude: 40.6 } }].map(
      ({ coordinates: _, ...one }) => one,
    ),
  );
  t.ok((await found("sao paulo")).items.some(({ code, city }) => code === "GRU" && city === "São Paulo"));
  const [first, second] = [await found("san", { limit: 3 }), await found("san", { limit: 6 })];
  const next = await found("san", { limit: 3, cursor: first.nextCursor ?? "" });
  t.same([...first.items, ...next.items], second.items);
  t.same((await found("no such place")).items, []);
  for (const q of ["", "  "])
    t.equal((await night.refused("searchAirports", { token: operator, query: { q } })).status, 400);
});

t.test("a group that every hotel refused gets a room by phone", async (t) => {
  const refusing = { failNext: [{ operation: "hold", kind: "refuse", times: 200 }] };
  await night.control({ stayhub: refusing, roomlink: refusing });
  const flight = smallFlight("XN", "by-phone", 2);
  const { caseUrn } = (await night.pushed(xn, flight)).body;
  await events.untilCount("subcase.failed", 2, { caseUrn });
  await night.control({ stayhub: { failNext: [] }, roomlink: { failNext: [] } });
  const detail = async (): Promise<CaseView> =>
    (await night.call<CaseView>("getCase", { token: operator, params: { caseUrn } })).body;
  const [one, other] = (await detail()).passengerGroups;
  const { airport: _airport, ...ofCase } = body({ caseUrn });
  t.match((await night.call("searchHotels", { token: operator, body: ofCase })).body, { airport: "JFK" });
  const twoPlaces = { token: operator, body: { ...ofCase, airport: "LHR" } };
  t.match(await night.refused("searchHotels", twoPlaces), { status: 422, errors: [{ pointer: "/airport" }] });
  const booking = {
    caseUrn,
    groupId: one?.groupId ?? "",
    hotel: { name: "Harbour Rooms", address: "7 Quay Street, New York, US", phone: "+1 718 555 0143" },
    checkIn: dayFromNow(0),
    nights: 1,
    rooms: 1,
    confirmationNumber: "HR-20871",
    totalMinor: 18_900,
    currency: "USD",
    reason: "Found by phone",
  };
  const reserve = (more: object, token = supervisor) =>
    night.call<ReservationDetail>("reserveManually", { token, body: { ...booking, ...more } });
  t.equal((await reserve({}, operator)).status, 403);
  t.equal((await reserve({}, elsewhere)).status, 403);
  t.equal((await reserve({ groupId: "NOBODY" })).status, 404);
  t.equal((await reserve({ hotel: undefined })).status, 422);
  t.equal((await reserve({ hotel: undefined, hotelUrn: "urn:hotel:nowhere" })).status, 422);
  t.equal((await reserve({ version: 1 })).status, 409, "an outdated version");

  const raced = await Promise.all(Array.from({ length: 50 }, () => reserve({})));
  t.equal(raced.filter(({ status }) => status === 201).length, 1, "of fifty one wins");
  const losers = raced.filter(({ status }) => status !== 201) as unknown as {
    status: number;
    body: object;
  }[];
  t.ok(
    losers.every(({ status, body }) => status === 409 && "state" in body),
    "the others hear the state",
  );
  const made = raced.find(({ status }) => status === 201)?.body as ReservationDetail;
  t.match(made, {
    status: "CONFIRMED",
    vendor: "by-hand",
    confirmationNumber: "HR-20871",
    byHand: { reason: "Found by phone" },
  });
  const [known] = (
    await night.call<Page<CatalogueHotelView>>("listHotels", {
      token: operator,
      query: { airport: "JFK", minStars: 1 },
    })
  ).body.items;
  const { hotel: _named, groupId: _group, ...rest } = booking;
  const second = await night.call<ReservationDetail>("reserveManually", {
    token: supervisor,
    body: { ...rest, caseUrn, subCaseUrn: other?.subCaseUrn, hotelUrn: known?.hotelUrn },
  });
  t.match(second, { status: 201, body: { hotelUrn: known?.hotelUrn, hotelName: known?.name } });

  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const housed = await night.eventually(
    "the items about rooms are settled",
    detail,
    ({ manualReviewItems }) =>
      manualReviewItems.every(
        ({ origin, state }) => !["booking", "demand"].includes(origin ?? "") || state === "RESOLVED",
      ),
  );
  const ride = housed.manualReviewItems.filter(({ origin }) => origin === "transport");
  t.match(
    ride,
    [{ category: "PARTIAL_FULFILLMENT", affectedGroups: [one?.groupId] }],
    "nobody knows where the first is",
  );
  t.match(
    housed.reservations.map(({ status, vendor }) => [status, vendor]),
    [
      ["CONFIRMED", "by-hand"],
      ["CONFIRMED", "by-hand"],
    ],
  );

  const hotels = (
    await night.call<Page<CaseHotelView>>("listCaseHotels", { token: operator, params: { caseUrn } })
  ).body.items;
  t.equal(hotels.length, 2);
  t.match(
    hotels.find(({ name }) => name === "Harbour Rooms"),
    {
      groups: 1,
      rooms: 1,
      roomsBooked: 1,
      vendors: ["by-hand"],
      groupIds: [one?.groupId],
      totals: [{ amountMinor: 18_900 }],
    },
  );
  const id = made.urn.slice("urn:reservation:".length);
  for (const reservationUrn of [
    made.urn,
    `urn:booking:${id}`,
    `${made.urn}:vendor:by-hand:status:CONFIRMED`,
  ]) {
    const read = await night.call<ReservationDetail>("getReservation", {
      token: operator,
      params: { reservationUrn },
    });
    t.match(read.body, { urn: made.urn, hotel: { phone: "+1 718 555 0143" }, voucher: { status: "ISSUED" } });
  }
  const params = { reservationUrn: made.urn };
  const page = await night.call<string>("getReservationVoucher", { token: operator, params });
  t.match(page.body, /Harbour Rooms[\s\S]*HR-20871/);
  for (const id of ["getReservation", "getReservationVoucher"]) {
    t.equal((await night.refused(id, { token: elsewhere, params })).status, 403, id);
    const nobody = { reservationUrn: "urn:reservation:XN-01JD0000000000000000000000" };
    t.equal((await night.refused(id, { token: operator, params: nobody })).status, 404, id);
  }

  const lastName = one?.passengers[0]?.lastName;
  const guest = travellersOf(flight.passengers).find((traveller) => traveller.lastName === lastName);
  const token = await night.passengerToken(xn, guest ?? { pnr: "", lastName: "" });
  const asked = { host: xn.passengerHost, token };
  t.match((await night.call<OfferView>("getMyOffer", asked)).body, {
    state: "READY",
    hotel: { name: "Harbour Rooms" },
  });
  await night.call("declineMyOffer", { ...asked, body: { reason: "I stay with friends" } });
  const given = await night.eventually(
    "a person is asked to cancel by phone",
    detail,
    ({ manualReviewItems }) => manualReviewItems.some(({ origin }) => origin === "manual-cancellation"),
  );
  t.match(
    given.manualReviewItems.find(({ origin }) => origin === "manual-cancellation"),
    { category: "BOOKING_FAILED", state: "OPEN" },
  );
  const left = (
    await night.call<Page<ReservationView>>("listReservations", { token: operator, params: { caseUrn } })
  ).body.items;
  t.same(left.map(({ status }) => status).sort(), ["CANCELLED", "CONFIRMED"]);
  const vendors = await Promise.all(["stayhub", "roomlink"].map((name) => night.ledger(name)));
  const groups = (await detail()).passengerGroups.map(({ subCaseUrn = "" }) =>
    subCaseUrn.slice("urn:sub-case:".length),
  );
  const theirs = vendors
    .flatMap(({ entries }) => entries)
    .filter(({ reference }) => groups.some((one) => reference.startsWith(one)));
  t.same(theirs, [], "no vendor holds anything for them");
  const mongodb = await new MongoClient(night.instance.mongodbUrl).connect();
  const sealKey = readSealKey(join(night.instance.keysDir, keyFiles.seal));
  const { findings } = await checkConsistency({
    ...{ mongodb, databasePrefix: night.databasePrefix, streams: night.streams, now: new Date() },
    vendors: { sealKey, timeoutMs: 8000 },
  });
  await mongodb.close();
  t.same(findings, [], "and nobody misses it there");
});
