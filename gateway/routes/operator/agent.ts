/** Owns the operator rows about the exception agent: a triage, and what people decide on its proposals. */
import Type from "typebox";
import {
  AgentActionView,
  ApproveActionBody,
  ExecuteActionBody,
  RejectActionBody,
  TriageBody,
  TriageView,
} from "../../../schemas/agent.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const write = {
  surface: "operator",
  method: "post",
  prefixes: ["/v1"],
  role: "OPS_SUPERVISOR",
  rate: "write",
  success: 200,
} as const;

const decision = {
  ...write,
  params: Type.Object({ agentActionUrn: Urn("agent-action") }),
  entity: "agentActionUrn",
  response: AgentActionView,
  problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
} as const;

export const agentRoutes = [
  {
    ...write,
    id: "triageReview",
    path: "/agent/triage",
    summary: "Have a review item triaged",
    description:
      "Classifies its cause and proposes up to three things to do about it. The agent reads and proposes; it cannot book, cancel or notify. A new item is triaged by itself: its `recommendations` tell the same.",
    body: TriageBody,
    command: "agent.triage",
    response: TriageView,
    problems: ["auth/foreign-airport", "not-found/resource", "conflict/state", "conflict/concurrent-write"],
  },
  {
    ...decision,
    id: "approveAgentAction",
    path: "/agent/{agentActionUrn}/approve",
    summary: "Approve a proposal",
    description: "Only one that is PROPOSED, and whose item nobody has resolved. Nothing is done yet.",
    body: ApproveActionBody,
    command: "agent.approve",
  },
  {
    ...decision,
    id: "rejectAgentAction",
    path: "/agent/{agentActionUrn}/reject",
    summary: "Reject a proposal",
    description: "It is not proposed for the item again.",
    body: RejectActionBody,
    command: "agent.reject",
  },
  {
    ...decision,
    id: "executeAgentAction",
    path: "/agent/{agentActionUrn}/execute",
    summary: "Execute an approved proposal",
    description:
      "Sends the item's own rebook or relax in your name, under all rules that hold for you there: the item has to be yours. What would be refused is refused at once, and the action stays APPROVED. It ends as EXECUTED or FAILED once the item knows how it went.",
    body: ExecuteActionBody,
    success: 202,
    command: "agent.execute",
    problems: [
      ...decision.problems,
      "conflict/demand-not-approved",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
    ],
  },
] as const satisfies readonly Route[];
