/** Wires the wave actor. */
import type { Decider } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { type DecidedWave, decideWave, outgoingOf } from "./decide.ts";
import { gatherWave, type WaveInput } from "./gather.ts";
import { collection, schemaVersion, waveIndexes, waveQueries } from "./queries.ts";
import { evolve, type WaveEvent, type WaveState } from "./state.ts";

/** The event carries the state; what it sends out rides beside it, from the same decision to the same commit. */
type SendingEvent = WaveEvent & Pick<DecidedWave, "assignments">;

const waves = (context: ActorContext): Decider<WaveState, SendingEvent> => ({
  actor: "wave",
  kind: "wave",
  collection,
  schemaVersion,
  commands: ["run"],
  indexes: waveIndexes,
  gather: async (command, state) => (state === undefined ? gatherWave(context, command) : undefined),
  decide: (state, command, gathered) => {
    if (state !== undefined) return [];
    const { event, assignments } = decideWave(command, gathered as WaveInput);
    return [{ ...event, assignments }];
  },
  evolve,
  outgoing: ({ assignments, ...event }, _state, _command, id) => outgoingOf(id, { event, assignments }),
  view: (state) => ({ allocations: state.allocations.length, unplaced: state.unplaced.length }),
});

export const waveActor = (context: ActorContext): Actor => ({
  name: "wave",
  deciders: [waves(context)],
  queries: waveQueries(context),
});
