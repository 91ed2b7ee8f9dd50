/** Owns the shape of a policy: what rooms an airline pays for, for whom, and how much of it runs without a human. */
import Type, { type Static } from "typebox";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  amenities,
  cabins,
  paymentMethods,
  policyStatuses,
  Timestamp,
  vehicleTypes,
} from "./vocabulary.ts";

const Constraints = Type.Object({
  minStars: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 5, description: "Excludes unrated properties." }),
  ),
  maxDistanceKm: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 500,
      description: "Kilometres, straight line from the airport.",
    }),
  ),
  maxNightlyRate: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: "Major units of the currency that the policy's context gives.",
    }),
  ),
  requiredAmenities: Type.Optional(Type.Array(Type.Enum([...amenities]), { maxItems: 20 })),
  excludedChains: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems: 200 })),
  acceptedPayments: Type.Optional(
    Type.Array(Type.Enum([...paymentMethods]), {
      minItems: 1,
      maxItems: 2,
      description: "Default: GUARANTEE alone.",
    }),
  ),
  allowProviders: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 50 }),
  ),
});

const Weights = Type.Object({
  cost: Type.Number({ minimum: 0, maximum: 1 }),
  distance: Type.Number({ minimum: 0, maximum: 1 }),
  consolidation: Type.Number({ minimum: 0, maximum: 1 }),
});

export const TransportPolicy = Type.Object({
  mode: Type.Enum([...vehicleTypes]),
  perTier: Type.Optional(
    Type.Record(Type.String({ pattern: `^(${cabins.join("|")})$` }), Type.Enum([...vehicleTypes])),
  ),
  minutesBeforePickup: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1440, description: "Minutes before departure." }),
  ),
  shuttleCapacity: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, description: "Passengers in one shared vehicle." }),
  ),
  onDemand: Type.Optional(Type.Boolean()),
});
export type TransportPolicy = Static<typeof TransportPolicy>;

export const PolicyBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 120 }),
  context: Type.Object({
    airport: Type.Optional(AirportCode),
    airline: Type.Optional(Urn("airline")),
  }),
  tiers: Type.Array(Type.Enum([...cabins]), { minItems: 1, maxItems: 5, uniqueItems: true }),
  constraints: Type.Optional(Constraints),
  buffers: Type.Optional(
    Type.Object({
      lateCheckoutMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 1440 })),
      earlyCheckInMinutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 1440 })),
    }),
  ),
  mode: Type.Optional(Type.Enum(["BATCH", "ON_DEMAND"], { description: "Default ON_DEMAND." })),
  autoApproveDemand: Type.Optional(Type.Boolean()),
  maxAutomaticRoomsPerWave: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
  incrementalRequiresApproval: Type.Optional(Type.Boolean()),
  consolidationWeight: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  allocationWeights: Type.Optional(Weights),
  transport: Type.Optional(TransportPolicy),
  autoBook: Type.Optional(Type.Boolean()),
  maxOccupancy: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 8, description: "Passengers in one room; default 2." }),
  ),
  batchIntervalMinutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 720, description: "Of BATCH: from wave to wave; default 15." }),
  ),
  detectionThreshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  incidentalsMinor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: "Card balance per passenger and night, minor units of the rate's currency.",
    }),
  ),
});
export type PolicyBody = Static<typeof PolicyBody>;

export const PolicyView = Type.Intersect([
  PolicyBody,
  Type.Object({
    urn: Urn("policy"),
    status: Type.Enum([...policyStatuses]),
    version: Type.Integer(),
    createdAt: Timestamp,
  }),
]);
export type PolicyView = Static<typeof PolicyView>;

/** A policy with every default filled in: what allocation and the saga work by, and what a wave keeps a copy of. */
export interface ResolvedPolicy {
  policyId: string;
  version: number;
  name: string;
  minStars: number | undefined;
  maxDistanceKm: number | undefined;
  maxNightlyRate: { amountMinor: number; currency: string } | undefined;
  requiredAmenities: string[];
  excludedChains: string[];
  acceptedPayments: string[];
  /** Undefined: every provider. */
  allowProviders: string[] | undefined;
  lateCheckoutMinutes: number;
  earlyCheckInMinutes: number;
  mode: "BATCH" | "ON_DEMAND";
  batchIntervalMinutes: number;
  autoApproveDemand: boolean;
  maxAutomaticRoomsPerWave: number;
  incrementalRequiresApproval: boolean;
  /** Sum 1. */
  weights: { cost: number; distance: number; consolidation: number };
  transport: {
    mode: string;
    perTier: Record<string, string>;
    minutesBeforePickup: number;
    shuttleCapacity: number;
    onDemand: boolean;
  };
  autoBook: boolean;
  maxOccupancy: number;
  incidentalsMinor: number;
}
