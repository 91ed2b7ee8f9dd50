/** Wires the review actor: what automation could not settle, until a person has. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import type { PassengerReport } from "../../schemas/passenger-problem.ts";
import { Problem } from "../../schemas/problems.ts";
import { type OpenReview, type ReviewSettled, reviewSlaDefault } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { AuditNote, Change, Decider, Outgoing, Received, Timer } from "../runtime/decider.ts";
import type { Actor, ActorContext, AnyDecider, CommandFunction, QueryFunction } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import { rehearse } from "../runtime/rehearse.ts";
import { loadedOf } from "../runtime/store.ts";
import { type ReviewAction, stateOf } from "./action-state.ts";
import { actionOf, actionVerbs, gatherTargets } from "./actions.ts";
import { carryOut } from "./carry-out.ts";
import { decideReview, type ReviewTerms, reviewIdOf } from "./decide.ts";
import { reviewIndexes, reviewQueries } from "./queries.ts";
import { openingOf, reportProblem } from "./reports.ts";
import { type GroupSettled, isAboutRooms } from "./settling.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "./state.ts";
import { reviewView } from "./view.ts";

/** What is opened has its id from its cause. */
const idNamedBy = ({ name, data }: Pick<Command, "name" | "data">): string | undefined => {
  if (name === "review.open") return reviewIdOf(data as OpenReview);
  if (name !== "review.add-report") return undefined;
  const { occurrence, ...report } = data as PassengerReport & { occurrence: number };
  return reviewIdOf(openingOf(report, occurrence));
};

export const reviewItems: Decider<ReviewItem, ReviewEvent> = {
  actor: "review",
  kind: "review",
  collection: "reviewItems",
  schemaVersion: 1,
  commands: [
    "open",
    "add-report",
    "claim",
    "assign",
    "release",
    "escalate",
    "hurry",
    "resolve",
    ...Object.keys(actionVerbs),
    "note-action",
    "note-group-housed",
    "note-manifest-come",
    "withdraw",
    "reinstate",
    "note-recommendations",
    "breach-sla",
  ],
  indexes: reviewIndexes,
  // What the agent proposes is no change that an operator would have to look at again before acting.
  technical: new Set(["review.recommended"]),
  locate: (command) => {
    const id = idNamedBy(command);
    return id === undefined ? undefined : { _id: id };
  },
  create: idNamedBy,
  decide: decideReview,
  evolve: evolveReview,
  timers: (item) => timersOf(item),
  outgoing: (event, item, { principal }, id) => [
    ...(isToldOf(event) ? announced(event, item, id) : []),
    ...(event.type === "review.resolved" && principal.surface !== "system" ? [settled(event, item, id)] : []),
    ...(event.type === "review.action-begun" ? [toCarryOut(id, event.data.actionId)] : []),
  ],
  view: (item, { id, version, command }) => reviewView(id, item, version, new Date(command.issuedAt)),
  audit: (change) => auditNote(change),
};

/** What changes nothing that anybody sees is told to nobody. */
const isToldOf = (event: ReviewEvent): event is Exclude<ReviewEvent, { type: "review.case-noted" }> =>
  event.type !== "review.case-noted" &&
  !(event.type === "review.recommended" && event.data.unchanged === true);

/** A person's resolution sends the case back to its flow (contract, "Manual review item"). */
const settled = (
  { data: { resolution } }: Extract<ReviewEvent, { type: "review.resolved" }>,
  { caseId, category, origin, affectedGroups }: ReviewItem,
  reviewId: string,
): Outgoing => {
  const data: ReviewSettled = { reviewId, category, origin, affectedGroups, resolution };
  return { to: "command", name: "case.note-review", entity: caseId, data };
};

const toCarryOut = (reviewId: string, actionId: string): Outgoing => ({
  to: "command",
  name: "review.carry-out",
  entity: reviewId,
  data: { actionId },
});

const timersOf = (item: ReviewItem): Timer[] =>
  item.status === "RESOLVED" || item.overdue ? [] : [{ name: "breach-sla", dueAt: item.dueAt }];

