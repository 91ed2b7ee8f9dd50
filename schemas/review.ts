/** Owns the wire shape of manual review items (contract, "Manual review item"). */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { CaseKind } from "./drill.ts";
import { PageQuery } from "./page.ts";
import { problemCategories } from "./passenger-problem.ts";
import { RelaxedFields } from "./relaxation.ts";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  type Priority,
  priorities,
  type ReviewCategory,
  reviewCategories,
  Timestamp,
} from "./vocabulary.ts";

/** Escalation raises the priority; it is no state. */
export const reviewStates = ["OPEN", "CLAIMED", "RESOLVED"] as const;
export type ReviewState = (typeof reviewStates)[number];

/** What a person may do about an item that they have claimed (contract, "Manual review item"). */
export const reviewActions = ["REBOOK", "RELAX", "SPLIT", "OVERRIDE"] as const;
export type ReviewActionKind = (typeof reviewActions)[number];

/** DONE: a room is booked, or a place found. FAILED: none was. REFUSED: nothing was tried. */
export const actionOutcomes = ["DONE", "FAILED", "REFUSED"] as const;
export type ActionOutcome = (typeof actionOutcomes)[number];

const ReviewActionView = Type.Object({
  action: Type.Enum([...reviewActions]),
  state: Type.Enum(["UNDER_WAY", "DONE", "PARTIAL", "FAILED"], {
    description: "PARTIAL: for some of its groups. After a failure the item is still its claimant's.",
  }),
  by: Type.String({ description: "URN of who did it." }),
  at: Timestamp,
  reason: Type.String(),
  hotelUrn: Type.Optional(Urn("hotel")),
  providerOfferId: Type.Optional(Type.String()),
  fields: Type.Optional(RelaxedFields),
  groups: Type.Array(
    Type.Object({
      groupId: Type.String(),
      outcome: Type.Optional(Type.Enum([...actionOutcomes], { description: "Absent: under way." })),
      detail: Type.Optional(Type.String({ description: "Why not, or how, in a sentence." })),
    }),
  ),
});
export type ReviewActionView = Static<typeof ReviewActionView>;

export const ReviewItemView = Type.Object(
  {
    urn: Urn("review"),
    caseUrn: Urn("case"),
    kind: Type.Optional(CaseKind),
    category: Type.Enum([...reviewCategories]),
    priority: Type.Enum([...priorities]),
    state: Type.Enum([...reviewStates]),
    detail: Type.Optional(Type.String({ description: "What went wrong, in a sentence." })),
    reports: Type.Optional(
      Type.Array(
        Type.Object({
          category: Type.Enum([...problemCategories]),
          text: Type.String({
            examples: ["The desk has no room under our name."],
            description: "As passengers have written it: show it as text alone.",
          }),
          passengerUrn: Type.Optional(Urn("passenger")),
          at: Timestamp,
        }),
        { description: "What passengers say, oldest first: of items that they have raised." },
      ),
    ),
    attemptedHotels: Type.Array(
      Type.Object({
        hotelUrn: Urn("hotel"),
        reason: Type.String(),
        providerError: Type.Optional(Type.String()),
      }),
    ),
    affectedGroups: Type.Array(Type.String()),
    recommendations: Type.Array(
      Type.Object({
        action: Type.Enum(["rebook", "relaxPolicy"]),
        hotelUrn: Type.Optional(Urn("hotel")),
        reason: Type.String(),
        fields: Type.Optional(Type.Array(Type.String())),
        value: Type.Optional(Type.Unknown()),
        source: Type.Enum(["agent"]),
        agentActionUrn: Type.Optional(
          Type.String({
            ...Urn("agent-action"),
            description: "What a supervisor approves, rejects, executes.",
          }),
        ),
      }),
      { description: "The agent's best three, the most viable first." },
    ),
    assignedTo: Type.Optional(Type.String({ description: "User URN." })),
    origin: Type.Optional(Type.String({ description: "The step or person that raised it." })),
    createdAt: Timestamp,
    dueAt: Type.Optional(
      Type.String({
        format: "date-time",
        description: "When its SLA is breached: what a clock counts down to.",
      }),
    ),
    overdue: Type.Boolean({ description: "Its deadline has passed." }),
    breaches: Type.Integer({ minimum: 0, description: "Deadlines missed so far." }),
    actions: Type.Array(ReviewActionView, {
      description: "What its claimants have done, in order, and how it went.",
    }),
    resolution: Type.Optional(Type.String()),
    resolvedAt: Type.Optional(Timestamp),
    version: Type.Optional(Type.Integer()),
  },
  { title: "ReviewItem" },
);
export type ReviewItemView = Static<typeof ReviewItemView>;

