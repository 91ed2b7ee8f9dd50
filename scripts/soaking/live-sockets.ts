/** Owns the soak of operators' live channel: sockets over two gateway processes that are dropped, and both gateways begun anew, while cases change. */
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "../../schemas/command.ts";
import { OwnInstance } from "../benchmarks/instance.ts";
import { raisedRates } from "../benchmarks/raised-rates.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { serviceEnvironment } from "../supervisor/environment.ts";
import { mintOperatorToken } from "../supervisor/operator-token.ts";
import { ownPort } from "../supervisor/own-port.ts";
import type { Running } from "../supervisor/running.ts";
import { startScript } from "../supervisor/script-process.ts";
import { Crowd, type LiveStage } from "./live-crowd.ts";
import { flightWith, pushUntilAnswered } from "./pushes.ts";
import { randomFrom, type Scenario, type SoakRun } from "./scenario.ts";

type Sizes = Record<"sockets" | "drops" | "cases", number>;

const socketsPerOperator = 10;
const betweenChangesMs = 25;
const betweenDropsMs = 20;
const checkMs = 60_000;
const serviceScript = resolve(import.meta.dirname, "../service.ts");

/** A gateway beside the service, on a port that it keeps. */
class OwnGateway {
  readonly url: string;
  readonly #own: OwnInstance;
  readonly #port: number;
  readonly #signal: AbortSignal;
  #running: Running | undefined;

  constructor(own: OwnInstance, port: number, signal: AbortSignal) {
    this.#own = own;
    this.#port = port;
    this.#signal = signal;
    this.url = `http://127.0.0.1:${port}`;
  }

  get pid(): number | undefined {
    return this.#running?.pid;
  }

  async start(): Promise<void> {
    const place = { host: "127.0.0.1", port: this.#port, role: "gateway" };
    this.#running = await startScript({
      name: `gateway-${this.#port}`,
      script: serviceScript,
      env: { ...serviceEnvironment(this.#own.instance, place), ...raisedRates, LOG_LEVEL: "warn" },
      logFile: join(this.#own.folder, `logs/gateway-${this.#port}.log`),
      readyLine: /^ready (\S+)/,
      signal: this.#signal,
    });
  }

  /** @param graceMs 0: it is killed */
  async restart(graceMs: number): Promise<void> {
    await this.#running?.stop(graceMs);
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.stop(2000);
  }
}

export const startGateways = async (own: OwnInstance, signal: AbortSignal): Promise<OwnGateway[]> => {
  const gateways = [
    new OwnGateway(own, await ownPort(), signal),
    new OwnGateway(own, await ownPort(), signal),
  ];
  await Promise.all(gateways.map((gateway) => gateway.start()));
  return gateways;
};

/** Cases to watch, and operators who may. */
export const stageOf = async (
  own: OwnInstance,
  gateways: readonly OwnGateway[],
  { cases, operators, random }: { cases: number; operators: number; random: () => number },
): Promise<LiveStage> => {
  const airline = own.airlines[0] as DemoAirline;
  const token = await own.operatorToken(airline, "ADMIN");
  const found: { caseUrn: string; subCaseUrn: string }[] = [];
  for (let i = 0; i < cases; i++) {
    const flight = flightWith(airline, i, { groups: 1, now: new Date() });
    const caseUrn = await pushUntilAnswered(own, airline, flight, async () => undefined);
    found.push({ caseUrn, subCaseUrn: await firstGroup(own, token, caseUrn) });
  }
  const tokens = await Promise.all(
    Array.from({ length: operators }, (_, i) =>
      mintOperatorToken(own.instance, {
        airline: airline.urn,
        role: "AIRPORT_OPERATOR",
        sub: `operator-${i}`,
      }),
    ),
  );
  return {
    streams: own.streams,
    tenant: airline.code,
    gateways: gateways.map(({ url }) => url),
    cases: found,
    tokens,
    random,
  };
};

const firstGroup = async (own: OwnInstance, token: string, caseUrn: string): Promise<string> => {
  for (;;) {
    const path = `/v1/cases/${encodeURIComponent(caseUrn)}/manifest`;
    const answer = await request(own.instance.baseUrl, { method: "GET", path, token });
    const { items } = expectStatus(answer, 200, path).body as Page<{ subCaseUrn: string }>;
    if (items[0] !== undefined) return items[0].subCaseUrn;
    await delay(50);
  }
};

const run = async ({ seed, sizes, say, signal }: SoakRun<Sizes>) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 20, say, signal });
  const gateways: OwnGateway[] = [];
  try {
    gateways.push(...(await startGateways(own, signal)));
    const operators = Math.ceil(sizes.sockets / socketsPerOperator);
    const stage = await stageOf(own, gateways, { cases: sizes.cases, operators, random: randomFrom(seed) });
    const crowd = new Crowd(stage, sizes.sockets);
    await crowd.enter();
    say(`${sizes.sockets} sockets of ${operators} operators on ${sizes.cases} cases`);
    const over = new AbortController();
    const changing = changeUntil(crowd, over.signal);
    // One is killed, the other is asked to end.
    const restarts = new Map(
      gateways.map((gateway, i) => [Math.ceil((sizes.drops * (i + 1)) / 3), [gateway, i * 5000] as const]),
    );
    const restarting: Promise<void>[] = [];
    for (let drops = 0; drops < sizes.drops; ) {
      if (crowd.dropOne()) drops++;
      const [gateway, graceMs = 0] = restarts.get(drops) ?? [];
      if (gateway !== undefined) restarting.push(gateway.restart(graceMs));
      restarts.delete(drops);
      await delay(betweenDropsMs);
    }
    await Promise.all(restarting);
    over.abort();
    await changing;
    say(
      `${sizes.drops} drops and both gateways begun anew, ${crowd.changes} changes; now everything is compared`,
    );
    const faults = await crowd.check(checkMs);
    const resumed = crowd.members.reduce((sum, member) => sum + member.resumed, 0);
    const told = crowd.members.reduce((sum, { events }) => sum + events.length, 0);
    await crowd.leave();
    const done = `${sizes.sockets} sockets over two gateways, ${sizes.drops} forced drops, each gateway begun anew: ${resumed} resumptions, ${crowd.changes} changes, ${told} events told`;
    return { done, faults: faults.slice(0, 30) };
  } finally {
    for (const gateway of gateways) await gateway.stop();
    await own.stop();
  }
};

const changeUntil = async (crowd: Crowd, over: AbortSignal): Promise<void> => {
  while (!over.aborted) {
    await crowd.change();
    await delay(betweenChangesMs);
  }
};

export const sockets: Scenario<Sizes> = {
  summary:
    "operators' sockets that drop while cases change and both gateways begin anew: each hears each change once",
  sizes: { sockets: 2000, drops: 3000, cases: 20 },
  run,
};
