/** Owns whether a hotel could be chosen by hand for groups of a case, asked before anybody chooses: nothing comes of it. */
import type { Collection, Document } from "mongodb";
import type { Command, Query } from "../../schemas/command.ts";
import { requireUnlocked } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import type { Loaded } from "../runtime/store.ts";
import { decideOverride, gatherOverride } from "./override.ts";
import type { WaveState } from "./state.ts";

interface Asked {
  caseId: string;
  groupIds: string[];
  hotelUrn: string;
  reason: string;
}

interface Choosable {
  groupId: string;
  /** The newest wave that has looked for a room for the group: the choice is made over that one. */
  waveId: string;
}

interface Found {
  waveId: string;
  state: WaveState;
}

/**
 * The query `wave.choosable`. @throws Problem what `wave.override` would refuse each of the groups with; conflict/state for
 * one that no wave has looked for a room for
 */
export const choosable =
  (
    context: ActorContext,
    waves: (tenant: string) => Collection<Document>,
    read: (document: Document) => Loaded<WaveState>,
  ) =>
  async (query: Query): Promise<Choosable[]> => {
    const { params, fencingToken, ...asking } = query as Query & Pick<Command, "fencingToken">;
    const { caseId, groupIds, ...choice } = params as unknown as Asked;
    const found = await newestOf(waves(query.tenant), read, caseId, groupIds);
    const now = context.clock.now();
    const choices = await Promise.all(
      groupIds.map(async (groupId) => {
        const wave = found.get(groupId);
        if (wave === undefined) {
          const detail = `No wave has looked for a room for ${groupId} yet: have its demand approved, and allocate first.`;
          throw new Problem("conflict/state", detail, { state: "NOT_ALLOCATED" });
        }
        const command: Received = {
          ...asking,
          id: "",
          name: "wave.override",
          entity: wave.waveId,
          issuedAt: now.toISOString(),
          data: { groupId, ...choice },
          now,
        };
        return { wave, command, facts: await gatherOverride(context, command, wave.state) };
      }),
    );
    // A token is of one lock, and the choice is for all the groups: it is asked for once, not of each.
    const writing = { principal: query.principal, ...(fencingToken === undefined ? {} : { fencingToken }) };
    requireUnlocked(
      choices.map(({ facts }) => facts.standing?.lock),
      writing,
      now,
    );
    for (const { wave, command, facts } of choices) decideOverride(wave.state, command, facts);
    return choices.map(({ wave: { waveId } }, i) => ({ groupId: groupIds[i] as string, waveId }));
  };

/** One by one, the newest first: a wave of a large aircraft is a large document, and most cases have one or two. */
const newestOf = async (
  waves: Collection<Document>,
  read: (document: Document) => Loaded<WaveState>,
  caseId: string,
  groupIds: readonly string[],
): Promise<Map<string, Found>> => {
  const found = new Map<string, Found>();
  const all = waves
    .find({ caseId }, { projection: { outbox: 0, handled: 0 }, batchSize: 1 })
    .sort({ _id: -1 });
  for await (const document of all) {
    const { meta, state } = read(document);
    const known = new Set([...state.allocations, ...state.unplaced].map(({ groupId }) => groupId));
    for (const groupId of groupIds)
      if (known.has(groupId) && !found.has(groupId)) found.set(groupId, { waveId: meta._id, state });
    if (groupIds.every((groupId) => found.has(groupId))) break;
  }
  return found;
};
