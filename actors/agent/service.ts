/** Wires the agent actor: triages of review items, and the proposals that people decide on. */
import type { RecommendationsNote, TriageBody } from "../../schemas/agent.ts";
import { urn } from "../../schemas/urn.ts";
import type { AuditNote, Change, Decider, Outgoing } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { openModel } from "../runtime/model.ts";
import { type AgentAction, type AgentActionEvent, evolveAction } from "./action-state.ts";
import { checkOutcome, outcomeTimers } from "./check-outcome.ts";
import { decideAction } from "./decide.ts";
import { carryOut, expireOfItem, gathersFor, gatherTerms } from "./execute.ts";
import { triagesCollection } from "./keep.ts";
import { actionsCollection, schemaVersion } from "./known-actions.ts";
import { plannerWith } from "./model-planner.ts";
import { actionReactions, triageReactions } from "./reactions.ts";
import { triage } from "./triage.ts";
import { decideTriage, evolveTriage, type Triage, type TriageEvent } from "./triage-state.ts";
import { TriageTurns } from "./triage-turns.ts";
import { actionView, trailOf } from "./view.ts";

/**
 * A night that cancels a hundred flights opens a thousand items at once. Their triages take turns (`triage-turns.ts`), and what wait are
 * so many that an execution or an outcome comes by them.
 */
const concurrency = 1024;

export const agentActions: Decider<AgentAction, AgentActionEvent> = {
  actor: "agent",
  kind: "agent-action",
  collection: actionsCollection,
  schemaVersion,
  commands: ["propose", "approve", "reject", "execute", "note-outcome", "note-check", "expire"],
  indexes: [{ name: "review", key: { reviewId: 1, _id: 1 } }],
  technical: new Set(["agent.action-checked"]),
  decide: decideAction,
  evolve: evolveAction,
  timers: outcomeTimers,
  outgoing: (event, action, _command, id) => [
    ...(event.type === "agent.action-checked" ? [] : [announced(event, action, id)]),
    ...(event.type === "agent.action-begun" ? [toCarryOut(id)] : []),
    ...(leavesNext.has(event.type) ? [toTriage(action)] : []),
  ],
  view: (action, { id, version }) => actionView(id, action, version),
  audit: (change) => actionNote(change),
  reactions: actionReactions,
};

/** What the item recommends is then worth another look; one that is resolved is left alone. */
const leavesNext: ReadonlySet<AgentActionEvent["type"]> = new Set([
  "agent.action-rejected",
  "agent.action-executed",
  "agent.action-failed",
]);

const toTriage = ({ reviewId }: AgentAction): Outgoing => {
  const data: TriageBody = { reviewUrn: urn("review", reviewId) };
  return { to: "command", name: "agent.triage", entity: reviewId, data };
};

const toCarryOut = (id: string): Outgoing => ({
  to: "command",
  name: "agent.carry-out",
  entity: id,
  data: {},
});

const announced = ({ type }: AgentActionEvent, action: AgentAction, id: string): Outgoing => ({
  to: "internal",
  type,
  id,
  caseId: action.caseId,
  data: {
    agentActionUrn: urn("agent-action", id),
    reviewUrn: urn("review", action.reviewId),
    airport: action.airport,
    action: action.proposal.action,
    state: action.status,
  },
});

/** Null where the item was only asked. */
const actionNote = (change: Change<AgentAction, AgentActionEvent>): AuditNote | null => {
  const { command, before, after, events } = change;
  if (events[0]?.type === "agent.action-checked") return null;
  return {
    action: command.name,
    caseId: after.caseId,
    before: trailOf(before),
    after: trailOf(after),
  };
};

export const agentTriages: Decider<Triage, TriageEvent> = {
  actor: "agent",
  kind: "triage",
  collection: triagesCollection,
  schemaVersion,
  commands: ["record-triage"],
  indexes: [],
  decide: decideTriage,
  evolve: evolveTriage,
  outgoing: (_event, found, _command, id) => [
    toItem(found, id),
    { to: "internal", type: "agent.triaged", id, caseId: found.caseId, data: triageTold(found, id) },
  ],
  view: (found) => found,
  audit: ({ id, after, before }) => ({
    action: "agent.triage",
    caseId: after.caseId,
    before: before === undefined ? null : triageTold(before, id),
    after: { ...triageTold(after, id), confidence: after.confidence, evidence: after.evidence },
  }),
  reactions: triageReactions,
};

const toItem = ({ recommendations, at }: Triage, reviewId: string): Outgoing => {
  const data: RecommendationsNote = { recommendations, at: at.toISOString() };
  return { to: "command", name: "review.note-recommendations", entity: reviewId, data };
};

const triageTold = ({ airport, category, cause, planner, actionIds }: Triage, reviewId: string) => ({
  reviewUrn: urn("review", reviewId),
  airport,
  category,
  cause,
  planner,
  agentActionUrns: actionIds.map((id) => urn("agent-action", id)),
});

export const agentActor = (context: ActorContext): Actor => {
  const turns = new TriageTurns();
  const model = openModel(context.config.model);
  const planner = plannerWith(model, context.log);
  return {
    name: "agent",
    concurrency,
    deciders: [
      { ...agentActions, gathersFor, gather: (command, state) => gatherTerms(context, command, state) },
      agentTriages,
    ],
    commands: {
      triage: triage({ context, planner, turns }),
      "carry-out": carryOut(context),
      "check-outcome": checkOutcome(context),
      "expire-of-item": expireOfItem(context),
    },
    start: async () => {
      await model?.prepare();
      return async () => turns.stop();
    },
  };
};
