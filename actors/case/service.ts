/** Wires the case actor. */

import type { ReviewSettled } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import { freshId } from "../runtime/clock.ts";
import type { Change, Decider, Reading, Received } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { commands, decide } from "./decide.ts";
import { demandMadeBy } from "./planning.ts";
import { caseIndexes, caseQueries, collection, schemaVersion } from "./queries.ts";
import { outgoing } from "./reactions.ts";
import { type CaseEvent, type CaseState, evolve, technicalEvents } from "./state.ts";
import { demandView, openedView, standingView } from "./view.ts";

const cases = (context: ActorContext): Decider<CaseState, CaseEvent> => ({
  actor: "case",
  kind: "case",
  collection,
  schemaVersion,
  commands,
  indexes: caseIndexes,
  decide,
  evolve,
  outgoing,
  technical: technicalEvents,
  timers: ({ awaiting, status }) =>
    awaiting === undefined || status === "CLOSED" ? [] : [{ name: "reissue", dueAt: awaiting.dueAt }],
  locate: ({ data }) => {
    const { externalEventId, demandUrn } = data as { externalEventId?: string; demandUrn?: string };
    if (demandUrn !== undefined) return { "demands.demandId": idOf(demandUrn) };
    return externalEventId === undefined ? undefined : { externalEventId };
  },
  create: ({ name, tenant, now }) => (name.startsWith("case.open") ? freshId(tenant, now) : undefined),
  gather: async (command, state) => {
    if (state === undefined || !needsPolicies(command)) return undefined;
    const tiers = [...new Set(state.groups.flatMap(({ tier }) => tier ?? []))] as Tier[];
    return context.call("policy.resolve-tiers", { ...command, params: { airport: state.airport, tiers } });
  },
  view,
  audit,
});

const needsPolicies = ({ name, data }: Received): boolean =>
  name === "case.plan" ||
  (name === "case.note-review" && (data as ReviewSettled).category === "POLICY_VIOLATION");

/** What each command answers: the case that was opened, the demand that was decided, the wave that was asked for. */
const view = (state: CaseState, reading: Reading): unknown => {
  const { id, command } = reading;
  switch (command.name) {
    case "case.request-demand": {
      const demand = demandMadeBy(command, state);
      return demand === undefined ? null : demandView(id, demand);
    }
    case "case.approve-demand":
    case "case.reject-demand": {
      const demandId = idOf((command.data as { demandUrn: string }).demandUrn);
      const demand = state.demands.find((candidate) => candidate.demandId === demandId);
      return demand === undefined ? null : demandView(id, demand);
    }
    case "case.allocate":
      return {
        caseUrn: urn("case", id),
        ...(state.waveId === undefined ? {} : { waveUrn: urn("wave", state.waveId) }),
        correlationUrn: command.correlationUrn,
      };
    case "case.close":
    case "case.reopen":
      return standingView(state, reading);
    default:
      return openedView(state, reading);
  }
};

/** Every human's change, and the service's own approvals (contract, "Demand": who, when, why, policy version). */
const audit = ({ id, command, before, after, events }: Change<CaseState, CaseEvent>) => {
  const approved = events.find((event) => event.type === "demand.approved");
  if (command.principal.surface === "system" && approved === undefined) return undefined;
  const repeated = events.some((event) => event.type === "case.repeated-differently");
  const reason = repeated
    ? "The same externalEventId came with another body; nothing was changed."
    : undefined;
  return {
    action: approved === undefined ? command.name : "case.approve-demand",
    caseId: id,
    ...optional(approved?.data.reason ?? reason),
    before: before === undefined ? null : auditSnapshot(before),
    after: auditSnapshot(after),
  };
};

const optional = (reason: string | undefined): { reason?: string } =>
  reason === undefined ? {} : { reason };

/** What an auditor compares: states and figures, no passenger's details. */
const auditSnapshot = ({ status, externalEventId, airport, groups, demands, progress }: CaseState) => ({
  status,
  externalEventId,
  airport,
  groups: groups.length,
  progress,
  demands,
});

export const caseActor = (context: ActorContext): Actor => ({
  name: "case",
  deciders: [cases(context)],
  queries: caseQueries(context),
});
