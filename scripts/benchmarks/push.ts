/** Owns the benchmark of the main job: a push of 180 passengers until the last offer is ready, and where the time goes. */
import { performance } from "node:perf_hooks";
import { table } from "../administration/table.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { Timeline } from "../demonstration/timeline.ts";
import { type Benchmark, type BenchmarkRun, median, megabytes, rounded } from "./benchmark.ts";
import { emptyHotels, pushFlight, untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { probedEnvironment, probeReport, resetProbe } from "./probe-client.ts";
import { cpuSeconds, cpuSecondsWithChildren, loadAverage, writeCalls } from "./process-figures.ts";
import type { ProbeReport } from "./service-probe.ts";

const vendorLatencyMs = 50;
/** The first one meets a service that has just started; it is told apart. */
const timedRuns = 6;
const stopGraceMs = 5000;

/** What is seen of a push from outside, in the order of the night. */
const steps: readonly (readonly [string, string])[] = [
  ["case.opened", "case opened"],
  ["demand.approved", "rooms approved"],
  ["subcase.processing", "groups assigned"],
  ["graph.step-completed hold", "rooms held"],
  ["graph.step-completed book", "rooms booked"],
  ["graph.step-completed voucher", "vouchers issued"],
  ["graph.step-completed card", "cards issued"],
  ["graph.step-completed transport", "rides booked"],
  ["graph.step-completed notify", "passengers told"],
  ["subcase.offer-ready", "offers ready"],
];

interface PushFigures {
  acceptedMs: number;
  lastOfferMs: number;
  groups: number;
  /** Until the last offer; the webhooks that follow are not in it. */
  cpuSeconds: { service: number; documents: number; nats: number; sandbox: number };
  serviceWriteCalls: number;
  messages: Record<string, number>;
  steps: { name: string; firstMs: number; lastMs: number; count: number }[];
}

const counters = async ({ service, documents, nats, sandbox, streams }: OwnInstance) => ({
  cpu: {
    service: cpuSeconds(service.pid),
    documents: cpuSeconds(documents.pid),
    nats: cpuSeconds(nats.pid),
    sandbox: cpuSecondsWithChildren(sandbox.pid),
  },
  writes: writeCalls(service.pid),
  sequences: Object.fromEntries(
    await Promise.all(
      (["COMMANDS", "EVENTS", "INTERNAL"] as const).map(
        async (name) => [name, (await streams.manager.streams.info(name)).state.last_seq] as const,
      ),
    ),
  ),
});

const differences = <T extends Record<string, number>>(after: T, before: T): T =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, rounded(value - (before[name] ?? 0), 2)]),
  ) as T;

const pushOnce = async (
  own: OwnInstance,
  airline: DemoAirline,
  token: string,
  signal: AbortSignal,
): Promise<PushFigures> => {
  const timeline = new Timeline();
  await timeline.watch(own.streams, airline.code);
  try {
    const before = await counters(own);
    timeline.start();
    const startedAt = performance.now();
    const { subCaseCount } = await pushFlight(own, airline, token);
    const acceptedMs = performance.now() - startedAt;
    const isOver = () =>
      timeline.count("subcase.offer-ready") >= subCaseCount ||
      timeline.count("subcase.failed") + timeline.count("review.opened") > 0;
    await timeline.until(isOver, signal);
    const lastOfferMs = performance.now() - startedAt;
    if (timeline.count("subcase.offer-ready") < subCaseCount)
      throw new Error("the flight could not be housed as a whole: the time to the last offer means nothing");
    const after = await counters(own);
    return {
      acceptedMs: rounded(acceptedMs, 0),
      lastOfferMs: rounded(lastOfferMs, 0),
      groups: subCaseCount,
      cpuSeconds: differences(after.cpu, before.cpu),
      serviceWriteCalls: after.writes - before.writes,
      messages: differences(after.sequences, before.sequences),
      steps: steps.flatMap(([event, name]) => {
        const seen = timeline.seen(event);
        return seen === undefined ? [] : [{ name, ...seen }];
      }),
    };
  } finally {
    timeline.stop();
  }
};

