/** Owns the benchmark of what the checks of a request cost: token, role, rate, key, schema and URNs, beside the bare action. */
import { readFileSync } from "node:fs";
import { Agent, request as send } from "node:http";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from "jose";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import { type DemoAirline, demoPolicies } from "../demonstration/provision.ts";
import { serviceEnvironment } from "../supervisor/environment.ts";
import { keyFiles } from "../supervisor/keys.ts";
import type { Running } from "../supervisor/running.ts";
import type { BareRoute } from "./bare-peer.ts";
import { type Benchmark, type BenchmarkRun, megabytes, rounded } from "./benchmark.ts";
import { pushFlight, untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { generator, type LoadFigures, loadInTurns, type Target } from "./load.ts";
import { startBarePeer } from "./peers.ts";
import { loadAverage, memoryOf } from "./process-figures.ts";
import { comparison, ratiosOf } from "./read.ts";
import { writeForSeconds } from "./write-load.ts";

const rounds = 4;
const secondsPerRound = 4;
const stopGraceMs = 3000;
const distinctTokens = 10_000;
const tokenLots = 3;

interface Pair {
  ours: Target;
  bare: Target;
}

/** The offer of the demo's first traveller. */
const offerRoute = async (own: OwnInstance, airline: DemoAirline) => {
  const [traveller] = travellersOf(demoPush(airline.code, new Date()).passengers);
  const login = await request(own.instance.baseUrl, {
    method: "POST",
    path: "/v1/auth/pnr-login",
    host: airline.passengerHost,
    body: { ...traveller, captcha: own.instance.captcha },
  });
  const { sessionToken, caseUrn } = expectStatus(login, 200, "logging in").body as {
    sessionToken: string;
    caseUrn: string;
  };
  const { sub = "", group_id: groupId } = decodeJwt<{ group_id: string }>(sessionToken);
  const route: BareRoute = {
    path: "/v1/me/offer",
    action: "sub-case.offer",
    principal: {
      surface: "passenger",
      tenant: airline.code,
      urn: sub,
      caseId: caseUrn.slice("urn:case:".length),
      groupId,
    },
    params: {},
  };
  return { route, headers: { Authorization: `Bearer ${sessionToken}`, Host: airline.passengerHost } };
};

const operatorRoute = async (
  own: OwnInstance,
  airline: DemoAirline,
  path: string,
  action: string,
  params: Record<string, unknown>,
) => {
  const token = await own.operatorToken(airline, "OPS_SUPERVISOR");
  const principal = {
    surface: "operator",
    tenant: airline.code,
    urn: "urn:user:dev-ops-supervisor",
    role: "OPS_SUPERVISOR",
  } as const;
  const route: BareRoute = { path, action, principal, params };
  return { route, headers: { Authorization: `Bearer ${token}` } };
};

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  let bare: Running | undefined;
  try {
    const airline = own.airlines[0] as DemoAirline;
    await pushFlight(own, airline, await own.partnerToken(airline));
    await untilQuiet(own, signal);
    const resolve = { airport: "JFK", tier: "ECONOMY" };
    const offer = await offerRoute(own, airline);
    const policy = await operatorRoute(own, airline, "/v1/policies/resolve", "policy.resolve", resolve);
    const create = await operatorRoute(own, airline, "/v1/policies", "policy.create", {});
    const place = { host: "127.0.0.1", port: 0, role: "all" };
    const environment = serviceEnvironment(own.instance, place) as Record<string, string>;
    bare = await startBarePeer(
      own,
      [offer, policy, create].map(({ route }) => route),
      environment,
      signal,
    );
    const { pid, url } = bare;
    const pairOf = (name: string, { route, headers }: typeof policy, query = ""): Pair => ({
      ours: { name, url: own.instance.baseUrl + route.path + query, headers, pid: own.service.pid },
      bare: { name: `${name}, bare`, url: url + route.path, pid },
    });
    const options = { rounds, seconds: secondsPerRound, signal, say };
    const loadBefore = loadAverage();
    const measured: LoadFigures[][] = [];
    for (const { ours, bare } of [
      pairOf("GET /v1/me/offer", offer),
      pairOf("GET /v1/policies/resolve", policy, `?${new URLSearchParams(resolve)}`),
    ])
      measured.push(await loadInTurns([ours, bare], options));
    const written = pairOf("POST /v1/policies, a key each", create);
    const body = JSON.stringify(demoPolicies(airline.urn)[0]);
    const write = (target: Target, seconds: number) => writeForSeconds(target, body, seconds);
    measured.push(await loadInTurns([written.ours, written.bare], options, write));
    const memory = await memoryOfTokens(own, airline, say);
    const ratios = measured.flatMap(ratiosOf);
    const load = { before: loadBefore, after: loadAverage() };
    const figures = { generator, load, results: measured.flat(), ratios, memory };
    return { text: textOf(figures), figures };
  } finally {
    await bare?.stop(stopGraceMs);
    await own.stop();
  }
};

