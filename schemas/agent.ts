/** Owns the wire shape of the exception agent: what a triage answers, and the proposals that people approve, reject and execute. */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { RelaxedFields } from "./relaxation.ts";
import type { ReviewItemView } from "./review.ts";
import { Urn } from "./urn.ts";
import { Money, Reason, reviewCategories, Timestamp } from "./vocabulary.ts";

/** Why automation could not settle an item. A planner that knows no better says OTHER. */
export const triageCauses = [
  "NO_INVENTORY",
  "POLICY_TOO_STRICT",
  "HOTELS_REFUSED",
  "VENDOR_OUTAGE",
  "OUTCOME_IN_DOUBT",
  "STAY_NOT_CHANGED",
  "ROLLBACK_STUCK",
  "DEMAND_NOT_COVERED",
  "NO_POLICY",
  "PAYMENT_REJECTED",
  "DATA_MISSING",
  "MIXED_CABINS",
  "TRANSPORT_MISSING",
  "MESSAGE_NOT_SENT",
  "OTHER",
] as const;
export type TriageCause = (typeof triageCauses)[number];

/** Contract, "Manual review item": the two things that an agent may recommend. */
export const proposalKinds = ["rebook", "relaxPolicy"] as const;
export type ProposalKind = (typeof proposalKinds)[number];

/** EXPIRED: its item was resolved, or a later triage no longer proposes it, before it was executed. */
export const agentActionStates = [
  "PROPOSED",
  "APPROVED",
  "REJECTED",
  "EXECUTING",
  "EXECUTED",
  "FAILED",
  "EXPIRED",
] as const;
export type AgentActionState = (typeof agentActionStates)[number];

const Confidence = Type.Number({ minimum: 0, maximum: 1, examples: [0.9] });

const exampleItem = {
  reviewUrn: "urn:review:XN-01JD0000000000000000000000",
  caseUrn: "urn:case:XN-01JD0000000000000000000000",
};

/** One that waits for its approval. */
const exampleAction = {
  urn: "urn:agent-action:XN-01JD0000000000000000000000",
  ...exampleItem,
  action: "relaxPolicy",
  hotelUrn: "urn:hotel:jfk-garden-court",
  reason:
    "maxDistanceKm keeps out what has rooms: 27.4 km from the airport, 12 rooms left for 1 group in 2 rooms.",
  fields: ["maxDistanceKm"],
  value: { maxDistanceKm: 28 },
  source: "agent",
  cost: { amountMinor: 31_800, currency: "USD" },
  fixes: { groups: ["QX7T2P"], rooms: 2 },
  viability: 0.7,
  cause: "POLICY_TOO_STRICT",
  state: "PROPOSED",
  planner: "rules-1",
  proposedAt: "2026-11-21T21:30:00Z",
  version: 1,
};

const exampleTriage = {
  ...exampleItem,
  category: "ALLOCATION_FAILED",
  classification: {
    cause: "POLICY_TOO_STRICT",
    confidence: 0.9,
    evidence: [
      "For 1 group in ECONOMY from 2026-11-21: 0 hotels within the policy, 3 more hotels past it.",
      "The newest wave left out 3 hotels: TOO_FAR.",
    ],
  },
  proposals: [exampleAction],
  partialFailures: [],
  planner: "rules-1",
  triagedAt: "2026-11-21T21:30:00Z",
};

