/** Owns a webhook process with nothing else beside it: its servers, partners' receivers of different manners, and events to tell them. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { freshId, mintTraceparent } from "../../actors/runtime/clock.ts";
import { webhookExample } from "../../gateway/asyncapi.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import type { SubscriptionInput, SubscriptionView } from "../../schemas/webhook.ts";
import { readRawBody, verifyWebhook } from "../../schemas/webhook-signature.ts";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { eventSubject } from "../../streams/subjects.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { type InstanceClient, openClient } from "../administration/client.ts";
import { ensureNatsServer, startNats } from "../embedded/nats.ts";
import { type Listening, listenOnLoopback } from "../sandbox/loopback-http.ts";
import { developmentInstance, type Instance, serviceEnvironment } from "../supervisor/environment.ts";
import { ensureDevelopmentKeys } from "../supervisor/keys.ts";
import type { Running } from "../supervisor/running.ts";
import { startScript } from "../supervisor/script-process.ts";
import { serviceHeap } from "../supervisor/supervise.ts";

const scripts = resolve(import.meta.dirname, "..");
const tenant = "XN";
const stopGraceMs = 5000;
const hangMs = 10_000;
export const failingShare = 0.3;

/** How a partner's receiver answers. */
export type Manner = "healthy" | "hanging" | "failing";

export interface Receipt {
  /** Milliseconds since 1970, of the first time that it was taken. */
  at: number;
  times: number;
}

export interface Partner {
  clientId: string;
  manner: Manner;
  url: string;
  secret: string;
  /** What it took, by event URN. */
  taken: Map<string, Receipt>;
}

export interface RigOptions {
  /** Added to the webhook process's environment. */
  env?: Record<string, string>;
  /** From 0 up to 1: which calls of a failing receiver fail. */
  random(): number;
  say(line: string): void;
  signal: AbortSignal;
}

export class DeliveryRig {
  readonly folder: string;
  readonly instance: Instance;
  readonly streams: Streams;
  readonly partners: Partner[] = [];
  /** Deliveries that no receiver could believe. */
  unsigned = 0;
  /** When each event was in the stream, milliseconds since 1970. */
  readonly toldAt = new Map<string, number>();
  readonly #parts: { servers: Running[]; client: InstanceClient; receivers: Listening };
  readonly #options: RigOptions;
  readonly #looks = new Set<() => void>();
  #sender: Running | undefined;

  private constructor(
    place: Pick<DeliveryRig, "folder" | "instance" | "streams">,
    options: RigOptions,
    parts: { servers: Running[]; client: InstanceClient; receivers: Listening },
  ) {
    this.folder = place.folder;
    this.instance = place.instance;
    this.streams = place.streams;
    this.#options = options;
    this.#parts = parts;
  }

  /** @throws StartFailure when a part doesn't start */
  static async start(options: RigOptions): Promise<DeliveryRig> {
    const { say, signal } = options;
    const folder = mkdtempSync(join(tmpdir(), "stopover-deliveries-"));
    mkdirSync(join(folder, "logs"));
    await ensureDevelopmentKeys(join(folder, "keys"));
    const nats = await startNats({
      binary: await ensureNatsServer(resolve(scripts, "../.cache/nats"), { onProgress: say, signal }),
      dataDir: join(folder, "nats"),
      logFile: join(folder, "logs/nats.log"),
      signal,
    });
    const documents = await startScript({
      name: "documents",
      script: join(scripts, "embedded/documents/server.ts"),
      args: ["--dir", join(folder, "documents"), "--port", "0"],
      env: process.env,
      logFile: join(folder, "logs/documents.log"),
      readyLine: /^listening (mongodb:\S+)/,
      signal,
    });
    const instance = developmentInstance({
      baseUrl: "http://127.0.0.1:1",
      dataDir: folder,
      natsUrl: nats.url,
      mongodbUrl: documents.url,
    });
    const streams = await openStreams(nats.url, "deliveries");
    const directory = await openTenantDirectory(streams, pino({ level: "silent" }));
    await directory.announce({ code: tenant, name: "Soak Air", passengerHosts: [], homeCountry: "US" });
    directory.close();
    let rig: DeliveryRig | undefined;
    const server = createServer((request, response) => {
      rig?.receive(request, response).catch(() => response.destroy());
    });
    const receivers = await listenOnLoopback(server, 0);
    rig = new DeliveryRig({ folder, instance, streams }, options, {
      servers: [documents, nats],
      client: await openClient(nats.url),
      receivers,
    });
    return rig;
  }

