/** Owns the soak of passengers' streams: a thousand readers of a night, some of which take nothing. The rest hear each event once; memory stays bounded. */
import { setTimeout as delay } from "node:timers/promises";
import { heardOf, subCaseOf } from "../../gateway/live/passenger-mapping.ts";
import { covers, type Position } from "../../gateway/live/position.ts";
import { liveTypes } from "../../gateway/live/types.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { publish } from "../../streams/publish.ts";
import { readLog } from "../../streams/read-log.ts";
import { internalSubject, typeFilter } from "../../streams/subjects.ts";
import { tailStreams } from "../../streams/tail.ts";
import { OwnInstance } from "../benchmarks/instance.ts";
import { memoryOf } from "../benchmarks/process-figures.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { flightWith, pushUntilAnswered } from "./pushes.ts";
import type { Scenario, SoakRun } from "./scenario.ts";
import { StreamReader } from "./streams-reader.ts";

type Sizes = Record<"readers" | "stalled" | "events", number>;

const readersOfGroup = 5;
const quietMs = 3000;
const restTimeoutMs = 240_000;
/** A reader that takes nothing is let go when its socket has taken nothing for ten seconds, or a hundred events wait. */
const letGoMs = 25_000;
const megabyte = 1024 * 1024;
/** What the process may hold more than before while all of them are there, beside what it keeps of the log: 100 KiB each. */
const bytesPerReaderMax = 100 * 1024;
const logBytesMax = 200 * megabyte;

interface Reading {
  groupId: string;
  reader: StreamReader;
  stalls: boolean;
}

const run = async ({ sizes, say, signal }: SoakRun<Sizes>) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 20, env: { LOG_LEVEL: "info" }, say, signal });
  const all: Reading[] = [];
  try {
    const groups = Math.max(1, Math.ceil(sizes.readers / readersOfGroup));
    const airline = own.airlines[0] as DemoAirline;
    const flight = flightWith(airline, 0, { groups, now: new Date() });
    const caseUrn = await pushUntilAnswered(own, airline, flight, async () => undefined);
    await quiet(own);
    const before = memoryOf(own.service.pid).anonymousBytes;
    const sessions = await logInAll(own, airline, travellersOf(flight.passengers));
    let stalled = 0;
    for (const { groupId, token } of sessions)
      for (let n = 0; n < readersOfGroup && all.length < sizes.readers; n++) {
        // One of each group reads on.
        const stalls = n > 0 && stalled < sizes.stalled;
        if (stalls) stalled += 1;
        const target = { baseUrl: own.instance.baseUrl, host: airline.passengerHost, token };
        all.push({ groupId, stalls, reader: new StreamReader(target, stalls, () => undefined) });
      }
    const live = all.filter(({ stalls }) => !stalls);
    await until("every reader has its snapshot", () => live.every(({ reader }) => reader.events.length > 0));
    const connected = memoryOf(own.service.pid).anonymousBytes;
    say(`${all.length} readers of ${groups} groups, ${all.length - live.length} of them stalled`);

    await tellAll(own, airline, caseUrn);
    const told = await flood(own, airline, all, sizes.events);
    const peak = await peakUntilQuiet(own);
    await delay(letGoMs);
    const expected = await expectedOf(own, airline.code);
    const faults = [...live.flatMap((one) => faultsOf(one, expected)), ...(await stalledFaults(all))];
    for (const { reader } of all) reader.close();
    await delay(quietMs);
    const after = memoryOf(own.service.pid).anonymousBytes;
    const perReader = (connected - before) / all.length;
    if (peak - before > all.length * bytesPerReaderMax + logBytesMax)
      faults.push(`the process held ${mb(peak - before)} more at its peak`);
    const taken = live.reduce((sum, { reader }) => sum + reader.events.length, 0);
    const done = [
      `${all.length} readers (${all.length - live.length} stalled) of ${groups} groups took ${taken} events,`,
      `${told} of them told to the stalled ones' groups; anonymous memory: ${mb(before)} before,`,
      `${mb(connected)} with all connected (${Math.round(perReader / 1024)} KiB each), ${mb(peak)} at the peak, ${mb(after)} after`,
    ].join(" ");
    return { done, faults: faults.slice(0, 30) };
  } finally {
    for (const { reader } of all) reader.close();
    await own.stop();
  }
};

const mb = (bytes: number): string => `${(bytes / megabyte).toFixed(0)} MiB`;

const until = async (what: string, holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + restTimeoutMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await delay(50);
  }
};

/** Until nothing more is told for some seconds. */
const quiet = async ({ streams }: OwnInstance): Promise<void> => {
  let [seen, since] = ["", performance.now()];
  await untilAsync(async () => {
    const states = await Promise.all(tailStreams.map((stream) => streams.manager.streams.info(stream)));
    const now = states.map(({ state }) => state.last_seq).join(".");
    if (now !== seen) [seen, since] = [now, performance.now()];
    return performance.now() - since > quietMs;
  });
};

const untilAsync = async (holds: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + restTimeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("the instance does not come to rest");
    await delay(250);
  }
};

const peakUntilQuiet = async (own: OwnInstance): Promise<number> => {
  let peak = 0;
  const looking = setInterval(() => {
    peak = Math.max(peak, memoryOf(own.service.pid).anonymousBytes);
  }, 200);
  await quiet(own).finally(() => clearInterval(looking));
  return peak;
};

