// Events on real streams become figures in real documents: duplicates, disorder, a reader that reads between two rebuilds, a rebuild
// that dies at each of its windows, events that arrive while it runs, a log that has lost its beginning.
import t from "tap";
import { bucketsOf, joinInto } from "../../../actors/metrics/buckets.ts";
import { notedOf } from "../../../actors/metrics/facts.ts";
import { headOf, headsOf } from "../../../actors/metrics/generations.ts";
import { type Rebuilding, rebuild } from "../../../actors/metrics/rebuild.ts";
import { metricsActor } from "../../../actors/metrics/service.ts";
import type { EventRecord, Principal } from "../../../schemas/command.ts";
import { publicEventTypes } from "../../../schemas/events.ts";
import { type Granularity, kpiNames, type MetricsView } from "../../../schemas/metrics.ts";
import { idOf } from "../../../schemas/urn.ts";
import { publish } from "../../../streams/publish.ts";
import { eventSubject, internalSubject } from "../../../streams/subjects.ts";
import { applyTopology } from "../../../streams/topology.ts";
import { indexOf } from "../../contract/documents/documents-under-test.ts";
import { administrator, isAck, startActorsUnderTest, watch } from "../../harness/actors.ts";
import { evening, type Night, nightOf } from "./events.ts";

const { context, ask } = await startActorsUnderTest(t, [metricsActor]);
const { streams, documents } = context;
for (const code of ["XN", "QZ"])
  await context.tenants.announce({ code, name: code, passengerHosts: [], homeCountry: "US" });
const xn = documents.tenant("XN");
const span = { from: "2020-11-20T00:00:00Z", to: "2020-11-23T00:00:00Z" };
const acks = await watch(streams.connection, "$JS.ACK.*.metrics.>");
let sent = 0;

/** Each publish is a message of its own, also of an event that was published before. */
const send = async (events: readonly EventRecord[]): Promise<void> => {
  for (const event of events) {
    const tenant = idOf(event.tenant);
    const caseId = idOf(event.case_urn ?? "");
    const subject = publicEventTypes.has(event.type)
      ? eventSubject(tenant, event.type, caseId)
      : internalSubject(tenant, event.type, caseId);
    sent += 1;
    await publish(streams, { subject, payload: JSON.stringify(event), messageId: `message-${sent}` });
  }
};

/** All that was sent is counted. */
const settled = () => acks.until((messages) => messages.filter(isAck).length >= sent);

const read = (kpi: string, more: object = {}, principal: Principal = administrator) =>
  ask<MetricsView>("metrics.read", { kpi, ...span, ...more }, principal);
const everything = async (granularity: Granularity = "hour", principal: Principal = administrator) =>
  Promise.all(kpiNames.map(async (kpi) => (await read(kpi, { granularity }, principal)).points));
const total = async (kpi: string, more: object = {}, principal = administrator) =>
  (await read(kpi, more, principal)).points[0];

const room = (totalMinor: number) => ({ rooms: 1, amended: 0, totalMinor, currency: "USD" });
const storyOf = (night: Night): EventRecord[] => [
  night.opened(),
  night.asked(1, 3),
  ...[1, 2, 3].flatMap((n) => [night.room(n, room(10_000 * n)), night.ready(n, 5 + n)]),
  night.answered(1, "resolved"),
  night.answered(2, "declined"),
  night.room(2, null, 21),
  night.touched(30),
  night.resolved(40),
  night.breached(75),
];
const [jfk, opo, late, foreign] = [
  nightOf("jfk"),
  nightOf("opo", "OPO"),
  nightOf("late", "JFK", 120),
  nightOf("foreign", "JFK", 0, "QZ"),
];
/** The nights are long ago, and these streams say that they were there already. */
const old = {
  ...streams,
  manager: {
    ...streams.manager,
    streams: {
      info: async (stream: string) => {
        const { state } = await streams.manager.streams.info(stream);
        return { state: { ...state, first_ts: evening.toISOString() } };
      },
    },
  },
} as unknown as typeof streams;
const rebuilding = (more: Partial<Rebuilding> = {}): Rebuilding => ({
  documents: xn,
  streams: old,
  now: new Date(),
  ...more,
});

