// Partners' receivers, processes that host the webhook actor, and events to tell, for the story of webhooks.
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ServiceBroker } from "moleculer";
import { pino } from "pino";
import type { Test } from "tap";
import { mintTraceparent, systemClock } from "../../actors/runtime/clock.ts";
import { type Documents, openDocuments } from "../../actors/runtime/documents.ts";
import type { Faults } from "../../actors/runtime/faults.ts";
import { type ActorContext, callThrough, hostActor } from "../../actors/runtime/host.ts";
import { webhookActor } from "../../actors/webhook/service.ts";
import type { Config } from "../../config/config.ts";
import { type Command, type EventRecord, type Query, systemPrincipal } from "../../schemas/command.ts";
import type { SubscriptionInput, SubscriptionView } from "../../schemas/webhook.ts";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { eventSubject } from "../../streams/subjects.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";

export const tenant = "XN";
/** The last delay is then 0.35 s. */
export const retryScale = 4e-6;

/** Things that happen, and promises of those that are to come. */
export class Seen<Item> {
  readonly items: Item[] = [];
  readonly #waiting = new Set<() => void>();

  add(item: Item): void {
    this.items.push(item);
    for (const look of this.#waiting) look();
  }

  /** The matching items, once there are `count`. */
  async until(count: number, matches: (item: Item) => boolean = () => true): Promise<Item[]> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.items.filter(matches);
        if (found.length < count) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

export interface Post {
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

type Answer = (response: ServerResponse, nth: number) => void;

/** A partner's receiver, for as long as its subscription may send; `answer` may be changed at any time. */
export const startReceiver = async (t: Test) => {
  const posts = new Seen<Post>();
  const receiver = { posts, url: "", answer: ((response) => response.end("ok")) as Answer };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    posts.add({ headers: request.headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
    receiver.answer(response, posts.items.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
};

export const fail: Answer = (response) =>
  response.writeHead(500).end("database down for ops@partner.example");

export const urnOf = ({ headers }: Post) => headers["x-service-event-urn"];

export const isSigned = (
  { headers, body }: Post,
  secret: string,
  header = "x-service-signature",
): boolean => {
  const timestamp = headers["x-service-signature-timestamp"];
  const skewMs = Math.abs(Date.now() - Number(timestamp) * 1000);
  const expected = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("base64");
  return headers[header] === `sha256=${expected}` && skewMs < 300_000;
};

interface Place {
  config: Config;
  natsUrl: string;
}

/** One process hosting the actor, as far as anything outside can tell. */
export const startNode = async (t: Test, place: Place, name: string, faults: Faults = () => undefined) => {
  const streams = await openStreams(place.natsUrl, name);
  const documents = await openDocuments(place.config.MONGODB_URL, place.config.DATABASE_PREFIX);
  const tenants = await openTenantDirectory(streams, pino({ level: "silent" }));
  const broker = new ServiceBroker({ nodeID: name, logger: false });
  const logged = new Seen<{ msg: string; clientId?: string; level: number }>();
  const log = pino({ level: "info" }, { write: (line) => logged.add(JSON.parse(line)) });
  const { config } = place;
  const clock = systemClock;
  const context: ActorContext = {
    config,
    documents,
    streams,
    tenants,
    clock,
    faults,
    log,
    call: callThrough(broker),
  };
  const hosted = hostActor(context, webhookActor(context));
  broker.createService(hosted.schema);
  await broker.start();
  await hosted.start();
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      await hosted.stop();
      await broker.stop();
      tenants.close();
      await streams.close();
      await documents.close();
    })();
    return stopped;
  };
  t.teardown(stop);
  return { ...context, logged, stop };
};
export type Node = Awaited<ReturnType<typeof startNode>>;

let count = 0;
const nextId = () => `${tenant}-${String(++count).padStart(26, "0")}`;

export const commandOf = (name: string, data: unknown, clientId?: string): Command => ({
  id: nextId(),
  name,
  tenant,
  entity: "",
  principal:
    clientId === undefined
      ? systemPrincipal(tenant, "admin")
      : { surface: "partner", tenant, urn: `urn:partner:${clientId}`, clientId },
  correlationUrn: "urn:correlation:test",
  traceparent: mintTraceparent(),
  issuedAt: new Date().toISOString(),
  data,
});

export const secretOf = (clientId: string) => `whsec-of-${clientId}`;

export const subscribe = (
  node: Node,
  clientId: string,
  url: string,
  more: Partial<SubscriptionInput> = {},
) => {
  const input: SubscriptionInput = {
    clientId,
    url,
    scopes: ["cases.events.subscribe"],
    secret: secretOf(clientId),
    contact: "ops@partner.example",
    ...more,
  };
  return node.call<SubscriptionView>(
    "webhook.put-subscription",
    commandOf("webhook.put-subscription", input),
  );
};

export const subscriptionOf = (node: Node, clientId: string) => {
  const query: Query = { ...commandOf("webhook.subscription", {}), params: { clientId } };
  return node.call<SubscriptionView>("webhook.subscription", query);
};

export const tell = async (
  streams: Streams,
  type: string,
  data: Record<string, unknown> = {},
  occurredAt = new Date(),
): Promise<EventRecord> => {
  const caseId = nextId();
  const event: EventRecord = {
    urn: `urn:event:${nextId()}`,
    type,
    occurred_at: occurredAt.toISOString(),
    tenant: `urn:airline:${tenant}`,
    case_urn: `urn:case:${caseId}`,
    correlation_urn: "urn:correlation:night",
    traceparent: mintTraceparent(),
    data,
  };
  await tellAgain(streams, event, event.urn);
  return event;
};

export const tellAgain = (streams: Streams, event: EventRecord, messageId: string) =>
  publish(streams, {
    subject: eventSubject(tenant, event.type, event.case_urn!.slice("urn:case:".length)),
    payload: JSON.stringify(event),
    messageId,
  });

export interface DeliveryDocument {
  _id: string;
  eventUrn: string;
  status: string;
  settledAt: Date;
  attempts: { attempt: number; at: Date; latencyMs: number; status?: number; excerpt?: string }[];
}
export const deliveriesOf = (documents: Documents, eventUrn: string) =>
  documents.tenant(tenant).collection<DeliveryDocument>("deliveries").find({ eventUrn }).toArray();
