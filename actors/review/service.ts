/** Wires the review actor: what automation could not settle, until a person has. */
import type { Document } from "mongodb";
import type { OpenReview, ReviewSettled } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { AuditNote, Change, Decider, Outgoing, Timer } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { decideReview, reviewIdOf } from "./decide.ts";
import { reviewIndexes, reviewQueries } from "./queries.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "./state.ts";
import { reviewView } from "./view.ts";

export const reviewItems: Decider<ReviewItem, ReviewEvent> = {
  actor: "review",
  kind: "review",
  collection: "reviewItems",
  schemaVersion: 1,
  commands: ["open", "claim", "resolve", "note-group-housed", "withdraw", "reinstate", "breach-sla"],
  indexes: reviewIndexes,
  locate: ({ name, data }) => (name === "review.open" ? { _id: reviewIdOf(data as OpenReview) } : undefined),
  create: ({ name, data }) => (name === "review.open" ? reviewIdOf(data as OpenReview) : undefined),
  decide: decideReview,
  evolve: evolveReview,
  timers: (item) => timersOf(item),
  outgoing: (event, item, { principal }, id) => [
    ...(event.type === "review.case-noted" ? [] : announced(event, item, id)),
    ...(event.type === "review.resolved" && principal.surface !== "system" ? [settled(event, item, id)] : []),
  ],
  view: (item, { id, version }) => reviewView(id, item, version),
  audit: (change) => auditNote(change),
};

/** A person's resolution sends the case back to its flow (contract, "Manual review item"). */
const settled = (
  { data: { resolution } }: Extract<ReviewEvent, { type: "review.resolved" }>,
  { caseId, category, origin, affectedGroups }: ReviewItem,
  reviewId: string,
): Outgoing => {
  const data: ReviewSettled = { reviewId, category, origin, affectedGroups, resolution };
  return { to: "command", name: "case.note-review", entity: caseId, data };
};

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
      case "review.resolved":
        return { resolution: event.data.resolution, reason: event.data.reason, resolvedBy: event.data.by };
      case "review.group-housed":
        return { groupId: event.data.groupId };
      case "review.sla-breached":
        return { breaches: item.breaches, raised: event.data.raisedTo !== undefined };
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

/** Null where an item has only heard of its case. */
const auditNote = ({ before, after, events }: Change<ReviewItem, ReviewEvent>): AuditNote | null => {
  const { caseId, category, priority, origin, affectedGroups, detail } = after;
  const event = events.find(({ type }) => type !== "review.case-noted") ?? events[0];
  if (event?.type === "review.case-noted") return null;
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
  const actions = {
    "review.claimed": "review.claim",
    "review.resolved": "review.resolve",
    "review.group-housed": "review.note-group-housed",
    "review.reinstated": "review.reinstate",
    "review.sla-breached": "review.breach-sla",
  };
  return {
    action: event === undefined ? "review" : actions[event.type],
    caseId,
    ...(event?.type === "review.sla-breached" ? { reason: "Its deadline passed." } : {}),
    before: progress(before),
    after: progress(after),
  };
};

type Wanted = (
  item: Pick<ReviewItem, "status" | "affectedGroups"> & { resolution?: string },
  data: unknown,
) => boolean;

const isOnDesk: Wanted = ({ status }) => status !== "RESOLVED";

/** Sends a command to each of these items of the case; a repeat finds what is done and does the rest. */
const toItems =
  (context: ActorContext, verb: string, wanted: Wanted): CommandFunction =>
  async (command, dispatch) => {
    const found = await context.documents
      .tenant(command.tenant)
      .collection<Document & { _id: string } & Parameters<Wanted>[0]>("reviewItems")
      .find({ caseId: command.entity }, { projection: { status: 1, affectedGroups: 1, resolution: 1 } })
      .toArray();
    for (const { _id } of found.filter((item) => wanted(item, command.data))) {
      const id = causedId(command.id, verb, _id);
      await dispatch(verb, { ...command, id, name: `review.${verb}`, entity: _id });
    }
    return { ok: null };
  };

export const reviewActor = (context: ActorContext): Actor => ({
  name: "review",
  deciders: [
    {
      ...reviewItems,
      /** Whether the case still takes items, and work on them. */
      gather: async (command, state) => {
        const caseId = state?.caseId ?? (command.data as Partial<OpenReview>).caseId;
        const needed = command.name === "review.open" || command.principal.surface !== "system";
        if (!needed || caseId === undefined) return undefined;
        return !(await context.call<boolean>("case.is-closed", { ...command, params: { caseId } }));
      },
    },
  ],
  commands: {
    "note-housed": toItems(
      context,
      "note-group-housed",
      (item, data) =>
        isOnDesk(item, data) && item.affectedGroups.includes((data as { groupId: string }).groupId),
    ),
    "close-case": toItems(context, "withdraw", isOnDesk),
    // Those on a desk, too: a closing that is told late must not take them away.
    "reopen-case": toItems(
      context,
      "reinstate",
      (item, data) => isOnDesk(item, data) || item.resolution === "CASE_CLOSED",
    ),
  },
  queries: reviewQueries(context),
});
