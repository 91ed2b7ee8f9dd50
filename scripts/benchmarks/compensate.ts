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
import { StartFailure } from "../supervisor/start-failure.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { cpuSeconds, cpuSecondsWithChildren } from "./process-figures.ts";

const vendorLatencyMs = 50;
const sagasWanted = 1000;
const perSecond = 200;
const repeats = 2000;
/** What the interface promises (Gateway, compensate; Performance, "Compensate acknowledgment"). */
const promisedMs = 50;
/** Far more than are needed when hotels have rooms. */
const flightsMax = 40;

interface Figures {
  requests: number;
  /** Undefined: nothing was asked. */
  latency: { p50Ms: number; p99Ms: number; worstMs: number } | undefined;
  /** Anything but 202. */
  failures: number;
}

const figuresOf = (latencies: readonly number[], failures: number): Figures => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) =>
    rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number, 1);
  const latency = sorted.length === 0 ? undefined : { p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1) };
  return { requests: sorted.length, latency, failures };
};

/** A saga has ended once one of these is told. */
const ends = ["subcase.offer-ready", "subcase.failed"] as const;

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

/**
 * Groups that a wave has given hotels and that wait for an operator.
 * @throws StartFailure when so many flights bring too few of them
 */
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
    if (night >= flightsMax) {
      const found = `after ${flightsMax} flights ${groups.length} groups with a hotel wait for an operator`;
      throw new StartFailure(`${found}, and ${sagasWanted} are needed: see what the waves could not place`);
    }
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
    const sagasRunning = () => groups.length - ends.reduce((sum, end) => sum + timeline.count(end), 0);
    say(`all started, ${sagasRunning()} still run`);
    /** At each repeat, how many sagas ran. */
    const runningAt: number[] = [];
    const repeating = await atPace(() => {
      const running = sagasRunning();
      if (running <= 0 || runningAt.length >= repeats) return undefined;
      return groups[(runningAt.push(running) - 1) % groups.length];
    }, ask);
    await timeline.until(() => sagasRunning() <= 0, signal);
    const elapsedMs = Math.max(...ends.map((end) => timeline.seen(end)?.lastMs ?? 0));
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
      promisedMs,
      starting,
      repeating,
      runningWhileRepeating: startMiddleEnd(runningAt),
      failed: timeline.count("subcase.failed"),
      elapsedSeconds: rounded(elapsedSeconds, 2),
      sagasPerSecond: ratio(groups.length, elapsedSeconds, 1),
      cpuSeconds: cpuSecondsOf,
    };
    return { text: textOf(figures), figures };
  } finally {
    timeline.stop();
    agent.destroy();
    await own.stop();
  }
};

/** Undefined: there was nothing to divide by. */
const ratio = (value: number, by: number, digits: number): number | undefined =>
  by > 0 ? rounded(value / by, digits) : undefined;

interface StartMiddleEnd {
  start: number;
  middle: number;
  end: number;
}

/** Undefined: of nothing. */
const startMiddleEnd = (counts: readonly number[]): StartMiddleEnd | undefined => {
  const [start, middle, end] = [counts.at(0), counts.at(Math.floor(counts.length / 2)), counts.at(-1)];
  return start === undefined || middle === undefined || end === undefined
    ? undefined
    : { start, middle, end };
};

const lineOf = ({ requests, latency, failures }: Figures): string =>
  latency === undefined
    ? "no requests"
    : `${requests} requests, 202 after ${latency.p50Ms} ms median, ${latency.p99Ms} ms p99, ${latency.worstMs} ms worst, ${failures} otherwise`;

const repeatsOf = (counts: StartMiddleEnd | undefined): string =>
  counts === undefined
    ? "no saga ran any more once all were started"
    : `sagas running: ${counts.start} at its start, ${counts.middle} in its middle, ${counts.end} at its end`;

const textOf = (figures: {
  sagas: number;
  starting: Figures;
  repeating: Figures;
  runningWhileRepeating: StartMiddleEnd | undefined;
  failed: number;
  elapsedSeconds: number;
  sagasPerSecond: number | undefined;
  cpuSeconds: Record<string, number>;
}): string => {
  const { sagas, starting, repeating, failed, elapsedSeconds, sagasPerSecond } = figures;
  const spent = Object.entries(figures.cpuSeconds).map(([name, seconds]) => `${name} ${seconds}`);
  const cpuSum = Object.values(figures.cpuSeconds).reduce((a, b) => a + b, 0);
  const cores = ratio(cpuSum, elapsedSeconds, 2);
  return [
    `${sagas} groups compensated at ${perSecond} a second (limits counted, but raised so that none is met), vendors answer after ${vendorLatencyMs} ms`,
    `the interface promises 202 in under ${promisedMs} ms`,
    `each starts a saga (a commit): ${lineOf(starting)}`,
    `then repeats of the same payloads (no commit): ${lineOf(repeating)}`,
    `  ${repeatsOf(figures.runningWhileRepeating)}`,
    `all ended after ${elapsedSeconds} s${sagasPerSecond === undefined ? "" : `, ${sagasPerSecond} a second`}, ${failed} failed`,
    `CPU seconds meanwhile: ${spent.join(", ")}${cores === undefined ? "" : ` (${cores} cores)`}`,
  ].join("\n");
};

export const compensation: Benchmark = {
  summary: `compensations at ${perSecond}/s while ${sagasWanted} sagas run: time to 202, sagas ended per second, what bounds it`,
  run,
};
