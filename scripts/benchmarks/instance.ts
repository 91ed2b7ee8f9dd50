/** Owns an instance of a benchmark's or soak's own: real servers, vendors and service on free ports and a temporary folder. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { type InstanceClient, openClient } from "../administration/client.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import {
  type DemoAirline,
  operatorToken,
  type Provisioning,
  provisionAirlines,
  putVendors,
} from "../demonstration/provision.ts";
import { ensureNatsServer, startNats } from "../embedded/nats.ts";
import type { SandboxVendor } from "../sandbox/remote-part.ts";
import {
  developmentInstance,
  type Instance,
  serviceEnvironment,
  writeInstance,
} from "../supervisor/environment.ts";
import { ensureDevelopmentKeys } from "../supervisor/keys.ts";
import { ownPort } from "../supervisor/own-port.ts";
import type { Running } from "../supervisor/running.ts";
import { startScript } from "../supervisor/script-process.ts";
import { serviceHeap } from "../supervisor/supervise.ts";
import { raisedRates, raisedRatesText } from "./raised-rates.ts";

const scripts = resolve(import.meta.dirname, "..");
const natsCache = resolve(scripts, "../.cache/nats");
const stopGraceMs = 5000;

export interface OwnInstanceOptions {
  vendorLatencyMs: number;
  /** Added to the service's environment. */
  env?: Record<string, string>;
  /** Parts of the sandbox, by name; default: those that it has without being told. */
  vendors?: readonly string[];
  /** By airline code, where it works with some of them only. */
  worksWith?: Readonly<Record<string, readonly string[]>>;
  say(line: string): void;
  signal: AbortSignal;
}

/** A running instance with two airlines, their policies and vendors; `stop` ends and removes all of it. */
export class OwnInstance {
  readonly folder: string;
  readonly instance: Instance;
  readonly airlines: DemoAirline[];
  readonly sandboxUrl: string;
  readonly streams: Streams;
  readonly client: InstanceClient;
  readonly sandbox: Running;
  nats: Running;
  documents: Running;
  service: Running;
  readonly #options: OwnInstanceOptions;

  private constructor(
    parts: Omit<
      OwnInstance,
      "stop" | "restartService" | "killServer" | "control" | "partnerToken" | "operatorToken"
    >,
    options: OwnInstanceOptions,
  ) {
    this.folder = parts.folder;
    this.instance = parts.instance;
    this.airlines = parts.airlines;
    this.sandboxUrl = parts.sandboxUrl;
    this.streams = parts.streams;
    this.client = parts.client;
    this.nats = parts.nats;
    this.documents = parts.documents;
    this.sandbox = parts.sandbox;
    this.service = parts.service;
    this.#options = options;
  }

