/** Owns what an operator sees of a review item. */
import type { ReviewItemView } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import type { ReviewItem } from "./state.ts";

export const reviewView = (id: string, item: ReviewItem, version: number): ReviewItemView => ({
  urn: urn("review", id),
  caseUrn: urn("case", item.caseId),
  ...(item.kind === undefined ? {} : { kind: item.kind }),
  category: item.category,
  priority: item.priority,
  state: item.status,
  detail: item.detail,
  attemptedHotels: item.attemptedHotels,
  affectedGroups: item.affectedGroups,
  recommendations: [],
  ...(item.status === "OPEN" ? {} : { assignedTo: item.assignedTo }),
  origin: item.origin,
  createdAt: item.createdAt.toISOString(),
  ...(item.status === "RESOLVED" ? {} : { dueAt: item.dueAt.toISOString() }),
  version,
});
