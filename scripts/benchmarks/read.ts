/** Owns the benchmark of the read that operators make most, the case with all that it embeds, beside Fastify's. */
import { isDeepStrictEqual } from "node:util";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import type { Running } from "../supervisor/running.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { housedFlight } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { generator, type LoadFigures, loadInTurns } from "./load.ts";
import { startFastifyPeer } from "./peers.ts";
import { loadAverage } from "./process-figures.ts";

const rounds = 4;
const secondsPerRound = 5;
const stopGraceMs = 2000;

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  const peers: Running[] = [];
  try {
    const airline = own.airlines[0] as DemoAirline;
    const caseUrn = await housedFlight(own, airline, signal);
    const token = await own.operatorToken(airline, "AIRPORT_OPERATOR");
    const cached = await startFastifyPeer(own, "on", signal);
    peers.push(cached);
    const uncached = await startFastifyPeer(own, "off", signal);
    peers.push(uncached);
    const path = `/v1/cases/${encodeURIComponent(caseUrn)}`;
    const headers = { Authorization: `Bearer ${token}` };
    const bytes = await sameAnswer(path, token, [own.instance.baseUrl, cached.url, uncached.url]);
    const loadBefore = loadAverage();
    const results = await loadInTurns(
      [
        { name: "Stopover", url: own.instance.baseUrl + path, headers, pid: own.service.pid },
        { name: "Fastify, tokens cached", url: cached.url + path, headers, pid: cached.pid },
        { name: "Fastify, tokens verified each time", url: uncached.url + path, headers, pid: uncached.pid },
      ],
      { rounds, seconds: secondsPerRound, signal, say },
    );
    const figures = {
      generator,
      answerBytes: bytes,
      load: { before: loadBefore, after: loadAverage() },
      results,
      ratios: ratiosOf(results),
    };
    return { text: textOf(figures), figures };
  } finally {
    for (const running of peers) await running.stop(stopGraceMs);
    await own.stop();
  }
};

/** @throws Error when a peer answers anything else than we do: the comparison would be of different work */
const sameAnswer = async (path: string, token: string, baseUrls: string[]): Promise<number> => {
  const bodies = await Promise.all(
    baseUrls.map(async (baseUrl) => {
      const answer = await request(baseUrl, { method: "GET", path, token });
      return expectStatus(answer, 200, `reading the case at ${baseUrl}`).body;
    }),
  );
  const [ours, ...theirs] = bodies;
  if (!theirs.every((body) => isDeepStrictEqual(body, ours)))
    throw new Error("the peer's answer is not ours: bring scripts/benchmarks/fastify-peer.ts up to date");
  return Buffer.byteLength(JSON.stringify(ours));
};

interface Ratio {
  peer: string;
  requestsPerSecond: number;
  p99: number;
  cpuPerRequest: number;
}

/** Ours divided by the peer's: more requests are better above 1, p99 and CPU below 1. */
export const ratiosOf = ([ours, ...peers]: LoadFigures[]): Ratio[] =>
  ours === undefined
    ? []
    : peers.map((peer) => ({
        peer: peer.target,
        requestsPerSecond: rounded(ours.requestsPerSecond / peer.requestsPerSecond, 2),
        p99: rounded(ours.p99Ms / peer.p99Ms, 2),
        cpuPerRequest: rounded(ours.cpuMicroseconds / peer.cpuMicroseconds, 2),
      }));

/** The results and their ratios as two tables. */
export const comparison = (results: LoadFigures[], ratios: Ratio[]): string =>
  [
    table(
      ["SERVER", "REQUESTS/S", "P99 MS", "CPU US/REQUEST", "NOT 2XX"],
      results.map(({ target, requestsPerSecond, p99Ms, cpuMicroseconds, failures }) =>
        [target, requestsPerSecond, p99Ms, cpuMicroseconds, failures].map(String),
      ),
    ),
    "",
    table(
      ["OURS / PEER", "REQUESTS/S", "P99", "CPU/REQUEST"],
      ratios.map(({ peer, requestsPerSecond, p99, cpuPerRequest }) =>
        [peer, requestsPerSecond, p99, cpuPerRequest].map(String),
      ),
    ),
  ].join("\n");

const textOf = (figures: {
  answerBytes: number;
  load: { before: number; after: number };
  results: LoadFigures[];
  ratios: Ratio[];
}): string =>
  [
    `GET /v1/cases/{urn}, ${figures.answerBytes} bytes; ${generator}; medians of ${rounds} rounds of ${secondsPerRound} s in turns`,
    `load average ${figures.load.before} before, ${figures.load.after} after`,
    "Both read the case, its sub-cases, waves and review items with the same driver from the same document server and answer",
    "the same JSON. Ours asks which revisions stand and reads whole only the sub-cases that have changed since it last showed",
    "them; it also has correlation, traceparent, route, rate and URN checks, and calls its actors through Moleculer. Fastify has a",
    "compiled response schema, calls the driver directly and reads every sub-case each time.",
    "",
    comparison(figures.results, figures.ratios),
  ].join("\n");

export const read: Benchmark = {
  summary: "GET /v1/cases/{urn} beside the same read served by Fastify, as ratios",
  run,
};
