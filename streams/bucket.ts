/** Owns watched key-value buckets: what every process knows without asking, and learns of within moments. */
import type { Streams } from "./connection.ts";

export interface Bucket<Value> {
  put(key: string, value: Value): Promise<void>;
  close(): void;
}

/**
 * Opens (or makes) a bucket and calls back for each value that it holds; returns once all that it held have been told.
 * Later values follow as they are put, from whichever process. One that cannot be taken is told of and passed over: it
 * must not keep the others from being known.
 */
export const watchBucket = async <Value>(
  streams: Streams,
  name: string,
  onValue: (key: string, value: Value) => void,
  onUnreadable: (key: string, error: unknown) => void,
): Promise<Bucket<Value>> => {
  const bucket = await streams.kv.create(name, { history: 1 });
  const held = await bucket.status();
  const watch = await bucket.watch();
  const primed = Promise.withResolvers<void>();
  if (held.values === 0) primed.resolve();
  const reading = (async () => {
    for await (const entry of watch) {
      try {
        if (entry.operation === "PUT") onValue(entry.key, entry.json<Value>());
      } catch (error) {
        onUnreadable(entry.key, error);
      }
      if (entry.delta === 0) primed.resolve();
    }
  })();
  reading.catch(primed.reject);
  await primed.promise;
  return {
    put: async (key, value) => {
      await bucket.put(key, JSON.stringify(value));
    },
    close: () => watch.stop(),
  };
};
