/** Owns the vendors soak: batches of small flights, each under faults of its own drawn from the seed, and what must hold after each of them. */
import { MongoClient } from "mongodb";
import { OwnInstance } from "../benchmarks/instance.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { type DemoAirline, webhookSettings } from "../demonstration/provision.ts";
import type { SandboxVendor } from "../sandbox/remote-part.ts";
import { jfkBlock } from "./block.ts";
import type { Scenario, SoakRun } from "./scenario.ts";
import { checkSettled, databasePrefix } from "./settled.ts";
import {
  type BatchPlan,
  type Judged,
  judgeBatch,
  ledgerOf,
  planOf,
  playBatch,
  reconciledSince,
  restTimeoutMs,
  type SoakedInstance,
} from "./vendor-batch.ts";

const sizes = { runs: 500 };
/** Flights of one batch: at once, under the same faults. */
const atOnce = 5;
const faultsMax = 50;
/** Of a contract that each airline has of its own. */
const blockRoomsPerNight = 1;
/** Before each fault has had its chance, none is missed. */
const runsForEveryFault = 100;
const everyFault = [
  ...["refuse", "unavailable", "error", "error-after", "timeout", "lost-answer", "malformed"],
  ...["price-change", "oversell", "lost bookings"],
];
const impatient = {
  VENDOR_TIMEOUT_MS: "800",
  VENDOR_SETTLE_MS: "1500",
  STEP_DEADLINE_MS: "3000",
  SWEEP_INTERVAL_MS: "1000",
  HOTEL_SEARCH_MS: "1500",
  HOTEL_SILENCE_MS: "3000",
  RECONCILE_INTERVAL_MS: "1500",
  WEBHOOK_RETRY_SCALE: "0.02",
};

/** One airline with vendors of our own sandbox's dialects, one with the dialects of real ones. */
const worksWith = {
  XN: ["stayhub", "roomlink", "cardworks", "sendwell", "ridefleet"],
  QZ: ["stayhub", "hotelbeds", "rapid", "stripe-issuing", "twilio", "ridefleet"],
} as const;
const parts = [...new Set(Object.values(worksWith).flat()), "receiver"];

const announcedVendors = async (sandboxUrl: string): Promise<SandboxVendor[]> =>
  ((await (await fetch(sandboxUrl)).json()) as { vendors: SandboxVendor[] }).vendors;

const agreeBlock = async (own: OwnInstance, airline: DemoAirline): Promise<void> => {
  const token = await own.operatorToken(airline, "OPS_SUPERVISOR");
  const body = jfkBlock(new Date(), blockRoomsPerNight);
  const asked = { method: "POST", path: "/v1/contracts", token, body } as const;
  expectStatus(await request(own.instance.baseUrl, asked), 201, `a contract of ${airline.code}`);
};

/** What all batches have come to. */
interface Tally extends Omit<Judged, "faults"> {
  faults: Set<string>;
  caseUrns: string[];
}

const added = (tally: Tally, judged: Judged): void => {
  for (const name of ["groups", "housed", "failed", "declined"] as const) tally[name] += judged[name];
  for (const counts of ["met", "sold"] as const)
    for (const [name, count] of Object.entries(judged[counts]))
      tally[counts][name] = (tally[counts][name] ?? 0) + count;
};

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort()
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

/** Of all vendors, and how many of them were told twice: without any, nothing was tried with them. */
const webhooksTold = async (own: SoakedInstance): Promise<{ told: number; twice: number }> => {
  const ledgers = await Promise.all(own.vendors.map(({ name }) => ledgerOf(own, name)));
  const ids = ledgers.flatMap(({ webhooks = [] }) => webhooks.map(({ id }) => id));
  return { told: ids.length, twice: ids.length - new Set(ids).size };
};

/** @returns what is wrong after it and was not before */
const batch = async (
  own: SoakedInstance,
  plan: BatchPlan,
  tally: Tally,
  { say, signal }: Pick<SoakRun, "say" | "signal">,
): Promise<Judged> => {
  const since = new Date();
  const outcome = await playBatch(own, plan, signal);
  tally.caseUrns.push(...outcome.caseUrns);
  const settled = await checkSettled(own, tally.caseUrns, {
    timeoutMs: restTimeoutMs,
    signal,
    say,
    atRest: () => reconciledSince(own, outcome.calmAt, signal),
  });
  const judged = await judgeBatch(own, plan, outcome, since);
  return { ...judged, faults: [...outcome.faults, ...settled.faults, ...judged.faults] };
};

const run = async (soak: SoakRun<typeof sizes>) => {
  const {
    seed,
    sizes: { runs },
    say,
    signal,
  } = soak;
  const started = await OwnInstance.start({
    ...{ vendorLatencyMs: 5, env: impatient, vendors: parts, worksWith },
    ...{ say, signal },
  });
  const mongodb = await new MongoClient(started.instance.mongodbUrl).connect();
  const tally: Tally = {
    faults: new Set(),
    caseUrns: [],
    groups: 0,
    housed: 0,
    failed: 0,
    declined: 0,
    met: {},
    sold: {},
  };
  try {
    for (const airline of started.airlines) await agreeBlock(started, airline);
    const vendors = await announcedVendors(started.sandboxUrl);
    const own: SoakedInstance = Object.assign(started, { mongodb, databasePrefix, vendors, worksWith });
    await own.control(webhookSettings(own.instance.baseUrl, vendors));
    for (let first = 0; first < runs && tally.faults.size < faultsMax; first += atOnce) {
      const size = Math.min(atOnce, runs - first);
      const number = first / atOnce;
      const plan = planOf(own, { seed: seed + number, first, runs: size, now: new Date() });
      const begun = performance.now();
      const judged = await batch(own, plan, tally, soak);
      added(tally, judged);
      for (const fault of judged.faults)
        if (![...tally.faults].some((known) => known.endsWith(` ${fault}`)))
          tally.faults.add(`(--runs ${size} --seed ${plan.seed}) ${fault}`);
      const seconds = ((performance.now() - begun) / 1000).toFixed(0);
      say(
        `runs ${first + 1}–${first + size} of ${runs} (seed ${plan.seed}): ${judged.housed} of ${judged.groups} groups housed, ${judged.failed} with a person, ${judged.declined} declined; ${countsText(judged.met)}; ${seconds} s; ${tally.faults.size} faults`,
      );
    }
    const { told, twice } = await webhooksTold(own);
    const missed = runs < runsForEveryFault ? [] : everyFault.filter((fault) => !tally.met[fault]);
    if (told === 0) tally.faults.add("no vendor has ever told anything by a webhook");
    return {
      faults: [...tally.faults, ...missed.map((fault) => `no vendor ever had the fault ${fault}`)],
      done: `${tally.caseUrns.length} flights, ${tally.groups} groups: ${tally.housed} housed, ${tally.failed} with a person, ${tally.declined} declined; rooms and cards sold: ${countsText(tally.sold)}; ${told} webhooks, ${twice} of them told twice; vendors' faults: ${countsText(tally.met)}`,
    };
  } finally {
    await mongodb.close();
    await started.stop();
  }
};

export const vendors: Scenario<typeof sizes> = {
  summary: `${sizes.runs} small flights, ${atOnce} at once, under every fault that vendors have, prices that change, rooms sold twice, outages and webhooks in any order: each group that is housed has one booking, whose number we know; no card without a room, nobody without an owner. Batch n has the seed plus n: alone again with it and --runs ${atOnce}`,
  sizes,
  run,
};
