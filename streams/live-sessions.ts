/** Owns where sessions of the operators' live channel are kept while they last, so that any gateway process can go on with one. */

import { isDeepStrictEqual } from "node:util";
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { isLostRace } from "./bucket.ts";
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
  /** Which connection has written it. */
  connection: string;
}

/** As it stands there. */
export interface KeptSession {
  session: LiveSession;
  revision: number;
}

export interface LiveSessions {
  /** @param id base64url text; undefined: none, or none any more @throws an outage of the streams, within 1.5 s */
  read(id: string): Promise<KeptSession | undefined>;
  /**
   * Nothing that another connection has noted is lost.
   * @param before as it was read or written last; undefined: it never was
   * @returns undefined, and nothing is written, where another connection has noted other rooms since
   * @throws an outage of the streams, within some seconds; it may have been written all the same
   */
  write(id: string, session: LiveSession, before: KeptSession | undefined): Promise<KeptSession | undefined>;
}

export const openLiveSessions = async (streams: Streams): Promise<LiveSessions> => {
  const client = jetstream(streams.connection, { timeout: timeoutMs });
  const bucket = await new Kvm(client).create("live-sessions", {
    history: 1,
    ttl: keptForMs,
    // A follower may not have heard yet what another gateway has just written.
    allow_direct: false,
  });
  const read = async (id: string): Promise<KeptSession | undefined> => {
    const held = await bucket.get(id);
    if (held === null || held.operation !== "PUT") return undefined;
    return { session: held.json<LiveSession>(), revision: held.revision };
  };
  /** Undefined: the revision is another by now. */
  const put = async (id: string, session: LiveSession, previousSeq: number) => {
    try {
      return { session, revision: await bucket.put(id, JSON.stringify(session), { previousSeq }) };
    } catch (error) {
      if (isLostRace(error)) return undefined;
      throw error;
    }
  };
  return {
    read,
    write: async (id, session, before) => {
      const written = await put(id, session, before?.revision ?? 0);
      if (written !== undefined) return written;
      const held = await read(id);
      // A write whose answer was lost is no other's; and who has only kept it alive has noted nothing.
      const isAsBefore =
        held === undefined ||
        held.session.connection === session.connection ||
        isDeepStrictEqual(held.session.rooms, before?.session.rooms);
      return isAsBefore ? put(id, session, held?.revision ?? 0) : undefined;
    },
  };
};
