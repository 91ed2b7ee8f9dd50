/** Owns the reads of replays, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReplayView } from "../../schemas/replay.ts";
import { idOf } from "../../schemas/urn.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import type { ActorContext } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import { type ReplayState, replayView } from "./replay-state.ts";

export const replays = { collection: "replays", schemaVersion: 1 };

/** As long as settled deliveries. */
const endedKeptSeconds = 30 * 86_400;

export const replayIndexes = [
  { name: "running", key: { runningFor: 1 }, unique: true, sparse: true },
  { name: "ttl", key: { endedAt: 1 }, expireAfterSeconds: endedKeptSeconds },
] as const;

const stateOnly = { handled: 0, outbox: 0 };

export interface Replay {
  id: string;
  state: ReplayState;
}

const replayOf = (document: Document): Replay => {
  const { state, meta } = loadedOf<ReplayState>(document, replays);
  return { id: meta._id, state };
};

export const loadReplay = async (documents: TenantDocuments, id: string): Promise<Replay | undefined> => {
  const found = await documents
    .collection<Document>(replays.collection)
    .findOne({ _id: id as never }, { projection: stateOnly });
  return found === null ? undefined : replayOf(found);
};

/** Of a subscription at most one runs. */
export const loadRunningReplay = async (
  documents: TenantDocuments,
  subscriptionId: string,
): Promise<Replay | undefined> => {
  const found = await documents
    .collection<Document>(replays.collection)
    .findOne({ runningFor: subscriptionId }, { projection: stateOnly });
  return found === null ? undefined : replayOf(found);
};

/** All of an airline that run: at most one for each partner. */
export const runningReplays = async (documents: TenantDocuments): Promise<Replay[]> => {
  const found = documents
    .collection<Document>(replays.collection)
    .find({ runningFor: { $exists: true } }, { hint: "running", projection: stateOnly });
  return (await found.toArray()).map(replayOf);
};

export const replayQueries = (context: ActorContext) => ({
  /** A replay of the caller's own. */
  replay: async ({ tenant, principal, params }: Query): Promise<ReplayView> => {
    const found = await loadReplay(context.documents.tenant(tenant), idOf(String(params.replayUrn)));
    if (found === undefined || found.state.clientId !== principal.clientId)
      throw new Problem("not-found/resource", "No such replay.");
    return replayView(found.state, found.id);
  },
});
