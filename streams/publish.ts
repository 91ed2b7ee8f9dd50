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

/** @returns the message's sequence in its stream @throws when the server doesn't confirm; publishing again is safe */
export const publish = async (streams: Streams, message: Outbound): Promise<number> => {
  const head = headers();
  if (message.traceparent !== undefined) head.set("traceparent", message.traceparent);
  for (const [name, value] of Object.entries(message.headers ?? {}))
    head.set(name, value.replace(/[\r\n]+/g, " "));
  const ack = await streams.jetstream.publish(message.subject, message.payload, {
    msgID: message.messageId,
    headers: head,
    timeout: 5000,
    retries: 3,
  });
  return ack.seq;
};
