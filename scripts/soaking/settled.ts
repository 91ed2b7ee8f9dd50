/** Owns telling when an instance under load has done all it was asked, and what stands wrong then. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Db, MongoClient } from "mongodb";
import { readSealKey } from "../../config/config.ts";
import { checkConsistency, type Seen } from "../administration/consistency.ts";
import type { OwnInstance } from "../benchmarks/instance.ts";
import { keyFiles } from "../supervisor/keys.ts";
import { waitForRest } from "./rest.ts";
import type { SoakResult } from "./scenario.ts";

const lookEveryMs = 200;
const vendorTimeoutMs = 8000;
export const databasePrefix = "stopover";
/** Of what a push sets going; reviews have timers of their own that are due hours later. */
const collections = ["cases", "subCases", "waves", "transfers", "transportRuns", "messages", "deliveries"];

/** The first reason found why the instance is not at rest; undefined: nothing is under way. */
const underWay = async (
  { streams }: Pick<OwnInstance, "streams">,
  databases: readonly Db[],
): Promise<string | undefined> => {
  const { state } = await streams.manager.streams.info("COMMANDS");
  if (state.messages > 0) return `${state.messages} commands wait`;
  for (const stream of ["EVENTS", "INTERNAL"]) {
    for await (const { name, config, num_pending, num_ack_pending } of streams.manager.consumers.list(
      stream,
    )) {
      const isDurable = config.durable_name !== undefined;
      if (isDurable && num_pending + num_ack_pending > 0)
        return `${name} has ${num_pending + num_ack_pending} events`;
    }
  }
  for (const database of databases) {
    for (const name of collections) {
      const timers = await database.collection(name).findOne({ nextDueAt: { $gte: new Date(0) } });
      if (timers !== null) return `${name} ${timers._id} has a timer`;
      const outbox = await database.collection(name).findOne({ pendingSince: { $gte: new Date(0) } });
      if (outbox !== null) return `${name} ${outbox._id} has an outbox`;
    }
  }
  return undefined;
};

export interface SettledOptions {
  /** For each coming to rest. */
  timeoutMs: number;
  signal: AbortSignal;
  say(line: string): void;
  /** What else is to be done once it is at rest, and what was wrong with it; rest is waited for again. */
  atRest?(): Promise<string[]>;
}

/** Also of rooms that were given back: a run without any has tried nothing. */
const everBooked = async (databases: readonly Db[]): Promise<number> => {
  const counts = await Promise.all(
    databases.map((database) =>
      database.collection("subCases").countDocuments({ "reservation.bookingId": { $exists: true } }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/**
 * Waits for rest, then compares everything.
 * @param expectedCases URNs that must all stand
 */
export const checkSettled = async (
  own: Pick<OwnInstance, "instance" | "airlines" | "streams">,
  expectedCases: readonly string[],
  options: SettledOptions,
): Promise<SoakResult & { seen: Seen }> => {
  const mongodb = await new MongoClient(own.instance.mongodbUrl).connect();
  try {
    const databases = own.airlines.map(({ code }) => mongodb.db(`${databasePrefix}_${code}`));
    const resting = (): Promise<string | undefined> =>
      waitForRest(() => underWay(own, databases), {
        ...options,
        nowMs: () => performance.now(),
        pause: () => delay(lookEveryMs, undefined, { signal: options.signal }),
      });
    let rest = await resting();
    const atRest = (await options.atRest?.()) ?? [];
    if (rest === undefined && options.atRest !== undefined) rest = await resting();
    const { findings, seen } = await checkConsistency({
      mongodb,
      databasePrefix,
      streams: own.streams,
      now: new Date(),
      vendors: {
        sealKey: readSealKey(join(own.instance.keysDir, keyFiles.seal)),
        timeoutMs: vendorTimeoutMs,
        signal: options.signal,
      },
      // At rest nothing may wait, however young; else the reason is told above.
      ...(rest === undefined ? { overdueAfterMs: 0 } : {}),
    });
    const faults = [
      ...(rest === undefined ? [] : [`not at rest after ${options.timeoutMs / 1000} s: ${rest}`]),
      ...atRest,
      ...findings.map(({ kind, about, detail }) => `${kind}: ${about}: ${detail}`),
    ];
    if ((await everBooked(databases)) === 0) faults.push("no room was booked");
    const pushed = new Set(expectedCases);
    if (seen.openCases !== pushed.size)
      faults.push(`${pushed.size} cases were pushed, ${seen.openCases} stand open`);
    const done = `${seen.openCases} cases, ${seen.passengers} passengers, ${seen.rooms} rooms, ${seen.offers} offers, ${seen.unfinished} groups without an offer`;
    return { done, faults, seen };
  } finally {
    await mongodb.close();
  }
};
