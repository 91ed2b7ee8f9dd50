/** Owns what a manual review item is, and how its events change it. */
import type { OpenReview, ReviewItemView } from "../../schemas/review.ts";
import type { Priority } from "../../schemas/vocabulary.ts";
import { type ActionEvent, evolveAction, type ReviewAction } from "./action-state.ts";
import type { RecommendationEvent } from "./recommendations.ts";
import { evolveReported, type Report } from "./reports.ts";

/** What an item says of its cause. */
type Opening = Required<Omit<OpenReview, "occurrence" | "kind">> & Pick<OpenReview, "kind">;

interface Item extends Opening {
  createdAt: Date;
  /** Newest first along it: when the item was opened, then its id. Never changes, unlike priority and status. */
  listKey: string;
  /** When the SLA of its priority is breached; stays in the past once the highest priority's was. */
  dueAt: Date;
  /** When its cause arose, or it was put back: a room that a group had before is none. Absent: not noted at the time. */
  arisenAt?: Date;
  /** When the case was closed or opened last, as far as the item has heard. */
  caseChangedAt?: Date;
  /** Affected groups that have got a room since. */
  housedGroups: string[];
  /** Deadlines missed so far. */
  breaches: number;
  /** The highest priority's deadline has passed: there is nothing left to raise. */
  overdue: boolean;
  /** What its claimants have done about it, in order. Absent: nothing yet. */
  actions?: ReviewAction[];
  /** What passengers say of it, oldest first. Absent: it was not they who raised it. */
  reports?: Report[];
  /** What the agent proposes, the most viable first. Absent: nothing since the item came to the desks. */
  recommendations?: ReviewItemView["recommendations"];
  /** When it did, or the item left the desks or came back: what was proposed before that is over. */
  recommendedAt?: Date;
}

export type ReviewItem =
  | (Item & { status: "OPEN" })
  | (Item & { status: "CLAIMED"; assignedTo: string; claimedAt: Date })
  | (Item & {
      status: "RESOLVED";
      assignedTo: string;
      resolution: string;
      reason: string;
      resolvedAt: Date;
    });

export type ReviewEvent =
  | {
      type: "review.opened";
      data: Opening & { listKey: string; at: Date; dueAt: Date; arisenAt: Date };
    }
  | { type: "review.claimed"; data: { by: string; at: Date } }
  | { type: "review.assigned"; data: { to: string; by: string; reason: string; at: Date } }
  | { type: "review.released"; data: { by: string } }
  | ActionEvent
  | RecommendationEvent
  | { type: "review.resolved"; data: { by: string; resolution: string; reason: string; at: Date } }
  | { type: "review.case-noted"; data: { changedAt: Date } }
  | { type: "review.reinstated"; data: { dueAt: Date; arisenAt: Date } }
  | { type: "review.reported"; data: { report: Report } }
  | { type: "review.group-housed"; data: { groupId: string } }
  /** Raised by a person; without `raised` there was nothing above it, and its deadline stays. */
  | { type: "review.escalated"; data: { by: string; reason: string; at: Date; raised?: Raised } }
  /** Without `raised`: the highest priority's deadline was missed. */
  | { type: "review.sla-breached"; data: { raised?: Raised } };

interface Raised {
  priority: Priority;
  dueAt: Date;
}

/** On nobody's desk, as it was before a claim or a resolution. */
const unassigned = (state: ReviewItem): ReviewItem => {
  const gone = new Set(["assignedTo", "claimedAt", "resolution", "reason", "resolvedAt"]);
  const kept = Object.fromEntries(Object.entries(state).filter(([name]) => !gone.has(name)));
  return { ...(kept as unknown as Item), status: "OPEN" };
};

export const evolveReview = (state: ReviewItem | undefined, event: ReviewEvent): ReviewItem => {
  if (event.type === "review.opened") {
    const { at, ...item } = event.data;
    return { status: "OPEN", ...item, createdAt: at, housedGroups: [], breaches: 0, overdue: false };
  }
  if (state === undefined) throw new Error(`${event.type} before review.opened`);
  switch (event.type) {
    case "review.claimed": {
      const { by, at } = event.data;
      return { ...state, status: "CLAIMED", assignedTo: by, claimedAt: at };
    }
    case "review.assigned": {
      const { to, at } = event.data;
      return { ...state, status: "CLAIMED", assignedTo: to, claimedAt: at };
    }
    case "review.released":
      return unassigned(state);
    case "review.action-begun":
    case "review.action-noted":
      return evolveAction(state, event);
    case "review.recommended":
      return { ...state, recommendations: event.data.recommendations, recommendedAt: event.data.at };
    case "review.case-noted":
      return { ...state, caseChangedAt: event.data.changedAt };
    case "review.reinstated": {
      if (state.status !== "RESOLVED") return state;
      const { arisenAt } = event.data;
      const recommendedAt = new Date(Math.max(arisenAt.getTime(), state.resolvedAt.getTime()));
      return { ...unassigned(state), ...event.data, overdue: false, recommendedAt };
    }
    case "review.reported":
      return evolveReported(state, event.data);
    case "review.group-housed":
      return { ...state, housedGroups: [...state.housedGroups, event.data.groupId] };
    case "review.resolved": {
      const { by, resolution, reason, at } = event.data;
      const { recommendations: _, ...rest } = state;
      const ended = { assignedTo: by, resolution, reason, resolvedAt: at, recommendedAt: at };
      return { ...rest, status: "RESOLVED", ...ended };
    }
    case "review.escalated":
      return { ...state, ...event.data.raised };
    case "review.sla-breached": {
      const { raised } = event.data;
      return { ...state, breaches: state.breaches + 1, ...(raised ?? { overdue: true }) };
    }
  }
};