const prepared = async (own: OwnInstance, signal: AbortSignal): Promise<void> => {
  await untilQuiet(own, signal);
  await emptyHotels(own);
};

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs, say, signal });
  try {
    const airline = own.airlines[0] as DemoAirline;
    const token = await own.partnerToken(airline);
    const runs: PushFigures[] = [];
    const loadBefore = loadAverage();
    for (let i = 0; i < timedRuns; i++) {
      await prepared(own, signal);
      const figures = await pushOnce(own, airline, token, signal);
      say(`push ${i + 1} of ${timedRuns}: ${figures.lastOfferMs} ms`);
      runs.push(figures);
    }
    const loadAfter = loadAverage();
    const account = await accountedPush(own, airline, token, signal);
    const [first, ...warm] = runs as [PushFigures, ...PushFigures[]];
    const totals = warm.map(({ lastOfferMs }) => lastOfferMs);
    const figures = {
      passengers: 180,
      groups: first.groups,
      vendorLatencyMs,
      load: { before: loadBefore, after: loadAfter },
      firstMs: first.lastOfferMs,
      medianMs: median(totals),
      worstMs: Math.max(...totals),
      runs,
      account,
    };
    return { text: textOf(figures), figures };
  } finally {
    await own.stop();
  }
};

/** Once more with the probe inside, whose counting costs: its time is no result. The second push of that process is counted. */
const accountedPush = async (
  own: OwnInstance,
  airline: DemoAirline,
  token: string,
  signal: AbortSignal,
): Promise<{ push: PushFigures; probe: ProbeReport }> => {
  await own.restartService(stopGraceMs, probedEnvironment(own, { countDocuments: true }));
  await prepared(own, signal);
  await pushOnce(own, airline, token, signal);
  await prepared(own, signal);
  await resetProbe(own);
  const push = await pushOnce(own, airline, token, signal);
  return { push, probe: await probeReport(own) };
};

const textOf = (figures: {
  firstMs: number;
  medianMs: number;
  worstMs: number;
  groups: number;
  load: { before: number; after: number };
  runs: PushFigures[];
  account: { push: PushFigures; probe: ProbeReport };
}): string => {
  const { firstMs, medianMs, worstMs, groups, load, runs, account } = figures;
  const typical = runs.slice(1).toSorted((a, b) => a.lastOfferMs - b.lastOfferMs)[
    Math.floor((runs.length - 1) / 2)
  ] as PushFigures;
  const { cpuSeconds: cpu, messages, serviceWriteCalls } = typical;
  const { documents, vendorCalls, eventLoopDelay, garbageCollectionMs } = account.probe;
  const ms = (value: number) => value.toFixed(0);
  const counts = Object.entries(documents).toSorted(([, a], [, b]) => b.count - a.count);
  const writes = counts.filter(([name]) => !/^(find|getMore|aggregate)/.test(name));
  const sum = (list: typeof counts) => list.reduce((total, [, { count }]) => total + count, 0);
  return [
    `180 passengers in ${groups} groups, vendors answer after ${vendorLatencyMs} ms; load average ${load.before} before, ${load.after} after`,
    `push to last offer ready: median ${ms(medianMs)} ms, worst ${ms(worstMs)} ms of ${runs.length - 1}; right after the start ${ms(firstMs)} ms`,
    "",
    "where the time goes, in the median run, from the push on:",
    table(
      ["STEP", "FIRST MS", "LAST MS", "COUNT"],
      typical.steps.map(({ name, firstMs: from, lastMs: to, count }) => [
        name,
        ms(from),
        ms(to),
        String(count),
      ]),
    ),
    "",
    `CPU seconds: service ${cpu.service}, documents ${cpu.documents}, NATS ${cpu.nats}, sandbox ${cpu.sandbox}`,
    `messages published: ${Object.entries(messages)
      .map(([stream, count]) => `${count} ${stream}`)
      .join(", ")}; the service's write calls: ${serviceWriteCalls}`,
    "",
    `one more push with the probe inside (${account.push.lastOfferMs} ms, CPU ${account.push.cpuSeconds.service} s):`,
    `vendor calls ${vendorCalls.count}, waited for ${ms(vendorCalls.waitedMs)} ms in all, ${ms(vendorCalls.waitedMs / Math.max(1, vendorCalls.count))} ms each`,
    `event loop delay: median ${eventLoopDelay.p50Ms.toFixed(1)}, 99 % ${eventLoopDelay.p99Ms.toFixed(1)}, worst ${eventLoopDelay.maxMs.toFixed(1)} ms; garbage collection ${ms(garbageCollectionMs)} ms; RSS ${megabytes(account.probe.memory.rss)} MB`,
    `document commands: ${sum(counts)}, of them writes ${sum(writes)}`,
    table(
      ["COMMAND", "COUNT", "MEAN MS", "WORST MS"],
      counts
        .slice(0, 12)
        .map(([name, { count, totalMs, maxMs }]) => [
          name,
          String(count),
          (totalMs / count).toFixed(1),
          maxMs.toFixed(1),
        ]),
    ),
  ].join("\n");
};

export const push: Benchmark = {
  summary: "a push of 180 passengers to the last offer ready, with a table of where the time goes",
  run,
};
