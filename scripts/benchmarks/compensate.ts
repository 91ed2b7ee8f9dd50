/** Owns the benchmark of compensation under load: how fast 202 comes while a thousand sagas run, and how fast they end. */
import { Agent, request as send } from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { ManifestItem } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import { type Asked, expectStatus, request } from "../demonstration/http.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { Timeline } from "../demonstration/timeline.ts";
import { flightOf } from "../soaking/pushes.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { cpuSeconds, cpuSecondsWithChildren } from "./process-figures.ts";

const vendorLatencyMs = 50;
const sagasWanted = 1000;
const perSecond = 200;
const repeats = 2000;

interface Figures {
  requests: number;
  p50Ms: number;
  p99Ms: number;
  worstMs: number;
  /** Anything but 202. */
  failures: number;
}

const figuresOf = (latencies: readonly number[], failures: number): Figures => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) =>
    rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0, 1);
  return { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1), failures };
};

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

const compensate = (baseUrl: string, token: string, { subCaseUrn, version }: ManifestItem): Promise<number> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ version });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const path = `/v1/subcases/${encodeURIComponent(subCaseUrn)}/compensate`;
    const sent = send(new URL(path, baseUrl), { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** At a fixed pace, whether or not answers come: what waits is counted from when it was due (no coordinated omission). */
const atPace = async (
  due: () => ManifestItem | undefined,
  ask: (item: ManifestItem) => Promise<number>,
): Promise<Figures> => {
  const startedAt = performance.now();
  const latencies: number[] = [];
  let failures = 0;
  const asking: Promise<void>[] = [];
  for (let i = 0; ; i++) {
    const dueAt = startedAt + (i * 1000) / perSecond;
    const early = dueAt - performance.now();
    if (early > 0) await delay(early);
    const item = due();
    if (item === undefined) break;
    asking.push(
      ask(item).then((status) => {
        latencies.push(performance.now() - dueAt);
        if (status !== 202) failures += 1;
      }),
    );
  }
  await Promise.all(asking);
  return figuresOf(latencies, failures);
};

/** Groups that a wave has given hotels and that wait for an operator. */
const waitingGroups = async (
  own: OwnInstance,
  airline: DemoAirline,
  token: string,
  { say, signal }: BenchmarkRun,
): Promise<ManifestItem[]> => {
  const ask = async <Body>(asked: Asked, status: number): Promise<Body> =>
    expectStatus(await request(own.instance.baseUrl, { ...asked, token }), status, asked.path).body as Body;
  const active = await ask<Page<PolicyView>>({ method: "GET", path: "/v1/policies/active" }, 200);
  for (const { urn: _, status: _s, version: _v, createdAt: _c, ...policy } of active.items) {
    const made = await ask<PolicyView>(
      { method: "POST", path: "/v1/policies", body: { ...policy, autoBook: false } },
      201,
    );
    await ask(
      { method: "POST", path: `/v1/policies/${encodeURIComponent(made.urn)}/activate`, body: {} },
      200,
    );
  }
  const groups: ManifestItem[] = [];
  for (let night = 0; groups.length < sagasWanted; night++) {
    const partner = await own.partnerToken(airline);
    const body = flightOf(airline, night, new Date());
    const pushed = { method: "POST", path: "/partner/v1/disruptions", token: partner, body } as const;
    const { caseUrn } = expectStatus(await request(own.instance.baseUrl, pushed), 202, "pushing").body as {
      caseUrn: string;
    };
    await untilQuiet(own, signal);
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path = `/v1/cases/${encodeURIComponent(caseUrn)}/manifest?limit=200${cursor && `&cursor=${cursor}`}`;
      const page: Page<ManifestItem> = await ask({ method: "GET", path }, 200);
      groups.push(...page.items.filter(({ status }) => status === "PENDING"));
      cursor = page.nextCursor;
    }
    say(`${groups.length} groups wait`);
  }
  return groups;
};

const cpu = ({ service, documents, nats, sandbox }: OwnInstance) => ({
  service: cpuSeconds(service.pid),
  documents: cpuSeconds(documents.pid),
  nats: cpuSeconds(nats.pid),
  sandbox: cpuSecondsWithChildren(sandbox.pid),
  driver: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
});

const run = async (options: BenchmarkRun) => {
  const { say, signal } = options;
  const own = await OwnInstance.start({ vendorLatencyMs, say, signal });
  const timeline = new Timeline();
  try {
    const airline = own.airlines[0] as DemoAirline;
    const token = await own.operatorToken(airline, "ADMIN");
    const all = await waitingGroups(own, airline, token, options);
    const groups = all.slice(0, sagasWanted);
    const ask = (item: ManifestItem) => compensate(own.instance.baseUrl, token, item);
    // The few that are over warm the service up: its first requests would else be the slowest of the night.
    await Promise.all(all.slice(sagasWanted).map(ask));
    await untilQuiet(own, signal);
    await timeline.watch(own.streams, airline.code);
    const before = cpu(own);
    timeline.start();
    const waiting = [...groups];
    const starting = await atPace(() => waiting.shift(), ask);
    const ended = () =>
      timeline.count("subcase.offer-ready") + timeline.count("subcase.failed") >= groups.length;
    const underWay = groups.length - timeline.count("subcase.offer-ready");
    say(`all started, ${underWay} still run`);
    let next = 0;
    const running = await atPace(
      () => (ended() || next >= repeats ? undefined : groups[next++ % groups.length]),
      ask,
    );
    await timeline.until(ended, signal);
    const elapsedMs = timeline.seen("subcase.offer-ready")?.lastMs ?? 0;
    const elapsedSeconds = elapsedMs / 1000;
    const after = cpu(own);
    const cpuSecondsOf = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [
        name,
        rounded(value - before[name as keyof typeof before], 2),
      ]),
    );
    const figures = {
      sagas: groups.length,
      vendorLatencyMs,
      perSecond,
      starting,
      underWayWhenAllStarted: underWay,
      running,
      failed: timeline.count("subcase.failed"),
      elapsedSeconds: rounded(elapsedSeconds, 2),
      sagasPerSecond: rounded(groups.length / elapsedSeconds, 1),
      cpuSeconds: cpuSecondsOf,
    };
    return { text: textOf(figures), figures };
  } finally {
    timeline.stop();
    agent.destroy();
    await own.stop();
  }
};

