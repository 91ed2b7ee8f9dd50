/** Owns the shape of a policy: what rooms an airline pays for, for whom, and how much of it runs without a human. */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { patchFormOf } from "./merge-patch.ts";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  amenities,
  cabins,
  paymentMethods,
  policyStatuses,
  Reason,
  Timestamp,
  vehicleTypes,
} from "./vocabulary.ts";

export const PolicyConstraints = Type.Object({
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
  requiredAmenities: Type.Optional(
    Type.Array(Type.Enum([...amenities]), { maxItems: 20, description: "A hotel has all of them." }),
  ),
  excludedChains: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      maxItems: 200,
      description: "Provider-independent ids of chains, in either case of letters.",
    }),
  ),
  acceptedPayments: Type.Optional(
    Type.Array(Type.Enum([...paymentMethods]), {
      minItems: 1,
      maxItems: 2,
      description: "Default: GUARANTEE alone.",
    }),
  ),
  allowProviders: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      minItems: 1,
      maxItems: 50,
      description: "Names of vendors, `direct` for the airline's own contracts. Absent: all.",
    }),
  ),
});

const Weight = (byDefault: number) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: `Default ${byDefault}.` }));
const Weights = Type.Object({ cost: Weight(0.6), distance: Weight(0.25), consolidation: Weight(0.15) });

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
  constraints: Type.Optional(PolicyConstraints),
  buffers: Type.Optional(
    Type.Object({
      lateCheckoutMinutes: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1440, description: "Minutes." }),
      ),
      earlyCheckInMinutes: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 1440, description: "Minutes." }),
      ),
    }),
  ),
  mode: Type.Optional(Type.Enum(["BATCH", "ON_DEMAND"], { description: "Default ON_DEMAND." })),
  autoApproveDemand: Type.Optional(
    Type.Boolean({ description: "Demand within `maxAutomaticRoomsPerWave` needs nobody. Default false." }),
  ),
  maxAutomaticRoomsPerWave: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100_000, description: "Rooms; default 0." }),
  ),
  incrementalRequiresApproval: Type.Optional(
    Type.Boolean({ description: "INCREMENTAL demand waits for a supervisor all the same. Default false." }),
  ),
  consolidationWeight: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Preference for fewer hotels; takes the place of `allocationWeights.consolidation`.",
    }),
  ),
  allocationWeights: Type.Optional(Weights),
  transport: Type.Optional(TransportPolicy),
  autoBook: Type.Optional(
    Type.Boolean({ description: "False: allocated groups wait for book-rooms. Default true." }),
  ),
  maxOccupancy: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 8, description: "Passengers in one room; default 2." }),
  ),
  batchIntervalMinutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 720, description: "Of BATCH: from wave to wave; default 15." }),
  ),
  detectionThreshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "Of a predicted disruption: told of once it is more probable than this. Default 0.8; 1: never before it is certain.",
    }),
  ),
  openOnDetection: Type.Optional(
    Type.Boolean({
      description:
        "A disruption that is detected opens a case, whose manifest comes later by a push or an amendment. Default false: it is only told of.",
    }),
  ),
  incidentalsMinor: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      description: "Card balance per passenger and night, minor units of the rate's currency.",
    }),
  ),
});
export type PolicyBody = Static<typeof PolicyBody>;

const why = Type.Optional(Reason);

/** A policy as it is created; the reason stands in the audit trail alone. */
export const CreatePolicyBody = Type.Object({ ...PolicyBody.properties, reason: why });

/** RFC 7396: null takes an optional member away. */
export const PatchPolicyBody = Type.Object(
  { ...patchFormOf(PolicyBody).properties, reason: why, ...Concurrency },
  {
    description:
      "A JSON Merge Patch (RFC 7396) of the policy; null puts an optional member back to its default.",
    examples: [
      {
        constraints: { maxDistanceKm: 12, maxNightlyRate: null },
        autoApproveDemand: true,
        maxAutomaticRoomsPerWave: 40,
        reason: "Snow is forecast",
        version: 1,
      },
    ],
  },
);

