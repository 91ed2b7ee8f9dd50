/** Owns the benchmark of what operators look at all night: the dashboard over a bad night's cases, and pages of a long list. */
import { performance } from "node:perf_hooks";
import type { Document } from "mongodb";
import type { CaseState } from "../../actors/case/state.ts";
import { openDocuments } from "../../actors/runtime/documents.ts";
import type { Page } from "../../schemas/command.ts";
import type { DashboardView } from "../../schemas/dashboard.ts";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { OwnInstance } from "./instance.ts";
import { cpuSeconds, loadAverage } from "./process-figures.ts";

const openCases = 200;
const groupsPerOpenCase = 120;
const closedCases = 50_000;
const reviewItemsPerCase = 3;
const requestsPerTarget = 400;
/** Operators' screens that ask at the same time. */
const screens = 4;

const airports = ["JFK", "LAX", "OPO", "LIS", "MAD", "ORD", "MIA", "SEA"];
const start = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** Ids in the order of time, as ULIDs are; the same in every run. */
const idOf = (tenant: string, index: number): string =>
  `${tenant}-01KA${index.toString(36).toUpperCase().padStart(22, "0")}`;

const metaOf = (_id: string) => ({
  _id: _id as never,
  revision: 9,
  version: 7,
  schemaVersion: 1,
  handled: [],
  outbox: [],
  outboxCount: 9,
});

const stay = { checkIn: "2026-11-21", checkOut: "2026-11-22", nights: 1, rooms: 1 };

const caseOf = (tenant: string, index: number, groups: number, closed: boolean): Document => {
  const at = new Date(start + index * 6 * minuteMs);
  const airport = airports[index % airports.length] as string;
  const state: Omit<CaseState, "policies"> = {
    externalEventId: `bench-${index}`,
    bodyHash: "x",
    otherBodies: [],
    status: closed ? "CLOSED" : "OPEN",
    source: "PARTNER",
    airport,
    departureDay: at.toISOString().slice(0, 10),
    flight: { number: "XN482", origin: airport, destination: "CDG", scheduledDeparture: at },
    nextFlight: { number: "XN484", scheduledDeparture: new Date(at.getTime() + 870 * minuteMs) },
    disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: at },
    createdAt: at,
    createdBy: "urn:partner:bench",
    correlationUrn: "urn:correlation:bench",
    groups: Array.from({ length: groups }, (_, i) => ({
      groupId: `G${i}`,
      subCaseId: idOf(tenant, index * 1000 + i),
      tier: "ECONOMY" as const,
      passengers: 2,
      needs: [],
      missing: [],
      stay,
    })),
    progress: Array.from({ length: groups }, (_, i) => "RBAWHF"[closed ? 0 : (index + i) % 6]).join(""),
    rooms: "1".repeat(groups),
    rounds: "1".repeat(groups),
    onDesk: [],
    manifest: [],
    provisioned: groups,
    provisionedAt: at,
    plannedAt: at,
    demands: [
      {
        demandId: idOf(tenant, index),
        type: "INITIAL",
        roomsRequested: groups,
        state: index % 5 === 0 && !closed ? "REQUESTED" : "APPROVED",
        requestedAt: at,
        requestedBy: "urn:user:system-case",
      },
    ],
    ...(closed ? { closedAt: at } : {}),
  };
  return { ...metaOf(idOf(tenant, index)), ...state, policies: {} };
};

const itemOf = (tenant: string, caseIndex: number, i: number): Document => {
  const at = new Date(start + caseIndex * 6 * minuteMs);
  const id = idOf(tenant, caseIndex * reviewItemsPerCase + i);
  return {
    ...metaOf(id),
    caseId: idOf(tenant, caseIndex),
    airport: airports[caseIndex % airports.length],
    category: ["ALLOCATION_FAILED", "BOOKING_FAILED", "DATA_INCOMPLETE"][i],
    priority: ["HIGH", "HIGH", "LOW"][i],
    origin: "bench",
    detail: "For the benchmark.",
    attemptedHotels: [],
    affectedGroups: ["G4"],
    status: "OPEN",
    createdAt: at,
    dueAt: new Date(Date.UTC(2100, 0)),
    listKey: `${at.toISOString()}/${id}`,
    housedGroups: [],
    breaches: 0,
    overdue: false,
  };
};

