// An agent action in each of its states, reached by the commands that lead there.
import {
  type AgentAction,
  type AgentActionEvent,
  evolveAction,
  type Proposed,
} from "../../../actors/agent/action-state.ts";
import { type ActionTerms, decideAction } from "../../../actors/agent/decide.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { AgentActionState } from "../../../schemas/agent.ts";
import { caseId, command, now, reviewId, system } from "./night.ts";

export const proposed: Proposed = {
  reviewId,
  caseId,
  airport: "JFK",
  cause: "HOTELS_REFUSED",
  planner: "rules-1",
  round: 0,
  proposal: {
    action: "rebook",
    hotelUrn: "urn:hotel:near",
    reason: "It has rooms.",
    groupIds: ["G1"],
    rooms: 1,
    cost: { amountMinor: 10_000, currency: "USD" },
    viability: 0.9,
  },
};
export const told = { detail: "Its review item was resolved.", at: now.toISOString() };
export const on = (
  state: AgentAction | undefined,
  move: Received,
  terms: ActionTerms = {},
): AgentActionEvent[] => decideAction(state, move, terms);
const after = (...moves: Received[]): AgentAction =>
  moves.reduce<AgentAction | undefined>(
    (state, move) => on(state, move).reduce<AgentAction | undefined>(evolveAction, state),
    undefined,
  ) as AgentAction;
const start = [command("propose", proposed, system)];
const approved = [...start, command("approve", { reason: "Nothing else is left" })];
const begun = [...approved, command("execute")];
export const states: Record<AgentActionState, AgentAction> = {
  PROPOSED: after(...start),
  APPROVED: after(...approved),
  REJECTED: after(...start, command("reject", { reason: "Under repair" })),
  EXECUTING: after(...begun),
  EXECUTED: after(...begun, command("note-outcome", { outcome: "EXECUTED" }, system)),
  FAILED: after(...begun, command("note-outcome", { outcome: "FAILED", detail: "No room." }, system)),
  EXPIRED: after(...start, command("expire", told, system)),
};
