/** Owns loading an HTTP address from a process of its own: `wrk` where it is installed, else autocannon. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { median, rounded } from "./benchmark.ts";
import { cpuSeconds } from "./process-figures.ts";

const run = promisify(execFile);
const connections = 32;
const autocannon = resolve(import.meta.dirname, "../../node_modules/autocannon/autocannon.js");

export interface Target {
  name: string;
  url: string;
  headers?: Record<string, string>;
  /** Of the process that answers, whose CPU time is counted. */
  pid: number;
}

export interface Round {
  requestsPerSecond: number;
  p99Ms: number;
  /** CPU time of the answering process for each request. */
  cpuMicroseconds: number;
  failures: number;
}

export interface LoadFigures {
  target: string;
  rounds: Round[];
  /** Medians over the rounds. */
  requestsPerSecond: number;
  p99Ms: number;
  cpuMicroseconds: number;
  failures: number;
}

const wrkPath = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "wrk"))
  .find((file) => existsSync(file));

/** What the requests come from; a result names it, since the generator shares the machine with what it measures. */
export const generator: string =
  wrkPath === undefined
    ? `autocannon, ${connections} connections (wrk is not installed: on cheap routes autocannon itself is the limit)`
    : `wrk, 1 thread, ${connections} connections`;

const unitMs: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

const byWrk = async (path: string, target: Target, seconds: number, signal: AbortSignal) => {
  const headers = Object.entries(target.headers ?? {}).flatMap(([name, value]) => [
    "-H",
    `${name}: ${value}`,
  ]);
  const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--latency", ...headers, target.url];
  const { stdout } = await run(path, args, { signal });
  const found = (pattern: RegExp): RegExpExecArray | null => pattern.exec(stdout);
  const [, p99 = "0", unit = "ms"] = found(/99%\s+([\d.]+)(us|ms|s|m)/) ?? [];
  const [, requests = "0"] = found(/(\d+) requests in/) ?? [];
  const [, rate = "0"] = found(/Requests\/sec:\s+([\d.]+)/) ?? [];
  const [, refused = "0"] = found(/Non-2xx or 3xx responses: (\d+)/) ?? [];
  return {
    requests: Number(requests),
    requestsPerSecond: Number(rate),
    p99Ms: Number(p99) * (unitMs[unit] ?? 1),
    failures: Number(refused),
  };
};

interface AutocannonResult {
  requests: { total: number; average: number };
  latency: { p99: number };
  errors: number;
  timeouts: number;
  non2xx: number;
}

const byAutocannon = async (target: Target, seconds: number, signal: AbortSignal) => {
  const headers = Object.entries(target.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}=${value}`]);
  const args = [
    autocannon,
    "-j",
    "-n",
    "-c",
    String(connections),
    "-d",
    String(seconds),
    ...headers,
    target.url,
  ];
  const { stdout } = await run(process.execPath, args, { signal, maxBuffer: 16 * 1024 * 1024 });
  const result = JSON.parse(stdout) as AutocannonResult;
  return {
    requests: result.requests.total,
    requestsPerSecond: result.requests.average,
    p99Ms: result.latency.p99,
    failures: result.errors + result.timeouts + result.non2xx,
  };
};

const loadOnce = async (target: Target, seconds: number, signal: AbortSignal): Promise<Round> => {
  const before = cpuSeconds(target.pid);
  const { requests, ...measured } =
    wrkPath === undefined
      ? await byAutocannon(target, seconds, signal)
      : await byWrk(wrkPath, target, seconds, signal);
  const cpuMicroseconds = ((cpuSeconds(target.pid) - before) * 1e6) / Math.max(1, requests);
  return { ...measured, cpuMicroseconds: rounded(cpuMicroseconds, 1) };
};

/**
 * Loads the targets in turn, after warming each up, so that whatever else the machine does meets them all.
 * @param load of one target for so long; default: the same GET again and again
 */
export const loadInTurns = async (
  targets: readonly Target[],
  options: { rounds: number; seconds: number; signal: AbortSignal; say(line: string): void },
  load: (target: Target, seconds: number, signal: AbortSignal) => Promise<Round> = loadOnce,
): Promise<LoadFigures[]> => {
  for (const target of targets) await load(target, options.seconds, options.signal);
  const rounds = new Map<string, Round[]>(targets.map(({ name }) => [name, []]));
  for (let i = 0; i < options.rounds; i++) {
    for (const target of targets) {
      const round = await load(target, options.seconds, options.signal);
      options.say(`${target.name}: ${rounded(round.requestsPerSecond, 0)} requests/s`);
      rounds.get(target.name)?.push(round);
    }
  }
  return targets.map(({ name }) => figuresOf(name, rounds.get(name) ?? []));
};

const figuresOf = (target: string, rounds: Round[]): LoadFigures => ({
  target,
  rounds,
  requestsPerSecond: rounded(median(rounds.map((round) => round.requestsPerSecond)), 0),
  p99Ms: rounded(median(rounds.map(({ p99Ms }) => p99Ms)), 2),
  cpuMicroseconds: rounded(median(rounds.map(({ cpuMicroseconds }) => cpuMicroseconds)), 1),
  failures: rounds.reduce((sum, { failures }) => sum + failures, 0),
});
