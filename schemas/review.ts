/** Owns the wire shape of manual review items (contract, "Manual review item"). */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { CaseKind } from "./drill.ts";
import { PageQuery } from "./page.ts";
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

export const ReviewItemView = Type.Object(
  {
    urn: Urn("review"),
    caseUrn: Urn("case"),
    kind: Type.Optional(CaseKind),
    category: Type.Enum([...reviewCategories]),
    priority: Type.Enum([...priorities]),
    state: Type.Enum([...reviewStates]),
    detail: Type.Optional(Type.String({ description: "What went wrong, in a sentence." })),
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
      }),
    ),
    assignedTo: Type.Optional(Type.String({ description: "User URN." })),
    origin: Type.Optional(Type.String({ description: "The step or person that raised it." })),
    createdAt: Timestamp,
    dueAt: Type.Optional(Type.String({ format: "date-time", description: "When its SLA is breached." })),
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
  ...PageQuery,
});

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
