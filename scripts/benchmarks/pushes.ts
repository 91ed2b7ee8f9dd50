/** Owns the benchmark of many disruptions at once: how many a second are taken, how soon their cases stand, and what memory keeps of them. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { CaseOpened } from "../../schemas/case.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { percentile } from "../soaking/deliveries-rig.ts";
import { type Benchmark, type BenchmarkRun, megabytes, rounded } from "./benchmark.ts";
import { emptyHotels, untilQuiet } from "./flight.ts";
import { freshEventId, OwnInstance } from "./instance.ts";
import { collectGarbage, probedEnvironment } from "./probe-client.ts";
import { loadAverage, memoryOf } from "./process-figures.ts";

const vendorLatencyMs = 50;
/** The first round meets a service that has just started. */
const rounds = 5;
const pushesPerRound = 60;
/** So few that a round finds rooms for all. */
const passengersPerFlight = 6;
const partnersAtOnce = 16;
const stopGraceMs = 5000;

interface Round {
  acceptedPerSecond: number;
  acceptedP50Ms: number;
  acceptedP99Ms: number;
  openedP50Ms: number;
  openedP99Ms: number;
  /** After all that follows is done and garbage is collected. */
  serviceMegabytes: number;
}

/** When each case of the airline was opened, from now on: by its URN, in the monotonic clock of this process. */
const openings = async ({ streams }: OwnInstance, airline: DemoAirline) => {
  const openedAt = new Map<string, number>();
  let heard = Promise.withResolvers<void>();
  const consumer = await streams.jetstream.consumers.get("EVENTS", {
    filter_subjects: [`evt.${airline.code}.case.opened.>`],
    deliver_policy: DeliverPolicy.New,
  });
  const messages = await consumer.consume();
  void (async () => {
    for await (const message of messages) {
      openedAt.set(String(message.json<EventRecord>().case_urn), performance.now());
      heard.resolve();
      heard = Promise.withResolvers();
    }
  })();
  return {
    openedAt,
    all: async (count: number, signal: AbortSignal): Promise<void> => {
      while (openedAt.size < count) {
        signal.throwIfAborted();
        await heard.promise;
      }
    },
    stop: () => messages.stop(),
  };
};

const push = async (own: OwnInstance, airline: DemoAirline, token: string) => {
  const whole = demoPush(airline.code, new Date());
  const passengers = whole.passengers.slice(-passengersPerFlight);
  const body = { ...whole, passengers, externalEventId: freshEventId() };
  const askedAt = performance.now();
  const answer = await request(own.instance.baseUrl, {
    method: "POST",
    path: "/partner/v1/disruptions",
    token,
    body,
  });
  const { caseUrn } = expectStatus(answer, 202, "pushing a disruption").body as CaseOpened;
  return { caseUrn, askedAt, acceptedMs: performance.now() - askedAt };
};

const playRound = async (own: OwnInstance, airline: DemoAirline, signal: AbortSignal): Promise<Round> => {
  const token = await own.partnerToken(airline);
  const opened = await openings(own, airline);
  try {
    const pushed: Awaited<ReturnType<typeof push>>[] = [];
    let begun = 0;
    const began = performance.now();
    const partner = async (): Promise<void> => {
      while (begun++ < pushesPerRound) pushed.push(await push(own, airline, token));
    };
    await Promise.all(Array.from({ length: partnersAtOnce }, partner));
    const tookMs = performance.now() - began;
    await opened.all(pushesPerRound, signal);
    await untilQuiet(own, signal);
    await collectGarbage(own);
    const sorted = (values: number[]): number[] => values.toSorted((a, b) => a - b);
    const accepted = sorted(pushed.map(({ acceptedMs }) => acceptedMs));
    const standing = sorted(
      pushed.map(({ caseUrn, askedAt }) => (opened.openedAt.get(caseUrn) ?? Number.NaN) - askedAt),
    );
    return {
      acceptedPerSecond: rounded((1000 * pushesPerRound) / tookMs, 0),
      acceptedP50Ms: rounded(percentile(accepted, 0.5), 0),
      acceptedP99Ms: rounded(percentile(accepted, 0.99), 0),
      openedP50Ms: rounded(percentile(standing, 0.5), 0),
      openedP99Ms: rounded(percentile(standing, 0.99), 0),
      serviceMegabytes: megabytes(memoryOf(own.service.pid).rssBytes),
    };
  } finally {
    opened.stop();
  }
};

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs, say, signal });
  try {
    const airline = own.airlines[0] as DemoAirline;
    await own.restartService(stopGraceMs, probedEnvironment(own, { countDocuments: false }));
    const loadBefore = loadAverage();
    const played: Round[] = [];
    for (let i = 0; i < rounds; i++) {
      await emptyHotels(own);
      const round = await playRound(own, airline, signal);
      say(`round ${i + 1} of ${rounds}: ${round.acceptedPerSecond} a second, ${round.serviceMegabytes} MB`);
      played.push(round);
    }
    const figures = {
      pushesPerRound,
      passengersPerFlight,
      load: { before: loadBefore, after: loadAverage() },
      rounds: played,
    };
    return { text: textOf(figures), figures };
  } finally {
    await own.stop();
  }
};

const textOf = (figures: { load: { before: number; after: number }; rounds: Round[] }): string =>
  [
    `${rounds} rounds of ${pushesPerRound} flights of ${passengersPerFlight}, ${partnersAtOnce} pushed at once, all of them housed after each round; load average ${figures.load.before} before, ${figures.load.after} after`,
    table(
      ["ROUND", "ACCEPTED/S", "P50 MS", "P99 MS", "CASE.OPENED P50", "P99 MS", "SERVICE MB"],
      figures.rounds.map((round, i) =>
        [
          i + 1,
          round.acceptedPerSecond,
          round.acceptedP50Ms,
          round.acceptedP99Ms,
          round.openedP50Ms,
          round.openedP99Ms,
          round.serviceMegabytes,
        ].map(String),
      ),
    ),
  ].join("\n");

export const pushes: Benchmark = {
  summary:
    "many disruptions at once: how many a second are taken, how soon their cases stand, whether memory stays flat",
  run,
};
