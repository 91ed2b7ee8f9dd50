/** Owns the benchmark of what the gateway itself costs: a route that does nothing, and a refusal after the token's checks. */
import type { DemoAirline } from "../demonstration/provision.ts";
import type { Running } from "../supervisor/running.ts";
import type { Benchmark, BenchmarkRun } from "./benchmark.ts";
import { untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { generator, loadInTurns } from "./load.ts";
import { startHelloPeer } from "./peers.ts";
import { loadAverage } from "./process-figures.ts";
import { comparison, ratiosOf } from "./read.ts";

const rounds = 4;
const secondsPerRound = 4;
const stopGraceMs = 2000;

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  const peers: Running[] = [];
  try {
    await untilQuiet(own, signal);
    const token = await own.operatorToken(own.airlines[0] as DemoAirline, "AIRPORT_OPERATOR");
    const uws = await startHelloPeer(own, "uws", signal);
    peers.push(uws);
    const node = await startHelloPeer(own, "node", signal);
    peers.push(node);
    const path = "/health/live";
    const base = own.instance.baseUrl;
    const loadBefore = loadAverage();
    const results = await loadInTurns(
      [
        { name: "Stopover /health/live", url: base + path, pid: own.service.pid },
        { name: "uWebSockets.js hello", url: uws.url + path, pid: uws.pid },
        { name: "node:http hello", url: node.url + path, pid: node.pid },
        {
          name: "Stopover, refused after token, route and URN checks",
          url: `${base}/v1/cases/${encodeURIComponent("urn:case:ZZ-01JZZZZZZZZZZZZZZZZZZZZZZZ")}`,
          headers: { Authorization: `Bearer ${token}` },
          pid: own.service.pid,
        },
      ],
      { rounds, seconds: secondsPerRound, signal, say },
    );
    // The refusal has no peer: its figures stand beside the others.
    const ratios = ratiosOf(results.slice(0, 3));
    const figures = { generator, load: { before: loadBefore, after: loadAverage() }, results, ratios };
    const text = [
      `${generator}; medians of ${rounds} rounds of ${secondsPerRound} s in turns`,
      `load average ${figures.load.before} before, ${figures.load.after} after`,
      "",
      comparison(results, ratios),
    ].join("\n");
    return { text, figures };
  } finally {
    for (const running of peers) await running.stop(stopGraceMs);
    await own.stop();
  }
};

export const gateway: Benchmark = {
  summary: "the gateway's own cost: a route that does nothing, beside bare uWebSockets.js and node:http",
  run,
};
