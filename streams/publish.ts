/** Owns publishing to JetStream: confirmed, and repeated a few times under the same message id until the server has it. */
import { headers } from "@nats-io/transport-node";
import type { Streams } from "./connection.ts";

export interface Outbound {
  subject: string;
  /** JSON text. */
  payload: string;
  /** `Nats-Msg-Id`: the server drops a second one inside its duplicate window. */
  messageId: string;
  /** W3C Trace Context. */
  traceparent?: string;
  /** Further headers, e.g. a dead letter's origin. */
  headers?: Record<string, string>;
}

/** How long the server may take to confirm, and how often it is asked. */
export interface Patience {
  timeoutMs: number;
  tries: number;
}

const usual: Patience = { timeoutMs: 5000, tries: 3 };

/** @returns the message's sequence in its stream @throws when the server doesn't confirm; publishing again is safe */
export const publish = async (
  streams: Streams,
  message: Outbound,
  { timeoutMs, tries }: Patience = usual,
): Promise<number> => {
  const head = headers();
  if (message.traceparent !== undefined) head.set("traceparent", message.traceparent);
  for (const [name, value] of Object.entries(message.headers ?? {}))
    head.set(name, value.replace(/[\r\n]+/g, " "));
  const ack = await streams.jetstream.publish(message.subject, message.payload, {
    msgID: message.messageId,
    headers: head,
    timeout: timeoutMs,
    retries: tries,
  });
  return ack.seq;
};
