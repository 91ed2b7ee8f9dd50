/** Owns the clock of an item: how long it may stay unresolved, by its airline's minutes per priority. */
import type { ReviewSla } from "../../schemas/review.ts";
import type { Priority } from "../../schemas/vocabulary.ts";

const minuteMs = 60_000;

export const deadlineAfter = (sla: ReviewSla, priority: Priority, start: Date): Date =>
  new Date(start.getTime() + sla[priority] * minuteMs);

/** One level up; undefined above HIGH. */
export const raised = (priority: Priority): Priority | undefined =>
  ({ LOW: "MEDIUM", MEDIUM: "HIGH", HIGH: undefined })[priority] as Priority | undefined;
