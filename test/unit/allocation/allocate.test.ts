/** What a wave holds for given groups, offers and policies: gates, dedup, passes, scores, alternatives, words. */
import fc from "fast-check";
import t from "tap";
import { allocate } from "../../../actors/wave/allocation/allocate.ts";
import { accessibleRoomsNeeded, roomsNeeded } from "../../../actors/wave/allocation/gates.ts";
import type { DiscardReason } from "../../../schemas/allocation.ts";
import { distanceKmBetween } from "../../../schemas/distance.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";
import { airport, north, offer, run } from "./hotels-at-jfk.ts";

t.test("each gate names itself, with both figures", async (t) => {
  const limit = { amountMinor: 15_000, currency: "USD" };
  const rows: [DiscardReason, Partial<HotelOffer>, Partial<ResolvedPolicy>, string | RegExp][] = [
    ["BELOW_MIN_STARS", { stars: 3 }, { minStars: 4 }, "3 stars, the policy asks for 4."],
    ["UNRATED", {}, { minStars: 1 }, "No star rating, the policy asks for 1."],
    [
      "TOO_FAR",
      { coordinates: north(12.3) },
      { maxDistanceKm: 8 },
      "12.3 km from the airport, the policy allows 8 km.",
    ],
    [
      "TOO_FAR",
      { coordinates: north(8.02) },
      { maxDistanceKm: 8 },
      "8.020 km from the airport, the policy allows 8 km.",
    ],
    [
      "RATE_TOO_HIGH",
      { nightlyRateMinor: 15_001 },
      { maxNightlyRate: limit },
      "150.01 USD a night, the policy allows 150.00 USD.",
    ],
    [
      "RATE_TOO_HIGH",
      { nightlyRateMinor: 5_000_050, currency: "HUF" },
      { maxNightlyRate: { amountMinor: 5_000_000, currency: "HUF" } },
      "50000.50 HUF a night, the policy allows 50000.00 HUF.",
    ],
    [
      "RATE_TOO_HIGH",
      { nightlyRateMinor: 1_000_000, currency: "JPY" },
      { maxNightlyRate: limit },
      /^1000000 JPY \(\d{4}\.\d\d USD by the rates of \d{4}-\d\d-\d\d\) a night, the policy allows 150\.00 USD\.$/,
    ],
    [
      "CURRENCY_MISMATCH",
      { currency: "XYZ" },
      { maxNightlyRate: limit },
      "Priced at 100.00 XYZ a night, the policy's limit is 150.00 USD: not comparable.",
    ],
    [
      "CURRENCY_MISMATCH",
      {},
      { maxNightlyRate: { amountMinor: 15_000, currency: "XYZ" } },
      "Priced at 100.00 USD a night, the policy's limit is 150.00 XYZ: not comparable.",
    ],
    [
      "MISSING_AMENITY",
      { amenities: ["WIFI"] },
      { requiredAmenities: ["WIFI", "24H_RECEPTION"] },
      "Lacks 24H_RECEPTION; it has WIFI.",
    ],
    [
      "EXCLUDED_CHAIN",
      { chain: "Hilton" },
      { excludedChains: ["hilton"] },
      "Belongs to Hilton, which the policy excludes.",
    ],
    ["PAYMENT_NOT_ACCEPTED", { acceptedPayments: ["CARD"] }, {}, "Takes CARD, the policy pays by GUARANTEE."],
    [
      "PROVIDER_NOT_ALLOWED",
      {},
      { allowProviders: ["direct"] },
      "Sold by stayhub, the policy allows direct.",
    ],
    ["NO_ROOMS", { roomsLeft: 0 }, {}, "0 rooms left, the smallest group needs 1."],
  ];
  for (const [reason, over, rules, detail] of rows) {
    const result = run([group("a")], [offer({ providerHotelId: "1", ...over })], rules);
    t.match(result.rankingInputs, [{ outcome: "DISCARDED", reason, detail }], reason);
    t.notOk(result.rankingInputs[0]!.scores, "a refused candidate has no scores");
    t.same(result.allocations, []);
    t.match(result.unplaced, [{ groupId: "a", rooms: 1, reason: /None of 1 offer passes: 1 / }]);
  }
});

