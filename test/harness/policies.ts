// A resolved policy for tests: one that lets everything through, of which each test says what it is about.
import type { ResolvedPolicy } from "../../schemas/policy.ts";

/** What it says of distances, vehicles, payment and weights are the contract's defaults; test/unit/policy holds it to them. */
export const policy = (more: Partial<ResolvedPolicy> = {}): ResolvedPolicy => ({
  policyId: "XN-POLICY",
  version: 3,
  name: "Any night",
  minStars: undefined,
  maxDistanceKm: undefined,
  maxNightlyRate: undefined,
  requiredAmenities: [],
  excludedChains: [],
  acceptedPayments: ["GUARANTEE"],
  allowProviders: undefined,
  lateCheckoutMinutes: 0,
  earlyCheckInMinutes: 0,
  mode: "ON_DEMAND",
  autoApproveDemand: true,
  maxAutomaticRoomsPerWave: 10,
  incrementalRequiresApproval: false,
  weights: { cost: 0.6, distance: 0.25, consolidation: 0.15 },
  transport: { mode: "SHUTTLE", perTier: {}, minutesBeforePickup: 180, shuttleCapacity: 24, onDemand: false },
  autoBook: true,
  maxOccupancy: 2,
  batchIntervalMinutes: 15,
  incidentalsMinor: 0,
  ...more,
});
