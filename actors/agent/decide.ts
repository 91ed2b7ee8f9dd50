/** Owns the rules of agent actions: who may decide on one, when it can be executed, and what ends it. */
import { decodeTime } from "ulid";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewState } from "../../schemas/review.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import type { AgentAction, AgentActionEvent, Proposed } from "./action-state.ts";

/** What is read for a decision. */
export interface ActionTerms {
  /** The review item's state now. Absent: not asked. */
  item?: ReviewState;
  /** What the item's own command would be refused with now. Absent: nothing, or not asked. */
  refusal?: Problem;
}

/** How the command that an execution sent has gone: the data of `agent.note-outcome`. */
export interface OutcomeNote {
  outcome: "EXECUTED" | "FAILED";
  /** Of a failure. */
  detail?: string;
}

/** Why an action is of no use any more: the data of `agent.expire`. */
export interface Expiry {
  detail: string;
  /** ISO 8601. What was proposed later is not meant. */
  at: string;
  /** Set: what a person has approved stays. */
  proposedOnly?: true;
  /** Set: its case was closed. What is being executed ends, too: nobody will tell how it went. */
  caseClosed?: true;
}

/** The same content for the same item is the same action, whoever triages; its time is the item's. */
export const agentActionIdOf = ({ reviewId, proposal, round }: Proposed): string => {
  const { action, hotelUrn, value, groupIds } = proposal;
  const fields = Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const content = action === "rebook" ? hotelUrn : JSON.stringify(fields);
  const seed = JSON.stringify([reviewId, action, content, [...groupIds].sort(), round]);
  const tenant = tenantOfId(reviewId);
  return derivedId(tenant, seed, new Date(decodeTime(reviewId.slice(tenant.length + 1))));
};

/** @throws Problem not-found/resource, auth/foreign-airport, conflict/state, and what the item's own command is refused with */
export const decideAction = (
  state: AgentAction | undefined,
  command: Received,
  gathered?: unknown,
): AgentActionEvent[] => {
  if (command.name === "agent.propose") return propose(state, command as Received<Proposed>);
  if (state === undefined) throw new Problem("not-found/resource", "No such agent action.");
  requireAirport(command.principal, state.airport);
  const terms = (gathered ?? {}) as ActionTerms;
  switch (command.name) {
    case "agent.approve":
      return approve(state, command as Received<{ reason?: string }>, terms);
    case "agent.reject":
      return reject(state, command as Received<{ reason: string }>);
    case "agent.execute":
      return execute(state, command as Received<{ reason?: string }>, terms);
    case "agent.note-outcome":
      return noteOutcome(state, command as Received<OutcomeNote>);
    case "agent.note-check":
      return noteCheck(state, command);
    case "agent.expire":
      return expire(state, command as Received<Expiry>);
    default:
      throw new Error(`agent takes no command ${command.name}`);
  }
};

/** What has been proposed once is not proposed anew: it stands as it is, decided on or not. */
const propose = (state: AgentAction | undefined, { data, now }: Received<Proposed>): AgentActionEvent[] =>
  state === undefined ? [{ type: "agent.action-proposed", data: { ...data, at: now } }] : [];

const decision = ({ principal, now, data }: Received<{ reason?: string }>) => ({
  by: principal.urn,
  at: now,
  ...(data.reason === undefined ? {} : { reason: data.reason }),
});

/** Of fifty at once one has decided; the others hear what it is by now. */
const approve = (
  state: AgentAction,
  command: Received<{ reason?: string }>,
  { item }: ActionTerms,
): AgentActionEvent[] => {
  requireState(state, "PROPOSED");
  requireItemOnDesk(item);
  return [{ type: "agent.action-approved", data: decision(command) }];
};

const reject = (state: AgentAction, command: Received<{ reason: string }>): AgentActionEvent[] => {
  requireState(state, "PROPOSED");
  return [{ type: "agent.action-rejected", data: decision(command) }];
};

/** What the item's own command would be refused with is refused at once, and the action stays approved. */
const execute = (
  state: AgentAction,
  { principal, now, data, fencingToken }: Received<{ reason?: string }>,
  { item, refusal }: ActionTerms,
): AgentActionEvent[] => {
  requireState(state, "APPROVED");
  requireItemOnDesk(item);
  if (refusal !== undefined) throw refusal;
  const reason = data.reason ?? state.decided?.reason ?? "As the agent proposed, and a supervisor approved.";
  const lock = fencingToken === undefined ? {} : { fencingToken };
  return [{ type: "agent.action-begun", data: { by: principal, at: now, reason, ...lock } }];
};

const sayings: Readonly<Record<AgentAction["status"], string>> = {
  PROPOSED: "It waits for approval.",
  APPROVED: "It was approved already.",
  REJECTED: "It was rejected.",
  EXECUTING: "It is being executed.",
  EXECUTED: "It was executed.",
  FAILED: "It was executed, and failed.",
  EXPIRED: "It has expired.",
};

const requireState = ({ status }: AgentAction, wanted: AgentAction["status"]): void => {
  if (status !== wanted) throw new Problem("conflict/state", sayings[status], { state: status });
};

/** The item's resolution is told to its actions a moment later. */
const requireItemOnDesk = (item: ReviewState | undefined): void => {
  if (item === "RESOLVED")
    throw new Problem("conflict/state", "Its review item was resolved meanwhile.", { state: "EXPIRED" });
};

const noteOutcome = (state: AgentAction, { data, now }: Received<OutcomeNote>): AgentActionEvent[] => {
  if (state.status !== "EXECUTING") return [];
  if (data.outcome === "EXECUTED") return [{ type: "agent.action-executed", data: { at: now } }];
  return [{ type: "agent.action-failed", data: { at: now, detail: data.detail ?? "No room was found." } }];
};

const noteCheck = ({ status }: AgentAction, { now }: Received): AgentActionEvent[] =>
  status === "EXECUTING" ? [{ type: "agent.action-checked", data: { at: now } }] : [];

/** What is being executed ends by its outcome, unless its case was closed. */
const expire = (state: AgentAction, { data, now }: Received<Expiry>): AgentActionEvent[] => {
  const isMeant =
    state.status === "PROPOSED" ||
    (state.status === "APPROVED" && data.proposedOnly !== true) ||
    (state.status === "EXECUTING" && data.caseClosed === true);
  const since = state.status === "EXECUTING" ? (state.execution?.at ?? state.proposedAt) : state.proposedAt;
  if (!isMeant || since > new Date(data.at)) return [];
  return [{ type: "agent.action-expired", data: { at: now, detail: data.detail } }];
};
