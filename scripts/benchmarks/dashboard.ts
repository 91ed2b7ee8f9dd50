/** Owns the benchmark of what operators look at all night: the dashboard over a bad night's cases, and pages of a long list. */

import { performance } from "node:perf_hooks";
import { isDeepStrictEqual } from "node:util";
import type { Page } from "../../schemas/command.ts";
import type { DashboardView } from "../../schemas/dashboard.ts";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import type { Running } from "../supervisor/running.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import {
  airports,
  closedCases,
  groupsPerOpenCase,
  minuteMs,
  openCases,
  reviewItemsPerCase,
  seed,
  start,
} from "./dashboard-cases.ts";
import { OwnInstance } from "./instance.ts";
import { startFastifyPeer } from "./peers.ts";
import { cpuSeconds, loadAverage } from "./process-figures.ts";

const requestsPerTarget = 400;
const warmUpRequests = 50;
/** Operators' screens that ask at the same time. */
const screenCounts = [1, 4];
const cursorPages = 40;
const stopGraceMs = 2000;

/** One kind of read; the number of the request is passed so that requests differ. */
interface Target {
  name: string;
  path(index: number): string;
  /** Whether the peer has it, too. */
  compared: boolean;
}

const dayMs = 1440 * minuteMs;
const day = (index: number): string => new Date(start + (index % 200) * dayMs).toISOString();
const status = (index: number): string => `&status=${index % 2 ? "OPEN" : "CLOSED"}`;
const airport = (index: number): string => `&airport=${airports[(index >> 1) % airports.length]}`;
const oneDay = (index: number): string => `&from=${day(index)}&to=${day(index + 1)}`;
const oneMonth = (index: number): string => `&from=${day(index)}&to=${day(index + 30)}`;
const since = (index: number): string => `&from=${day(index)}`;

/** Each filter alone and with the others. */
const lists: Record<string, (index: number) => string> = {
  "first page": () => "",
  status,
  airport,
  "status, airport": (i) => status(i) + airport(i),
  "one day": oneDay,
  "one day, status": (i) => oneDay(i) + status(i),
  "one day, airport": (i) => oneDay(i) + airport(i),
  "one day, status, airport": (i) => oneDay(i) + status(i) + airport(i),
  "one month": oneMonth,
  "one month, status, airport": (i) => oneMonth(i) + status(i) + airport(i),
  "all since a day": since,
  "all since a day, status": (i) => since(i) + status(i),
  "all since a day, airport": (i) => since(i) + airport(i),
  "all before a day": (i) => `&to=${day(i)}`,
};

const listPath = (query: string): string => `/v1/cases?limit=50${query}`;

interface Figures {
  target: string;
  screens: number;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** CPU time for each request, which stays the same on a busy machine: of the process that answers, and of the documents'. */
  serverCpuMs: number;
  documentsCpuMs: number;
}

interface Compared extends Figures {
  /** Ours divided by Fastify's: below 1 is better. */
  ratios?: { p99: number; serverCpu: number; cpu: number };
}

interface Reader {
  pid: number;
  get<Body>(path: string): Promise<Body>;
}

const measure = async (
  reader: Reader,
  documentsPid: number,
  { name, path }: Target,
  screens: number,
): Promise<Figures> => {
  for (let i = 0; i < warmUpRequests; i++) await reader.get(path(i));
  const before = [cpuSeconds(reader.pid), cpuSeconds(documentsPid)] as const;
  const times: number[] = [];
  let next = 0;
  const screen = async (): Promise<void> => {
    for (let index = next++; index < requestsPerTarget; index = next++) {
      const asked = performance.now();
      await reader.get(path(index));
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: screens }, screen));
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0, 1);
  const spent = (pid: number, secondsBefore: number): number =>
    rounded((1000 * (cpuSeconds(pid) - secondsBefore)) / times.length, 2);
  return {
    target: name,
    screens,
    requests: times.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    serverCpuMs: spent(reader.pid, before[0]),
    documentsCpuMs: spent(documentsPid, before[1]),
  };
};

