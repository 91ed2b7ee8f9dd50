/** Owns the benchmark of memory: what the processes hold after the demo's night has been played to its end. */
import { table } from "../administration/table.ts";
import { demoPush } from "../demonstration/manifest.ts";
import { decideOffers, travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { Timeline } from "../demonstration/timeline.ts";
import { type Benchmark, type BenchmarkRun, megabytes } from "./benchmark.ts";
import { pushFlight, untilQuiet } from "./flight.ts";
import { OwnInstance } from "./instance.ts";
import { collectGarbage, probedEnvironment, probeReport } from "./probe-client.ts";
import { loadAverage, memoryOf } from "./process-figures.ts";

const vendorLatencyMs = 50;
const stopGraceMs = 5000;

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs, say, signal });
  try {
    // The probe is an idle HTTP server on loopback here; it is needed to force the settling.
    await own.restartService(stopGraceMs, probedEnvironment(own, { countDocuments: false }));
    await untilQuiet(own, signal);
    const moments = [momentOf("started", own)];
    await playDemo(own, signal);
    moments.push(momentOf("demo played", own));
    await untilQuiet(own, signal);
    moments.push(momentOf("all webhooks sent", own));
    await collectGarbage(own);
    moments.push(momentOf("garbage collected", own));
    const { memory } = await probeReport(own);
    const figures = {
      load: loadAverage(),
      megabytes: moments,
      serviceHeapUsed: megabytes(memory.heapUsed),
      serviceExternal: megabytes(memory.external),
    };
    return { text: textOf(figures), figures };
  } finally {
    await own.stop();
  }
};

interface Moment {
  moment: string;
  service: number;
  serviceAnonymous: number;
  documents: number;
  nats: number;
}

const momentOf = (moment: string, { service, documents, nats }: OwnInstance): Moment => ({
  moment,
  service: megabytes(memoryOf(service.pid).rssBytes),
  serviceAnonymous: megabytes(memoryOf(service.pid).anonymousBytes),
  documents: megabytes(memoryOf(documents.pid).rssBytes),
  nats: megabytes(memoryOf(nats.pid).rssBytes),
});

/** As scripts/up --demo plays it: one flight, most offers accepted, one declined. */
const playDemo = async (own: OwnInstance, signal: AbortSignal): Promise<void> => {
  const airline = own.airlines[0] as DemoAirline;
  const timeline = new Timeline();
  await timeline.watch(own.streams, airline.code);
  try {
    const { subCaseCount } = await pushFlight(own, airline, await own.partnerToken(airline));
    await timeline.until(() => timeline.count("subcase.offer-ready") >= subCaseCount, signal);
    const travellers = travellersOf(demoPush(airline.code, new Date()).passengers);
    await decideOffers(own.instance, airline, travellers, 1);
    await timeline.until(() => timeline.count("case.resolved") > 0, signal);
  } finally {
    timeline.stop();
  }
};

const textOf = (figures: { megabytes: Moment[]; serviceHeapUsed: number; serviceExternal: number }): string =>
  [
    "resident memory in MB; the service is gateway and all actors in one process",
    table(
      ["MOMENT", "SERVICE", "OF IT ANONYMOUS", "DOCUMENTS", "NATS"],
      figures.megabytes.map(({ moment, service, serviceAnonymous, documents, nats }) =>
        [moment, service, serviceAnonymous, documents, nats].map(String),
      ),
    ),
    `the service's heap in use at the end: ${figures.serviceHeapUsed} MB, outside the heap ${figures.serviceExternal} MB`,
  ].join("\n");

export const memory: Benchmark = {
  summary: "resident memory of the service after the demo's night, documents and NATS beside it",
  run,
};
