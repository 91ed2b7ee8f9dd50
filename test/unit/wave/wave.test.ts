// A wave's decision as tables: what it keeps, the terms that each group's saga gets, and what it sends in which order.
import t from "tap";
import { waveGroupsMax } from "../../../actors/case/capacity.ts";
import { offersMax } from "../../../actors/vendor-adapter/sound-offers.ts";
import { decideWave, outgoingOf } from "../../../actors/wave/decide.ts";
import type { WaveInput } from "../../../actors/wave/gather.ts";
import { evolve, keptResult } from "../../../actors/wave/state.ts";
import type { AllocationResult, GroupNeed } from "../../../schemas/allocation.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { amenities, type Tier } from "../../../schemas/vocabulary.ts";
import { alike, evening, received, secondsLater } from "../../harness/given.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";

const jfk = { latitude: 40.6398, longitude: -73.7789 };
const offer = (name: string, more: Partial<HotelOffer> = {}): HotelOffer => ({
  vendor: "stayhub",
  providerOfferId: `o-${name}`,
  providerHotelId: name,
  masterHotelId: name,
  name,
  address: `1 ${name} street`,
  coordinates: { latitude: 40.66, longitude: -73.8 },
  stars: 4,
  amenities: [],
  acceptedPayments: ["GUARANTEE", "CARD"],
  nightlyRateMinor: 10_000,
  currency: "USD",
  roomsLeft: 20,
  maxOccupancy: 2,
  accessibleRooms: 4,
  ...more,
});
const vendors = { payment: "cardworks", transport: "ridefleet", message: "sendwell" };
const input = (
  groups: GroupNeed[],
  offers: HotelOffer[],
  policies: WaveInput["policies"] = { ECONOMY: policy() },
): WaveInput => ({
  airport: { code: "JFK", name: "John F Kennedy", ...jfk },
  airlineName: "Xenon",
  passengerHost: "xenon.example",
  policies,
  vendors,
  stays: [{ groups, search: { offers, partialFailures: [] } }],
  again: [],
});
const run = received(
  "wave.run",
  { caseId: "XN-CASE", demandId: "XN-DEMAND" },
  {
    entity: "XN-WAVE",
    issuedAt: evening.toISOString(),
    now: secondsLater(2),
  },
);
const only = (wave: WaveInput) => {
  const [assigned] = decideWave(run, wave).assignments;
  if (assigned === undefined) throw new Error("nobody was placed");
  return assigned.assignment;
};

t.test("what a wave keeps and what it hands to a group", async (t) => {
  const { event, assignments } = decideWave(
    run,
    input([group("G1")], [offer("astor"), offer("biltmore", { nightlyRateMinor: 15_000 })]),
  );
  const wave = event.data;
  alike(
    t,
    wave,
    {
      caseId: "XN-CASE",
      demandId: "XN-DEMAND",
      airport: "JFK",
      policies: [{ tier: "ECONOMY", policyId: "XN-POLICY", version: 3 }],
      allocations: [{ groupId: "G1", subCaseId: "XN-SUB-G1", rooms: 1, totalMinor: 10_000, currency: "USD" }],
      unplaced: [],
      totals: [{ currency: "USD", amountMinor: 10_000 }],
      partialFailures: [],
      createdAt: evening,
      completedAt: secondsLater(2),
    },
    "the wave",
  );
  t.equal(wave.offers[wave.allocations[0]?.offer ?? -1]?.name, "astor", "the cheaper one");
  t.strictSame(evolve(undefined, event), wave);
  alike(
    t,
    assignments,
    [
      {
        subCaseId: "XN-SUB-G1",
        assignment: {
          waveId: "XN-WAVE",
          stay: { checkIn: "2026-11-21", checkOut: "2026-11-22", nights: 1 },
          book: true,
          terms: {
            airport: { code: "JFK", name: "John F Kennedy", coordinates: jfk },
            airlineName: "Xenon",
            passengerHost: "xenon.example",
            currency: "USD",
            vendors,
          },
        },
      },
    ],
    "the assignment",
  );
  t.strictSame(
    assignments[0]?.assignment.candidates.map((each) => [each.offer.name, each.rooms]),
    [
      ["astor", 1],
      ["biltmore", 1],
    ],
    "the best first, the next after it",
  );
});