t.test("at the limit a gate lets pass", async (t) => {
  const edge = offer({ providerHotelId: "1", stars: 4, nightlyRateMinor: 15_000, coordinates: north(7.999) });
  const rules = { minStars: 4, maxDistanceKm: 8, maxNightlyRate: { amountMinor: 15_000, currency: "USD" } };
  t.equal(run([group("a")], [edge], rules).allocations.length, 1);
});

t.test("accessible rooms are gated and counted down", async (t) => {
  const offers = [
    offer({ providerHotelId: "cheap", nightlyRateMinor: 5_000 }),
    offer({ providerHotelId: "ramp", accessibleRooms: 1, nightlyRateMinor: 20_000 }),
  ];
  const result = run(
    [group("a", { needs: ["WHEELCHAIR"] }), group("b", { needs: ["REDUCED_MOBILITY"] })],
    offers,
  );
  t.match(result.allocations, [{ offer: { providerHotelId: "ramp" } }]);
  t.match(result.unplaced, [{ reason: /needs 1 accessible room; no hotel .* more than 0 left/ }]);
  t.equal(
    result.rankingInputs.find(({ offer }) => offer.providerHotelId === "cheap")!.reason,
    "NO_ACCESSIBLE_ROOM",
  );
  const dog = run([group("a", { needs: ["SERVICE_ANIMAL", "INFANT_COT"] })], offers);
  t.match(dog.allocations, [{ offer: { providerHotelId: "cheap" } }], "other needs gate nothing");
  t.equal(accessibleRoomsNeeded(group("a", { rooms: 3, needs: ["WHEELCHAIR", "WHEELCHAIR"] })), 2);
  t.equal(accessibleRoomsNeeded(group("a", { rooms: 3, needs: ["WHEELCHAIR", "REDUCED_MOBILITY"] })), 1);
});

t.test("small rooms make a group take more of them", async (t) => {
  const single = offer({ providerHotelId: "1", maxOccupancy: 1 });
  t.equal(roomsNeeded(group("a", { passengers: 5, rooms: 3 }), single), 5);
  t.match(run([group("a", { passengers: 2, nights: 2 })], [single]), {
    allocations: [{ rooms: 2, nights: 2, totalMinor: 40_000, currency: "USD" }],
    totals: [{ currency: "USD", amountMinor: 40_000 }],
  });
});

t.test(
  "dedup: the cheapest that passes wins, ties go to direct, the loser is the first alternative",
  async (t) => {
    const twin = (vendor: string, nightlyRateMinor: number, roomsLeft = 10) =>
      offer({ vendor, providerHotelId: vendor, masterHotelId: "G1", nightlyRateMinor, roomsLeft });
    const other = offer({ providerHotelId: "other", coordinates: north(9), nightlyRateMinor: 15_000 });
    const result = run([group("a")], [twin("bedbank", 12_000), twin("stayhub", 11_000), other]);
    t.equal(result.allocations[0]!.offer.vendor, "stayhub");
    t.same(
      result.allocations[0]!.alternatives.map(({ offer }) => offer.providerHotelId),
      ["bedbank", "other"],
    );
    const loser = result.rankingInputs.find(({ offer }) => offer.vendor === "bedbank")!;
    t.match(loser, {
      reason: "DUPLICATE_DEARER",
      detail: /120\.00 USD.*stayhub.*110\.00 USD/,
      scores: { cost: Number },
    });
    t.equal(
      run([group("a")], [twin("bedbank", 11_000), twin("direct", 11_000)]).allocations[0]!.offer.vendor,
      "direct",
    );
    const gated = run([group("a")], [twin("bedbank", 12_000), twin("stayhub", 11_000)], {
      allowProviders: ["bedbank"],
    });
    t.equal(gated.allocations[0]!.offer.vendor, "bedbank", "the cheapest among those that pass");
    const full = run([group("a"), group("b")], [twin("bedbank", 12_000, 1), twin("stayhub", 11_000, 1)]);
    t.same(full.allocations.map(({ offer }) => offer.vendor).sort(), ["bedbank", "stayhub"]);
    t.match(
      full.rankingInputs.find(({ offer }) => offer.vendor === "bedbank"),
      { reason: "SELECTED", detail: /too few rooms/ },
    );
  },
);

