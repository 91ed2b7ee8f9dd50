/** Owns what a manual review item is, and how its events change it. */
import type { OpenReview } from "../../schemas/review.ts";
import type { Priority } from "../../schemas/vocabulary.ts";
import { deadlineAfter } from "./sla.ts";

/** What an item says of its cause. */
type Opening = Required<Omit<OpenReview, "occurrence" | "kind">> & Pick<OpenReview, "kind">;

interface Item extends Opening {
  createdAt: Date;
  /** Newest first along it: when the item was opened, then its id. Never changes, unlike priority and status. */
  listKey: string;
  /** When the SLA of its priority is breached; stays in the past once the highest priority's was. */
  dueAt: Date;
  /** When the case was closed or opened last, as far as the item has heard. */
  caseChangedAt?: Date;
  /** Affected groups that have got a room since. */
  housedGroups: string[];
  /** Deadlines missed so far. */
  breaches: number;
  /** The highest priority's deadline has passed: there is nothing left to raise. */
  overdue: boolean;
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
      data: Opening & { listKey: string; at: Date };
    }
  | { type: "review.claimed"; data: { by: string; at: Date } }
  | { type: "review.resolved"; data: { by: string; resolution: string; reason: string; at: Date } }
  | { type: "review.case-noted"; data: { changedAt: Date } }
  | { type: "review.reinstated"; data: { at: Date } }
  | { type: "review.group-housed"; data: { groupId: string } }
  | { type: "review.sla-breached"; data: { raisedTo: Priority | undefined } };

const reinstated = (state: ReviewItem, at: Date): ReviewItem => {
  if (state.status !== "RESOLVED") return state;
  const { status: _s, assignedTo: _a, resolution: _r, reason: _w, resolvedAt: _t, ...item } = state;
  return { ...item, status: "OPEN", dueAt: deadlineAfter(item.priority, at), overdue: false };
};

export const evolveReview = (state: ReviewItem | undefined, event: ReviewEvent): ReviewItem => {
  if (event.type === "review.opened") {
    const { at, ...item } = event.data;
    const dueAt = deadlineAfter(item.priority, at);
    return { status: "OPEN", ...item, createdAt: at, dueAt, housedGroups: [], breaches: 0, overdue: false };
  }
  if (state === undefined) throw new Error(`${event.type} before review.opened`);
  switch (event.type) {
    case "review.claimed": {
      const { by, at } = event.data;
      return { ...state, status: "CLAIMED", assignedTo: by, claimedAt: at };
    }
    case "review.case-noted":
      return { ...state, caseChangedAt: event.data.changedAt };
    case "review.reinstated":
      return reinstated(state, event.data.at);
    case "review.group-housed":
      return { ...state, housedGroups: [...state.housedGroups, event.data.groupId] };
    case "review.resolved": {
      const { by, resolution, reason, at } = event.data;
      return { ...state, status: "RESOLVED", assignedTo: by, resolution, reason, resolvedAt: at };
    }
    case "review.sla-breached": {
      const { raisedTo } = event.data;
      const breaches = state.breaches + 1;
      if (raisedTo === undefined) return { ...state, breaches, overdue: true };
      // From the deadline that was missed, not from now: a night without the service doesn't make anyone wait longer.
      return { ...state, breaches, priority: raisedTo, dueAt: deadlineAfter(raisedTo, state.dueAt) };
    }
  }
};
