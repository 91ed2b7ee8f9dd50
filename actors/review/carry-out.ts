/** Owns carrying out what a claimant has set going: others are asked in that person's name, and the item hears what they refuse. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ActionNote, ForReview } from "../../schemas/review.ts";
import { causedId } from "../runtime/clock.ts";
import { NotYet } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import type { ReviewAction } from "./action-state.ts";
import { choiceOf } from "./actions.ts";
import type { ReviewItem } from "./state.ts";

/** One order to another actor, for some of the action's groups. `settles`: its answer is the outcome. */
interface Order {
  name: string;
  entity: string;
  data: object;
  groupIds: string[];
  settles?: true;
}

/**
 * `review.carry-out`: sent by the commit that began the action, so it comes again after any death. Each order has the id that
 * follows from its action: whoever has had it already does nothing and answers the same.
 */
export const carryOut =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { actionId } = command.data as { actionId: string };
    const state = await itemOf(context, command);
    const action = state.actions?.find((one) => one.actionId === actionId);
    if (action === undefined) throw new NotYet("The action is not there yet.");
    const forReview: ForReview = { reviewId: command.entity, actionId };
    for (const order of ordersOf(state, action, forReview)) {
      const note = await given(context, command, action, order);
      if (note === undefined) continue;
      await dispatch("note-action", {
        ...command,
        id: causedId(actionId, "note", ...order.groupIds),
        name: "review.note-action",
        data: note,
      });
    }
    return { ok: null };
  };

const itemOf = async (context: ActorContext, { tenant, entity }: Command): Promise<ReviewItem> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>("reviewItems")
    .findOne({ _id: entity as never });
  if (found === null) throw new NotYet("The item is not there yet.");
  return loadedOf<ReviewItem>(found, { schemaVersion: 1 }).state;
};

const ordersOf = ({ caseId }: ReviewItem, action: ReviewAction, review: ForReview): Order[] => {
  const { kind, asked, reason } = action;
  const open = action.groups.filter(({ outcome }) => outcome === undefined);
  const groupIds = open.map(({ groupId }) => groupId);
  if (groupIds.length === 0) return [];
  switch (kind) {
    case "SPLIT": {
      const data = { groupId: groupIds[0], into: asked.into, reason };
      return [{ name: "case.split-group", entity: caseId, data, groupIds, settles: true }];
    }
    case "RELAX":
      return [
        {
          name: "case.relax",
          entity: caseId,
          data: { fields: asked.fields, groupIds, reason, review },
          groupIds,
        },
      ];
    case "REBOOK":
    case "OVERRIDE": {
      const choice = choiceOf({ name: `review.${kind.toLowerCase()}` }, { ...asked, reason });
      return open.map(({ groupId, waveId = "" }) => ({
        name: "wave.override",
        entity: waveId,
        data: { groupId, ...choice, review },
        groupIds: [groupId],
      }));
    }
    default:
      return kind satisfies never;
  }
};

/** What is known of it at once. @throws Problem for what passes: the command is then tried again */
const given = async (
  context: ActorContext,
  command: Command,
  { actionId, by }: ReviewAction,
  { name, entity, data, groupIds, settles }: Order,
): Promise<ActionNote | undefined> => {
  const outcomes = (outcome: "DONE" | "REFUSED", detail?: string): ActionNote => ({
    actionId,
    groups: groupIds.map((groupId) => ({ groupId, outcome, ...(detail === undefined ? {} : { detail }) })),
  });
  const id = causedId(actionId, name, ...groupIds);
  try {
    await context.call(name, { ...command, id, name, entity, principal: by, data });
  } catch (error) {
    if (!(error instanceof Problem) || error.retry === "later" || error.code === "conflict/concurrent-write")
      throw error;
    return outcomes("REFUSED", error.message);
  }
  return settles ? outcomes("DONE") : undefined;
};