const seed = async (own: OwnInstance, tenant: string, say: (line: string) => void): Promise<void> => {
  const documents = await openDocuments(own.documents.url, "stopover");
  try {
    const cases = documents.tenant(tenant).collection<Document>("cases");
    const total = closedCases + openCases;
    for (let from = 0; from < total; from += 1000) {
      const batch = Array.from({ length: Math.min(1000, total - from) }, (_, i) => from + i).map((index) =>
        caseOf(tenant, index, index < closedCases ? 2 : groupsPerOpenCase, index < closedCases),
      );
      await cases.insertMany(batch, { ordered: false });
    }
    const items = Array.from({ length: openCases }, (_, i) =>
      Array.from({ length: reviewItemsPerCase }, (_, j) => itemOf(tenant, closedCases + i, j)),
    ).flat();
    await documents.tenant(tenant).collection<Document>("reviewItems").insertMany(items);
    say(`${total} cases and ${items.length} review items written`);
  } finally {
    await documents.close();
  }
};

interface Figures {
  target: string;
  requests: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** CPU time of the service and of the document server for each request: what stays the same on a busy machine. */
  cpuMs: number;
}

/** @param ask one request; its number is passed so that requests may differ */
const measure = async (
  own: OwnInstance,
  target: string,
  ask: (index: number) => Promise<unknown>,
): Promise<Figures> => {
  for (let i = 0; i < 50; i++) await ask(i);
  const cpu = (): number => cpuSeconds(own.service.pid) + cpuSeconds(own.documents.pid);
  const cpuBefore = cpu();
  const times: number[] = [];
  let next = 0;
  const screen = async (): Promise<void> => {
    for (let index = next++; index < requestsPerTarget; index = next++) {
      const before = performance.now();
      await ask(index);
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: screens }, screen));
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0, 1);
  const cpuMs = rounded((1000 * (cpu() - cpuBefore)) / times.length, 1);
  return { target, requests: times.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), cpuMs };
};

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, say, signal });
  try {
    const airline = own.airlines[0] as DemoAirline;
    await seed(own, airline.code, say);
    const token = await own.operatorToken(airline, "AIRPORT_OPERATOR");
    const get = async <Body>(path: string): Promise<Body> => {
      signal.throwIfAborted();
      const answer = await request(own.instance.baseUrl, { method: "GET", path, token });
      return expectStatus(answer, 200, path).body as Body;
    };
    const cases = (query: string) => get<Page<{ urn: string }>>(`/v1/cases?limit=50${query}`);
    const board = await get<DashboardView>("/v1/cases/dashboard");
    if (board.cases?.byStatus[0]?.count !== openCases || board.partialFailures !== undefined)
      throw new Error("the dashboard does not show the cases that were written");
    const cursors = await walk(cases, 40);
    const day = (index: number) => new Date(start + (index % 200) * 1440 * minuteMs).toISOString();
    const loadBefore = loadAverage();
    const results = [
      await measure(own, "dashboard", () => get("/v1/cases/dashboard")),
      await measure(own, "list, first page", () => cases("")),
      await measure(own, "list, pages further on", (i) => cases(`&cursor=${cursors[i % cursors.length]}`)),
      await measure(own, "list, status and airport", (i) =>
        cases(`&status=${i % 2 ? "OPEN" : "CLOSED"}&airport=${airports[i % airports.length]}`),
      ),
      await measure(own, "list, one day's departures", (i) => cases(`&from=${day(i)}&to=${day(i + 1)}`)),
      await measure(own, "list, all departures since", (i) => cases(`&from=${day(i)}`)),
    ];
    const figures = { load: { before: loadBefore, after: loadAverage() }, results };
    return { text: textOf(figures), figures };
  } finally {
    await own.stop();
  }
};

/** Cursors of so many pages, from the newest on. */
const walk = async (cases: (query: string) => Promise<Page<unknown>>, pages: number): Promise<string[]> => {
  const cursors: string[] = [];
  let page = await cases("");
  while (page.nextCursor !== null && cursors.length < pages) {
    cursors.push(page.nextCursor);
    page = await cases(`&cursor=${page.nextCursor}`);
  }
  return cursors;
};

const textOf = ({ load, results }: { load: { before: number; after: number }; results: Figures[] }): string =>
  [
    `${openCases} open cases of ${groupsPerOpenCase} groups, ${openCases * reviewItemsPerCase} review items, ${closedCases} closed cases; ${screens} screens asking at once`,
    `load average ${load.before} before, ${load.after} after`,
    "",
    table(
      ["READ", "REQUESTS", "P50 MS", "P99 MS", "MAX MS", "CPU MS/REQUEST"],
      results.map(({ target, requests, p50Ms, p99Ms, maxMs, cpuMs }) =>
        [target, requests, p50Ms, p99Ms, maxMs, cpuMs].map(String),
      ),
    ),
  ].join("\n");

export const dashboard: Benchmark = {
  summary: "the dashboard over 200 open cases, and pages of a list of 50,000",
  run,
};
