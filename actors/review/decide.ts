/** Owns the rules of manual review items: when one is opened, who may work it, and what a missed deadline does. */
import { decodeTime } from "ulid";
import type { PassengerReport } from "../../schemas/passenger-problem.ts";
import { Problem } from "../../schemas/problems.ts";
import { type OpenReview, type ReviewSla, resolutionMeans, reviewSlaDefault } from "../../schemas/review.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import { priorityOf } from "../../schemas/vocabulary.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { stateOf } from "./action-state.ts";
import {
  actionOf,
  beginAction,
  lostWithCase,
  noteAction,
  requireNotAnothers,
  type Targets,
} from "./actions.ts";
import { noteRecommendations } from "./recommendations.ts";
import { addReport, caseClosed as closedCase, openingOf } from "./reports.ts";
import { type GroupSettled, groupSettled, noteHoused } from "./settling.ts";
import { deadlineAfter, raised } from "./sla.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "./state.ts";

/**
 * The same case, category, origin, groups (in any order) and occurrence are the same item. The id's time is the
 * case's: when the item was opened first is nothing that a repeat would know.
 */
export const reviewIdOf = (data: OpenReview): string => {
  const { caseId, category, origin, affectedGroups, occurrence } = data;
  const seed = JSON.stringify([
    caseId,
    category,
    origin,
    [...affectedGroups].sort(),
    String(occurrence ?? ""),
  ]);
  const tenant = tenantOfId(caseId);
  return derivedId(tenant, seed, new Date(decodeTime(caseId.slice(tenant.length + 1))));
};

/** What is read for a decision. */
export interface ReviewTerms {
  /** The airline's. */
  sla: ReviewSla;
  /** Absent: not asked. */
  caseIsOpen?: boolean;
  /** Of an item about rooms that comes to the desks: its groups that have one by now. */
  housed?: readonly string[];
  /** Of an action: the groups that it is for, or why it would be refused. */
  targets?: Targets | Problem;
}

/** @throws Problem not-found/resource, auth/foreign-airport, conflict/state */
export const decideReview = (
  state: ReviewItem | undefined,
  command: Received,
  gathered?: unknown,
): ReviewEvent[] => {
  const terms = (gathered ?? { sla: reviewSlaDefault }) as ReviewTerms;
  const { sla, caseIsOpen, targets = [] } = terms;
  if (command.name === "review.open") return open(state, command as Received<OpenReview>, terms);
  if (command.name === "review.add-report")
    return report(state, command as Received<PassengerReport & { occurrence: number }>, terms);
  if (state === undefined) throw new Problem("not-found/resource", "No such review item.");
  requireAirport(command.principal, state.airport);
  if (caseIsOpen === false && command.principal.surface !== "system")
    throw new Problem("conflict/state", "The case is closed and takes no further change.", {
      state: "CLOSED",
    });
  if (actionOf(command) !== undefined) return beginAction(state, command, targets);
  switch (command.name) {
    case "review.claim":
      return claim(state, command);
    case "review.assign":
      return assign(state, command as Received<{ userUrn: string; reason: string }>);
    case "review.release":
      return release(state, command);
    case "review.escalate":
      return escalate(state, command as Received<{ reason: string }>, sla);
    case "review.hurry":
      return hurry(state, command as Received<{ reason: string; by: string }>, sla);
    case "review.resolve":
      return resolve(state, command as Received<{ resolution: string; reason: string }>);
    case "review.note-group-housed":
      return noteHoused(state, command as Received<GroupSettled>);
    case "review.note-manifest-come":
      return manifestCame(state, command);
    case "review.withdraw":
      return withdraw(state, command as Received<{ reason: string; changedAt: string }>, terms);
    case "review.reinstate":
      return reinstate(state, command as Received<{ changedAt: string }>, terms);
    case "review.note-action":
      return noteAction(state, command, {
        settle: (after, groupId) => groupSettled(after, command, groupId),
        reinstated: reinstated(state, command, sla),
      });
    case "review.note-recommendations":
      return noteRecommendations(state, command);
    case "review.breach-sla":
      return breachSla(state, command as Received<{ dueAt: string }>, terms);
    default:
      throw new Error(`review takes no command ${command.name}`);
  }
};

