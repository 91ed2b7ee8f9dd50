// An operator's hotel search and a contract's savings as tables: hotels put together and held against a policy, and what each
// contract is compared with.
import t from "tap";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { gatesOf, hotelsFound, searchHotels } from "../../../actors/wave/hotel-search.ts";
import { marketOf, savingsOf } from "../../../actors/wave/savings.ts";
import { termsOf } from "../../../actors/wave/terms.ts";
import type { Allocation } from "../../../schemas/allocation.ts";
import type { Query } from "../../../schemas/command.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { HotelSearchBody } from "../../../schemas/hotel-search.ts";
import { Problem } from "../../../schemas/problems.ts";
import { supervisor, trace } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";

const jfk = { latitude: 40.6398, longitude: -73.7789, country: "US" };
const offer = (vendor: string, name: string, more: Partial<HotelOffer> = {}): HotelOffer => ({
  vendor,
  providerOfferId: `${vendor} offers ${name}`,
  providerHotelId: name,
  masterHotelId: name,
  name,
  address: `1 ${name} street`,
  coordinates: { latitude: 40.66, longitude: -73.8 },
  stars: 4,
  amenities: ["WIFI"],
  acceptedPayments: ["GUARANTEE"],
  nightlyRateMinor: 10_000,
  currency: "USD",
  roomsLeft: 20,
  maxOccupancy: 2,
  accessibleRooms: 4,
  ...more,
});
const stay = { rooms: 3, nights: 2 };

t.test("hotels: each once, with every vendor's offer, the best first", async (t) => {
  const far = { coordinates: { latitude: 40.9, longitude: -73.8 } };
  const offers = [
    offer("stayhub", "astor", { nightlyRateMinor: 12_000, amenities: ["PARKING"] }),
    offer("roomlink", "astor", { nightlyRateMinor: 11_000 }),
    offer("direct", "astor", { nightlyRateMinor: 11_000, name: "The Astor" }),
    offer("stayhub", "biltmore", { nightlyRateMinor: 9000, ...far }),
    offer("stayhub", "carlton", { nightlyRateMinor: 11_000, stars: 3 }),
  ];
  const found = hotelsFound(offers, jfk, stay, undefined);
  t.strictSame(
    found.map(({ hotelUrn }) => hotelUrn),
    ["urn:hotel:biltmore", "urn:hotel:astor", "urn:hotel:carlton"],
    "the cheapest first, of two alike the contract's",
  );
  const [, astor] = found;
  t.match(astor, { name: "The Astor", amenities: ["PARKING", "WIFI"], stars: 4, distanceKm: 2.9 });
  t.strictSame(
    astor?.offers.map(({ vendor }) => vendor),
    ["direct", "roomlink", "stayhub"],
  );
  t.match(astor?.offers[0], { nightlyRateMinor: 11_000, totalMinor: 66_000, currency: "USD" });
  t.notOk("policy" in (astor?.offers[0] ?? {}), "held against nothing");

  const abroad = hotelsFound(
    [
      offer("stayhub", "astor", { nightlyRateMinor: 11_500, currency: "USD" }),
      offer("roomlink", "astor", { nightlyRateMinor: 16_000, currency: "JPY" }),
      offer("stayhub", "biltmore", { nightlyRateMinor: 9900, currency: "EUR" }),
      offer("stayhub", "carlton", { nightlyRateMinor: 1, currency: "XAG" }),
    ],
    jfk,
    stay,
    undefined,
  );
  t.strictSame(
    abroad.map(({ offers: [best] }) => [best?.nightlyRateMinor, best?.currency]),
    [
      [16_000, "JPY"],
      [9900, "EUR"],
      [1, "XAG"],
    ],
    "104.55 dollars by the dated table, then 113.85; what has no rate there is last",
  );

  const gates = gatesOf({}, jfk, policy({ maxDistanceKm: 10, minStars: 4 }));
  const held = hotelsFound(offers, jfk, stay, gates);
  t.strictSame(
    held.map(({ hotelUrn, offers: [best] }) => [hotelUrn, best?.policy?.allowed, best?.policy?.reason]),
    [
      ["urn:hotel:astor", true, undefined],
      ["urn:hotel:biltmore", false, "TOO_FAR"],
      ["urn:hotel:carlton", false, "BELOW_MIN_STARS"],
    ],
    "what the policy refuses comes last, with the reason",
  );
  t.same(hotelsFound([], jfk, stay, gates), []);
});