/** The same claims for another user each time, signed with the issuer's key. */
const tokensLike = async (own: OwnInstance, token: string, count: number): Promise<string[]> => {
  const key = await importJWK(
    JSON.parse(readFileSync(join(own.instance.keysDir, keyFiles.operator), "utf8")),
  );
  const header = decodeProtectedHeader(token) as { alg: string };
  const claims = decodeJwt(token);
  const signed = (_: unknown, i: number): Promise<string> =>
    new SignJWT({ ...claims, sub: `bench-${Date.now()}-${i}` }).setProtectedHeader(header).sign(key);
  return Promise.all(Array.from({ length: count }, signed));
};

const statusOf = (agent: Agent, url: string, token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    send(url, { agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });

/** Lots of tokens that have never been seen before. */
const memoryOfTokens = async (own: OwnInstance, airline: DemoAirline, say: (line: string) => void) => {
  const url = `${own.instance.baseUrl}/v1/policies/active`;
  const model = await own.operatorToken(airline, "OPS_SUPERVISOR");
  const beforeMb = megabytes(memoryOf(own.service.pid).anonymousBytes);
  const afterEachMb: number[] = [];
  for (let lot = 1; lot <= tokenLots; lot++) {
    const tokens = await tokensLike(own, model, distinctTokens);
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    const statuses = await Promise.all(tokens.map((token) => statusOf(agent, url, token)));
    agent.destroy();
    if (statuses.some((status) => status !== 200)) throw new Error("a token was refused");
    afterEachMb.push(megabytes(memoryOf(own.service.pid).anonymousBytes));
    say(`${lot * distinctTokens} distinct tokens: ${afterEachMb.at(-1)} MB`);
  }
  return { distinctTokens, beforeMb, afterEachMb };
};

const textOf = (figures: {
  load: { before: number; after: number };
  results: LoadFigures[];
  ratios: ReturnType<typeof ratiosOf>;
  memory: Awaited<ReturnType<typeof memoryOfTokens>>;
}): string =>
  [
    `${generator}, writes by 32 of our own; medians of ${rounds} rounds of ${secondsPerRound} s in turns`,
    `load average ${figures.load.before} before, ${figures.load.after} after`,
    "Bare: the same actions of the same actors behind uWebSockets.js alone, with nothing looked at.",
    "",
    comparison(figures.results, figures.ratios),
    "",
    table(
      ["DISTINCT TOKENS", "SERVICE, ANONYMOUS MB"],
      [
        [0, figures.memory.beforeMb],
        ...figures.memory.afterEachMb.map((mb, i) => [(i + 1) * distinctTokens, mb]),
      ].map((row) => row.map((value) => String(rounded(Number(value), 1)))),
    ),
  ].join("\n");

export const pipeline: Benchmark = {
  summary: "what the checks of a request cost beside the bare action, and the memory of many tokens",
  run,
};