t.test("terms", async (t) => {
  const vehicles: [string, string[], Tier, ResolvedPolicy["transport"]["perTier"], string][] = [
    ["the policy's mode", [], "ECONOMY", {}, "SHUTTLE"],
    ["the tier before the mode", [], "FIRST", { FIRST: "PRIVATE_CAR" }, "PRIVATE_CAR"],
    ["another tier's is not ours", [], "ECONOMY", { FIRST: "PRIVATE_CAR" }, "SHUTTLE"],
    ["a wheelchair before all", ["WHEELCHAIR"], "FIRST", { FIRST: "PRIVATE_CAR" }, "WHEELCHAIR_VAN"],
    ["other needs ride along", ["VISUAL"], "ECONOMY", {}, "SHUTTLE"],
  ];
  for (const [what, needs, tier, perTier, vehicle] of vehicles) {
    const transport = { ...policy().transport, perTier };
    const wave = input([group("G1", { needs, tier })], [offer("astor")], { [tier]: policy({ transport }) });
    t.equal(only(wave).terms.vehicleType, vehicle, what);
  }

  const payments: [string, string[], string[], string][] = [
    ["both take a guarantee", ["GUARANTEE"], ["GUARANTEE", "CARD"], "GUARANTEE"],
    ["a guarantee is preferred", ["CARD", "GUARANTEE"], ["CARD", "GUARANTEE"], "GUARANTEE"],
    ["the policy wants a card", ["CARD"], ["GUARANTEE", "CARD"], "CARD"],
    ["the hotel wants a card", ["GUARANTEE", "CARD"], ["CARD"], "CARD"],
  ];
  for (const [what, acceptedPayments, hotelTakes, method] of payments) {
    const wave = input([group("G1")], [offer("astor", { acceptedPayments: hotelTakes })], {
      ECONOMY: policy({ acceptedPayments }),
    });
    t.equal(only(wave).candidates[0]?.payment, method, what);
  }

  const incidentals = { ECONOMY: policy({ incidentalsMinor: 2_500 }) };
  const family = group("G1", { passengers: 3, rooms: 2, nights: 2, checkOut: "2026-11-23" });
  t.equal(
    only(input([family], [offer("astor")], incidentals)).terms.incidentalsMinor,
    15_000,
    "each person, each night",
  );
  t.equal(only(input([family], [offer("astor")])).terms.incidentalsMinor, 0);
  t.equal(only(input([group("G1")], [offer("astor")], { ECONOMY: policy({ autoBook: false }) })).book, false);
  const wide = group("G1", { passengers: 4, rooms: 2 });
  t.equal(
    only(input([wide], [offer("astor", { maxOccupancy: 1 })])).candidates[0]?.rooms,
    4,
    "a hotel of small rooms needs more of them",
  );
});

t.test("several stays, several tiers, vendors that are missing", async (t) => {
  const late = { failedDomain: "roomlink", detail: "No answer within the time-box." };
  const two = group("G2", { tier: "FIRST", nights: 2, checkOut: "2026-11-23" });
  const wave: WaveInput = {
    ...input([], [], { ECONOMY: policy(), FIRST: policy({ policyId: "XN-FIRST", version: 7 }) }),
    stays: [
      { groups: [group("G1")], search: { offers: [offer("astor")], partialFailures: [late] } },
      { groups: [two], search: { offers: [offer("carlton", { currency: "EUR" })], partialFailures: [late] } },
    ],
  };
  const { event, assignments } = decideWave(run, wave);
  t.strictSame(event.data.partialFailures, [late], "a vendor that is late twice is named once");
  t.strictSame(event.data.totals, [
    { currency: "USD", amountMinor: 10_000 },
    { currency: "EUR", amountMinor: 20_000 },
  ]);
  t.strictSame(
    event.data.policies.map(({ tier, version }) => [tier, version]),
    [
      ["ECONOMY", 3],
      ["FIRST", 7],
    ],
  );
  t.strictSame(
    assignments.map(({ assignment }) => [assignment.candidates[0]?.offer.name, assignment.stay.nights]),
    [
      ["astor", 1],
      ["carlton", 2],
    ],
  );

  const nobody = decideWave(run, { ...wave, stays: [] });
  t.match(nobody.event.data, { allocations: [], unplaced: [], totals: [], objective: 0 });
  t.strictSame(
    outgoingOf("XN-WAVE", nobody).map((message) => message.to === "command" && message.name),
    ["case.note-wave"],
  );
});