t.test("gates: a search's constraints stand in place of the policy's, one by one", async (t) => {
  const strict = policy({
    maxDistanceKm: 10,
    minStars: 4,
    maxNightlyRate: { amountMinor: 100, currency: "USD" },
  });
  t.equal(gatesOf({}, jfk, undefined), undefined);
  t.match(gatesOf({ constraints: { maxDistanceKm: 25 } }, jfk, strict), {
    maxDistanceKm: 25,
    minStars: 4,
    maxNightlyRate: { amountMinor: 100 },
  });
  t.match(gatesOf({ constraints: { minStars: 3 } }, jfk, undefined), {
    minStars: 3,
    maxDistanceKm: undefined,
    acceptedPayments: ["GUARANTEE", "CARD"],
  });
  const rate = { constraints: { maxNightlyRate: 120.5 } };
  t.match(gatesOf(rate, jfk, strict), { maxNightlyRate: { amountMinor: 12_050, currency: "USD" } });
  t.match(gatesOf({ constraints: { maxNightlyRate: 12_000 } }, { country: "JP" }, undefined), {
    maxNightlyRate: { amountMinor: 12_000, currency: "JPY" },
  });
});

t.test("what a search is refused for", async (t) => {
  const answers: Record<string, unknown> = {
    "case.head": { airport: "JFK" },
    "policy.resolve-tiers": { ECONOMY: policy(), CREW: null },
    "vendor-adapter.recent-offers": { offers: [], vendors: [], partialFailures: [] },
  };
  const asked: [string, Query][] = [];
  const context = {
    call: async (name: string, query: Query) => {
      asked.push([name, query]);
      return answers[name];
    },
    // In New York it is still the 21st.
    clock: { now: () => new Date("2026-11-22T02:00:00Z") },
  } as unknown as ActorContext;
  const body: HotelSearchBody = { checkIn: "2026-12-30", nights: 3, rooms: 2 };
  const search = (more: Partial<HotelSearchBody>, airport?: string) =>
    searchHotels(context, {
      ...trace,
      tenant: "XN",
      principal: { ...supervisor, ...(airport === undefined ? {} : { airport }) },
      params: { ...body, ...more },
    });
  const table: [Partial<HotelSearchBody>, string | undefined, string, string?][] = [
    [{}, undefined, "validation/body", "/airport"],
    [{ airport: "ZZZ" }, undefined, "validation/body", "/airport"],
    [{ airport: "LHR", caseUrn: "urn:case:XN-1" }, undefined, "validation/body", "/airport"],
    [{ airport: "JFK" }, "LHR", "auth/foreign-airport"],
    [{ airport: "JFK", tier: "CREW" }, undefined, "not-found/resource"],
    [{ airport: "JFK", checkIn: "2026-11-19" }, undefined, "validation/body", "/checkIn"],
    [{ airport: "JFK", checkIn: "2027-11-22" }, undefined, "validation/body", "/checkIn"],
  ];
  for (const [more, scope, code, pointer] of table) {
    const problem = await search(more, scope).catch((error) => error);
    t.ok(problem instanceof Problem, JSON.stringify(more));
    t.equal(problem.code, code, JSON.stringify(more));
    if (pointer !== undefined) t.match(problem.members.errors, [{ pointer }]);
  }
  const constraints = { maxDistanceKm: 80 };
  const found = await search({ caseUrn: "urn:case:XN-1", tier: "ECONOMY", constraints });
  t.match(found, { airport: "JFK", checkOut: "2027-01-02", hotelCount: 0, policyUrn: /^urn:policy:XN-/ });
  const [, last] = asked.at(-1) as [string, Query];
  t.match(last.params, {
    drill: false,
    search: { airport: "JFK", radiusKm: 80, checkOut: "2027-01-02", rooms: 2 },
  });
  answers["case.head"] = { airport: "JFK", kind: "DRILL" };
  await search({ caseUrn: "urn:case:XN-1" });
  t.match(asked.at(-1)?.[1].params, { drill: true }, "for a drill nobody real is asked");
});

