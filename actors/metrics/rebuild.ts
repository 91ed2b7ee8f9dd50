/**
 * Owns making figures anew from the streams' log, while live events go on being counted: the next generation is filled beside the
 * one that counts, then takes its place. Facts are joined, so nothing of it counts twice, whoever else writes and wherever it stops.
 */
import type { EventRecord } from "../../schemas/command.ts";
import { idOf } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { readLog } from "../../streams/read-log.ts";
import { typeFilter } from "../../streams/subjects.ts";
import { ensureIndexes, type TenantDocuments } from "../runtime/documents.ts";
import { bucketIndexes, bucketKey, bucketsOf, joinInto } from "./buckets.ts";
import { hourOf, internalSources, type Noted, notedOf, publicSources } from "./facts.ts";
import { type Head, headOf, headsOf, type LogName, logs, type RebuildState } from "./generations.ts";

export interface Rebuilding {
  documents: TenantDocuments;
  streams: Streams;
  now: Date;
  /** Events at once; how much is read again after a kill. */
  windowMax?: number;
  /** Told after each window, once its position is kept. */
  onProgress?(progress: Progress): void;
}

export interface Progress {
  phase: RebuildState["phase"];
  stream: LogName;
  /** Events read by this run. */
  read: number;
  /** Events of this stream that are left. */
  left: number;
}

export interface Rebuilt {
  generation: number;
  /** Set: it went on where an earlier run had stopped. */
  resumed: boolean;
  /** Null: the log holds everything that ever was. */
  wholeFrom: Date | null;
  read: number;
  /** Buckets older than the log, which stand as they were. */
  takenOver: number;
}

const hourMs = 3_600_000;
const windowDefault = 256;

const sources = (tenant: string): Record<LogName, string[]> => ({
  EVENTS: publicSources.map((type) => typeFilter("evt", type, tenant)),
  INTERNAL: internalSources.map((type) => typeFilter("int", type, tenant)),
});

/** Begins, or goes on with what an earlier run has left; returns once the new generation counts and lacks nothing. */
export const rebuild = async (rebuilding: Rebuilding): Promise<Rebuilt> => {
  const { documents } = rebuilding;
  await ensureIndexes(bucketsOf(documents) as never, bucketIndexes);
  const { resumed, state } = await begin(rebuilding);
  const counted = { read: 0 };
  let takenOver = 0;
  if (state.phase === "log") {
    if (!state.takenOver) takenOver = await takeOver(rebuilding, state);
    await replay(rebuilding, state, counted);
    await swap(documents, state);
  }
  // What was delivered before the change may have gone to the old generation.
  await replay(rebuilding, { ...state, phase: "tail" }, counted);
  await headsOf(documents).updateOne(
    { _id: "head", "rebuild.generation": state.generation },
    { $unset: { rebuild: "" } },
  );
  await bucketsOf(documents).deleteMany({ generation: { $lt: state.generation } });
  const { generation, wholeFrom } = state;
  const isAll = wholeFrom.getTime() === 0;
  return { generation, resumed, wholeFrom: isAll ? null : wholeFrom, read: counted.read, takenOver };
};

/**
 * What each stream holds from: the sequence before its first, and the first hour that it has as a whole. One that has dropped nothing
 * may be younger than the figures all the same: made anew after a loss, it knows nothing of the nights before.
 */
const extentOf = async (
  { documents, streams: { manager }, now }: Rebuilding,
  stream: LogName,
  generation: number,
): Promise<{ before: number; wholeFrom: Date }> => {
  const { state } = await manager.streams.info(stream);
  const before = Math.max(0, state.first_seq - 1);
  const from = hourOf(state.messages === 0 ? now : new Date(state.first_ts));
  const older = { generation, hour: { $lt: from } };
  const holdsAll =
    before === 0 &&
    (await bucketsOf(documents).findOne(older, { hint: "hours", projection: { _id: 1 } })) === null;
  if (holdsAll) return { before, wholeFrom: new Date(0) };
  // One hour more: the oldest go on being dropped while the log is read, and clocks differ.
  return { before, wholeFrom: new Date(from.getTime() + 2 * hourMs) };
};