/** Once opened it is settled: a repeat neither opens a second nor reopens a resolved one. */
const open = (
  state: ReviewItem | undefined,
  command: Received<OpenReview>,
  { caseIsOpen, sla, housed }: ReviewTerms,
): ReviewEvent[] => {
  const { data, tenant, principal, now } = command;
  if (state !== undefined) return [];
  if (tenantOfId(data.caseId) !== tenant) {
    throw new Problem("auth/foreign-tenant", "The case belongs to another airline.");
  }
  const { occurrence: _occurrence, priority = priorityOf[data.category], ...rest } = data;
  const listKey = `${now.toISOString()}/${reviewIdOf(data)}`;
  const dueAt = deadlineAfter(sla, priority, now);
  const arisenAt = new Date(command.issuedAt);
  const opened: ReviewEvent = {
    type: "review.opened",
    data: { ...rest, priority, listKey, at: now, dueAt, arisenAt },
  };
  if (caseIsOpen !== false) return withHoused(undefined, [opened], command, housed);
  // It comes late: kept for the day that the case is opened again.
  const reason = "The case was closed before this was told.";
  const by = principal.urn;
  return [opened, { type: "review.resolved", data: { by, resolution: closedCase, reason, at: now } }];
};

/** The first report opens the item. */
const report = (
  state: ReviewItem | undefined,
  command: Received<PassengerReport & { occurrence: number }>,
  terms: ReviewTerms,
): ReviewEvent[] => {
  const { occurrence, ...reported } = command.data;
  const opening = openingOf(reported, occurrence);
  const opened = state === undefined ? open(state, { ...command, data: opening }, terms) : [];
  const item = opened.reduce<ReviewItem | undefined>(evolveReview, state) as ReviewItem;
  return [...opened, ...addReport(item, command, terms.sla)];
};

/** Who has got a room before the item came to the desks was told of when there was no item to hear it. */
const withHoused = (
  state: ReviewItem | undefined,
  events: ReviewEvent[],
  command: Received,
  housed: ReviewTerms["housed"] = [],
): ReviewEvent[] => {
  const all = [...events];
  for (const groupId of housed) {
    const after = all.reduce<ReviewItem | undefined>(evolveReview, state) as ReviewItem;
    all.push(...groupSettled(after, command, groupId));
  }
  return all;
};

const claim = (state: ReviewItem, command: Received): ReviewEvent[] => {
  const { principal, now } = command;
  if (state.status === "CLAIMED" && state.assignedTo === principal.urn) return [];
  requireNotAnothers(command, state);
  return [{ type: "review.claimed", data: { by: principal.urn, at: now } }];
};

/** A supervisor gives the item to somebody, also when another has claimed it. */
const assign = (
  state: ReviewItem,
  { data, principal, now }: Received<{ userUrn: string; reason: string }>,
): ReviewEvent[] => {
  const { userUrn, reason } = data;
  if (state.status === "CLAIMED" && state.assignedTo === userUrn) return [];
  if (state.status === "RESOLVED") throw wasResolved(state);
  return [{ type: "review.assigned", data: { to: userUrn, by: principal.urn, reason, at: now } }];
};

/** Whoever has claimed it leaves it to others. */
const release = (state: ReviewItem, command: Received): ReviewEvent[] => {
  if (state.status === "OPEN") return [];
  requireNotAnothers(command, state);
  return [{ type: "review.released", data: { by: command.principal.urn } }];
};

const wasResolved = ({ resolution }: Extract<ReviewItem, { status: "RESOLVED" }>): Problem =>
  new Problem("conflict/state", `This item was resolved as ${resolution}.`, { state: "RESOLVED" });

/**
 * One level up, by the clock of that level; nobody gets more time by it than they had. A deadline that has passed counts as missed,
 * as its timer would have found it: the new level has a clock of its own.
 */
const escalate = (
  state: ReviewItem,
  { data, principal, now }: Received<{ reason: string }>,
  sla: ReviewSla,
): ReviewEvent[] => {
  if (state.status === "RESOLVED") throw wasResolved(state);
  const said = { by: principal.urn, reason: data.reason, at: now };
  const priority = raised(state.priority);
  if (priority === undefined) return [{ type: "review.escalated", data: said }];
  if (now >= state.dueAt) {
    const late = { priority, dueAt: deadlineAfter(sla, priority, state.dueAt) };
    return [
      { type: "review.escalated", data: { ...said, raised: late } },
      { type: "review.sla-breached", data: { raised: late } },
    ];
  }
  const byClock = deadlineAfter(sla, priority, now);
  const dueAt = new Date(Math.min(byClock.getTime(), state.dueAt.getTime()));
  return [{ type: "review.escalated", data: { ...said, raised: { priority, dueAt } } }];
};

/** One level up at a partner's request; at the top there is nothing to raise, and nobody is called for it. */
const hurry = (
  state: ReviewItem,
  command: Received<{ reason: string; by: string }>,
  sla: ReviewSla,
): ReviewEvent[] => {
  if (state.status === "RESOLVED" || raised(state.priority) === undefined) return [];
  const { by, reason } = command.data;
  const said = { ...command, principal: { ...command.principal, urn: by } };
  return escalate(state, { ...said, data: { reason: `Priority was asked for: ${reason}.` } }, sla);
};

