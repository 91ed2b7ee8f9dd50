/** Owns what an agent action keeps and how its events change it; the rules are in `decide.ts`. */
import type { AgentActionState, TriageCause } from "../../schemas/agent.ts";
import type { Principal } from "../../schemas/command.ts";
import type { Proposal } from "./admit.ts";

/** The data of `agent.propose`: what a triage has found. */
export interface Proposed {
  reviewId: string;
  caseId: string;
  airport: string;
  cause: TriageCause;
  planner: string;
  proposal: Proposal;
  /** How many proposals of this very content have expired: each new one is an action of its own. */
  round: number;
}

interface Decision {
  by: string;
  at: Date;
  reason?: string;
}

/** In whose name the item's own command is sent. */
interface Execution {
  by: Principal;
  at: Date;
  reason: string;
  /** Of the lock that the operator holds. */
  fencingToken?: number;
}

export interface AgentAction extends Proposed {
  status: AgentActionState;
  proposedAt: Date;
  /** Of the approval or rejection. */
  decided?: Decision;
  execution?: Execution;
  /** When the item was asked last what had become of it. Absent: not yet. */
  checkedAt?: Date;
  /** Of FAILED and EXPIRED: why. */
  detail?: string;
  endedAt?: Date;
}

export type AgentActionEvent =
  | { type: "agent.action-proposed"; data: Proposed & { at: Date } }
  | { type: "agent.action-approved"; data: Decision }
  | { type: "agent.action-rejected"; data: Decision }
  | { type: "agent.action-begun"; data: Execution }
  /** Technical: the item was asked, and an outcome is still to come. */
  | { type: "agent.action-checked"; data: { at: Date } }
  | { type: "agent.action-executed"; data: { at: Date } }
  | { type: "agent.action-failed"; data: { at: Date; detail: string } }
  | { type: "agent.action-expired"; data: { at: Date; detail: string } };

export const evolveAction = (state: AgentAction | undefined, event: AgentActionEvent): AgentAction => {
  if (event.type === "agent.action-proposed") {
    const { at, ...proposed } = event.data;
    return { ...proposed, status: "PROPOSED", proposedAt: at };
  }
  if (state === undefined) throw new Error(`${event.type} before agent.action-proposed`);
  switch (event.type) {
    case "agent.action-approved":
      return { ...state, status: "APPROVED", decided: event.data };
    case "agent.action-rejected":
      return { ...state, status: "REJECTED", decided: event.data, endedAt: event.data.at };
    case "agent.action-begun":
      return { ...state, status: "EXECUTING", execution: event.data };
    case "agent.action-checked":
      return { ...state, checkedAt: event.data.at };
    case "agent.action-executed":
      return { ...state, status: "EXECUTED", endedAt: event.data.at };
    case "agent.action-failed":
      return { ...state, status: "FAILED", detail: event.data.detail, endedAt: event.data.at };
    case "agent.action-expired":
      return { ...state, status: "EXPIRED", detail: event.data.detail, endedAt: event.data.at };
    default:
      return event satisfies never;
  }
};