const lineOf = ({ requests, p50Ms, p99Ms, worstMs, failures }: Figures): string =>
  `${requests} requests, 202 after ${p50Ms} ms median, ${p99Ms} ms p99, ${worstMs} ms worst, ${failures} otherwise`;

const textOf = (figures: {
  sagas: number;
  starting: Figures;
  underWayWhenAllStarted: number;
  running: Figures;
  failed: number;
  elapsedSeconds: number;
  sagasPerSecond: number;
  cpuSeconds: Record<string, number>;
}): string => {
  const { sagas, starting, underWayWhenAllStarted, running, failed, elapsedSeconds, sagasPerSecond } =
    figures;
  const spent = Object.entries(figures.cpuSeconds).map(([name, seconds]) => `${name} ${seconds}`);
  return [
    `${sagas} groups compensated at ${perSecond} a second (no rate limits in force), vendors answer after ${vendorLatencyMs} ms`,
    `each starts a saga:   ${lineOf(starting)}`,
    `while ${underWayWhenAllStarted} sagas run (the same payloads again): ${lineOf(running)}`,
    `all ended after ${elapsedSeconds} s, ${sagasPerSecond} a second, ${failed} failed`,
    `CPU seconds meanwhile: ${spent.join(", ")} (${rounded(Object.values(figures.cpuSeconds).reduce((a, b) => a + b, 0) / elapsedSeconds, 2)} cores)`,
  ].join("\n");
};

export const compensation: Benchmark = {
  summary: `compensations at ${perSecond}/s while ${sagasWanted} sagas run: time to 202, sagas ended per second, what bounds it`,
  run,
};
