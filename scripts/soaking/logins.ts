/** Owns the soak of logins: guesses from many addresses at many bookings and links never pass the limits, and slow nobody else's login. */
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { magicLinkToken } from "../../schemas/magic-link.ts";
import { OwnInstance } from "../benchmarks/instance.ts";
import { cpuSeconds, loadAverage } from "../benchmarks/process-figures.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { flightWith, pushUntilAnswered } from "./pushes.ts";
import { randomFrom, type Scenario, type SoakRun } from "./scenario.ts";

type Sizes = Record<"requests", number>;

/** The contract's. */
const limits = { address: 5, pnr: 10, link: 20 } as const;
/** Guesses a second: as fast as the limits themselves would let some thousand addresses guess. */
const guessesPerSecond = 100;
const atOnceMax = 64;
const bookings = 60;
const logins = 150;
/** Of what one login takes while others guess. */
const slowerMax = 4;
const slowMs = 250;

interface Asked {
  path: string;
  address: string;
  body: unknown;
}

const run = async ({ seed, sizes, say, signal }: SoakRun<Sizes>) => {
  const env = {
    TRUSTED_PROXIES: "127.0.0.1",
    LOGIN_ATTEMPTS_ADDRESS: `${limits.address}/15m`,
    LOGIN_ATTEMPTS_PNR: `${limits.pnr}/24h`,
    LOGIN_LINKS_ADDRESS: `${limits.link}/15m`,
  };
  const own = await OwnInstance.start({ vendorLatencyMs: 0, env, say, signal });
  // Each with connections of its own: they wait for the service alone, and not for each other here.
  const [guessers, passengers] = [1, 2].map(
    () => new Agent({ keepAlive: true, maxSockets: atOnceMax, timeout: 5000 }),
  ) as [Agent, Agent];
  try {
    const airline = own.airlines[0] as DemoAirline;
    const flight = flightWith(airline, 0, { groups: bookings, now: new Date() });
    await pushUntilAnswered(own, airline, flight, async () => undefined);
    await delay(5000);
    const travellers = travellersOf(flight.passengers);
    const send = senderOf(own, airline, passengers);
    const genuine = (isOver?: () => boolean) => genuineLogins(send, travellers, own.instance.captcha, isOver);
    await genuine();
    const alone = await genuine();
    say(`logins alone: p50 ${alone.p50.toFixed(1)} ms, p95 ${alone.p95.toFixed(1)} ms`);
    const random = randomFrom(seed);
    const cpu = () => [own.service, own.documents].map(({ pid }) => cpuSeconds(pid));
    const before = cpu();
    let isOver = false;
    const guessing = guess(
      senderOf(own, airline, guessers),
      random,
      sizes.requests,
      own.instance.captcha,
    ).finally(() => {
      isOver = true;
    });
    const beside = await genuine(() => isOver);
    const { faults, passed, refused } = await guessing;
    const each = cpu().map((seconds, i) => (1000 * (seconds - (before[i] ?? 0))) / sizes.requests);
    const slower = beside.p95 / alone.p95;
    if (slower > slowerMax && beside.p95 > slowMs)
      faults.push(`a login beside the guesses takes ${beside.p95.toFixed(0)} ms (p95)`);
    const done = `${sizes.requests} guesses, ${guessesPerSecond} a second: ${passed} were looked at, ${refused} met a limit; ${logins} logins p50/p95 alone ${alone.p50.toFixed(1)}/${alone.p95.toFixed(1)} ms, beside them ${beside.p50.toFixed(1)}/${beside.p95.toFixed(1)} ms (p95 × ${slower.toFixed(2)}); CPU for each guess, these logins included: service ${each[0]?.toFixed(2)} ms, documents ${each[1]?.toFixed(2)} ms; load ${loadAverage()}`;
    return { done, faults };
  } finally {
    for (const agent of [guessers, passengers]) agent.destroy();
    await own.stop();
  }
};

type Send = (asked: Asked) => Promise<{ status: number; ms: number }>;