  /** @throws StartFailure when a part doesn't start; what had started is stopped then */
  static async start(options: OwnInstanceOptions): Promise<OwnInstance> {
    const folder = mkdtempSync(join(tmpdir(), "stopover-bench-"));
    const started: Running[] = [];
    const keep = <T extends Running>(running: T): T => {
      started.push(running);
      return running;
    };
    try {
      mkdirSync(join(folder, "logs"));
      await ensureDevelopmentKeys(join(folder, "keys"));
      const nats = keep(await startServer(folder, options));
      const documents = keep(await startDocumentServer(folder, options));
      const sandbox = keep(await startSandbox(folder, options));
      const port = await ownPort();
      const instance = developmentInstance({
        baseUrl: `http://127.0.0.1:${port}`,
        dataDir: folder,
        natsUrl: nats.url,
        mongodbUrl: documents.url,
      });
      writeInstance(folder, instance);
      options.say(`limits are counted, but so high that none is met: ${raisedRatesText}`);
      const service = keep(await startService(folder, instance, options));
      const streams = await openStreams(nats.url, "stopover-bench");
      const client = await openClient(nats.url);
      const airlines = await provision(folder, instance, client, sandbox.url, options);
      return new OwnInstance(
        {
          folder,
          instance,
          airlines,
          sandboxUrl: sandbox.url,
          streams,
          client,
          nats,
          documents,
          sandbox,
          service,
        },
        options,
      );
    } catch (error) {
      for (const running of started.toReversed()) await running.stop(0);
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Starts the service again on the same data, after ending it: asked, or killed with `graceMs` 0. */
  async restartService(graceMs: number, env: Record<string, string> = {}): Promise<void> {
    await this.service.stop(graceMs);
    const merged = { ...this.#options, env: { ...this.#options.env, ...env } };
    this.service = await startService(this.folder, this.instance, merged);
  }

  /** Kills one of the servers behind the service and starts it again on the same port and data. */
  async killServer(name: "nats" | "documents"): Promise<void> {
    const { url } = this[name];
    await this[name].stop(0);
    const port = Number(new URL(url).port);
    const start = name === "nats" ? startServer : startDocumentServer;
    this[name] = await start(this.folder, this.#options, port);
  }

  /** Settings of the sandbox: `{ "<name>" or "*": … }` (scripts/sandbox/README.md). */
  control(settings: Record<string, unknown>): Promise<void> {
    return controlSandbox(this.sandboxUrl, settings, this.#options.signal);
  }

  /** Of the airline's first partner. */
  async partnerToken(airline: DemoAirline): Promise<string> {
    const { clientId, clientSecret } = airline.partners[0] as DemoAirline["partners"][number];
    const answer = await request(this.instance.authUrl, {
      method: "POST",
      path: "/oauth/token",
      body: {
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
        audience: this.instance.audiences.partner,
      },
    });
    return (expectStatus(answer, 200, "getting a partner token").body as { access_token: string })
      .access_token;
  }

  operatorToken(airline: DemoAirline, role: string): Promise<string> {
    return operatorToken(this.folder, airline.urn, role);
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.streams.close();
    for (const running of [this.service, this.sandbox, this.documents, this.nats])
      await running.stop(stopGraceMs);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const startServer = async (
  folder: string,
  { say, signal }: OwnInstanceOptions,
  port?: number,
): Promise<Running> =>
  startNats({
    binary: await ensureNatsServer(natsCache, { onProgress: say, signal }),
    dataDir: join(folder, "nats"),
    logFile: join(folder, "logs/nats.log"),
    signal,
    ...(port !== undefined && { port }),
  });

const startDocumentServer = (folder: string, { signal }: OwnInstanceOptions, port = 0): Promise<Running> =>
  startScript({
    name: "documents",
    script: join(scripts, "embedded/documents/server.ts"),
    args: ["--dir", join(folder, "documents"), "--port", String(port)],
    env: process.env,
    logFile: join(folder, "logs/documents.log"),
    readyLine: /^listening (mongodb:\S+)/,
    signal,
  });

const startSandbox = (
  folder: string,
  { vendorLatencyMs, vendors, signal }: OwnInstanceOptions,
): Promise<Running> =>
  startScript({
    name: "sandbox",
    script: join(scripts, "sandbox/main.ts"),
    args: [
      ...["--dir", join(folder, "sandbox"), "--port", "0", "--latency", String(vendorLatencyMs)],
      ...(vendors === undefined ? [] : ["--vendors", vendors.join(",")]),
    ],
    env: process.env,
    logFile: join(folder, "logs/sandbox.log"),
    readyLine: /^listening (http:\S+)/,
    signal,
  });

const startService = (
  folder: string,
  instance: Instance,
  { env, signal }: OwnInstanceOptions,
): Promise<Running> =>
  startScript({
    name: "service",
    script: join(scripts, "service.ts"),
    nodeArgs: serviceHeap,
    env: {
      ...serviceEnvironment(instance, {
        host: "127.0.0.1",
        port: Number(new URL(instance.baseUrl).port),
        role: "all",
      }),
      ...raisedRates,
      ...env,
    },
    logFile: join(folder, "logs/service.log"),
    readyLine: /^ready (\S+)/,
    signal,
  });

const provision = async (
  folder: string,
  instance: Instance,
  client: InstanceClient,
  sandboxUrl: string,
  { signal, worksWith }: OwnInstanceOptions,
): Promise<DemoAirline[]> => {
  const announced = await fetch(sandboxUrl, { signal });
  const { vendors, receiverUrl } = (await announced.json()) as {
    vendors: SandboxVendor[];
    receiverUrl: string;
  };
  const provisioning: Provisioning = { instance, dataDir: folder, client, vendors, receiverUrl };
  const airlines = await provisionAirlines(provisioning);
  await putVendors(provisioning, worksWith);
  const secrets = Object.fromEntries(
    airlines.flatMap(({ partners }) =>
      partners.map(({ clientId, webhookSecret }) => [clientId, { current: webhookSecret }]),
    ),
  );
  await controlSandbox(sandboxUrl, { receiver: { secrets } }, signal);
  return airlines;
};

const controlSandbox = async (
  sandboxUrl: string,
  settings: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> => {
  const told = await fetch(new URL("/control", sandboxUrl), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(settings),
    signal,
  });
  if (!told.ok) throw new Error(`the sandbox took no settings: ${told.status} ${await told.text()}`);
};

/** Its own event for each push, so that none is a replay of another. */
export const freshEventId = (): string => `bench-${randomUUID()}`;
