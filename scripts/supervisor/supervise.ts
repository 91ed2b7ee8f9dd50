// Runs one instance: its servers, the service and, for the demo, the sandbox, in their order, until it is told to stop.
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { ensureNatsServer, startNats } from "../embedded/nats.ts";
import {
  developmentInstance,
  type Instance,
  issuerEnvironment,
  readInstance,
  serviceEnvironment,
  writeInstance,
} from "./environment.ts";
import { lockFolder } from "./folder-lock.ts";
import { type Kept, keepRunning } from "./keep-running.ts";
import { ensureDevelopmentKeys } from "./keys.ts";
import type { Running } from "./running.ts";
import { startScript } from "./script-process.ts";
import { StartFailure } from "./start-failure.ts";

const stopDeadlineMs = 4_000;
/** What the service gets of it for the work in hand; the rest is for the servers behind it to write out what they hold. */
const serviceStopMs = 3_000;
const issuerPortsTried = 20;
/** MiB. With the machine's whole memory as the limit, V8 lets garbage pile up (ARCHITECTURE, "Decisions"). */
export const serviceHeap = ["--max-semi-space-size=8", "--max-old-space-size=512"];
/** Likewise; signing a few people in takes little. */
const issuerHeap = ["--max-semi-space-size=2", "--max-old-space-size=192"];
const scriptsDir = resolve(import.meta.dirname, "..");
const natsCacheDir = resolve(scriptsDir, "../.cache/nats");

export interface SuperviseOptions {
  host: string;
  /** 0: a free one. */
  port: number;
  dataDir: string;
  /** As the service takes it: `all`, `gateway`, `actors`, `actors=case,sub-case`. */
  role: string;
  demo: boolean;
  /** Real servers instead of the embedded ones. */
  natsUrl: string | undefined;
  mongodbUrl: string | undefined;
  /** One line for the person at the terminal. */
  say(line: string): void;
  /** Hears of the instance once everything is ready. */
  onReady(instance: Instance): void;
}

/**
 * Resolves when `signal` has told it to stop and every child has ended, at the latest 5 s after the signal.
 *
 * @throws StartFailure when it cannot start, or when a child keeps dying; the children have ended then as well.
 */