const senderOf =
  ({ instance }: OwnInstance, { passengerHost }: DemoAirline, agent: Agent): Send =>
  ({ path, address, body }) =>
    new Promise((resolve, reject) => {
      const begun = performance.now();
      const text = JSON.stringify(body);
      const headers = {
        Host: passengerHost,
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(text)),
        "X-Forwarded-For": address,
      };
      const sent = request(new URL(path, instance.baseUrl), { method: "POST", headers, agent }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, ms: performance.now() - begun }));
      });
      sent.on("error", reject);
      sent.end(text);
    });

let strangers = 0;
/** Nobody else's. */
const freshAddress = (): string => {
  strangers += 1;
  return `203.${(strangers >> 16) & 255}.${(strangers >> 8) & 255}.${strangers & 255}`;
};

/** One after the other, each from an address of its own and with another booking than the last. @throws Error when one is refused */
const genuineLogins = async (
  send: Send,
  travellers: readonly { pnr: string; lastName: string }[],
  captcha: string,
  isOver = () => false,
): Promise<{ p50: number; p95: number }> => {
  const taken: number[] = [];
  for (let n = 0; n < logins && !isOver(); n++) {
    const { pnr, lastName } = travellers[n % travellers.length] ?? { pnr: "", lastName: "" };
    const body = { pnr, lastName, captcha };
    const { status, ms } = await send({ path: "/v1/auth/pnr-login", address: freshAddress(), body });
    if (status !== 200) throw new Error(`a passenger's own login was answered with ${status}`);
    taken.push(ms);
  }
  taken.sort((a, b) => a - b);
  const at = (share: number): number => taken[Math.floor(share * (taken.length - 1))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
};

/** Bookings that nobody has, from addresses that come again; a third of the guesses are links. */
const guess = async (send: Send, random: () => number, count: number, captcha: string) => {
  const passed = new Map<string, number>();
  const faults = new Set<string>();
  let refused = 0;
  const note = (key: string, limit: number): void => {
    const times = (passed.get(key) ?? 0) + 1;
    passed.set(key, times);
    if (times > limit) faults.add(`${key} got ${times} answers, the limit is ${limit}`);
  };
  // So many that every limit is met more than once.
  const among = (n: number): number => Math.floor(random() * Math.max(1, n));
  const one = async (): Promise<void> => {
    const isLink = random() < 1 / 3;
    const address = isLink
      ? `198.51.100.${among(count / 170)}`
      : `198.18.${among(count / 1600)}.${among(250)}`;
    const pnr = `Z${among(count / 25)
      .toString(36)
      .padStart(5, "0")}`.toUpperCase();
    const asked = isLink
      ? { path: "/v1/auth/magic-link", address, body: { token: magicLinkToken("XN", randomBytes(32)) } }
      : { path: "/v1/auth/pnr-login", address, body: { pnr, lastName: "Guess", captcha } };
    const { status } = await send(asked);
    if (status === 429) refused += 1;
    else if (status !== 401) faults.add(`a guess was answered with ${status}`);
    else if (isLink) note(`address ${address} with links`, limits.link);
    else {
      note(`address ${address}`, limits.address);
      note(`booking ${pnr}`, limits.pnr);
    }
  };
  const underWay = new Set<Promise<void>>();
  const begun = performance.now();
  for (let n = 0; n < count; n++) {
    const aheadMs = (n / guessesPerSecond) * 1000 - (performance.now() - begun);
    if (aheadMs > 4) await delay(aheadMs);
    if (underWay.size >= atOnceMax) await Promise.race(underWay);
    const running: Promise<void> = one().finally(() => underWay.delete(running));
    underWay.add(running);
  }
  await Promise.all(underWay);
  return { faults: [...faults].slice(0, 30), passed: count - refused, refused };
};

export const loginGuesses: Scenario<Sizes> = {
  summary:
    "guesses at bookings and links from many addresses: no limit is passed, and nobody else's login is slower",
  sizes: { requests: 10_000 },
  run,
};