t.test("passes: first and business choose first, crew last", async (t) => {
  const tiers: Tier[] = ["CREW", "ECONOMY", "PREMIUM_ECONOMY", "BUSINESS", "FIRST"];
  const groups = tiers.map((tier) => group(tier, { tier }));
  const offers = [
    offer({ providerHotelId: "best", nightlyRateMinor: 5_000, roomsLeft: 2 }),
    offer({ providerHotelId: "next", nightlyRateMinor: 9_000, roomsLeft: 2 }),
  ];
  const result = run(groups, offers);
  t.same(
    result.allocations.map(({ groupId, offer }) => `${groupId} ${offer.providerHotelId}`),
    ["ECONOMY next", "PREMIUM_ECONOMY next", "BUSINESS best", "FIRST best"],
    "in the order of the groups",
  );
  t.match(result.unplaced, [
    { groupId: "CREW", subCaseId: "XN-SUB-CREW", reason: /None of 2 offers passes: 2 without enough rooms/ },
  ]);
  t.same(
    [...new Set(result.rankingInputs.map(({ pass }) => pass))],
    ["FIRST_BUSINESS", "PREMIUM_ECONOMY", "ECONOMY", "CREW"],
  );
});

t.test("first and business under different policies share one pass and its rooms", async (t) => {
  const offers = [
    offer({ providerHotelId: "palace", stars: 5, nightlyRateMinor: 40_000, roomsLeft: 1 }),
    offer({ providerHotelId: "inn", stars: 3, coordinates: north(4) }),
  ];
  const policyOf = (tier: Tier) =>
    tier === "FIRST"
      ? policy({ policyId: "XN-P2", minStars: 5 })
      : tier === "BUSINESS"
        ? policy()
        : undefined;
  const groups = [group("b", { tier: "BUSINESS" }), group("f", { tier: "FIRST" }), group("e")];
  const result = allocate({ groups, offers, policyOf, airport });
  t.match(result.allocations, [
    { groupId: "b", offer: { providerHotelId: "inn" } },
    { groupId: "f", offer: { providerHotelId: "palace" } },
  ]);
  t.match(result.unplaced, [{ groupId: "e", reason: "No policy covers ECONOMY." }]);
  t.ok(result.rankingInputs.some(({ detail }) => detail === "FIRST: 3 stars, the policy asks for 5."));
});

t.test("scores: cost, distance and consolidation each decide when they alone weigh", async (t) => {
  const offers = [
    offer({ providerHotelId: "cheap", nightlyRateMinor: 5_000, coordinates: north(9), roomsLeft: 2 }),
    offer({ providerHotelId: "near", nightlyRateMinor: 12_000, coordinates: north(1), roomsLeft: 2 }),
    offer({ providerHotelId: "large", nightlyRateMinor: 20_000, coordinates: north(10), roomsLeft: 4 }),
  ];
  const groups = ["a", "b", "c", "d"].map((id) => group(id));
  const hotels = (weights: ResolvedPolicy["weights"]) =>
    [...new Set(run(groups, offers, { weights }).allocations.map(({ offer }) => offer.providerHotelId))]
      .sort()
      .join();
  t.equal(hotels({ cost: 1, distance: 0, consolidation: 0 }), "cheap,near");
  t.equal(hotels({ cost: 0, distance: 1, consolidation: 0 }), "cheap,near");
  t.equal(hotels({ cost: 0, distance: 0, consolidation: 1 }), "large");
  const result = run(groups, offers);
  const scores = Object.fromEntries(
    result.rankingInputs.map(({ offer, scores }) => [offer.providerHotelId, scores]),
  );
  t.match(scores.cheap, { cost: 1, consolidation: 0.5 });
  t.match(scores.near, { distance: 1, consolidation: 0.5 });
  t.match(scores.large, { cost: 0, distance: 0, consolidation: 1 });
  for (const { scores, finalScore } of result.rankingInputs)
    t.ok(
      Math.abs(finalScore! - (0.6 * scores!.cost + 0.25 * scores!.distance + 0.15 * scores!.consolidation)) <
        1e-12,
    );
});

