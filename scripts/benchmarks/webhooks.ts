/** Owns the benchmark of webhooks: deliveries a second and the time from the stream to the receiver, beside the simplest worker that would do. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { table } from "../administration/table.ts";
import { DeliveryRig, type Partner, percentile } from "../soaking/deliveries-rig.ts";
import type { Running } from "../supervisor/running.ts";
import { startScript } from "../supervisor/script-process.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { loadAverage } from "./process-figures.ts";
import type { WorkerSubscription } from "./webhook-worker-peer.ts";

const subscriptionCounts = [1, 10, 100];
/** Events times subscriptions, of each burst and of each paced part. */
const burstDeliveries = 4000;
const pacedDeliveries = 1500;
/** To all together while the time is taken: far from what either delivers at most. */
const pacedPerSecond = 200;
const warmUpDeliveries = 500;
const withinMs = 120_000;
const stopGraceMs = 3000;

interface Measured {
  sender: "stopover" | "worker";
  subscriptions: number;
  deliveriesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const measure = async (
  rig: DeliveryRig,
  partners: readonly Partner[],
  sender: Measured["sender"],
): Promise<Measured> => {
  const told = async (deliveries: number, perSecond: number): Promise<string[]> => {
    const count = Math.max(1, Math.round(deliveries / partners.length));
    const urns = await rig.tell(count, perSecond / partners.length);
    if (await rig.taken(partners, urns, withinMs)) return urns;
    throw new Error(`${sender} has not delivered ${deliveries} within ${withinMs} ms`);
  };
  await told(warmUpDeliveries, 0);
  const began = performance.now();
  const burst = await told(burstDeliveries, 0);
  const tookMs = performance.now() - began;
  const latencies = rig.latencies(partners, await told(pacedDeliveries, pacedPerSecond));
  return {
    sender,
    subscriptions: partners.length,
    deliveriesPerSecond: Math.round((burst.length * partners.length * 1000) / tookMs),
    p50Ms: rounded(percentile(latencies, 0.5), 1),
    p99Ms: rounded(percentile(latencies, 0.99), 1),
  };
};

const startWorker = (
  rig: DeliveryRig,
  partners: readonly Partner[],
  signal: AbortSignal,
): Promise<Running> => {
  const subscriptions = partners.map(
    ({ clientId, url, secret }): WorkerSubscription => ({
      clientId,
      url,
      secret,
    }),
  );
  return startScript({
    name: "worker",
    script: join(import.meta.dirname, "webhook-worker-peer.ts"),
    env: {
      ...process.env,
      NATS_URL: rig.instance.natsUrl,
      WORKER_SUBSCRIPTIONS: JSON.stringify(subscriptions),
    },
    logFile: join(rig.folder, "logs/worker.log"),
    readyLine: /^ready (\S+)/,
    signal,
  });
};

/** Each with servers of its own: none finds the consumers of the one before. */
const measureBoth = async (count: number, { say, signal }: BenchmarkRun): Promise<[Measured, Measured]> => {
  // What the service can do, not what it allows itself to do to one webhook (500 a second).
  const env = { WEBHOOK_RATE_PER_SECOND: "100000" };
  const rig = await DeliveryRig.start({ env, random: () => 1, say, signal });
  try {
    const partners = Array.from({ length: count }, (_, i) => rig.partner(`p${i}`, "healthy"));
    await rig.startSender();
    for (const partner of partners) await rig.subscribe(partner);
    const ours = await measure(rig, partners, "stopover");
    await rig.stopSender();
    const worker = await startWorker(rig, partners, signal);
    const theirs = await measure(rig, partners, "worker");
    await worker.stop(stopGraceMs);
    return [ours, theirs];
  } finally {
    await rig.stop();
  }
};

const run = async (options: BenchmarkRun) => {
  const load = { before: loadAverage(), after: 0 };
  const results: Measured[] = [];
  for (const count of subscriptionCounts) {
    const both = await measureBoth(count, options);
    results.push(...both);
    options.say(both.map((one) => `${one.sender} at ${count}: ${one.deliveriesPerSecond}/s`).join(", "));
    // Ports and sockets of the one before are let go.
    await delay(500, undefined, { signal: options.signal });
  }
  load.after = loadAverage();
  const figures = { load, pacedPerSecond, results };
  return { text: textOf(figures), figures };
};

const textOf = ({
  load,
  results,
}: {
  load: { before: number; after: number };
  results: Measured[];
}): string =>
  [
    `a burst of ${burstDeliveries} deliveries; times at ${pacedPerSecond} deliveries a second; receivers answer at once; load average ${load.before} before, ${load.after} after`,
    "stopover records every attempt before it acknowledges; worker: a queue consumer that posts the same signed body, and keeps nothing",
    table(
      ["SENDER", "SUBSCRIPTIONS", "DELIVERIES/S", "P50 MS", "P99 MS"],
      results.map(({ sender, subscriptions, deliveriesPerSecond, p50Ms, p99Ms }) => [
        sender,
        String(subscriptions),
        String(deliveriesPerSecond),
        String(p50Ms),
        String(p99Ms),
      ]),
    ),
  ].join("\n");

export const webhooks: Benchmark = {
  summary:
    "webhook deliveries a second and from stream to receiver, at 1, 10 and 100 subscriptions, beside a bare worker",
  run,
};
