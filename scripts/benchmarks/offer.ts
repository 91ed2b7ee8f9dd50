/** Owns the benchmark of the read that passengers make most, their offer, beside Fastify's. */
import { isDeepStrictEqual } from "node:util";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import type { Running } from "../supervisor/running.ts";
import type { Benchmark, BenchmarkRun } from "./benchmark.ts";
import { housedFlight } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { generator, loadInTurns } from "./load.ts";
import { startFastifyOfferPeer } from "./peers.ts";
import { loadAverage } from "./process-figures.ts";
import { comparison, ratiosOf } from "./read.ts";

const rounds = 4;
const secondsPerRound = 5;
const stopGraceMs = 2000;
const path = "/v1/me/offer";

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  const peers: Running[] = [];
  try {
    const airline = own.airlines[0] as DemoAirline;
    await housedFlight(own, airline, signal);
    const token = await sessionOf(own, airline);
    const cached = await startFastifyOfferPeer(own, "on", signal);
    peers.push(cached);
    const uncached = await startFastifyOfferPeer(own, "off", signal);
    peers.push(uncached);
    const headers = { Authorization: `Bearer ${token}`, Host: airline.passengerHost };
    const answerBytes = await sameAnswer({ token, host: airline.passengerHost }, [
      own.instance.baseUrl,
      cached.url,
      uncached.url,
    ]);
    const loadBefore = loadAverage();
    const results = await loadInTurns(
      [
        { name: "Stopover", url: own.instance.baseUrl + path, headers, pid: own.service.pid },
        { name: "Fastify, tokens cached", url: cached.url + path, headers, pid: cached.pid },
        { name: "Fastify, tokens verified each time", url: uncached.url + path, headers, pid: uncached.pid },
      ],
      { rounds, seconds: secondsPerRound, signal, say },
    );
    const ratios = ratiosOf(results);
    const load = { before: loadBefore, after: loadAverage() };
    const text = [
      `GET ${path}, ${answerBytes} bytes; ${generator}; medians of ${rounds} rounds of ${secondsPerRound} s in turns`,
      `load average ${load.before} before, ${load.after} after`,
      "Both make one read with the same driver of the same document server and answer the same JSON. Ours is brought the document only",
      "where it has changed since; it also looks at host, case, revocations, rates and conditions, tags the answer, and calls its actor",
      "through Moleculer.",
      "",
      comparison(results, ratios),
    ].join("\n");
    return { text, figures: { generator, answerBytes, load, results, ratios } };
  } finally {
    for (const running of peers) await running.stop(stopGraceMs);
    await own.stop();
  }
};

/** Of the first traveller. */
const sessionOf = async (own: OwnInstance, airline: DemoAirline): Promise<string> => {
  const [traveller] = travellersOf(demoPush(airline.code, new Date()).passengers);
  const login = await request(own.instance.baseUrl, {
    method: "POST",
    path: "/v1/auth/pnr-login",
    host: airline.passengerHost,
    body: { ...traveller, captcha: own.instance.captcha },
  });
  return (expectStatus(login, 200, "logging in").body as { sessionToken: string }).sessionToken;
};

/** @throws Error when a peer answers anything else than we do: the comparison would be of different work */
const sameAnswer = async (
  session: { token: string; host: string },
  baseUrls: readonly string[],
): Promise<number> => {
  const bodies = await Promise.all(
    baseUrls.map(async (baseUrl) => {
      const answer = await request(baseUrl, { method: "GET", path, ...session });
      return expectStatus(answer, 200, `reading the offer at ${baseUrl}`).body;
    }),
  );
  const [ours, ...theirs] = bodies;
  if (!theirs.every((body) => isDeepStrictEqual(body, ours)))
    throw new Error(
      "the peer's answer is not ours: bring scripts/benchmarks/fastify-offer-peer.ts up to date",
    );
  return Buffer.byteLength(JSON.stringify(ours));
};

export const offer: Benchmark = {
  summary: "GET /v1/me/offer beside the same single read served by Fastify, as ratios",
  run,
};
