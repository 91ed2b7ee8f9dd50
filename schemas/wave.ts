/** Owns the wire shape of an allocation wave: every candidate, its scores, and why it was taken or left. */
import Type, { type Static } from "typebox";
import { discardReasons } from "./allocation.ts";
import { AllocationView } from "./case.ts";
import { Concurrency } from "./concurrency.ts";
import { RelaxedFields } from "./relaxation.ts";
import { Urn } from "./urn.ts";
import { cabins, Money, Reason, Timestamp } from "./vocabulary.ts";

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

const OverrideView = Type.Object({
  groupId: Type.String(),
  subCaseUrn: Urn("sub-case"),
  tier: Type.Enum([...cabins]),
  hotelUrn: Urn("hotel"),
  hotelName: Type.String(),
  formerHotelUrn: Type.Optional(Urn("hotel")),
  rooms: Type.Integer(),
  nights: Type.Integer(),
  totalMinor: Type.Integer(),
  currency: Type.String(),
  reason: Type.String(),
  state: Type.Enum(["UNDER_WAY", "DONE", "FAILED", "REFUSED"], {
    description:
      "DONE: booked there, or allocated where book-rooms follows. FAILED: the hotel had no room after all; a room that the group had stands. REFUSED: the group was in no state for it any more.",
  }),
  groupState: Type.Optional(Type.String({ description: "The group's state when it ended." })),
  overriddenBy: Type.String({ description: "URN of who chose." }),
  overriddenAt: Timestamp,
  endedAt: Type.Optional(Timestamp),
});

/** A supervisor's choice of a hotel for one group of a wave. */
export const OverrideBody = Type.Object({
  groupId: Type.String({ minLength: 1, maxLength: 80, examples: ["G1"] }),
  hotelUrn: Urn("hotel"),
  reason: Reason,
  ...Concurrency,
});

/** It is carried out on its own: the wave tells how it went. */
export const OverrideStarted = Type.Object(
  {
    waveUrn: Urn("wave"),
    caseUrn: Urn("case"),
    override: OverrideView,
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "OverrideStarted" },
);

/** Without `groupIds`: for whoever has no room. */
export const RerunBody = Type.Object({
  groupIds: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
      minItems: 1,
      maxItems: 1500,
      examples: [["G1"]],
      description:
        "Groups that have a room and are to be placed anew, too. They keep it where the wave finds no other.",
    }),
  ),
  reason: Type.Optional(Reason),
  ...Concurrency,
});

export const RerunStarted = Type.Object(
  {
    caseUrn: Urn("case"),
    waveUrn: Urn("wave"),
    rerunOf: Urn("wave"),
    correlationUrn: Urn("correlation"),
  },
  { title: "RerunStarted" },
);

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
    relaxed: Type.Optional(
      Type.Array(RelaxedFields, { description: "What of the policies was relaxed for the case, in order." }),
    ),
    rankingInputs: Type.Array(RankingInputView),
    allocations: Type.Array(AllocationView),
    unplaced: Type.Array(
      Type.Object({ groupId: Type.String(), rooms: Type.Integer(), reason: Type.String() }),
    ),
    overrides: Type.Optional(
      Type.Array(OverrideView, { description: "Hotels chosen by hand since, in their order." }),
    ),
    totalCost: Type.Array(Money, { description: "One entry per currency." }),
    objective: Type.Optional(
      Type.Number({
        description:
          "Weighted sum of cost, distance and hotels in use over all passes, each between 0 and 1 of the candidates' range; lower is better. A room without a place counts 2.",
      }),
    ),
    gap: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          "How much lower the objective could be at most, as far as is proven: 0 for the best there is. Absent: nothing is proven.",
      }),
    ),
    savingsVersusMarket: Type.Optional(
      Type.Array(Money, {
        description:
          "`marketTotalMinor` less `totalMinor` of the allocations on direct contracts, per currency; below zero where they were dearer. Absent: none, or nothing to compare with.",
      }),
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