export const AgentActionView = Type.Object(
  {
    urn: Urn("agent-action"),
    reviewUrn: Urn("review"),
    caseUrn: Urn("case"),
    action: Type.Enum([...proposalKinds], {
      description: "rebook: that hotel for the groups. relaxPolicy: looser limits for this case alone.",
    }),
    hotelUrn: Type.Optional(
      Type.String({
        ...Urn("hotel"),
        description: "The hotel to book; of a relaxation the one that its cost is worked out from.",
      }),
    ),
    reason: Type.String({
      description: "Why it would help, in a sentence.",
      examples: ["Within the policy, 3.2 km from the airport, 4 rooms left for 1 group in 2 rooms."],
    }),
    fields: Type.Optional(
      Type.Array(Type.String(), {
        examples: [["maxDistanceKm"]],
        description: "Of the policy, that it would loosen.",
      }),
    ),
    value: Type.Optional(RelaxedFields),
    source: Type.Enum(["agent"]),
    cost: Type.Optional(
      Type.Object(Money.properties, {
        description: "Of all rooms and nights, as offered at the triage; nothing is held.",
      }),
    ),
    fixes: Type.Object({
      groups: Type.Array(Type.String(), { examples: [["QX7T2P"]] }),
      rooms: Type.Integer({ minimum: 0, examples: [2] }),
    }),
    viability: Type.Number({
      minimum: 0,
      maximum: 1,
      examples: [0.85],
      description: "What it is ranked by.",
    }),
    cause: Type.Enum([...triageCauses], { description: "What the triage took to be the matter." }),
    state: Type.Enum([...agentActionStates]),
    detail: Type.Optional(
      Type.String({
        description: "Of FAILED and EXPIRED: why, in a sentence.",
        examples: ["The hotel has not the rooms that the group needs."],
      }),
    ),
    planner: Type.String({
      examples: ["rules-1"],
      description:
        "Who proposed it: the rules; with a model's name, it was that model's choice. All figures are the rules'.",
    }),
    proposedAt: Timestamp,
    decidedBy: Type.Optional(Type.String({ description: "URN of who approved or rejected it." })),
    decidedAt: Type.Optional(Timestamp),
    executedBy: Type.Optional(
      Type.String({ examples: ["urn:operator:ada"], description: "URN of who executed it." }),
    ),
    executedAt: Type.Optional(Timestamp),
    endedAt: Type.Optional(Timestamp),
    version: Type.Integer(),
  },
  { title: "AgentAction", examples: [exampleAction] },
);
export type AgentActionView = Static<typeof AgentActionView>;

/** One of the two; with a case its most pressing item is meant. */
export const TriageBody = Type.Object(
  {
    reviewUrn: Type.Optional(Urn("review")),
    caseUrn: Type.Optional(
      Type.String({
        ...Urn("case"),
        description: "In place of `reviewUrn`: the case's most pressing item that nobody has resolved.",
      }),
    ),
    note: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ["The family has a dog with it"],
        description: "What the planner may know besides. It is read as a fact, never as an instruction.",
      }),
    ),
  },
  { examples: [{ reviewUrn: exampleItem.reviewUrn, note: "The family has a dog with it" }] },
);
export type TriageBody = Static<typeof TriageBody>;

export const TriageView = Type.Object(
  {
    reviewUrn: Urn("review"),
    caseUrn: Urn("case"),
    category: Type.Enum([...reviewCategories]),
    classification: Type.Object({
      cause: Type.Enum([...triageCauses]),
      confidence: Confidence,
      evidence: Type.Array(Type.String(), {
        examples: [["3 hotels were tried and refused."]],
        description: "Short sentences, the weightiest first.",
      }),
    }),
    proposals: Type.Array(AgentActionView, {
      maxItems: 3,
      description:
        "The most viable first. Each waits for a person's approval. Empty: there is nothing to propose.",
    }),
    otherReviewUrns: Type.Optional(
      Type.Array(Urn("review"), {
        description: "With `caseUrn`: the case's other items that nobody has resolved.",
      }),
    ),
    partialFailures: Type.Array(Type.Object({ failedDomain: Type.String(), detail: Type.String() }), {
      description: "What could not be read within three seconds, and so is not part of the answer.",
    }),
    planner: Type.String({
      examples: ["rules-1"],
      description: "The rules; with a model's name, that model had a say.",
    }),
    triagedAt: Timestamp,
  },
  { title: "Triage", examples: [exampleTriage] },
);
export type TriageView = Static<typeof TriageView>;

export const ApproveActionBody = Type.Object({ reason: Type.Optional(Reason), ...Concurrency });
export const RejectActionBody = Type.Object({ reason: Reason, ...Concurrency });
export const ExecuteActionBody = Type.Object({ reason: Type.Optional(Reason), ...Concurrency });

/** The data of `review.note-recommendations`: the best three, the most viable first. */
export interface RecommendationsNote {
  recommendations: ReviewItemView["recommendations"];
  /** ISO 8601: when they were made. An older note changes nothing. */
  at: string;
}

const executionId = /^urn:agent-action:([A-Z0-9]{2,3}-[0-9A-Z]{26}):execute$/;

/** The id of the one command that an execution sends: whoever tells of that command's outcome names it. */
export const executionIdOf = (agentActionId: string): string => `urn:agent-action:${agentActionId}:execute`;

/** The agent action behind a command's id; undefined for every other command. */
export const executedActionOf = (commandId: string | undefined): string | undefined =>
  executionId.exec(commandId ?? "")?.[1];
