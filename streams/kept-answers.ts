/**
 * Owns where answers to keyed writes are kept for a day (contract, "Limits": idempotency retention). Who may write an
 * entry is decided by its revision; what an entry means to a request is the gateway's.
 */
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { isLostRace } from "./bucket.ts";
import type { Streams } from "./connection.ts";

/** Counted from the last time that an entry was written. */
const keptForMs = 86_400_000;
/** Somebody waits for each of these calls, and is better told soon that the streams are away. */
const timeoutMs = 1500;

export interface KeptAnswer {
  status: number;
  headers: (readonly [name: string, value: string])[];
  /** Absent: the answer had none. */
  body?: string;
}

/**
 * Of one write. `payload` is a digest of what was asked. Without an answer it is under way until the lease is over; with
 * a lease that is over, whoever asks the same again may run it.
 */
export type KeptEntry = { payload: string } & ({ leaseUntilMs: number } | { answer: KeptAnswer });

export interface KeptAnswers {
  /** Undefined: none, or none any more. @throws an outage of the streams, within 1.5 s */
  read(key: string): Promise<{ entry: KeptEntry; revision: number } | undefined>;
  /**
   * @param key base64url text
   * @param revision that the entry was read with, or 0: there is none
   * @returns the new revision; undefined: another writer was first @throws an outage of the streams, within 1.5 s
   */
  write(key: string, entry: KeptEntry, revision: number): Promise<number | undefined>;
}

export const openKeptAnswers = async (streams: Streams): Promise<KeptAnswers> => {
  const client = jetstream(streams.connection, { timeout: timeoutMs });
  const bucket = await new Kvm(client).create("kept-answers", {
    history: 1,
    ttl: keptForMs,
    // A follower may not have heard yet what another gateway has just answered.
    allow_direct: false,
  });
  return {
    read: async (key) => {
      const held = await bucket.get(key);
      return held === null ? undefined : { entry: held.json<KeptEntry>(), revision: held.revision };
    },
    write: async (key, entry, revision) => {
      try {
        return await bucket.put(key, JSON.stringify(entry), { previousSeq: revision });
      } catch (error) {
        if (isLostRace(error)) return undefined;
        throw error;
      }
    },
  };
};