t.test("live: whatever comes twice and in any order", async (t) => {
  await send([...storyOf(jfk), ...storyOf(jfk)]);
  await send(storyOf(opo).reverse());
  await send([...storyOf(late).slice(4), ...storyOf(late)]);
  await send(storyOf(foreign));
  await settled();
  t.match(await total("cases.opened"), { value: 3 });
  t.match(await total("rooms.requested"), { value: 9 });
  t.match(await total("rooms.booked"), { value: 6 });
  t.match(await total("cost.total"), { amounts: [{ currency: "USD", amountMinor: 120_000 }] });
  t.match(await total("offers.accepted.rate"), { value: 0.5, of: 6 });
  t.match(await total("time-to-offer.p50"), { value: 420, of: 9 });
  t.match(await total("time-to-offer.p95"), { value: 480, of: 9 });
  t.match(await total("auto-resolved.rate"), { value: 0, of: 3 });
  t.match(await total("review.sla-breaches"), { value: 3 });
  t.match(await total("rooms.booked", { airport: "OPO" }), { value: 2 });
  t.match(
    (await read("review.sla-breaches", { granularity: "hour" })).points.filter(({ value }) => value !== 0),
    [
      { from: "2020-11-21T22:00:00.000Z", value: 2 },
      { from: "2020-11-22T00:00:00.000Z", value: 1 },
    ],
  );
});

t.test("each sees their own", async (t) => {
  const qz: Principal = { ...administrator, tenant: "QZ" };
  t.match(await total("cases.opened", {}, qz), { value: 1 });
  const atOpo: Principal = { ...administrator, surface: "operator", airport: "OPO" };
  const view = await read("rooms.booked", {}, atOpo);
  t.match(view, { airport: "OPO", points: [{ value: 2 }] });
  await t.rejects(read("rooms.booked", { airport: "JFK" }, atOpo), { code: "auth/foreign-airport" });
});

t.test("a drill counts nothing", async (t) => {
  const before = await everything();
  const drill = nightOf("drill");
  const inTheHouse = storyOf(drill).map((event) => ({ ...event, data: { ...event.data, kind: "DRILL" } }));
  for (const event of inTheHouse) {
    sent += publicEventTypes.has(event.type) ? 0 : 1;
    const subject = internalSubject("XN", event.type, drill.caseId);
    await publish(streams, { subject, payload: JSON.stringify(event), messageId: `drill-${event.urn}` });
  }
  await settled();
  t.strictSame(await everything(), before);
});

t.test("rebuilt figures are the live ones, also of a rebuild that dies at every window", async (t) => {
  const live = await everything();
  t.match(await rebuild(rebuilding()), { generation: 2, resumed: false, wholeFrom: null, takenOver: 0 });
  t.strictSame(await everything(), live);
  t.equal(await bucketsOf(xn).countDocuments({ generation: { $ne: 2 } }), 0, "the old ones are gone");
  // Somebody has broken the figures.
  await bucketsOf(xn).updateMany({}, { $set: { "figures.roomsBooked": 700, "facts.demands": { x: 99 } } });
  t.notSame(await everything(), live);
  const dies = () => {
    throw new Error("killed");
  };
  let deaths = 0;
  let ended: Awaited<ReturnType<typeof rebuild>> | undefined;
  while (ended === undefined && deaths < 500)
    ended = await rebuild(rebuilding({ windowMax: 3, onProgress: dies })).catch((error) => {
      if (error.message !== "killed") throw error;
      deaths += 1;
      return undefined;
    });
  t.ok(deaths > 10, `${deaths} deaths`);
  t.match(ended, { generation: 3, resumed: true });
  t.strictSame(await everything(), live);
  t.equal((await headOf(xn)).rebuild, undefined);
  const [one, other] = await Promise.all([rebuild(rebuilding()), rebuild(rebuilding())]);
  t.ok(one.generation >= 4 && other.generation >= 4, "two at once");
  t.strictSame(await everything(), live);
});

t.test("events go on being counted while it runs", async (t) => {
  const before = await everything("total");
  const more = Array.from({ length: 5 }, (_, i) => nightOf(`meanwhile ${i}`));
  const stories = more.flatMap(storyOf);
  const coming: Promise<void>[] = [];
  await rebuild(
    rebuilding({
      windowMax: 4,
      onProgress: () => {
        coming.push(send(stories.splice(0, 6)));
      },
    }),
  );
  await Promise.all(coming);
  await send(stories);
  await settled();
  t.match(await total("cases.opened"), { value: (before[0]?.[0]?.value as number) + 5 });
  const live = await everything();
  await rebuild(rebuilding());
  t.strictSame(await everything(), live);
});

