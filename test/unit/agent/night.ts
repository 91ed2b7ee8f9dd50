// One night's facts for the tables: a group without a room, a policy, and hotels to choose from.
import type { AgentAction } from "../../../actors/agent/action-state.ts";
import type { Facts, HotelFacts, Search } from "../../../actors/agent/facts.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import type { GroupNeed } from "../../../schemas/allocation.ts";
import type { Command, Principal } from "../../../schemas/command.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";

export const tenantId = (last: string): string => `XN-01KAMVW9G0ABCDEFGHJKMNPQ${last}`;
export const reviewId = tenantId("R1");
export const caseId = tenantId("C1");

export const group = (groupId: string, more: Partial<GroupNeed> = {}): GroupNeed => ({
  groupId,
  subCaseId: tenantId("S1"),
  tier: "ECONOMY",
  passengers: 2,
  rooms: 1,
  nights: 1,
  checkIn: "2026-11-21",
  checkOut: "2026-11-22",
  needs: [],
  ...more,
});

export const policy = (more: Partial<ResolvedPolicy> = {}): ResolvedPolicy => ({
  policyId: tenantId("P1"),
  version: 1,
  name: "Anybody",
  minStars: 3,
  maxDistanceKm: 10,
  maxNightlyRate: { amountMinor: 20_000, currency: "USD" },
  requiredAmenities: [],
  excludedChains: [],
  acceptedPayments: ["GUARANTEE"],
  allowProviders: undefined,
  lateCheckoutMinutes: 0,
  earlyCheckInMinutes: 0,
  mode: "ON_DEMAND",
  batchIntervalMinutes: 15,
  autoApproveDemand: true,
  maxAutomaticRoomsPerWave: 10,
  incrementalRequiresApproval: false,
  weights: { cost: 0.6, distance: 0.25, consolidation: 0.15 },
  transport: { mode: "SHUTTLE", perTier: {}, minutesBeforePickup: 30, shuttleCapacity: 8, onDemand: false },
  autoBook: true,
  maxOccupancy: 2,
  incidentalsMinor: 0,
  ...more,
});

type Offer = HotelFacts["offers"][number];

export const hotel = (
  name: string,
  more: Partial<HotelFacts> = {},
  offer: Partial<Offer> = {},
): HotelFacts => ({
  hotelUrn: `urn:hotel:${name}`,
  distanceKm: 3,
  stars: 4,
  amenities: [],
  offers: [
    {
      vendor: "stayhub",
      providerOfferId: `${name}-1`,
      nightlyRateMinor: 10_000,
      totalMinor: 10_000,
      currency: "USD",
      roomsLeft: 5,
      accessibleRooms: 1,
      maxOccupancy: 2,
      acceptedPayments: ["GUARANTEE", "CARD"],
      ...offer,
    },
  ],
  ...more,
});

export const search = (hotels: HotelFacts[], groups = [group("G1")], silent: string[] = []): Search => ({
  tier: "ECONOMY",
  checkIn: "2026-11-21",
  nights: 1,
  groups,
  hotels,
  silent,
});

export const facts = (more: Partial<Facts> = {}): Facts => ({
  category: "ALLOCATION_FAILED",
  origin: "allocation",
  airport: "JFK",
  attempted: [],
  affectedGroups: ["G1"],
  left: ["G1"],
  policies: { ECONOMY: policy() },
  searches: [],
  former: [],
  ...more,
});

export const now = new Date("2026-11-21T22:00:00.000Z");
export const sue: Principal = {
  surface: "operator",
  tenant: "XN",
  urn: "urn:user:sue",
  role: "OPS_SUPERVISOR",
};
export const atLax: Principal = { ...sue, urn: "urn:user:lax", airport: "LAX" };
export const system: Principal = { surface: "system", tenant: "XN", urn: "urn:user:system-agent" };
export const id = tenantId("A1");

export const command = (
  verb: string,
  data: unknown = {},
  principal = sue,
  more: Partial<Received> = {},
): Received => ({
  id: `c-${verb}`,
  name: `agent.${verb}`,
  tenant: "XN",
  entity: id,
  principal,
  correlationUrn: "urn:correlation:x",
  traceparent: "00-0-0-01",
  issuedAt: now.toISOString(),
  data,
  now,
  ...more,
});

/** What an actor is given, with one action or none in its collections. @param call what others answer */
export const contextOf = (standing: AgentAction | null, call: ActorContext["call"]) => {
  const sent: Command[] = [];
  const meta = { _id: id, revision: 1, version: 1, outbox: [], handled: [], schemaVersion: 1 };
  const found = standing === null ? [] : [{ ...meta, ...standing }];
  const documents = {
    tenant: () => ({
      collection: () => ({
        findOne: async () => found[0] ?? null,
        find: () => ({ toArray: async () => found }),
      }),
    }),
  };
  const warned: unknown[] = [];
  const context = {
    documents,
    clock: { now: () => now },
    log: { warn: (...args: unknown[]) => warned.push(args) },
    call: async (name: string, envelope: Command) => {
      sent.push(envelope);
      return call(name, envelope);
    },
  } as unknown as ActorContext;
  return { context, sent, warned };
};

/** What the other actors would answer, with these texts wherever somebody outside has written one. */
export const answers = (text: string): Record<string, unknown> => {
  const place = { latitude: 40, longitude: -73 };
  const shown = (name: string, more = {}) => ({
    ...hotel(name, { chain: text, amenities: [text], ...more }),
    name: text,
    address: text,
    coordinates: place,
  });
  return {
    "review.item": {
      urn: `urn:review:${reviewId}`,
      caseUrn: `urn:case:${caseId}`,
      category: "BOOKING_FAILED",
      origin: "booking",
      priority: "HIGH",
      state: "OPEN",
      detail: text,
      attemptedHotels: [{ hotelUrn: "urn:hotel:a", reason: text, providerError: text }],
      affectedGroups: ["G1", "G2"],
      recommendations: [],
      createdAt: "2026-11-21T21:00:00.000Z",
      overdue: false,
      breaches: 0,
      actions: [],
    },
    "case.head": { airport: "JFK" },
    "case.housed-groups": ["G2"],
    "wave.newest-of": `urn:wave:${tenantId("W1")}`,
    "wave.detail": {
      demandUrn: `urn:demand:${tenantId("D1")}`,
      rankingInputs: [
        { reason: "TOO_FAR", detail: text, candidate: { hotelUrn: "urn:hotel:far", name: text } },
        { reason: "NO_ROOMS", detail: text, candidate: { hotelUrn: "urn:hotel:a", name: text } },
      ],
      unplaced: [{ groupId: "G1", rooms: 1, reason: text }],
      partialFailures: [],
    },
    "case.allocation-input": { policies: { ECONOMY: policy({ name: text }) }, groups: [group("G1")] },
    "wave.search-hotels": {
      hotels: [shown("a"), shown("b"), shown("far", { distanceKm: 30 })],
      partialFailures: [],
    },
    "wave.choosable": [],
    "case.rehearse": null,
  };
};
