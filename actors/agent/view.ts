/** Owns what operators see of an agent action, what their item shows of it, and what the trail keeps. */
import type { AgentActionView } from "../../schemas/agent.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import type { AgentAction } from "./action-state.ts";
import type { Proposal } from "./admit.ts";

/** A proposal as the contract writes one ("Manual review item", `recommendations`). */
const recommended = ({ action, hotelUrn, reason, value }: Proposal) => ({
  action,
  hotelUrn,
  reason,
  ...(value === undefined ? {} : { fields: Object.keys(value), value }),
  source: "agent" as const,
});

export const recommendationOf = (
  id: string,
  proposal: Proposal,
): ReviewItemView["recommendations"][number] => ({
  ...recommended(proposal),
  agentActionUrn: urn("agent-action", id),
});

export const actionView = (id: string, state: AgentAction, version: number): AgentActionView => {
  const { proposal, decided, execution, endedAt, detail } = state;
  const { groupIds, rooms, cost, viability } = proposal;
  return {
    urn: urn("agent-action", id),
    reviewUrn: urn("review", state.reviewId),
    caseUrn: urn("case", state.caseId),
    ...recommended(proposal),
    cost,
    fixes: { groups: groupIds, rooms },
    viability,
    cause: state.cause,
    state: state.status,
    ...(detail === undefined ? {} : { detail }),
    planner: state.planner,
    proposedAt: state.proposedAt.toISOString(),
    ...(decided === undefined ? {} : { decidedBy: decided.by, decidedAt: decided.at.toISOString() }),
    ...(execution === undefined
      ? {}
      : { executedBy: execution.by.urn, executedAt: execution.at.toISOString() }),
    ...(endedAt === undefined ? {} : { endedAt: endedAt.toISOString() }),
    version,
  };
};

/** The whole proposal each time: who reads the trail sees what was approved, whatever is proposed later. */
export const trailOf = (state: AgentAction | undefined): unknown => {
  if (state === undefined) return null;
  const { status, proposal, cause, planner, detail } = state;
  return { state: status, ...(detail === undefined ? {} : { detail }), cause, planner, proposal };
};
