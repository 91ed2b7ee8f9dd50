/** Owns watched key-value buckets: what every process knows without asking, and learns of within moments. */
import { setTimeout as delay } from "node:timers/promises";
import { DeliverPolicy, JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import type { Streams } from "./connection.ts";

/** On an entry that marks a deletion, and on no other (NATS ADR-8). */
const deletionHeader = "KV-Operation";

/** What a bucket is made with. Of one that stands nothing is changed. */
export interface BucketOptions {
  /** An entry is gone this long after it was last put, untold; 0 (the default): it stays for ever. */
  ttlMs?: number;
}

/** It stays in the bucket for ever, so that whoever was away learns of the removal. */
export interface RemovalMark {
  /** By the server's clock. */
  at: Date;
  revision: number;
}

/** Who is told of what a bucket holds. */
export interface BucketWatcher<Value> {
  /** @param putAt by the server's clock; never earlier than that of the value told before */
  onValue(key: string, value: Value, putAt: Date): void;
  /** Of an entry that was removed, which may never have been told of; one that aged out is not told. @param mark what is left of it */
  onRemoved?(key: string, mark: RemovalMark): void;
  /** Of an entry that is no JSON, or that `onValue` threw for. */
  onUnreadable(key: string, error: unknown): void;
  /** The watch has ended and was not closed, or could not be begun anew: nothing is heard of until a later try succeeds. */
  onEnd(error: unknown): void;
}

export interface Bucket<Value> {
  put(key: string, value: Value): Promise<void>;
  /** False while there is no watch, whatever ended it: what this process knows grows old then. */
  live(): boolean;
  close(): void;
}

const openBucket = (streams: Streams, name: string, { ttlMs = 0 }: BucketOptions): Promise<KV> =>
  streams.kv.create(name, { history: 1, ...(ttlMs === 0 ? {} : { ttl: ttlMs }) });

/** One reading of a bucket from what it holds now on. */
interface Reading {
  /** With why it ended, which may be that it was stopped. */
  ended: Promise<unknown>;
  stop(): void;
}

/** @throws Error when it ends before all that the bucket holds have been told */
const readBucket = async <Value>(
  streams: Streams,
  name: string,
  { onValue, onRemoved, onUnreadable }: BucketWatcher<Value>,
  options: BucketOptions,
): Promise<Reading> => {
  const bucket = await openBucket(streams, name, options);
  const prefix = `$KV.${name}.`;
  // Not the client's own `watch`: that one hears nothing more once the server has lost its consumer.
  const consumer = await streams.jetstream.consumers.get(`KV_${name}`, {
    deliver_policy: DeliverPolicy.LastPerSubject,
  });
  const messages = await consumer.consume({ max_messages: 500, expires: 30_000, idle_heartbeat: 1000 });
  // Asked after the watch has begun: what an age limit takes away before it would be waited for in vain.
  const held = await bucket.status().catch((error) => {
    messages.stop();
    throw error;
  });
  const primed = Promise.withResolvers<void>();
  if (held.values === 0) primed.resolve();
  const reading = (async () => {
    for await (const message of messages) {
      const key = message.subject.slice(prefix.length);
      try {
        if (message.headers?.has(deletionHeader))
          onRemoved?.(key, { at: message.time, revision: message.seq });
        else onValue(key, message.json<Value>(), message.time);
      } catch (error) {
        onUnreadable(key, error);
      }
      if (message.info.pending === 0) primed.resolve();
    }
  })();
  // A lost consumer is made again by the client itself; after a lost bucket that would ask for the old one's numbers.
  const lost = (async () => {
    for await (const { type } of messages.status()) {
      if (type === "stream_not_found") messages.stop(new Error(`the bucket ${name} is gone`));
    }
  })();
  const ended = Promise.all([reading, lost]).then(
    () => new Error(`the watch of ${name} ended`),
    (error: unknown) => error,
  );
  void ended.then((error) => primed.reject(error));
  await primed.promise;
  return { ended, stop: () => messages.stop() };
};

const watchAgainMs = 5000;

/**
 * Opens (or makes) a bucket and calls back for each value that it holds; returns once all that it held have been told.
 * Later values follow as they are put, from whichever process. One that cannot be taken is told of and passed over: it
 * must not keep the others from being known. A watch that ends is begun anew, with all that is held then, until the
 * connection is closed.
 * @throws Error when the first one ends before all have been told
 */
export const watchBucket = async <Value>(
  streams: Streams,
  name: string,
  watcher: BucketWatcher<Value>,
  options: BucketOptions = {},
): Promise<Bucket<Value>> => {
  const closing = new AbortController();
  const isOver = (): boolean => closing.signal.aborted || streams.connection.isClosed();
  let reading: Reading | undefined = await readBucket(streams, name, watcher, options);
  const beginAgain = (): Promise<Reading | undefined> =>
    readBucket(streams, name, watcher, options).catch((error) => {
      watcher.onEnd(error);
      return undefined;
    });
  const keep = async (): Promise<void> => {
    while (reading !== undefined) {
      const error = await reading.ended;
      reading = undefined;
      if (!closing.signal.aborted) watcher.onEnd(error);
      while (reading === undefined && !isOver()) {
        reading = await beginAgain();
        if (reading === undefined) await delay(watchAgainMs, undefined, { ref: false });
      }
      if (closing.signal.aborted) reading?.stop();
    }
  };
  void keep();
  return {
    put: async (key, value) => {
      const bucket = await openBucket(streams, name, options);
      await bucket.put(key, JSON.stringify(value));
    },
    live: () => reading !== undefined,
    close: () => {
      closing.abort();
      reading?.stop();
    },
  };
};

/** Takes the mark of a removal out of a bucket, and nothing that was put under its key since. */
export const takeMark = async (
  streams: Streams,
  name: string,
  key: string,
  { revision }: RemovalMark,
): Promise<void> => {
  await streams.manager.streams.purge(`KV_${name}`, { filter: `$KV.${name}.${key}`, seq: revision + 1 });
};

type Decision<Value> = Value | null | undefined;

/** Lost races in a row before the caller has to come again. */
const racesMax = 10;

/** Others write too often right now. Nothing is wrong with the change, so it counts as an outage of the streams. */
class BucketContentionError extends Error {
  override name = "BucketContentionError";
}

/**
 * Reads an entry, decides on it, and writes with no other writer in between; lost races are run again.
 * @param decide from what is held to what shall be; `undefined` leaves it as it is, `null` removes it. What it reads elsewhere is
 *   read after the entry, so that no slower writer puts an older reading over a newer one
 * @throws BucketContentionError after ten lost races, Error when what is held cannot be read; doing it again is safe
 */
export const changeEntry = async <Value>(
  streams: Streams,
  name: string,
  key: string,
  decide: (held: Value | undefined) => Decision<Value> | Promise<Decision<Value>>,
  options: BucketOptions = {},
): Promise<void> => {
  const bucket = await openBucket(streams, name, options);
  for (let race = 0; race < racesMax; race++) {
    const held = await bucket.get(key);
    const wanted = await decide(held?.operation === "PUT" ? held.json<Value>() : undefined);
    if (wanted === undefined) return;
    try {
      // The mark of a removal is left even where nothing is held: a slower writer that has found nothing either would else put its
      // entry after all. A sequence of 0 stands for no entry of that key.
      if (wanted === null) await bucket.delete(key, held === null ? {} : { previousSeq: held.revision });
      else await bucket.put(key, JSON.stringify(wanted), { previousSeq: held?.revision ?? 0 });
      return;
    } catch (error) {
      if (!isLostRace(error)) throw error;
    }
  }
  throw new BucketContentionError(`others keep changing ${key} of ${name}`);
};

/** Whether a write that named a revision came after another's. */
export const isLostRace = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
    error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown);
