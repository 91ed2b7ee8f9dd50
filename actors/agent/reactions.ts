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

const outcomeOf = ({ data }: Parameters<Reactions[string]>[0]): Reaction[] => {
  const { commandId, state, groups = [] } = data as ActionTold;
  const entity = executedActionOf(commandId);
  if (entity === undefined || state === undefined || state === "UNDER_WAY") return [];
  const details = [...new Set(groups.flatMap(({ detail }) => detail ?? []))].slice(0, 3).join(" ");
  const note: OutcomeNote =
    state === "FAILED"
      ? { outcome: "FAILED", ...(details === "" ? {} : { detail: details }) }
      : { outcome: "EXECUTED" };
  return [{ name: "agent.note-outcome", entity, data: note }];
};

export const triageReactions: Reactions = { "review.opened": toTriage, "review.reinstated": toTriage };

export const actionReactions: Reactions = {
  "review.action-noted": outcomeOf,
  "review.resolved": ({ data, occurred_at }) => {
    const expiry: Expiry = { detail: "Its review item was resolved.", at: occurred_at };
    const { reviewUrn } = data as { reviewUrn: string };
    return [{ name: "agent.expire-of-item", entity: idOf(reviewUrn), data: expiry }];
  },
};
