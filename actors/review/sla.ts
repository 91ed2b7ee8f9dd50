/** Owns how long an item may stay unresolved, by priority (contract, "Limits", whose example figures are the defaults). */
import type { Priority } from "../../schemas/vocabulary.ts";

const minuteMs = 60_000;

export const slaMs: Readonly<Record<Priority, number>> = {
  HIGH: 15 * minuteMs,
  MEDIUM: 60 * minuteMs,
  LOW: 240 * minuteMs,
};

export const deadlineAfter = (priority: Priority, start: Date): Date =>
  new Date(start.getTime() + slaMs[priority]);

/** One level up; undefined above HIGH. */
export const raised = (priority: Priority): Priority | undefined =>
  ({ LOW: "MEDIUM", MEDIUM: "HIGH", HIGH: undefined })[priority] as Priority | undefined;
