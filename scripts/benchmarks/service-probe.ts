/**
 * Owns what a benchmark asks of the service from inside its process: loaded by `--import`, it counts and samples
 * through public hooks (driver events, undici's diagnostics channel, perf_hooks, inspector) and changes nothing.
 */
import { subscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MongoClient } from "mongodb";

export interface DocumentCommands {
  count: number;
  /** Sum over all, several of which may be under way at once. */
  totalMs: number;
  maxMs: number;
}

export interface ProbeReport {
  documents: Record<string, DocumentCommands>;
  vendorCalls: { count: number; waitedMs: number };
  eventLoopDelay: { meanMs: number; p50Ms: number; p99Ms: number; maxMs: number };
  garbageCollectionMs: number;
  memory: NodeJS.MemoryUsage;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let documents: ProbeReport["documents"] = {};
let vendorCalls = { count: 0, waitedMs: 0 };
let garbageCollectionMs = 0;

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) garbageCollectionMs += duration;
}).observe({ entryTypes: ["gc"] });

interface CommandEnded {
  commandName: string;
  requestId: number;
}

// Driver events come only with `monitorCommands=true` in MONGODB_URL. Their own duration is in whole milliseconds.
const connect = MongoClient.prototype.connect;
MongoClient.prototype.connect = function (this: MongoClient) {
  const startedAt = new Map<number, { name: string; at: number }>();
  const ended = ({ requestId }: CommandEnded): void => {
    const started = startedAt.get(requestId);
    if (started === undefined) return;
    startedAt.delete(requestId);
    const ms = performance.now() - started.at;
    const sum = documents[started.name] ?? { count: 0, totalMs: 0, maxMs: 0 };
    documents[started.name] = {
      count: sum.count + 1,
      totalMs: sum.totalMs + ms,
      maxMs: Math.max(sum.maxMs, ms),
    };
  };
  this.on("commandStarted", ({ commandName, requestId, command }) => {
    const name = `${commandName} ${String(command[commandName])}`;
    startedAt.set(requestId, { name, at: performance.now() });
  });
  this.on("commandSucceeded", ended);
  this.on("commandFailed", ended);
  return connect.call(this);
};

const askedAt = new WeakMap<object, number>();
subscribe("undici:request:create", (message) => {
  askedAt.set((message as { request: object }).request, performance.now());
});
subscribe("undici:request:trailers", (message) => {
  const { request } = message as { request: { path: string } };
  const at = askedAt.get(request);
  if (at === undefined || request.path.startsWith("/hooks/")) return;
  vendorCalls = { count: vendorCalls.count + 1, waitedMs: vendorCalls.waitedMs + performance.now() - at };
});

const report = (): ProbeReport => ({
  documents,
  vendorCalls,
  eventLoopDelay: {
    meanMs: delay.mean / 1e6,
    p50Ms: delay.percentile(50) / 1e6,
    p99Ms: delay.percentile(99) / 1e6,
    maxMs: delay.max / 1e6,
  },
  garbageCollectionMs,
  memory: process.memoryUsage(),
});

const reset = (): void => {
  documents = {};
  vendorCalls = { count: 0, waitedMs: 0 };
  garbageCollectionMs = 0;
  delay.reset();
};

const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc");
  // "last-resort" also gives the emptied pages back, as V8 does by itself only when memory runs short.
  const collect = runInNewContext("gc") as (options: { type: "major"; flavor: "last-resort" }) => void;
  collect({ type: "major", flavor: "last-resort" });
};

let profiler: Session | undefined;

const actions: Record<string, () => unknown> = {
  "/report": report,
  "/reset": reset,
  "/collect-garbage": collectGarbage,
  "/profile/start": async () => {
    profiler = new Session();
    profiler.connect();
    await profiler.post("Profiler.enable");
    await profiler.post("Profiler.setSamplingInterval", { interval: 200 });
    await profiler.post("Profiler.start");
  },
  "/profile/stop": async () => (await profiler?.post("Profiler.stop"))?.profile,
};

const server = createServer((request, response) => {
  Promise.resolve(actions[request.url ?? ""]?.()).then(
    (result) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(result ?? null)),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const file = process.env.BENCH_PROBE_FILE;
  if (file !== undefined && typeof address === "object" && address !== null)
    writeFileSync(file, `http://127.0.0.1:${address.port}`);
});
server.unref();
