/** Owns dead letters: what was put aside, sending it once more, and dropping it. Who puts it aside is consuming's. */
import type { StoredMsg } from "@nats-io/jetstream";
import type { Streams } from "./connection.ts";
import { publish } from "./publish.ts";
import { deadFilter, parseSubject } from "./subjects.ts";
import type { StreamName } from "./topology.ts";

const stream: StreamName = "DEAD";

export interface DeadLetter {
  /** Its place among the dead letters, by which it is named. */
  sequence: number;
  /** The airline's code; `none` where the message had none. */
  tenant: string;
  /** The actor that gave it up. */
  actor: string;
  /** Where it was published first, and goes again on a retry. */
  subject: string;
  reason: string;
  /** The durable consumer that gave it up. */
  consumer: string;
  at: Date;
  /** As it came: it may hold passengers' details. */
  body: string;
}

const letterOf = (message: StoredMsg): DeadLetter => {
  const parsed = parseSubject(message.subject);
  return {
    sequence: message.seq,
    tenant: parsed?.tenant ?? "none",
    actor: parsed?.owner ?? "none",
    subject: message.header.get("Stopover-Subject"),
    reason: message.header.get("Stopover-Reason"),
    consumer: message.header.get("Stopover-Consumer"),
    at: message.time,
    body: message.string(),
  };
};

/**
 * Oldest first, from the sequence `from` on.
 * @param tenant an airline's code; undefined: all
 */
export const listDeadLetters = async (
  streams: Streams,
  options: { tenant?: string; from?: number; limit: number },
): Promise<DeadLetter[]> => {
  const found: DeadLetter[] = [];
  let seq = options.from ?? 1;
  while (found.length < options.limit) {
    const next = { seq, next_by_subj: deadFilter(options.tenant) };
    const message = await streams.manager.direct.getMessage(stream, next);
    if (message === null) break;
    found.push(letterOf(message));
    seq = message.seq + 1;
  }
  return found;
};

/** Undefined when there is none of that sequence (any more). */
export const getDeadLetter = async (streams: Streams, sequence: number): Promise<DeadLetter | undefined> => {
  const message = await streams.manager.streams.getMessage(stream, { seq: sequence });
  return message === null ? undefined : letterOf(message);
};

/**
 * Publishes the letter where it came from, then removes it. Its message id comes from its sequence, so a retry that
 * died in between and is done again is one message. All consumers of an event get it once more, not only the one that
 * gave it up; they tell repeats by the event's URN, as after any redelivery.
 * @returns false when there is no such letter
 */
export const retryDeadLetter = async (streams: Streams, sequence: number): Promise<boolean> => {
  const letter = await getDeadLetter(streams, sequence);
  if (letter === undefined) return false;
  await publish(streams, {
    subject: letter.subject,
    payload: letter.body,
    messageId: `dead:${sequence}:${letter.at.getTime()}:retry`,
  });
  await dropDeadLetter(streams, sequence);
  return true;
};

/** @returns false when there is no such letter */
export const dropDeadLetter = async (streams: Streams, sequence: number): Promise<boolean> => {
  if ((await getDeadLetter(streams, sequence)) === undefined) return false;
  return streams.manager.streams.deleteMessage(stream, sequence);
};