/** What every event says of its item; the rest is the event's own. */
const announced = (
  event: Exclude<ReviewEvent, { type: "review.case-noted" }>,
  item: ReviewItem,
  id: string,
): Outgoing[] => {
  const { caseId, airport, kind, category, priority, origin, affectedGroups } = item;
  const own = () => {
    switch (event.type) {
      case "review.opened":
      case "review.reinstated":
        return { detail: item.detail, dueAt: item.dueAt.toISOString() };
      case "review.claimed":
        return { assignedTo: event.data.by };
      case "review.assigned":
        return { assignedTo: event.data.to, assignedBy: event.data.by };
      case "review.released":
        return { releasedBy: event.data.by };
      case "review.action-begun":
        return { action: event.data.kind, by: event.data.by.urn };
      case "review.action-noted":
        return actionTold(actionNamed(item, event.data.actionId), event.data.groups);
      case "review.recommended":
        return { recommendations: event.data.recommendations.length };
      case "review.escalated":
        return {
          raised: event.data.raised !== undefined,
          escalatedBy: event.data.by,
          dueAt: item.dueAt.toISOString(),
        };
      case "review.resolved":
        return { resolution: event.data.resolution, reason: event.data.reason, resolvedBy: event.data.by };
      case "review.reported":
        return { problem: event.data.report.category };
      case "review.group-housed":
        return { groupId: event.data.groupId };
      case "review.sla-breached":
        return { breaches: item.breaches, raised: event.data.raised !== undefined };
    }
  };
  const data = {
    reviewUrn: urn("review", id),
    airport,
    ...(kind === undefined ? {} : { kind }),
    category,
    priority,
    origin,
    affectedGroups,
    ...own(),
  };
  return [{ to: "internal", type: event.type, id, caseId, data }];
};

/** What has been told of its groups just now, and how the action as a whole stands after it. */
const actionTold = (action: ReviewAction | undefined, groups: ReviewAction["groups"]) => ({
  action: action?.kind,
  groups,
  ...(action === undefined ? {} : { state: stateOf(action) }),
  ...(action?.commandId === undefined ? {} : { commandId: action.commandId }),
});

const actionNamed = ({ actions = [] }: ReviewItem, actionId: string) =>
  actions.find((action) => action.actionId === actionId);

/** What an action asked for, and how it went so far. */
const actionNote = (action: ReviewAction | undefined) =>
  action === undefined
    ? {}
    : { action: { kind: action.kind, ...action.asked, groups: action.groups, state: stateOf(action) } };

/** Null where an item has only heard of its case, or of proposals, which have a trail of their own. */
const auditNote = ({ command, before, after, events }: Change<ReviewItem, ReviewEvent>): AuditNote | null => {
  const { caseId, category, priority, origin, affectedGroups, detail } = after;
  const event = events.find(({ type }) => type !== "review.case-noted") ?? events[0];
  if (event?.type === "review.case-noted" || event?.type === "review.recommended") return null;
  const progress = (item: ReviewItem | undefined) =>
    item && {
      state: item.status,
      priority: item.priority,
      ...(item.status === "OPEN" ? {} : { assignedTo: item.assignedTo }),
      ...(item.status === "RESOLVED" ? { resolution: item.resolution } : {}),
    };
  if (event?.type === "review.opened") {
    const opened = { state: after.status, category, priority, origin, affectedGroups, detail };
    return { action: "review.open", caseId, before: null, after: opened };
  }
  const did =
    event?.type === "review.action-begun" || event?.type === "review.action-noted"
      ? actionNote(actionNamed(after, event.data.actionId))
      : event?.type === "review.reported"
        ? { problem: event.data.report.category }
        : {};
  return {
    action: event?.type === "review.resolved" ? "review.resolve" : command.name,
    caseId,
    ...(event?.type === "review.sla-breached" ? { reason: "Its deadline passed." } : {}),
    before: progress(before),
    after: { ...progress(after), ...did },
  };
};

/** Which of a case's items are meant. */
type Wanted = (data: unknown) => Document;

const onDesk = { status: { $in: ["OPEN", "CLAIMED"] } };

/** Sends a command to each of these items of the case; a repeat finds what is done and does the rest. */
const toItems =
  (context: ActorContext, verb: string, wanted: Wanted): CommandFunction =>
  async (command, dispatch) => {
    const found = await context.documents
      .tenant(command.tenant)
      .collection<Document & { _id: string }>("reviewItems")
      .find({ caseId: command.entity, ...wanted(command.data) }, { projection: { _id: 1 }, hint: "case" })
      .toArray();
    for (const { _id } of found) {
      const id = causedId(command.id, verb, _id);
      await dispatch(verb, { ...command, id, name: `review.${verb}`, entity: _id });
    }
    return { ok: null };
  };