/** Of an activation or deactivation: nothing need be said. */
export const PolicyStandingBody = Type.Object({ reason: why, ...Concurrency });

/** Longer than a policy takes to say, and read at once. */
const promptLengthMax = 2000;

/** A policy asked for in words. */
export const SynthesizePolicyBody = Type.Object({
  description: Type.String({
    minLength: 1,
    maxLength: promptLengthMax,
    pattern: "\\S",
    description: "In English, Spanish or Portuguese.",
    examples: ["Economy at JFK: at least 3 stars within 10 miles, up to $180 a night, with breakfast"],
  }),
  caseUrn: Type.Optional({
    ...Urn("case"),
    description: "Its airport, airline and tiers count where the description names none.",
  }),
});
export type SynthesizePolicyBody = Static<typeof SynthesizePolicyBody>;

/** What a prompt leaves open; nothing is put in its place but what the question says. */
export const UnclearPoint = Type.Object({
  text: Type.String({
    description: "Words of the prompt; empty where it has none of it.",
    examples: ["near the beach"],
  }),
  pointer: Type.Optional(
    Type.String({
      description: "JSON Pointer (RFC 6901) into the policy.",
      examples: ["/constraints/maxDistanceKm"],
    }),
  ),
  question: Type.String({ examples: ["This was not understood. What should it change?"] }),
});
export type UnclearPoint = Static<typeof UnclearPoint>;

/** How a draft came about that nobody typed field by field (contract, "Policy": source, confidence, prompt). */
export const PolicyProvenance = Type.Object({
  source: Type.Enum(["ai"]),
  confidence: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "Share of what the prompt says that is in the draft.",
    examples: [0.81],
  }),
  prompt: Type.String({
    description: "Without mail addresses and numbers of telephones or cards.",
    examples: ["Economy at JFK: at least 3 stars within 10 miles, near the beach"],
  }),
  reader: Type.String({ description: "What has read it, with its version.", examples: ["rules@1"] }),
  caseUrn: Type.Optional(Urn("case")),
});
export type PolicyProvenance = Static<typeof PolicyProvenance>;

export const PolicyView = Type.Intersect([
  PolicyBody,
  Type.Object({
    urn: Urn("policy"),
    status: Type.Enum([...policyStatuses]),
    version: Type.Integer({ description: "Counts the changes of its text; an activation is none." }),
    createdAt: Timestamp,
    provenance: Type.Optional(PolicyProvenance),
    unclear: Type.Optional(
      Type.Array(UnclearPoint, {
        description: "Of a synthesized draft, as it was made: what a person has to settle.",
      }),
    ),
  }),
]);
export type PolicyView = Static<typeof PolicyView>;

/** Why a policy that is in force applies to a tier at an airport, or doesn't. */
export const policyVerdicts = [
  "APPLIES",
  "OTHER_AIRPORT",
  "OTHER_TIER",
  "WIDER_CONTEXT",
  "ACTIVATED_EARLIER",
] as const;

const PolicyCandidate = Type.Object({
  policyUrn: Urn("policy"),
  name: Type.String(),
  version: Type.Integer(),
  kind: Type.String({ description: "Of its context: `airport+airline+tier` and so on." }),
  verdict: Type.Enum([...policyVerdicts]),
  detail: Type.String({ description: "The same as a sentence." }),
});
export type PolicyCandidate = Static<typeof PolicyCandidate>;

export const PolicyMatch = Type.Object(
  {
    matchedBy: Type.String({ description: "Which kind of context matched." }),
    policy: PolicyView,
    candidates: Type.Array(PolicyCandidate, {
      description: "All that are active; the one that applies first.",
    }),
  },
  { title: "PolicyMatch" },
);
export type PolicyMatch = Static<typeof PolicyMatch>;

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
