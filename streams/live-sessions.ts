/** Owns where sessions of the operators' live channel are kept while they last, so that any gateway process can go on with one. */
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import type { Streams } from "./connection.ts";

/** Counted from the last time that an entry was written: whoever has a live socket writes it again before. */
export const keptForMs = 10 * 60_000;
/** Somebody waits for each of these calls. */
const timeoutMs = 1500;

export interface LiveSession {
  /** The airline's code. */
  tenant: string;
  /** Whose it is; nobody else goes on with it. */
  operatorUrn: string;
  /** What each room is, and from when on it was heard, as the gateway writes them. */
  rooms: { room: unknown; since: string }[];
}

export interface LiveSessions {
  /** @param id base64url text; undefined: none, or none any more @throws an outage of the streams, within 1.5 s */
  read(id: string): Promise<LiveSession | undefined>;
  /** @throws an outage of the streams, within 1.5 s */
  write(id: string, session: LiveSession): Promise<void>;
}

export const openLiveSessions = async (streams: Streams): Promise<LiveSessions> => {
  const client = jetstream(streams.connection, { timeout: timeoutMs });
  const bucket = await new Kvm(client).create("live-sessions", {
    history: 1,
    ttl: keptForMs,
    // A follower may not have heard yet what another gateway has just written.
    allow_direct: false,
  });
  return {
    read: async (id) => {
      const held = await bucket.get(id);
      return held === null || held.operation !== "PUT" ? undefined : held.json<LiveSession>();
    },
    write: async (id, session) => {
      await bucket.put(id, JSON.stringify(session));
    },
  };
};