  /** The process that delivers; one that runs is killed first. */
  async startSender(): Promise<void> {
    await this.#sender?.stop(0);
    this.#sender = await startScript({
      name: "webhook",
      script: join(scripts, "service.ts"),
      nodeArgs: serviceHeap,
      env: {
        ...serviceEnvironment(this.instance, { host: "127.0.0.1", port: 0, role: "actors=webhook" }),
        ...this.#options.env,
      },
      logFile: join(this.folder, "logs/webhook.log"),
      readyLine: /^ready (\S+)/,
      signal: this.#options.signal,
    });
  }

  async stopSender(): Promise<void> {
    await this.#sender?.stop(stopGraceMs);
    this.#sender = undefined;
  }

  /** A partner that nobody delivers to yet. */
  partner(name: string, manner: Manner): Partner {
    const clientId = `${tenant}-${name}`;
    const url = `${this.#parts.receivers.url}/${clientId}`;
    const partner = { clientId, manner, url, secret: `webhook-secret-of-${clientId}`, taken: new Map() };
    this.partners.push(partner);
    return partner;
  }

  async subscribe({ clientId, url, secret }: Partner): Promise<void> {
    const data: SubscriptionInput = {
      ...{ clientId, url, secret },
      scopes: ["cases.events.subscribe"],
      contact: "on-call@partner.example",
    };
    await this.#parts.client.command("webhook.put-subscription", { tenant, data });
  }

  /** Of each; asked by a new node, which knows of no process that was killed. */
  async statusesOf(partners: readonly Partner[]): Promise<SubscriptionView["status"][]> {
    const client = await openClient(this.instance.natsUrl);
    try {
      const asked = partners.map(({ clientId }) =>
        client.query<SubscriptionView>("webhook.subscription", { tenant, params: { clientId } }),
      );
      return (await Promise.all(asked)).map(({ status }) => status);
    } finally {
      await client.close();
    }
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const partner = this.partners.find(({ clientId }) => request.url === `/${clientId}`);
    const rawBody = await readRawBody(request);
    if (partner === undefined || rawBody === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { secret, manner, taken } = partner;
    const verdict = verifyWebhook({ headers: request.headers, rawBody, secrets: { current: secret } });
    if (!verdict.verified) {
      this.unsigned += 1;
      response.writeHead(401).end();
      return;
    }
    if (manner === "hanging") await delay(hangMs, undefined, { ref: false });
    if (manner === "failing" && this.#options.random() < failingShare) {
      response.writeHead(500).end();
      return;
    }
    const { eventUrn } = verdict;
    const before = taken.get(eventUrn);
    taken.set(eventUrn, { at: before?.at ?? Date.now(), times: (before?.times ?? 0) + 1 });
    response.writeHead(200).end();
    for (const look of this.#looks) look();
  }

  /**
   * Tells this many events.
   * @param perSecond 0: as fast as they are taken
   * @returns their URNs
   */
  async tell(count: number, perSecond: number): Promise<string[]> {
    const { payload } = webhookExample("subcase.offer-ready");
    const began = performance.now();
    const urns: string[] = [];
    const sent: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      const earlyMs = perSecond === 0 ? 0 : began + (i * 1000) / perSecond - performance.now();
      if (earlyMs > 1) await delay(earlyMs, undefined, { signal: this.#options.signal });
      const now = new Date();
      const event = {
        ...payload,
        urn: urn("event", freshId(tenant, now)),
        occurred_at: now.toISOString(),
        traceparent: mintTraceparent(),
      } as unknown as EventRecord;
      urns.push(event.urn);
      sent.push(this.#tellOne(event));
      if (sent.length >= 100) await Promise.all(sent.splice(0));
    }
    await Promise.all(sent);
    return urns;
  }

  async #tellOne(event: EventRecord): Promise<void> {
    const subject = eventSubject(tenant, event.type, event.urn.slice("urn:event:".length));
    await publish(this.streams, { subject, payload: JSON.stringify(event), messageId: event.urn });
    this.toldAt.set(event.urn, Date.now());
  }

  /** Whether all these partners have taken all these events within the time. */
  async taken(partners: readonly Partner[], urns: readonly string[], withinMs: number): Promise<boolean> {
    const isDone = (): boolean =>
      partners.every(({ taken }) => taken.size >= urns.length && urns.every((one) => taken.has(one)));
    const late = AbortSignal.any([AbortSignal.timeout(withinMs), this.#options.signal]);
    while (!isDone()) {
      const { promise, resolve: next } = Promise.withResolvers<void>();
      this.#looks.add(next);
      late.addEventListener("abort", () => next(), { once: true });
      await promise;
      this.#looks.delete(next);
      if (late.aborted) return isDone();
      // Looked at again after many receipts, not after each.
      await delay(5);
    }
    return true;
  }

  /** From the stream to the receiver, of the events that were taken; milliseconds, sorted. */
  latencies(partners: readonly Partner[], urns: readonly string[]): number[] {
    return partners
      .flatMap(({ taken }) =>
        urns.flatMap((one) => {
          const receipt = taken.get(one);
          const told = this.toldAt.get(one);
          return receipt === undefined || told === undefined ? [] : [Math.max(0, receipt.at - told)];
        }),
      )
      .sort((a, b) => a - b);
  }

  async stop(): Promise<void> {
    await this.stopSender();
    await this.#parts.client.close();
    await this.streams.close();
    await this.#parts.receivers.close();
    for (const server of this.#parts.servers) await server.stop(stopGraceMs);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Of sorted values. @param share from 0 to 1 */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
