/** Owns the wire shape of an allocation wave: every candidate, its scores, and why it was taken or left. */
import Type, { type Static } from "typebox";
import { discardReasons } from "./allocation.ts";
import { AllocationView } from "./case.ts";
import { Urn } from "./urn.ts";
import { cabins, Money, Timestamp } from "./vocabulary.ts";

const RankingInputView = Type.Object({
  pass: Type.String({ description: "The tier pass that looked at it." }),
  candidate: Type.Object({
    hotelUrn: Urn("hotel"),
    name: Type.String(),
    vendor: Type.String(),
    providerOfferId: Type.String(),
    stars: Type.Optional(Type.Integer()),
    nightlyRateMinor: Type.Integer(),
    currency: Type.String(),
    roomsLeft: Type.Integer(),
    distanceKm: Type.Number(),
  }),
  scores: Type.Optional(
    Type.Object({
      cost: Type.Number(),
      distance: Type.Number(),
      consolidation: Type.Number(),
    }),
  ),
  finalScore: Type.Optional(Type.Number()),
  outcome: Type.Enum(["SELECTED", "DISCARDED"]),
  reason: Type.Enum([...discardReasons, "SELECTED"]),
  detail: Type.String(),
});

export const WaveView = Type.Object(
  {
    urn: Urn("wave"),
    caseUrn: Urn("case"),
    demandUrn: Type.Optional(Urn("demand")),
    status: Type.Enum(["RUNNING", "COMPLETED", "FAILED"]),
    policies: Type.Optional(
      Type.Array(
        Type.Object({ tier: Type.Enum([...cabins]), policyUrn: Urn("policy"), version: Type.Integer() }),
      ),
    ),
    rankingInputs: Type.Array(RankingInputView),
    allocations: Type.Array(AllocationView),
    unplaced: Type.Array(
      Type.Object({ groupId: Type.String(), rooms: Type.Integer(), reason: Type.String() }),
    ),
    totalCost: Type.Array(Money, { description: "One entry per currency." }),
    savingsVersusMarket: Type.Optional(
      Type.Array(Money, { description: "What direct contracts saved; one entry per currency." }),
    ),
    partialFailures: Type.Array(
      Type.Object(
        { failedDomain: Type.String(), detail: Type.String() },
        {
          description: "Vendors that did not answer in time.",
        },
      ),
    ),
    createdAt: Timestamp,
    completedAt: Type.Optional(Timestamp),
    version: Type.Optional(Type.Integer()),
  },
  { title: "Wave" },
);
export type WaveView = Static<typeof WaveView>;
