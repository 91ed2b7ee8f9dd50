/** Wires the wave actor. */
import type { AllocationStarted } from "../../schemas/case.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { type Decider, NotYet, type Outgoing, type Received } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { type DecidedWave, decideWave, outgoingOf } from "./decide.ts";
import { gatherWave, type WaveInput } from "./gather.ts";
import {
  decideNoteOverride,
  decideOverride,
  gatherOverride,
  type Order,
  type OverrideFacts,
  overrideMadeBy,
  overrideOrder,
  overrideView,
  toReview,
} from "./override.ts";
import { collection, schemaVersion, waveIndexes, waveQueries } from "./queries.ts";
import { SolverProcess } from "./solver/solver-process.ts";
import { evolve, type WaveEvent, type WaveState } from "./state.ts";

/** What an event sends out rides beside it, from the same decision to the same commit. */
type SendingEvent = WaveEvent & { sent?: Omit<DecidedWave, "event">; order?: Order };

const decide = (state: WaveState | undefined, command: Received, gathered: unknown): SendingEvent[] => {
  if (command.name === "wave.run") {
    if (state !== undefined) return [];
    const { event, ...sent } = decideWave(command, gathered as WaveInput);
    return [{ ...event, sent }];
  }
  if (command.name === "wave.note-override") {
    if (state === undefined) throw new NotYet("The wave does not exist yet.");
    return decideNoteOverride(state, command);
  }
  if (state === undefined) throw new Problem("not-found/resource", "No such wave.");
  if (overrideMadeBy(command, state) !== undefined) return [];
  const { event, order } = decideOverride(state, command, gathered as OverrideFacts);
  return [{ ...event, order }];
};

const outgoing = (event: SendingEvent, state: WaveState, waveId: string): Outgoing[] => {
  const { sent, order } = event;
  if (event.type === "wave.completed" && sent !== undefined) return outgoingOf(waveId, { event, ...sent });
  if (event.type === "wave.override-ended") return toReview(state, event.data);
  return order === undefined || event.type !== "wave.overridden" ? [] : [overrideOrder(order, event.data)];
};

/** Large waves are solved beside the event loop; small ones in a moment, with the decision. */
const gatherSolved = async (
  context: ActorContext,
  command: Received,
  solver: SolverProcess,
): Promise<WaveInput> => {
  const input = await gatherWave(context, command, (groups) => solver.prepare(groups));
  const results = await solver.solve(input);
  return results === undefined ? input : { ...input, results };
};

const waves = (context: ActorContext, solver: SolverProcess): Decider<WaveState, SendingEvent> => ({
  actor: "wave",
  kind: "wave",
  collection,
  schemaVersion,
  commands: ["run", "override", "note-override"],
  indexes: waveIndexes,
  gather: async (command, state) => {
    if (command.name === "wave.run")
      return state === undefined ? gatherSolved(context, command, solver) : undefined;
    return command.name === "wave.override" &&
      state !== undefined &&
      overrideMadeBy(command, state) === undefined
      ? gatherOverride(context, command, state)
      : undefined;
  },
  decide,
  evolve: (state, { sent: _s, order: _o, ...event }) => evolve(state, event as WaveEvent),
  outgoing: (event, state, _command, id) => outgoing(event, state, id),
  view: (state, { id, version, command }) => {
    const made = command.name === "wave.override" ? overrideMadeBy(command, state) : undefined;
    if (made === undefined) return { allocations: state.allocations.length, unplaced: state.unplaced.length };
    return {
      waveUrn: urn("wave", id),
      caseUrn: urn("case", state.caseId),
      override: overrideView(made),
      correlationUrn: command.correlationUrn,
      version,
    };
  },
  audit: ({ command, after }) => {
    if (command.name !== "wave.override") return undefined;
    const made = overrideMadeBy(command, after);
    const at = (hotelUrn: string | undefined) => ({ groupId: made?.groupId, hotelUrn: hotelUrn ?? null });
    return {
      action: command.name,
      caseId: after.caseId,
      before: at(made?.formerHotelUrn),
      after: at(made?.hotelUrn),
    };
  },
});

/** The case decides: a rerun is another wave of its own, and this one stays as it is. */
const rerun =
  (context: ActorContext): CommandFunction =>
  async (command) => {
    const waveUrn = urn("wave", command.entity);
    const asked = { ...command, params: { waveUrn } };
    const { caseId, version } = await context.call<{ caseId: string; version: number }>(
      "wave.decided",
      asked,
    );
    const { expectedVersion, ...rest } = command;
    if (expectedVersion !== undefined && expectedVersion !== version)
      throw new Problem("conflict/version", `The wave is at version ${version}.`, { version });
    const { groupIds, reason } = command.data as { groupIds?: string[]; reason?: string };
    const started = await context.call<Omit<AllocationStarted, "partialFailures">>("case.rerun", {
      ...rest,
      name: "case.rerun",
      entity: caseId,
      data: { waveId: command.entity, groupIds, reason },
    });
    return { ok: { ...started, rerunOf: waveUrn } };
  };

export const waveActor = (context: ActorContext): Actor => {
  const solver = new SolverProcess(context.config?.ALLOCATION_PROOF_MS ?? 0, context.log);
  return {
    name: "wave",
    deciders: [waves(context, solver)],
    queries: waveQueries(context),
    commands: { rerun: rerun(context) },
    start: async () => () => solver.stop(),
  };
};
