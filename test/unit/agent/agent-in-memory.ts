// The agent as its service has it, on deciders as they are, with documents in memory and others who answer what they are told to.
import type { AgentAction } from "../../../actors/agent/action-state.ts";
import type { Planner } from "../../../actors/agent/planner.ts";
import { rulesPlanner } from "../../../actors/agent/rules.ts";
import { agentActions, agentTriages } from "../../../actors/agent/service.ts";
import { triage } from "../../../actors/agent/triage.ts";
import type { Triage } from "../../../actors/agent/triage-state.ts";
import { TriageTurns } from "../../../actors/agent/triage-turns.ts";
import type { Decider, Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext, Dispatch } from "../../../actors/runtime/host.ts";
import type { TriageView } from "../../../schemas/agent.ts";
import type { Command, Principal } from "../../../schemas/command.ts";
import { urn } from "../../../schemas/urn.ts";
import { command, now, reviewId, sue } from "./night.ts";

export type Told = Record<string, unknown>;
const reviewUrn = urn("review", reviewId);

/** The agent's documents, and others who answer what they are told to. */
export const agentOf = (told: Told, planner: Planner = rulesPlanner) => {
  const documents: Record<string, Map<string, Record<string, unknown>>> = {
    agentActions: new Map(),
    agentTriages: new Map(),
  };
  const verbs: string[] = [];
  const calls: string[] = [];
  const warned: unknown[] = [];
  let clockMs = now.getTime();
  const clock = { now: () => new Date(clockMs++) };
  const collection = (name: string) => ({
    findOne: async ({ _id }: { _id: string }) => documents[name]?.get(_id) ?? null,
    find: (filter: { reviewId: string }) => ({
      toArray: async () =>
        [...(documents[name]?.values() ?? [])].filter((one) => one.reviewId === filter.reviewId),
    }),
  });
  const context = {
    documents: { tenant: () => ({ collection }) },
    clock,
    log: { warn: (...line: unknown[]) => warned.push(line) },
    call: async (name: string, envelope: { params: unknown }) => {
      calls.push(name);
      const answer = told[name];
      const given = typeof answer === "function" ? answer(envelope.params) : answer;
      if (given instanceof Error) throw given;
      return given;
    },
  } as unknown as ActorContext;
  const on = <State extends object>(decider: Decider<State, never>, one: Command) => {
    const kept = documents[decider.collection] as Map<string, Record<string, unknown>>;
    const {
      _id,
      handled = [],
      version = 0,
      schemaVersion: _,
      ...rest
    } = (kept.get(one.entity) ?? {}) as never as {
      _id?: string;
      handled?: { id: string; at: Date; version: number }[];
      version?: number;
      schemaVersion?: number;
    };
    const before = _id === undefined ? undefined : (rest as State);
    const repeated = handled.some(({ id }) => id === one.id);
    const at = clock.now();
    const events = repeated ? [] : decider.decide(before, { ...one, now: at } as Received, undefined);
    const after = events.reduce<State | undefined>(decider.evolve, before) as State;
    const meta = { _id: one.entity, schemaVersion: 1, version: version + events.length };
    const entry = { id: one.id, at, version: meta.version };
    kept.set(one.entity, { ...after, ...meta, handled: events.length > 0 ? [...handled, entry] : handled });
    return {
      ok: decider.view(after, { id: one.entity, version: meta.version, command: one }),
      ...(repeated ? { repeated } : {}),
    };
  };
  const dispatch: Dispatch = async (verb, one) => {
    verbs.push(verb);
    return on((verb === "record-triage" ? agentTriages : agentActions) as never, one);
  };
  const turns = new TriageTurns();
  const handle = triage({ context, planner, turns });
  const run = async (id: string, by: Principal = sue, asked: object = { reviewUrn }, through = dispatch) => {
    const reply = await handle(command("triage", asked, by, { id, entity: reviewId }), through);
    return (reply as { ok: TriageView }).ok;
  };
  const actions = () =>
    [...(documents.agentActions?.values() ?? [])] as unknown as (AgentAction & { _id: string })[];
  const states = () =>
    Object.fromEntries(actions().map(({ proposal, status }) => [proposal.hotelUrn, status]));
  const recorded = () => documents.agentTriages?.get(reviewId) as unknown as Triage;
  const recommended = () => recorded().recommendations.map(({ hotelUrn }) => hotelUrn);
  const act = (hotelUrn: string, verb: string, data: object = {}) => {
    const entity = actions().find(({ proposal }) => proposal.hotelUrn === hotelUrn)?._id ?? "";
    return dispatch(verb, command(verb, data, sue, { id: `${verb}-${hotelUrn}`, entity }));
  };
  return { told, run, states, recorded, recommended, act, verbs, dispatch, turns, calls, warned };
};
