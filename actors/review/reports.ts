/**
 * Owns what passengers report to the desk: one item of a group at a time takes all that it reports, until it is resolved. Their words
 * stand on the item alone: no event and no audit entry tells them.
 */
import { type PassengerReport, urgentProblems } from "../../schemas/passenger-problem.ts";
import { Problem } from "../../schemas/problems.ts";
import type { OpenReview, ReviewItemView } from "../../schemas/review.ts";
import { causedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { deadlineAfter } from "./sla.ts";
import type { ReviewEvent, ReviewItem } from "./state.ts";

export interface Report {
  reportId: string;
  at: Date;
  category: PassengerReport["category"];
  text: string;
  passengerUrn?: string;
}

export const fromPassengers = "passenger";
export const caseClosed = "CASE_CLOSED";

/** The newest that an item keeps: beyond them nobody reads. */
const reportsMax = 30;

/** @param occurrence how many items of the group's reports were resolved before */
export const openingOf = (
  { caseId, airport, kind, groupId, category }: PassengerReport,
  occurrence: number,
): OpenReview => ({
  caseId,
  airport,
  ...(kind === undefined ? {} : { kind }),
  category: "PARTIAL_FULFILLMENT",
  origin: fromPassengers,
  detail: `The passengers report a problem: ${category}.`,
  attemptedHotels: [],
  affectedGroups: [groupId],
  occurrence,
  ...(urgentProblems.has(category) ? { priority: "HIGH" } : {}),
});

/**
 * Heard twice it is one.
 * @throws Problem conflict/state: the item was resolved meanwhile, this is another one's
 */
export const addReport = (
  state: ReviewItem,
  { data, now, principal }: Received<PassengerReport>,
  sla: Parameters<typeof deadlineAfter>[0],
): ReviewEvent[] => {
  const { reportId, at, category, text, passengerUrn } = data;
  if (state.reports?.some((report) => report.reportId === reportId)) return [];
  if (state.status === "RESOLVED" && state.resolution !== caseClosed)
    throw new Problem("conflict/state", "The item was resolved before this was reported.", {
      state: "RESOLVED",
    });
  const report = {
    reportId,
    at: new Date(at),
    category,
    text,
    ...(passengerUrn === undefined ? {} : { passengerUrn }),
  };
  const reported: ReviewEvent = { type: "review.reported", data: { report } };
  if (state.status === "RESOLVED" || !urgentProblems.has(category) || state.priority === "HIGH")
    return [reported];
  const byClock = deadlineAfter(sla, "HIGH", now);
  const dueAt = new Date(Math.min(byClock.getTime(), state.dueAt.getTime()));
  const reason = `The passengers report a problem: ${category}.`;
  const raised = { priority: "HIGH" as const, dueAt };
  return [reported, { type: "review.escalated", data: { by: principal.urn, reason, at: now, raised } }];
};

export const evolveReported = (
  state: ReviewItem,
  { report }: Extract<ReviewEvent, { type: "review.reported" }>["data"],
): ReviewItem => ({ ...state, reports: [...(state.reports ?? []), report].slice(-reportsMax) });

/** As an operator is shown them. */
export const reportViews = ({ reports }: Pick<ReviewItem, "reports">): Pick<ReviewItemView, "reports"> =>
  reports === undefined
    ? {}
    : { reports: reports.map(({ reportId: _, at, ...report }) => ({ ...report, at: at.toISOString() })) };

/** Two that come at once may both find an item resolved that the other has opened anew. */
const triesMax = 5;

/** Finds the item that is on a desk, else opens the next one. A repeat finds what it has reported before. */
export const reportProblem =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const report = command.data as PassengerReport;
    const { caseId, groupId, reportId } = report;
    const items = await context.documents
      .tenant(command.tenant)
      .collection<Pick<ReviewItem, "status" | "reports"> & { resolution?: string }>("reviewItems")
      .find(
        { caseId, origin: fromPassengers, affectedGroups: groupId },
        { projection: { status: 1, resolution: 1, "reports.reportId": 1 }, hint: "case" },
      )
      .toArray();
    if (items.some(({ reports = [] }) => reports.some((one) => one.reportId === reportId)))
      return { ok: null };
    const isOver = ({ status, resolution }: (typeof items)[number]): boolean =>
      status === "RESOLVED" && resolution !== caseClosed;
    for (let occurrence = items.filter(isOver).length, tries = 1; ; occurrence++, tries++) {
      const id = causedId(command.id, "add-report", occurrence);
      const data = { ...report, occurrence };
      try {
        await dispatch("add-report", { ...command, id, name: "review.add-report", data });
        return { ok: null };
      } catch (error) {
        const isResolved = error instanceof Problem && error.members.state === "RESOLVED";
        if (!isResolved || tries === triesMax) throw error;
      }
    }
  };