export async function supervise(options: SuperviseOptions, signal: AbortSignal): Promise<void> {
  const dataDir = resolve(options.dataDir);
  const unlock = holdDataDir(dataDir, options);
  const stages: Kept[][] = [];
  const failing = new AbortController();
  const until = AbortSignal.any([signal, failing.signal]);
  const context: Context = {
    ...options,
    dataDir,
    logsDir: join(dataDir, "logs"),
    until,
    fail: (e) => failing.abort(e),
  };
  try {
    await start(context, stages);
    await new Promise((_, reject) => {
      until.throwIfAborted();
      until.addEventListener("abort", () => reject(until.reason), { once: true });
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await stopAll(stages);
    unlock();
  }
}

interface Context extends SuperviseOptions {
  logsDir: string;
  /** Aborted when everything is to stop. */
  until: AbortSignal;
  fail(failure: unknown): void;
}

/** With both servers elsewhere, several roles may share a folder (for its keys); the embedded servers belong to one. */
function holdDataDir(dataDir: string, { natsUrl, mongodbUrl, role }: SuperviseOptions): () => void {
  const shared = natsUrl !== undefined && mongodbUrl !== undefined;
  const lock = lockFolder(dataDir, shared ? `role-${role.replace(/\W+/g, "-")}` : "instance");
  return () => lock.release();
}

/** Each stage needs those before it; `stages` grows as they serve, so that a failure midway stops what stands. */
async function start(context: Context, stages: Kept[][]): Promise<void> {
  mkdirSync(context.logsDir, { recursive: true });
  const port = await freePort(context.host, context.port);
  await ensureDevelopmentKeys(join(context.dataDir, "keys"));
  const servers: Kept[] = [];
  stages.push(servers);
  const [natsUrl, mongodbUrl] = await allOrFail(context, [
    context.natsUrl ?? keepNats(context).then((kept) => add(servers, kept)),
    context.mongodbUrl ?? keepDocuments(context).then((kept) => add(servers, kept)),
  ]);
  const issuerPort = context.role === "all" ? await freeIssuerPort(context, port) : undefined;
  const instance = settleInstance(context, { port, issuerPort, natsUrl, mongodbUrl });
  const sandbox = context.demo ? await keepSandbox(context) : undefined;
  if (sandbox) stages.push([sandbox]);
  const fronts: Kept[] = [];
  stages.push(fronts);
  await allOrFail(context, [
    keepService(context, instance, port).then((kept) => add(fronts, kept)),
    issuerPort && keepIssuer(context, instance, issuerPort).then((kept) => add(fronts, kept)),
  ]);
  if (sandbox) await playDemo(context, instance, sandbox.url);
  context.onReady(instance);
}

/** Actors alone go by what the gateway on the same folder is called, if there is one; everyone else settles it anew. */
function settleInstance(
  { host, dataDir, role }: Context,
  {
    port,
    issuerPort,
    natsUrl,
    mongodbUrl,
  }: { port: number; issuerPort: number | undefined; natsUrl: string; mongodbUrl: string },
): Instance {
  if (role.startsWith("actors") && existsSync(join(dataDir, "instance.json"))) {
    return { ...readInstance(dataDir), natsUrl, mongodbUrl };
  }
  const baseUrl = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const operatorIssuer = issuerPort === undefined ? {} : { operatorIssuer: issuerUrl(host, issuerPort) };
  const instance = developmentInstance({ baseUrl, dataDir, natsUrl, mongodbUrl, ...operatorIssuer });
  writeInstance(dataDir, instance);
  return instance;
}

/** By name on loopback: browsers take no passkeys for a bare address. */
const issuerUrl = (host: string, port: number): string =>
  `http://${host === "127.0.0.1" ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;

/** Where the issuer was before, so that its sessions and passkeys go on; else the next free port after the service's. */
async function freeIssuerPort({ host, dataDir }: Context, servicePort: number): Promise<number> {
  const known = existsSync(join(dataDir, "instance.json")) ? readInstance(dataDir).operatorIssuer : undefined;
  const before = known === undefined ? undefined : new URL(known);
  const next = Array.from({ length: issuerPortsTried }, (_, i) => servicePort + 1 + i);
  const isReal = before?.pathname === "/" && Number(before.port) !== servicePort;
  for (const port of [...(isReal ? [Number(before.port)] : []), ...next]) {
    if (port > 0 && port <= 65535 && (await isFree(host, port))) return port;
  }
  return freePort(host, 0);
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await freePort(host, port);
    return true;
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    return false;
  }
}

/** Like `Promise.all`, but the first failure makes the others give up and waits until they have, so that none starts unseen. */
async function allOrFail<const T extends readonly unknown[]>(
  context: Context,
  starts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(starts.map((start) => Promise.resolve(start).catch(context.fail)));
  context.until.throwIfAborted();
  return Promise.all(starts) as Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>;
}

function add(list: Kept[], kept: Kept): string {
  list.push(kept);
  return kept.url;
}

async function keepNats(context: Context): Promise<Kept> {
  const binary = await ensureNatsServer(natsCacheDir, { onProgress: context.say, signal: context.until });
  return keep(context, "nats", (logFile, port, signal) =>
    startNats({
      binary,
      dataDir: join(context.dataDir, "nats"),
      logFile,
      signal,
      ...(port !== undefined && { port }),
    }),
  );
}

function keepDocuments(context: Context): Promise<Kept> {
  return keep(context, "documents", (logFile, port, signal) =>
    startScript({
      name: "documents",
      script: join(scriptsDir, "embedded/documents/server.ts"),
      args: ["--dir", join(context.dataDir, "documents"), "--port", String(port ?? 0)],
      env: process.env,
      logFile,
      readyLine: /^listening (mongodb:\S+)/,
      signal,
    }),
  );
}

function keepSandbox(context: Context): Promise<Kept> {
  return keep(context, "sandbox", (logFile, port, signal) =>
    startScript({
      name: "sandbox",
      script: join(scriptsDir, "sandbox/main.ts"),
      args: ["--dir", join(context.dataDir, "sandbox"), "--port", String(port ?? 0)],
      env: process.env,
      logFile,
      readyLine: /^listening (http:\S+)/,
      signal,
    }),
  );
}

function keepService(context: Context, instance: Instance, port: number): Promise<Kept> {
  const { host, role } = context;
  return keep(
    context,
    role === "all" ? "service" : `service-${role.replace(/\W+/g, "-")}`,
    (logFile, _, signal) =>
      startScript({
        name: "service",
        script: join(scriptsDir, "service.ts"),
        nodeArgs: serviceHeap,
        env: serviceEnvironment(instance, { host, port, role }),
        logFile,
        readyLine: /^ready (\S+)/,
        signal,
      }),
  );
}

function keepIssuer(context: Context, instance: Instance, port: number): Promise<Kept> {
  return keep(context, "issuer", (logFile, _, signal) =>
    startScript({
      name: "issuer",
      script: join(scriptsDir, "embedded/issuer.ts"),
      nodeArgs: issuerHeap,
      env: issuerEnvironment(instance, { host: context.host, port }),
      logFile,
      readyLine: /^listening (\S+)/,
      signal,
    }),
  );
}

function keep(
  context: Context,
  name: string,
  startOn: (logFile: string, port: number | undefined, signal: AbortSignal) => Promise<Running>,
): Promise<Kept> {
  const logFile = join(context.logsDir, `${name}.log`);
  return keepRunning(
    {
      name,
      start: (port, signal) => startOn(logFile, port, signal),
      logFile,
      say: context.say,
      onGivenUp: context.fail,
    },
    context.until,
  );
}

async function playDemo(context: Context, instance: Instance, sandboxControlUrl: string): Promise<void> {
  const { runDemo } = await import("../demo.ts");
  await runDemo({
    instance,
    dataDir: context.dataDir,
    sandboxControlUrl,
    say: context.say,
    signal: context.until,
  });
}

/** Last started, first stopped; whatever still runs at the deadline is killed. */
async function stopAll(stages: Kept[][]): Promise<void> {
  const deadline = performance.now() + stopDeadlineMs;
  for (const stage of stages.toReversed()) {
    const leftMs = Math.max(0, deadline - performance.now());
    await Promise.all(
      stage.map((kept) => kept.stop(stage === stages.at(-1) ? Math.min(serviceStopMs, leftMs) : leftMs)),
    );
  }
}

/** The wanted port, or any free one for 0, told to be free now so that a taken one is named before anything starts. */
async function freePort(host: string, port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new StartFailure(`port ${port} of ${host} is in use: choose another with --port`)
          : new StartFailure(
              `cannot listen on ${host}:${port} (${error.code}): choose another --host or --port`,
            ),
      ),
    );
    server.listen(port, host, listening);
  });
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === "object" && address ? address.port : port;
}