export const ReviewListQuery = Type.Object({
  state: Type.Optional(Type.Enum([...reviewStates])),
  category: Type.Optional(Type.Enum([...reviewCategories])),
  priority: Type.Optional(Type.Enum([...priorities])),
  airport: Type.Optional(AirportCode),
  caseUrn: Type.Optional(Urn("case")),
  assignedTo: Type.Optional(
    Type.String({
      pattern: "^(me|urn:.{3,290})$",
      description: "URN of whoever has claimed or resolved them; `me` is whoever asks.",
      examples: ["me"],
    }),
  ),
  overdue: Type.Optional(
    Type.Enum(["true", "false"], { description: "Whether the deadline of an unresolved item has passed." }),
  ),
  ...PageQuery,
});

/** How an action went for some of its groups: the data of `review.note-action`. */
export interface ActionNote {
  actionId: string;
  groups: { groupId: string; outcome: ActionOutcome; detail?: string }[];
}

/** Which action of which item something is done for; it hears how it went. */
export interface ForReview {
  reviewId: string;
  actionId: string;
}

/** Minutes that an item of each priority may stay unresolved. */
export type ReviewSla = Record<Priority, number>;

/** Contract, "Limits": the example's figures. */
export const reviewSlaDefault: ReviewSla = { HIGH: 15, MEDIUM: 60, LOW: 240 };

export const ResolveReviewBody = Type.Object({
  resolution: Type.String({ pattern: "^[A-Z][A-Z0-9_]{1,39}$", examples: ["REBOOKED"] }),
  reason: Type.String({ minLength: 1, maxLength: 500, description: "Why; kept in the audit trail." }),
  ...Concurrency,
});

/** What the automation says when it hands something over to a person: the data of `review.open`. */
export interface OpenReview {
  caseId: string;
  /** The case's airport. */
  airport: string;
  /** Set: of a drill or shadow case. */
  kind?: CaseKind;
  category: ReviewCategory;
  /** The step or person that raises it; with the case, category and groups it makes the item the same one again. */
  origin: string;
  /** What went wrong, in a sentence. No contact details. */
  detail: string;
  attemptedHotels: ReviewItemView["attemptedHotels"];
  affectedGroups: string[];
  /** Default: that of the category. */
  priority?: Priority;
  /** Tells a new item from a resolved one with the same cause. */
  occurrence?: string | number;
}

/** What a resolved item tells its case: the data of `case.note-review`. */
export interface ReviewSettled {
  reviewId: string;
  category: ReviewCategory;
  origin: string;
  affectedGroups: string[];
  resolution: string;
}

/**
 * What a resolution says of the groups without a room. REBOOKED: one was booked by hand. SETTLED, DISMISSED: they need none
 * any more. RETRIED: automation tries again. Any other says that a person has seen to it, in words of their own.
 */
export const resolutionMeans = (resolution: string): "housed" | "settled" | "retried" | "other" => {
  switch (resolution) {
    case "REBOOKED":
      return "housed";
    case "SETTLED":
    case "DISMISSED":
      return "settled";
    case "RETRIED":
      return "retried";
    default:
      return "other";
  }
};
