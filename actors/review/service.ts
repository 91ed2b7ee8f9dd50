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
  commands: ["open", "claim", "resolve", "note-group-housed", "withdraw", "breach-sla"],
  indexes: reviewIndexes,
  locate: ({ name, data }) => (name === "review.open" ? { _id: reviewIdOf(data as OpenReview) } : undefined),
  create: ({ name, data }) => (name === "review.open" ? reviewIdOf(data as OpenReview) : undefined),
  decide: decideReview,
  evolve: evolveReview,
  timers: (item) => timersOf(item),
  outgoing: (event, item, { principal }, id) => [
    ...announced(event, item, id),
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
const announced = (event: ReviewEvent, item: ReviewItem, id: string): Outgoing[] => {
  const { caseId, airport, category, priority, origin, affectedGroups } = item;
  const own = () => {
    switch (event.type) {
      case "review.opened":
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
    category,
    priority,
    origin,
    affectedGroups,
    ...own(),
  };
  return [{ to: "internal", type: event.type, id, caseId, data }];
};

const auditNote = ({ before, after, events }: Change<ReviewItem, ReviewEvent>): AuditNote => {
  const { caseId, category, priority, origin, affectedGroups, detail } = after;
  const [event] = events;
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

/** Sends a command to each item of the case that is still on a desk; a repeat finds what is done and does the rest. */
const toOpenItems =
  (
    context: ActorContext,
    verb: string,
    wanted: (data: unknown) => Record<string, unknown>,
  ): CommandFunction =>
  async (command, dispatch) => {
    const found = await context.documents
      .tenant(command.tenant)
      .collection<Document>("reviewItems")
      .find({ caseId: command.entity, status: { $in: ["OPEN", "CLAIMED"] }, ...wanted(command.data) })
      .project({ _id: 1 })
      .toArray();
    for (const { _id } of found) {
      const id = causedId(command.id, verb, String(_id));
      await dispatch(verb, { ...command, id, name: `review.${verb}`, entity: String(_id) });
    }
    return { ok: null };
  };

export const reviewActor = (context: ActorContext): Actor => ({
  name: "review",
  deciders: [
    {
      ...reviewItems,
      /** Whether the case still takes items. */
      gather: async (command) => {
        if (command.name !== "review.open") return undefined;
        const params = { caseId: (command.data as OpenReview).caseId };
        return !(await context.call<boolean>("case.is-closed", { ...command, params }));
      },
    },
  ],
  commands: {
    "note-housed": toOpenItems(context, "note-group-housed", (data) => ({
      affectedGroups: (data as { groupId: string }).groupId,
    })),
    "close-case": toOpenItems(context, "withdraw", () => ({})),
  },
  queries: reviewQueries(context),
});