const ratiosOf = (ours: Figures, peers: Figures): NonNullable<Compared["ratios"]> => ({
  p99: rounded(ours.p99Ms / peers.p99Ms, 2),
  serverCpu: rounded(ours.serverCpuMs / peers.serverCpuMs, 2),
  cpu: rounded((ours.serverCpuMs + ours.documentsCpuMs) / (peers.serverCpuMs + peers.documentsCpuMs), 2),
});

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  let fastify: Running | undefined;
  try {
    const airline = own.airlines[0] as DemoAirline;
    await seed(own, airline.code, say);
    const token = await own.operatorToken(airline, "AIRPORT_OPERATOR");
    const readerOf = (baseUrl: string, pid: number): Reader => ({
      pid,
      get: async <Body>(path: string): Promise<Body> => {
        signal.throwIfAborted();
        const answer = await request(baseUrl, { method: "GET", path, token });
        return expectStatus(answer, 200, path).body as Body;
      },
    });
    const ours = readerOf(own.instance.baseUrl, own.service.pid);
    fastify = await startFastifyPeer(own, "on", signal);
    const peer = readerOf(fastify.url, fastify.pid);
    const board = await ours.get<DashboardView>("/v1/cases/dashboard");
    if (board.cases?.byStatus[0]?.count !== openCases || board.partialFailures !== undefined)
      throw new Error("the dashboard does not show the cases that were written");
    const targets = targetsWith(await cursorsOf(ours));
    for (const target of targets.filter(({ compared }) => compared)) await sameAnswer(target, ours, peer);
    const loadBefore = loadAverage();
    const results: Compared[] = [];
    for (const target of targets) {
      for (const screens of screenCounts) {
        const figures = await measure(ours, own.documents.pid, target, screens);
        const peers = target.compared ? await measure(peer, own.documents.pid, target, screens) : undefined;
        results.push({ ...figures, ...(peers && { ratios: ratiosOf(figures, peers) }) });
      }
      say(target.name);
    }
    const figures = { load: { before: loadBefore, after: loadAverage() }, results };
    return { text: textOf(figures), figures };
  } finally {
    await fastify?.stop(stopGraceMs);
    await own.stop();
  }
};

const targetsWith = (cursors: string[]): Target[] => [
  { name: "dashboard", path: () => "/v1/cases/dashboard", compared: false },
  {
    name: "list: pages further on",
    path: (i) => listPath(`&cursor=${cursors[i % cursors.length]}`),
    compared: true,
  },
  ...Object.entries(lists).map(([name, queryOf]) => ({
    name: `list: ${name}`,
    path: (i: number) => listPath(queryOf(i)),
    compared: true,
  })),
];

/** Of so many pages, from the newest on. */
const cursorsOf = async ({ get }: Reader): Promise<string[]> => {
  const cursors: string[] = [];
  let page = await get<Page<unknown>>(listPath(""));
  while (page.nextCursor !== null && cursors.length < cursorPages) {
    cursors.push(page.nextCursor);
    page = await get(listPath(`&cursor=${page.nextCursor}`));
  }
  return cursors;
};

/** @throws Error when the peer answers anything else than we do: the comparison would be of different work */
const sameAnswer = async ({ name, path }: Target, ours: Reader, peer: Reader): Promise<void> => {
  const [one, other] = await Promise.all([ours.get(path(1)), peer.get(path(1))]);
  if (!isDeepStrictEqual(one, other))
    throw new Error(`the peer's ${name} is not ours: bring scripts/benchmarks/fastify-peer.ts up to date`);
};

const textOf = ({
  load,
  results,
}: {
  load: { before: number; after: number };
  results: Compared[];
}): string =>
  [
    `${openCases} open cases of ${groupsPerOpenCase} groups, ${openCases * reviewItemsPerCase} review items, ${closedCases} closed cases`,
    `${requestsPerTarget} requests each, by one screen alone and by ${screenCounts.at(-1)} at once, which share the machine with what they ask`,
    `load average ${load.before} before, ${load.after} after`,
    "Fastify (tokens cached) runs the same query with the same driver on the same document server, and answers the same JSON;",
    "ours / Fastify: below 1 is better.",
    "",
    table(
      [
        "READ",
        "SCREENS",
        "P50 MS",
        "P99 MS",
        "MAX MS",
        "CPU MS: SERVICE",
        "DOCUMENTS",
        "P99 / FASTIFY",
        "SERVICE CPU",
        "ALL CPU",
      ],
      results.map(({ target, screens, p50Ms, p99Ms, maxMs, serverCpuMs, documentsCpuMs, ratios }) =>
        [
          target,
          screens,
          p50Ms,
          p99Ms,
          maxMs,
          serverCpuMs,
          documentsCpuMs,
          ratios?.p99 ?? "",
          ratios?.serverCpu ?? "",
          ratios?.cpu ?? "",
        ].map(String),
      ),
    ),
  ].join("\n");

export const dashboard: Benchmark = {
  summary: "the dashboard over 200 open cases, and pages of a list of 50,000 beside Fastify's, as ratios",
  run,
};