const logInAll = async (
  { instance }: OwnInstance,
  airline: DemoAirline,
  travellers: readonly { pnr: string; lastName: string }[],
): Promise<{ groupId: string; token: string }[]> => {
  const host = airline.passengerHost;
  const sessions: { groupId: string; token: string }[] = [];
  for (const { pnr, lastName } of travellers) {
    const body = { pnr, lastName, captcha: instance.captcha };
    const asked = { method: "POST", path: "/v1/auth/pnr-login", host, body } as const;
    const login = expectStatus(await request(instance.baseUrl, asked), 200, `logging in as ${pnr}`);
    const token = (login.body as { sessionToken: string }).sessionToken;
    const me = await request(instance.baseUrl, { method: "GET", path: "/v1/me", host, token });
    sessions.push({
      token,
      groupId: (expectStatus(me, 200, "reading oneself").body as { groupId: string }).groupId,
    });
  }
  return sessions;
};

/** What an operator sends everybody: each message is an event of its group. */
const tellAll = async (own: OwnInstance, airline: DemoAirline, caseUrn: string): Promise<void> => {
  const token = await own.operatorToken(airline, "OPS_SUPERVISOR");
  const path = `/v1/notifications/${encodeURIComponent(caseUrn)}/send`;
  for (const templateId of ["welcome", "voucher-issued"]) {
    const body = { templateId, reason: "Everybody is told" };
    const answer = await request(own.instance.baseUrl, { method: "POST", path, token, body });
    expectStatus(answer, 202, `sending ${templateId}`);
  }
};

/** As much as a message's event never is: some of them are more than a socket holds. */
const padding = "•".repeat(700);

/** Some groups are told far more than a socket holds, as fast as the log takes it. */
const flood = async (
  { streams }: OwnInstance,
  { code }: DemoAirline,
  readings: readonly Reading[],
  count: number,
): Promise<number> => {
  const names = new Set(readings.filter(({ stalls }) => stalls).map(({ groupId }) => groupId));
  const known = new Map<string, EventRecord>();
  const filterSubjects = [typeFilter("int", "notification.dispatched", code)];
  for await (const { entries } of readLog(streams, { stream: "INTERNAL", filterSubjects, after: 0 }, 1000))
    for (const entry of entries) {
      const event = entry.json() as EventRecord;
      const { groupId } = event.data as { groupId: string };
      if (names.has(groupId)) known.set(groupId, event);
    }
  const start = Date.now();
  for (let n = 0; n < count; n++)
    await Promise.all(
      [...known.values()].map((event) => {
        const subCaseId = subCaseOf(event) ?? "";
        const data = { ...event.data, recipient: padding };
        const told = { ...event, data, occurred_at: new Date(start + n).toISOString() };
        return publish(streams, {
          subject: internalSubject(code, told.type, subCaseId),
          payload: JSON.stringify(told),
          messageId: `soak ${subCaseId} ${n}`,
        });
      }),
    );
  return known.size * count;
};

interface Expected {
  position: Partial<Position>;
  key: string;
}

const keyOf = (name: string, data: Record<string, unknown>): string =>
  [name, data.at, data.voucherUrn ?? data.segmentUrn ?? data.template ?? ""].join(" ");

/** All that each group's passengers should have heard, by its id. */
const expectedOf = async ({ streams }: OwnInstance, code: string): Promise<Map<string, Expected[]>> => {
  const expected = new Map<string, Expected[]>();
  for (const stream of tailStreams) {
    const root = stream === "EVENTS" ? "evt" : "int";
    const filterSubjects = liveTypes[stream].map((type) => typeFilter(root, type, code));
    for await (const { entries } of readLog(streams, { stream, filterSubjects, after: 0 }, 1000))
      for (const entry of entries) {
        const event = entry.json() as EventRecord;
        const heard = heardOf(event);
        if (heard === "members-changed" || heard.length === 0) continue;
        const { groupId } = event.data as { groupId?: string };
        const name = groupId ?? subCaseOf(event) ?? "";
        const told = heard.map((one) => ({
          position: { [stream]: entry.sequence },
          key: keyOf(one.name, one.data),
        }));
        expected.set(name, [...(expected.get(name) ?? []), ...told]);
      }
  }
  return expected;
};

const faultsOf = ({ groupId, reader }: Reading, expected: ReadonlyMap<string, Expected[]>): string[] => {
  const [first, ...rest] = reader.events;
  if (reader.ended) return [`${groupId}: a reader was cut off after ${reader.events.length} events`];
  const from = first?.position;
  if (first?.name !== "snapshot" || from === undefined) return [`${groupId}: no snapshot`];
  const wanted = (expected.get(groupId) ?? [])
    .filter(({ position: { EVENTS = 0, INTERNAL = 0 } }) => EVENTS > from.EVENTS || INTERNAL > from.INTERNAL)
    .map(({ key }) => key)
    .sort();
  const got = rest.map(({ name, data }) => keyOf(name, data)).sort();
  const isOrdered = rest.every(({ position }, i) => {
    const before = reader.events[i]?.position;
    return position !== undefined && before !== undefined && covers(position, before);
  });
  const missing = wanted.length - got.length;
  return [
    ...(JSON.stringify(wanted) === JSON.stringify(got)
      ? []
      : [`${groupId}: ${got.length} events, ${missing} missing`]),
    ...(isOrdered ? [] : [`${groupId}: out of order`]),
  ];
};

/** They were let go long before they had all, and find the end of what their sockets held. */
const stalledFaults = async (all: readonly Reading[]): Promise<string[]> => {
  const stalled = all.filter(({ stalls }) => stalls);
  for (const { reader } of stalled) reader.take();
  await delay(quietMs);
  return stalled.flatMap(({ groupId, reader }) =>
    reader.ended ? [] : [`${groupId}: a reader that took nothing was never cut off (${reader.bytes} bytes)`],
  );
};

export const streams: Scenario<Sizes> = {
  summary:
    "passengers' streams, some of which are never read: the others hear each event once, memory is bounded",
  sizes: { readers: 1000, stalled: 50, events: 3000 },
  run,
};
