/**
 * Owns the peer of the benchmark `webhooks`: the simplest worker that a user would write. Each subscription is a queue consumer that
 * posts the signed body and acknowledges a 2xx: no log of attempts, no schedule, no check of addresses, no limit to an answer.
 */
import { AckPolicy, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { EventRecord } from "../../schemas/command.ts";
import { signatureOf } from "../../schemas/webhook-signature.ts";
import { openStreams } from "../../streams/connection.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

export interface WorkerSubscription {
  clientId: string;
  url: string;
  secret: string;
}

const subscriptions = JSON.parse(process.env.WORKER_SUBSCRIPTIONS ?? "[]") as WorkerSubscription[];
/** As many at once as ours. */
const atOnce = 8;
const retryMs = 60_000;

const streams = await openStreams(process.env.NATS_URL ?? "", "webhook-worker");

const deliver = async ({ url, secret }: WorkerSubscription, event: EventRecord): Promise<boolean> => {
  const { urn, traceparent: _, ...rest } = event;
  const body = JSON.stringify(rest);
  const timestamp = Math.floor(Date.now() / 1000);
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Service-Signature": signatureOf(secret, timestamp, body),
      "X-Service-Signature-Timestamp": String(timestamp),
      "X-Service-Event-Type": event.type,
      "X-Service-Event-Urn": urn,
      "X-Service-Tenant": event.tenant,
      "X-Service-Correlation": event.correlation_urn,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  });
  await answer.arrayBuffer();
  return answer.ok;
};

const settle = async (subscription: WorkerSubscription, message: JsMsg): Promise<void> => {
  // Whatever went wrong: the queue brings it again.
  const isTaken = await deliver(subscription, message.json<EventRecord>()).catch(() => false);
  if (isTaken) message.ack();
  else message.nak(retryMs);
};

for (const subscription of subscriptions) {
  const durable = `worker_${subscription.clientId}`;
  await streams.manager.consumers.add("EVENTS", {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(30_000),
    deliver_policy: DeliverPolicy.New,
    max_ack_pending: atOnce,
  });
  const consumer = await streams.jetstream.consumers.get("EVENTS", durable);
  const messages = await consumer.consume({ max_messages: atOnce });
  void (async () => {
    for await (const message of messages) void settle(subscription, message);
  })();
}
console.log("ready worker");

const stop = async (): Promise<void> => {
  await streams.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
stopWithParent(() => void stop());
