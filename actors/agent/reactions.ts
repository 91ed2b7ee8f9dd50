/** Owns what the agent does on word of review items: a new one is triaged, an outcome noted, and a resolved one's proposals expire. */
import { executedActionOf, type TriageBody } from "../../schemas/agent.ts";
import { idOf } from "../../schemas/urn.ts";
import type { Reaction, Reactions } from "../runtime/decider.ts";
import type { Expiry, OutcomeNote } from "./decide.ts";

const toTriage: Reactions[string] = ({ data }) => {
  const { reviewUrn } = data as { reviewUrn: string };
  const asked: TriageBody = { reviewUrn };
  return [{ name: "agent.triage", entity: idOf(reviewUrn), data: asked }];
};

/** What the item tells of one of its actions. */
interface ActionTold {
  commandId?: string;
  state?: string;
  groups?: { outcome?: string; detail?: string }[];
}

/** @param state of the item's action. Undefined: it is under way */
export const outcomeNoteOf = (
  state: string | undefined,
  groups: readonly { detail?: string }[],
): OutcomeNote | undefined => {
  if (state === undefined || state === "UNDER_WAY") return undefined;
  if (state !== "FAILED") return { outcome: "EXECUTED" };
  const details = [...new Set(groups.flatMap(({ detail }) => detail ?? []))].slice(0, 3).join(" ");
  return { outcome: "FAILED", ...(details === "" ? {} : { detail: details }) };
};

const outcomeOf = ({ data }: Parameters<Reactions[string]>[0]): Reaction[] => {
  const { commandId, state, groups = [] } = data as ActionTold;
  const entity = executedActionOf(commandId);
  const note = outcomeNoteOf(state, groups);
  if (entity === undefined || note === undefined) return [];
  return [{ name: "agent.note-outcome", entity, data: note }];
};

export const triageReactions: Reactions = { "review.opened": toTriage, "review.reinstated": toTriage };

export const actionReactions: Reactions = {
  "review.action-noted": outcomeOf,
  "review.resolved": ({ data, occurred_at }) => {
    const { reviewUrn, resolution } = data as { reviewUrn: string; resolution?: string };
    const expiry: Expiry = {
      detail: "Its review item was resolved.",
      at: occurred_at,
      ...(resolution === "CASE_CLOSED" ? { caseClosed: true } : {}),
    };
    return [{ name: "agent.expire-of-item", entity: idOf(reviewUrn), data: expiry }];
  },
};