const begin = async (rebuilding: Rebuilding): Promise<{ resumed: boolean; state: RebuildState }> => {
  const { documents, now } = rebuilding;
  const head = await headOf(documents);
  const extents = await Promise.all(logs.map((stream) => extentOf(rebuilding, stream, head.generation)));
  const standing = head.rebuild;
  const reaches = (state: RebuildState) =>
    logs.every((stream, i) => state.positions[stream] >= (extents[i]?.before ?? 0));
  if (standing !== undefined && (standing.phase === "tail" || reaches(standing)))
    return { resumed: true, state: standing };
  const state: RebuildState = {
    generation: Math.max(head.generation, standing?.generation ?? 0) + 1,
    phase: "log",
    wholeFrom: new Date(Math.max(...extents.map(({ wholeFrom }) => wholeFrom.getTime()))),
    takenOver: false,
    positions: { EVENTS: extents[0]?.before ?? 0, INTERNAL: extents[1]?.before ?? 0 },
    startedAt: now,
  };
  await headsOf(documents).updateOne(
    { _id: "head" },
    { $set: { rebuild: state }, $setOnInsert: { generation: head.generation } },
    { upsert: true },
  );
  return { resumed: false, state };
};

/** Buckets that the log does not hold as a whole: what it holds of them is joined afterwards. */
const takeOver = async ({ documents }: Rebuilding, state: RebuildState): Promise<number> => {
  const { generation } = await headOf(documents);
  let count = 0;
  const older = bucketsOf(documents).find(
    { generation, hour: { $lt: state.wholeFrom } },
    { hint: "hours", batchSize: 200 },
  );
  for await (const { caseId, hour, airport, facts } of older) {
    const place = airport === undefined ? {} : { airport };
    await joinInto(documents, state.generation, [{ caseId, hour, ...place, facts }]);
    count += 1;
  }
  await keep(documents, state, { takenOver: true });
  return count;
};

const keep = async (
  documents: TenantDocuments,
  { generation }: RebuildState,
  change: Partial<RebuildState>,
): Promise<void> => {
  const set = Object.fromEntries(Object.entries(change).map(([name, value]) => [`rebuild.${name}`, value]));
  await headsOf(documents).updateOne({ _id: "head", "rebuild.generation": generation }, { $set: set });
};

/** From the kept positions to the end, both streams. */
const replay = async (
  { documents, streams, windowMax = windowDefault, onProgress }: Rebuilding,
  state: RebuildState,
  counted: { read: number },
): Promise<void> => {
  for (const stream of logs) {
    const filterSubjects = sources(documents.tenant)[stream];
    const log = { stream, filterSubjects, after: state.positions[stream] };
    for await (const { entries, left } of readLog(streams, log, windowMax)) {
      const noted = entries.flatMap((entry) => notedIn(documents.tenant, entry.json() as EventRecord));
      for (const bucket of byBucket(noted)) await joinInto(documents, state.generation, bucket);
      state.positions[stream] = entries.at(-1)?.sequence ?? state.positions[stream];
      await keep(documents, state, { positions: state.positions });
      counted.read += entries.length;
      onProgress?.({ phase: state.phase, stream, read: counted.read, left });
    }
  }
};

const notedIn = (tenant: string, event: EventRecord): Noted[] => {
  const noted = notedOf(event);
  return noted !== undefined && idOf(event.tenant) === tenant ? [noted] : [];
};

const byBucket = (noted: readonly Noted[]): Noted[][] => {
  const buckets = new Map<string, Noted[]>();
  for (const one of noted) {
    const key = bucketKey(one);
    const bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, [one]);
    else bucket.push(one);
  }
  return [...buckets.values()];
};

/** Another run may have been first: then it has filled the same generation, and this one only looks once more. */
const swap = async (documents: TenantDocuments, { generation }: RebuildState): Promise<void> => {
  const change: Partial<Head> & Record<string, unknown> = { generation, "rebuild.phase": "tail" };
  await headsOf(documents).updateOne(
    { _id: "head", generation: { $lt: generation }, "rebuild.generation": generation },
    { $set: change },
  );
};