t.test("each offer is kept once, and what points to it points right", async (t) => {
  const [astor, biltmore] = [offer("astor"), offer("biltmore")];
  const ranking = (pass: string, taken: HotelOffer) => ({
    pass,
    hotelUrn: `urn:hotel:${taken.name}`,
    offer: taken,
    distanceKm: 1,
    outcome: "SELECTED" as const,
    reason: "SELECTED" as const,
    detail: "",
  });
  const placed = (groupId: string, taken: HotelOffer) => ({
    groupId,
    subCaseId: "s",
    tier: "ECONOMY" as const,
    hotelUrn: `urn:hotel:${taken.name}`,
    offer: taken,
    rooms: 1,
    nights: 1,
    totalMinor: 1,
    currency: "USD",
    reason: "",
    alternatives: [{ hotelUrn: "urn:hotel:biltmore", offer: biltmore }],
  });
  const result: AllocationResult = {
    rankingInputs: [ranking("ECONOMY", biltmore), ranking("ECONOMY", astor), ranking("CREW", biltmore)],
    allocations: [placed("G1", astor), placed("G2", biltmore)],
    unplaced: [],
    totals: [],
    objective: 1,
  };
  const kept = keptResult(result, new Map());
  t.equal(kept.offers.length, 2);
  t.strictSame(
    kept.rankingInputs.map((each) => kept.offers[each.offer]),
    [biltmore, astor, biltmore],
  );
  t.strictSame(
    kept.allocations.map((each) => kept.offers[each.offer]),
    [astor, biltmore],
  );
  t.notOk("alternatives" in (kept.allocations[0] as object), "alternatives go with the assignment alone");

  const real = decideWave(
    run,
    input([group("G1"), group("G2", { tier: "CREW" })], [astor, biltmore], {
      ECONOMY: policy(),
      CREW: policy(),
    }),
  ).event.data;
  t.equal(real.offers.length, 2, "a real wave too, whatever the passes");
  t.strictSame(
    real.rankingInputs.map((each) => real.offers[each.offer]?.name).sort(),
    ["astor", "astor", "biltmore", "biltmore"],
    "each pass has looked at both",
  );
  for (const each of real.allocations)
    t.equal(real.rankingInputs.find(({ hotelUrn }) => hotelUrn === each.hotelUrn)?.offer, each.offer);
});

t.test("what a wave sends: the case knows before its groups report", async (t) => {
  const groups = [group("G1"), group("G2"), group("G3")];
  const decided = decideWave(run, input(groups, [offer("astor", { roomsLeft: 2 })]));
  const placed = decided.event.data.allocations.map(({ groupId }) => groupId);
  const [left = ""] = ["G1", "G2", "G3"].filter((groupId) => !placed.includes(groupId));
  const messages = outgoingOf("XN-WAVE", decided);
  alike(
    t,
    messages,
    [
      {
        to: "command",
        name: "case.note-wave",
        entity: "XN-CASE",
        data: { waveId: "XN-WAVE", allocated: placed, unplaced: [left] },
      },
      ...placed.map((groupId) => ({
        to: "command",
        name: "sub-case.assign",
        entity: `XN-SUB-${groupId}`,
        data: { waveId: "XN-WAVE" },
      })),
      {
        to: "command",
        name: "review.open",
        entity: "",
        data: {
          caseId: "XN-CASE",
          airport: "JFK",
          category: "ALLOCATION_FAILED",
          origin: "allocation",
          occurrence: "XN-WAVE",
          affectedGroups: [left],
          attemptedHotels: [],
        },
      },
    ],
    "two are placed, one is held",
  );
  const late = { failedDomain: "roomlink", detail: "x" };
  const none = decideWave(run, {
    ...input(groups, []),
    stays: [{ groups, search: { offers: [], partialFailures: [late] } }],
  });
  const [, review] = outgoingOf("XN-WAVE", none);
  t.match(review, { data: { affectedGroups: ["G1", "G2", "G3"], detail: / No answer from roomlink\.$/ } });
});

t.test("the largest wave over the wordiest vendors fits into one document", async (t) => {
  const tiers = ["FIRST", "PREMIUM_ECONOMY", "ECONOMY", "CREW"] as const;
  const groups = Array.from({ length: waveGroupsMax }, (_, i) =>
    group(`G${String(i).padStart(16, "0")}`, { tier: tiers[i % 4] as Tier }),
  );
  const long = (text: string, length: number) => text.padEnd(length, "x");
  const offers = Array.from({ length: 3 * offersMax }, (_, i) =>
    offer(long(`hotel ${i}`, 200), {
      vendor: `vendor${i % 3}`,
      providerOfferId: long(`rate ${i}`, 400),
      providerHotelId: `h${i}`,
      masterHotelId: `m${i}`,
      address: long(`${i} street`, 370),
      amenities: [...amenities],
      nightlyRateMinor: 9_000 + i,
      // Ranked in each pass all the same.
      roomsLeft: i % 10 === 0 ? 60 : 0,
    }),
  );
  const policies = Object.fromEntries(tiers.map((tier) => [tier, policy()]));
  const wave = decideWave(run, input(groups, offers, policies));
  t.equal(wave.assignments.length, waveGroupsMax);
  t.equal(wave.assignments[0]?.assignment.candidates.length, 4);
  const bytes = JSON.stringify([
    wave.event.data,
    ...outgoingOf("XN-WAVE", wave).map((one) => JSON.stringify(one)),
  ]);
  t.ok(bytes.length < 15 * 1024 * 1024, `${bytes.length} bytes`);
});
