/** Owns what an operator sees of a review item. */
import type { ReviewActionView, ReviewItemView } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import { type ReviewAction, stateOf } from "./action-state.ts";
import { reportViews } from "./reports.ts";
import type { ReviewItem } from "./state.ts";

/** @param now when it is shown: what its clock says */
export const reviewView = (id: string, item: ReviewItem, version: number, now: Date): ReviewItemView => ({
  urn: urn("review", id),
  caseUrn: urn("case", item.caseId),
  ...(item.kind === undefined ? {} : { kind: item.kind }),
  category: item.category,
  priority: item.priority,
  state: item.status,
  detail: item.detail,
  ...reportViews(item),
  attemptedHotels: item.attemptedHotels,
  affectedGroups: item.affectedGroups,
  recommendations: item.recommendations ?? [],
  ...(item.status === "OPEN" ? {} : { assignedTo: item.assignedTo }),
  origin: item.origin,
  createdAt: item.createdAt.toISOString(),
  ...clockOf(item, now),
  breaches: item.breaches,
  actions: (item.actions ?? []).map(actionView),
  ...(item.status === "RESOLVED"
    ? { resolution: item.resolution, resolvedAt: item.resolvedAt.toISOString() }
    : {}),
  version,
});

/** Nothing that changes by itself each second: what is read again would never be as it was (RFC 9110 §13.1.2). */
const clockOf = ({ status, dueAt }: ReviewItem, now: Date): Pick<ReviewItemView, "dueAt" | "overdue"> =>
  status === "RESOLVED" ? { overdue: false } : { dueAt: dueAt.toISOString(), overdue: dueAt <= now };

const actionView = (action: ReviewAction): ReviewActionView => {
  const { kind, by, at, reason, asked, groups } = action;
  const { into: _, ...shown } = asked;
  return {
    action: kind,
    state: stateOf(action),
    by: by.urn,
    at: at.toISOString(),
    reason,
    ...shown,
    groups: groups.map(({ waveId: _w, ...group }) => group),
  };
};