t.test("savings: what a contract is compared with", async (t) => {
  const direct = offer("direct", "astor", { nightlyRateMinor: 8000 });
  const placed = (groupId: string, taken: HotelOffer, more: Partial<Allocation> = {}): Allocation => ({
    groupId,
    subCaseId: `XN-${groupId}`,
    tier: "ECONOMY",
    hotelUrn: `urn:hotel:${taken.masterHotelId}`,
    offer: taken,
    rooms: 2,
    nights: 3,
    totalMinor: taken.nightlyRateMinor * 6,
    currency: taken.currency,
    reason: "",
    alternatives: [],
    ...more,
  });
  const candidate = (one: HotelOffer) => ({ hotelUrn: `urn:hotel:${one.masterHotelId}`, offer: one });
  const stars = (name: string, nightlyRateMinor: number, more: Partial<HotelOffer> = {}) =>
    offer("stayhub", name, { nightlyRateMinor, ...more });
  const table: [what: string, HotelOffer[], number | undefined, string?][] = [
    [
      "what is sold out is on no market",
      [offer("stayhub", "astor", { nightlyRateMinor: 12_000, roomsLeft: 0 }), stars("fair", 9_000)],
      54_000,
      "SAME_STARS",
    ],
    [
      "the cheapest vendor's offer of the same hotel, whatever other hotels ask",
      [
        offer("stayhub", "astor", { nightlyRateMinor: 12_000 }),
        offer("roomlink", "astor"),
        stars("cheap", 1),
      ],
      60_000,
      "SAME_HOTEL",
    ],
    [
      "the median of as many stars",
      [stars("a", 9000), stars("b", 30_000), stars("c", 11_000)],
      66_000,
      "SAME_STARS",
    ],
    ["of two the lower", [stars("a", 9000), stars("b", 30_000)], 54_000, "SAME_STARS"],
    [
      "a hotel counts once, by its cheapest",
      [stars("a", 9000), offer("roomlink", "a"), stars("b", 8500)],
      51_000,
      "SAME_STARS",
    ],
    ["other stars don't compare", [stars("a", 9000, { stars: 3 })], undefined],
    ["another currency doesn't compare", [offer("stayhub", "astor", { currency: "EUR" })], undefined],
    ["other contracts are no market", [offer("direct", "b")], undefined],
    ["nothing else was offered", [], undefined],
  ];
  for (const [what, market, marketTotalMinor, marketBasis] of table) {
    const candidates = [direct, ...market].map(candidate);
    const found = marketOf([placed("G1", direct), placed("G2", stars("z", 1))], candidates);
    t.same([...found.keys()], marketTotalMinor === undefined ? [] : ["G1"], what);
    if (marketTotalMinor !== undefined) t.match(found.get("G1"), { marketTotalMinor, marketBasis }, what);
  }
  const unrated = offer("direct", "astor");
  delete unrated.stars;
  t.equal(
    marketOf([placed("G1", unrated)], [candidate(stars("a", 1))]).size,
    0,
    "unrated compares with nothing",
  );

  t.strictSame(
    savingsOf([
      { totalMinor: 48_000, currency: "USD", marketTotalMinor: 60_000 },
      { totalMinor: 50, currency: "USD", marketTotalMinor: 40 },
      { totalMinor: 7, currency: "EUR", marketTotalMinor: 9 },
      { totalMinor: 1000, currency: "GBP" },
    ]),
    [
      { currency: "USD", amountMinor: 11_990 },
      { currency: "EUR", amountMinor: 2 },
    ],
  );
  t.same(savingsOf([{ totalMinor: 1000, currency: "GBP" }]), []);
});

t.test("the terms of a room that no wave has found", async (t) => {
  const input = {
    airport: { code: "JFK", name: "John F Kennedy", ...jfk },
    airlineName: "Xenon",
    passengerHost: "",
    vendors: {},
  };
  const group = { tier: "ECONOMY", passengers: 3, nights: 2, needs: [] as string[] } as const;
  t.match(termsOf({ ...group, needs: [] }, undefined, "USD", input), {
    vehicleType: "SHUTTLE",
    incidentalsMinor: 0,
    currency: "USD",
  });
  t.match(termsOf({ ...group, needs: ["WHEELCHAIR"] }, undefined, "USD", input), {
    vehicleType: "WHEELCHAIR_VAN",
  });
  const { incidentalsMinor } = policy({ incidentalsMinor: 500 });
  t.equal(
    termsOf({ ...group, needs: [] }, policy({ incidentalsMinor }), "USD", input).incidentalsMinor,
    3000,
  );
});