/** What the service does itself only to an item of a case that is open, or of one that is closed. */
const asksOfCase = new Set([
  "review.open",
  "review.add-report",
  "review.withdraw",
  "review.reinstate",
  "review.breach-sla",
]);

/**
 * The airline's clock, whether the case still takes items and work on them, who has a room meanwhile, and whether an action can be
 * carried out.
 */
const gatherTerms = async (
  context: ActorContext,
  command: Received,
  state: ReviewItem | undefined,
): Promise<ReviewTerms> => {
  const sla = context.tenants.byCode(command.tenant)?.reviewSla ?? reviewSlaDefault;
  const caseId = state?.caseId ?? (command.data as Partial<OpenReview>).caseId;
  const needed = asksOfCase.has(command.name) || command.principal.surface !== "system";
  if (!needed || caseId === undefined) return { sla };
  const caseIsOpen = !(await context.call<boolean>("case.is-closed", { ...command, params: { caseId } }));
  if (!caseIsOpen) return { sla, caseIsOpen };
  const coming = comingToDesks(command, state);
  if (coming !== undefined && isAboutRooms(coming)) {
    const params = { caseId, groupIds: coming.affectedGroups };
    return {
      sla,
      caseIsOpen,
      housed: await context.call<string[]>("case.housed-groups", { ...command, params }),
    };
  }
  if (state === undefined || actionOf(command) === undefined) return { sla, caseIsOpen };
  return { sla, caseIsOpen, targets: await gatherTargets(context, command, state) };
};

/** What would be opened, or put back. */
const comingToDesks = (
  { name, data }: Received,
  state: ReviewItem | undefined,
): Pick<ReviewItem, "category" | "origin" | "affectedGroups"> | undefined => {
  if (name === "review.open") return state === undefined ? (data as OpenReview) : undefined;
  return name === "review.reinstate" && state?.status === "RESOLVED" && state.resolution === "CASE_CLOSED"
    ? state
    : undefined;
};

/** A query `review.action-of { reviewUrn, commandId }`: how the action stands that the command began; `action` null: it began none. */
const actionBegunBy =
  (context: ActorContext): QueryFunction =>
  async ({ tenant, principal, params }) => {
    const { reviewUrn, commandId } = params as { reviewUrn: string; commandId: string };
    const found = await context.documents
      .tenant(tenant)
      .collection<Document>(reviewItems.collection)
      .findOne({ _id: idOf(reviewUrn) as never });
    if (found === null) throw new Problem("not-found/resource", "No such review item.");
    const { state: item } = loadedOf<ReviewItem>(found, reviewItems);
    requireAirport(principal, item.airport);
    const action = item.actions?.find((one) => one.commandId === commandId);
    return {
      itemState: item.status,
      action: action === undefined ? null : { state: stateOf(action), groups: action.groups },
    };
  };

export const reviewActor = (context: ActorContext): Actor => {
  const decider: AnyDecider = {
    ...reviewItems,
    gather: (command: Received, state: ReviewItem | undefined) => gatherTerms(context, command, state),
  };
  return {
    name: "review",
    deciders: [decider],
    commands: {
      "carry-out": carryOut(context),
      "note-housed": toItems(context, "note-group-housed", (data) => ({
        ...onDesk,
        affectedGroups: (data as GroupSettled).groupId,
      })),
      // Of the items that the feed's cases have, the one about nobody yet.
      "note-manifest": toItems(context, "note-manifest-come", () => ({
        ...onDesk,
        origin: "flight-feed",
        category: "DATA_INCOMPLETE",
        affectedGroups: [],
      })),
      "hurry-case": toItems(context, "hurry", (data) => ({
        ...onDesk,
        affectedGroups: { $in: (data as { groupIds: string[] }).groupIds },
      })),
      "report-problem": reportProblem(context),
      "close-case": toItems(context, "withdraw", () => onDesk),
      // Those on a desk, too: a closing that is told late must not take them away.
      "reopen-case": toItems(context, "reinstate", () => ({ $or: [onDesk, { resolution: "CASE_CLOSED" }] })),
    },
    queries: {
      ...reviewQueries(context),
      "action-of": actionBegunBy(context),
      rehearse: rehearse(context, decider),
    },
  };
};