t.test("distance: London to Paris airports", async (t) => {
  const km = distanceKmBetween(
    { latitude: 51.47, longitude: -0.4543 },
    { latitude: 49.0097, longitude: 2.5479 },
  );
  t.ok(Math.abs(km - 347.3) < 1, String(km));
});

t.test("nothing to do, nothing to take", async (t) => {
  t.same(run([], [offer({ providerHotelId: "1" })]), {
    allocations: [],
    unplaced: [],
    rankingInputs: [],
    totals: [],
    objective: 0,
  });
  t.match(run([group("a")], []), { allocations: [], unplaced: [{ reason: "No vendor offered a hotel." }] });
});

const anyOffer = fc.record({
  hotel: fc.integer({ min: 1, max: 6 }),
  vendor: fc.constantFrom("direct", "stayhub", "bedbank"),
  stars: fc.integer({ min: 2, max: 5 }),
  km: fc.integer({ min: 0, max: 15 }),
  rate: fc.integer({ min: 50, max: 200 }),
  rooms: fc.integer({ min: 0, max: 6 }),
  accessible: fc.integer({ min: 0, max: 2 }),
  occupancy: fc.integer({ min: 1, max: 3 }),
});
const anyGroup = fc.record({
  tier: fc.constantFrom<Tier>("FIRST", "BUSINESS", "PREMIUM_ECONOMY", "ECONOMY", "CREW"),
  passengers: fc.integer({ min: 1, max: 6 }),
  wheelchair: fc.boolean(),
});

t.test("any wave: nobody lost, no room sold twice, gates held, order of input irrelevant", async () => {
  fc.assert(
    fc.property(
      fc.array(anyOffer, { maxLength: 10 }),
      fc.array(anyGroup, { maxLength: 12 }),
      (some, needs) => {
        const offers = some.map(({ hotel, vendor, stars, km, rate, rooms, accessible, occupancy }, index) =>
          offer({
            vendor,
            providerHotelId: `H${hotel}`,
            providerOfferId: `O${index}`,
            masterHotelId: `G${hotel}`,
            stars,
            coordinates: north(km),
            nightlyRateMinor: rate * 100,
            roomsLeft: rooms,
            accessibleRooms: accessible,
            maxOccupancy: occupancy,
          }),
        );
        const groups = needs.map(({ tier, passengers, wheelchair }, index) =>
          group(`g${index}`, {
            tier,
            passengers,
            rooms: Math.ceil(passengers / 2),
            needs: wheelchair ? ["WHEELCHAIR"] : [],
          }),
        );
        const rules = { minStars: 3, maxDistanceKm: 10.5 };
        const result = run(groups, offers, rules);
        const turned = run([...groups].reverse(), [...offers].reverse(), rules);
        const seen = [...result.allocations, ...result.unplaced].map(({ groupId }) => groupId);
        const left = new Map(
          offers.map((one) => [one, { rooms: one.roomsLeft, accessible: one.accessibleRooms }]),
        );
        for (const { offer, rooms, groupId } of result.allocations) {
          const need = groups.find((one) => one.groupId === groupId)!;
          if (rooms * offer.maxOccupancy < need.passengers || offer.stars! < 3) return false;
          left.get(offer)!.rooms -= rooms;
          left.get(offer)!.accessible -= accessibleRoomsNeeded(need);
        }
        const byGroup = (list: typeof result.allocations) =>
          Object.fromEntries(list.map(({ groupId, offer }) => [groupId, offer.providerOfferId]));
        return (
          new Set(seen).size === groups.length &&
          seen.length === groups.length &&
          [...left.values()].every(({ rooms, accessible }) => rooms >= 0 && accessible >= 0) &&
          result.allocations.every(
            ({ alternatives, offer }) =>
              alternatives.length <= 5 &&
              alternatives.every((one) => one.offer !== offer && left.get(one.offer)!.rooms > 0),
          ) &&
          result.rankingInputs.every(({ finalScore = 0 }) => finalScore >= 0 && finalScore <= 1 + 1e-9) &&
          result.objective === turned.objective &&
          JSON.stringify(Object.entries(byGroup(result.allocations)).sort()) ===
            JSON.stringify(Object.entries(byGroup(turned.allocations)).sort())
        );
      },
    ),
    { seed: 5, numRuns: 300 },
  );
});