t.test("one that dies after the change looks through what went to the old generation", async (t) => {
  const before = await Promise.all(
    ["EVENTS", "INTERNAL"].map(async (stream) => (await streams.manager.streams.info(stream)).state.last_seq),
  );
  const slow = nightOf("slow");
  await send(storyOf(slow));
  await settled();
  const live = await everything();
  // As a process would leave it that had read the head before the change, and written after it.
  const { generation } = await headOf(xn);
  await bucketsOf(xn).deleteMany({ caseId: slow.caseId });
  for (const event of storyOf(slow)) await joinInto(xn, generation - 1, [notedOf(event) as never]);
  const rebuildState = {
    generation,
    phase: "tail" as const,
    wholeFrom: new Date(0),
    takenOver: true,
    positions: { EVENTS: before[0] ?? 0, INTERNAL: before[1] ?? 0 },
    startedAt: new Date(),
  };
  await headsOf(xn).updateOne({ _id: "head" }, { $set: { rebuild: rebuildState } });
  t.notSame(await everything(), live);
  t.match(await rebuild(rebuilding()), { generation, resumed: true });
  t.strictSame(await everything(), live);
  t.equal(await bucketsOf(xn).countDocuments({ generation: { $ne: generation } }), 0);
});

t.test("a log that has lost its beginning: older hours stand as they are", async (t) => {
  const live = await everything();
  for (const stream of ["EVENTS", "INTERNAL"]) {
    const { state } = await streams.manager.streams.info(stream);
    await streams.manager.streams.purge(stream, { seq: state.last_seq - 3 });
  }
  const soon = nightOf("soon", "JFK", (Date.now() - evening.getTime()) / 60_000 + 180);
  await send(storyOf(soon));
  await settled();
  await bucketsOf(xn).updateMany({ caseId: soon.caseId }, { $set: { "figures.roomsBooked": 700 } });
  const { state } = await streams.manager.streams.info("EVENTS");
  const made = await rebuild(rebuilding({ streams }));
  t.ok(made.wholeFrom !== null && made.wholeFrom > new Date(state.first_ts), "from the next whole hour on");
  t.ok(made.takenOver > 0);
  t.strictSame(await everything(), live);
  const [one] = await bucketsOf(xn).find({ caseId: soon.caseId, "figures.opened": 1 }).toArray();
  t.match(one, { generation: made.generation, figures: { roomsBooked: 2 } }, "later ones are made anew");
});

t.test("streams that are younger than the figures take nothing away, whatever they hold", async (t) => {
  const live = await everything();
  t.match(
    live.flat().find(({ value }) => value),
    { value: Number },
  );
  for (const stream of ["EVENTS", "INTERNAL"]) await streams.manager.streams.delete(stream);
  await applyTopology(streams.manager);
  const { state } = await streams.manager.streams.info("EVENTS");
  t.match(state, { first_seq: 0, messages: 0 }, "made anew after a loss");
  const now = new Date(Date.now() + 12 * 3_600_000);
  const empty = await rebuild(rebuilding({ streams, now }));
  t.match(empty.wholeFrom, Date);
  t.strictSame(await everything(), live);
  const next = nightOf("next", "JFK", (Date.now() - evening.getTime()) / 60_000);
  const event = next.opened();
  const subject = eventSubject("XN", event.type, next.caseId);
  await publish(streams, { subject, payload: JSON.stringify(event), messageId: "the first" });
  await rebuild(rebuilding({ streams, now }));
  t.strictSame(await everything(), live);
  const [counted] = await bucketsOf(xn).find({ caseId: next.caseId }).toArray();
  t.match(counted, { figures: { opened: 1 } }, "and what they hold is counted");
});

t.test("a series is read by its index", async (t) => {
  const explained = await bucketsOf(xn)
    .find({ generation: 1, hour: { $gte: new Date(0), $lt: new Date() }, airport: "JFK" }, { hint: "hours" })
    .explain();
  t.equal(indexOf(explained), "hours");
});
