/** Owns following a stream live: every process that follows sees every message, none is acknowledged or kept for it. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { Logger } from "pino";
import type { Streams } from "./connection.ts";
import type { Consuming } from "./consume.ts";
import type { StreamName } from "./topology.ts";

export interface Followed {
  subject: string;
  sequence: number;
  json(): unknown;
}

export interface Following {
  stream: StreamName;
  filterSubjects: string[];
  /** Called in the stream's order. What it throws is logged and the next message follows. */
  handle(message: Followed): void;
  log: Logger;
}

/** Sees what is published after the returned promise is settled; catches up by itself after a lost connection. */
export const follow = async (streams: Streams, following: Following): Promise<Consuming> => {
  const { stream, filterSubjects, handle, log } = following;
  const consumer = await streams.jetstream.consumers.get(stream, {
    filter_subjects: filterSubjects,
    deliver_policy: DeliverPolicy.New,
  });
  const messages = await consumer.consume({ max_messages: 500, expires: 30_000, idle_heartbeat: 5000 });
  const loop = (async () => {
    for await (const message of messages) {
      try {
        handle({ subject: message.subject, sequence: message.seq, json: () => message.json() });
      } catch (error) {
        log.error({ subject: message.subject, err: error }, "a followed message was not taken");
      }
    }
  })();
  loop.catch((error) => log.error({ stream, err: error }, "following ended"));
  return {
    stop: async () => {
      messages.stop();
      await loop.catch(() => undefined);
    },
  };
};
