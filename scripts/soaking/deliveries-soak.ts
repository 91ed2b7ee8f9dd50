/** Owns the soak of webhooks: many events to many partners, one that hangs and one that fails now and then, while the process that delivers is killed again and again. */
import { setTimeout as delay } from "node:timers/promises";
import { median } from "../benchmarks/benchmark.ts";
import { DeliveryRig, failingShare, type Partner, percentile } from "./deliveries-rig.ts";
import { randomFrom, type Scenario, type SoakRun } from "./scenario.ts";

const sizes = { events: 20_000, subscriptions: 20, kills: 10 };
/** Of the events: while all are well, while two are bad, and, what is left, with kills. */
const shares = { alone: 0.25, beside: 0.25 };
/** To all partners together: well below what one process delivers, so that a delay is a neighbour's and no queue's. */
const deliveriesPerSecond = 200;
const warmUpEvents = 50;
const lifeMsMax = 4000;
const restTimeoutMs = 180_000;
/** Contract of the house: what a bad neighbour may cost. Below so many milliseconds it is the machine's noise. */
const slowdownMax = 1.1;
const noiseMs = 5;
const impatient = { ACK_WAIT_MS: "3000", SWEEP_INTERVAL_MS: "1000", WEBHOOK_RETRY_SCALE: "0.02" };

/** Each phase's p95 is the median of that of its parts: what else the machine does for a moment is no neighbour's. */
const windows = 10;

interface Phase {
  urns: string[];
  p95Ms: number;
  isWhole: boolean;
}

const phase = async (
  rig: DeliveryRig,
  healthy: readonly Partner[],
  count: number,
  perSecond: number,
): Promise<Phase> => {
  const urns = await rig.tell(count, perSecond);
  const isWhole = await rig.taken(healthy, urns, restTimeoutMs);
  const length = Math.ceil(urns.length / windows);
  const p95s = Array.from({ length: windows }, (_, i) => urns.slice(i * length, (i + 1) * length))
    .filter((some) => some.length > 0)
    .map((some) => percentile(rig.latencies(healthy, some), 0.95));
  return { urns, isWhole, p95Ms: p95s.length === 0 ? 0 : median(p95s) };
};

/** Kills at moments drawn from the seed, for as long as events are told and until all kills are done. */
const killing = async (rig: DeliveryRig, random: () => number, run: SoakRun<typeof sizes>): Promise<void> => {
  for (let kill = 1; kill <= run.sizes.kills; kill++) {
    const lifeMs = Math.round(random() * lifeMsMax);
    await delay(lifeMs, undefined, { signal: run.signal });
    await rig.startSender();
    run.say(`kill ${kill} of ${run.sizes.kills}, after ${lifeMs} ms`);
  }
};

const run = async (soak: SoakRun<typeof sizes>) => {
  const { seed, say, signal, sizes: asked } = soak;
  const random = randomFrom(seed);
  const rig = await DeliveryRig.start({ env: impatient, random: randomFrom(seed + 1), say, signal });
  try {
    await rig.startSender();
    const healthy = Array.from({ length: Math.max(1, asked.subscriptions - 2) }, (_, i) =>
      rig.partner(`healthy-${i}`, "healthy"),
    );
    // As many without the bad ones as with them: more partners cost more, whatever their manners.
    const [hanging, failing] = [rig.partner("hanging", "healthy"), rig.partner("failing", "healthy")];
    const bad = [hanging, failing];
    for (const partner of rig.partners) await rig.subscribe(partner);
    const perSecond = deliveriesPerSecond / asked.subscriptions;
    const warmUp = await phase(rig, healthy, warmUpEvents, perSecond);
    const alone = await phase(rig, healthy, Math.ceil(asked.events * shares.alone), perSecond);
    say(`all partners well: healthy ones' p95 ${alone.p95Ms} ms`);
    hanging.manner = "hanging";
    failing.manner = "failing";
    const beside = await phase(rig, healthy, Math.ceil(asked.events * shares.beside), perSecond);
    say(`beside one that hangs and one that fails: p95 ${beside.p95Ms} ms`);
    const rest = asked.events - alone.urns.length - beside.urns.length;
    const [killed] = await Promise.all([
      phase(rig, healthy, Math.max(0, rest), perSecond),
      killing(rig, random, soak),
    ]);
    const faults = [
      ...[warmUp, alone, beside, killed].flatMap(({ urns }) => missing(healthy, urns)),
      ...(await wrong(rig, healthy)),
      ...slower(alone, beside),
    ];
    return { faults, done: summary(rig, { alone, beside, killed }, bad, asked.kills) };
  } finally {
    await rig.stop();
  }
};

const missing = (healthy: readonly Partner[], urns: readonly string[]): string[] =>
  healthy.flatMap(({ clientId, taken }) => {
    const never = urns.filter((urn) => !taken.has(urn));
    return never.length === 0 ? [] : [`${clientId} never heard of ${never.length} events, as of ${never[0]}`];
  });

const wrong = async (rig: DeliveryRig, healthy: readonly Partner[]): Promise<string[]> => {
  const faults = rig.unsigned === 0 ? [] : [`${rig.unsigned} deliveries were not signed`];
  const statuses = await rig.statusesOf(healthy);
  for (const [i, partner] of healthy.entries()) {
    const unknown = [...partner.taken.keys()].filter((urn) => !rig.toldAt.has(urn));
    if (unknown.length > 0) faults.push(`${partner.clientId} heard of ${unknown[0]}, which nobody told`);
    if (statuses[i] !== "ACTIVE") faults.push(`${partner.clientId} is ${statuses[i]}`);
  }
  return faults;
};

const slower = (alone: Phase, beside: Phase): string[] =>
  beside.p95Ms <= alone.p95Ms * slowdownMax || beside.p95Ms - alone.p95Ms <= noiseMs
    ? []
    : [`bad neighbours raise the healthy ones' p95 from ${alone.p95Ms} to ${beside.p95Ms} ms`];

const summary = (
  { partners }: DeliveryRig,
  { alone, beside, killed }: Record<"alone" | "beside" | "killed", Phase>,
  bad: readonly Partner[],
  kills: number,
): string => {
  const receipts = partners.flatMap(({ taken }) => [...taken.values()]);
  const again = receipts.reduce((sum, { times }) => sum + times - 1, 0);
  const events = [alone, beside, killed].reduce((sum, { urns }) => sum + urns.length, 0);
  const badOnes = bad.map(({ clientId, taken }) => `${clientId} took ${taken.size}`).join(", ");
  return `${events} events to ${partners.length} partners, ${kills} kills: ${receipts.length} deliveries, ${again} of them again; healthy ones' p95 ${alone.p95Ms} ms while all are well, ${beside.p95Ms} ms beside bad ones, ${killed.p95Ms} ms under kills; ${badOnes}`;
};

export const deliveries: Scenario<typeof sizes> = {
  summary: `${sizes.events} events to ${sizes.subscriptions} partners, of whom one hangs on every call and one fails ${failingShare * 100} % of them, the process killed ${sizes.kills} times: every healthy partner hears everything, and in time`,
  sizes,
  run,
};
