/** Owns counting what lies on the desks, case by case, for overviews. */
import type { CaseDesk } from "../../schemas/dashboard.ts";
import type { ReviewItem } from "./state.ts";

/** An item that nobody has resolved. */
export type OnDesk = Pick<ReviewItem, "caseId" | "category" | "priority" | "dueAt" | "overdue">;

/** One row for each case that has any. An item is overdue once its deadline has passed, raised or not. */
export const desksOf = (items: readonly OnDesk[], now: Date): CaseDesk[] => {
  const desks = new Map<string, CaseDesk>();
  for (const { caseId, category, priority, dueAt, overdue } of items) {
    const empty = { caseId, open: 0, high: 0, overdue: 0, categories: {}, priorities: {} };
    const desk: CaseDesk = desks.get(caseId) ?? empty;
    desks.set(caseId, desk);
    desk.open += 1;
    if (priority === "HIGH") desk.high += 1;
    if (overdue || dueAt <= now) desk.overdue += 1;
    desk.categories[category] = (desk.categories[category] ?? 0) + 1;
    desk.priorities[priority] = (desk.priorities[priority] ?? 0) + 1;
  }
  return [...desks.values()];
};