/**
 * Whoever resolves an item that nobody has claimed works it in that one step. That there is a room is not for a person to say while
 * an action seeks one: its refusal would find nobody.
 * @throws Problem conflict/state
 */
const resolve = (
  state: ReviewItem,
  command: Received<{ resolution: string; reason: string }>,
): ReviewEvent[] => {
  const { data, principal, now } = command;
  const { resolution, reason } = data;
  if (
    state.status === "RESOLVED" &&
    state.assignedTo === principal.urn &&
    state.resolution === resolution &&
    state.reason === reason
  ) {
    return [];
  }
  requireNotAnothers(command, state);
  const underWay = state.actions?.find((action) => stateOf(action) === "UNDER_WAY");
  if (underWay !== undefined && resolutionMeans(resolution) === "housed")
    throw new Problem("conflict/state", `${underWay.kind} is under way. Wait for its outcome.`, {
      state: "UNDER_WAY",
    });
  return [{ type: "review.resolved", data: { by: principal.urn, resolution, reason, at: now } }];
};

/**
 * A deadline that has been moved or met since its timer was set is nothing. The next one counts from the one that was missed,
 * not from now: a night without the service doesn't make anyone wait longer. An item that was opened while its case was being closed
 * has missed the closing.
 */
const breachSla = (
  state: ReviewItem,
  { data, principal, now }: Received<{ dueAt: string }>,
  { sla, caseIsOpen }: ReviewTerms,
): ReviewEvent[] => {
  if (state.status === "RESOLVED" || state.overdue) return [];
  if (state.dueAt.toISOString() !== data.dueAt || now < state.dueAt) return [];
  if (caseIsOpen === false) {
    const reason = "The case is closed.";
    return [
      { type: "review.resolved", data: { by: principal.urn, resolution: closedCase, reason, at: now } },
    ];
  }
  const priority = raised(state.priority);
  if (priority === undefined) return [{ type: "review.sla-breached", data: {} }];
  const dueAt = deadlineAfter(sla, priority, state.dueAt);
  return [{ type: "review.sla-breached", data: { raised: { priority, dueAt } } }];
};

/**
 * Closing and reopening may be told late, twice, or after what followed them: the newest that the item has heard of counts. For one
 * that was opened since, how the case stands now tells what has been overtaken.
 */
const isNewer = ({ caseChangedAt }: ReviewItem, changedAt: string): boolean =>
  caseChangedAt === undefined || new Date(changedAt) > caseChangedAt;

/** Who is stranded is known after all: nobody need ask. */
const manifestCame = (state: ReviewItem, { principal, now }: Received): ReviewEvent[] => {
  if (state.status === "RESOLVED") return [];
  const reason = "The airline has told who is stranded.";
  return [
    {
      type: "review.resolved",
      data: { by: principal.urn, resolution: "MANIFEST_RECEIVED", reason, at: now },
    },
  ];
};

/** The case was closed: nobody works on it. */
const withdraw = (
  state: ReviewItem,
  { data, principal, now }: Received<{ reason: string; changedAt: string }>,
  { caseIsOpen }: ReviewTerms,
): ReviewEvent[] => {
  if (caseIsOpen === true) return [];
  const { reason, changedAt } = data;
  if (state.status === "RESOLVED" || !isNewer(state, changedAt)) return [];
  const resolved = { by: principal.urn, resolution: closedCase, reason, at: now };
  return [
    { type: "review.case-noted", data: { changedAt: new Date(changedAt) } },
    { type: "review.resolved", data: resolved },
  ];
};

/** The case is open again: what the closing took off the desks is there as before, with a new deadline. */
const reinstate = (
  state: ReviewItem,
  command: Received<{ changedAt: string }>,
  { sla, caseIsOpen, housed }: ReviewTerms,
): ReviewEvent[] => {
  const { data } = command;
  if (caseIsOpen === false || !isNewer(state, data.changedAt)) return [];
  const noted: ReviewEvent = { type: "review.case-noted", data: { changedAt: new Date(data.changedAt) } };
  const closed = state.status === "RESOLVED" && state.resolution === closedCase;
  if (!closed) return [noted];
  const back = [noted, ...lostWithCase(state), reinstated(state, command, sla)];
  return withHoused(state, back, command, housed);
};

const reinstated = ({ priority }: ReviewItem, { now, issuedAt }: Received, sla: ReviewSla): ReviewEvent => ({
  type: "review.reinstated",
  data: { dueAt: deadlineAfter(sla, priority, now), arisenAt: new Date(issuedAt) },
});
