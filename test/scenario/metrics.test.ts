// A night through HTTP, and its key figures: each is what the test counts from the rest of the API, though the process that counts
// hears some things again (and dies, in the soak); airlines and airports don't mix, a drill counts nothing; scripts/admin shows the figures
// and makes the same ones anew, also after a kill.
import { spawn } from "node:child_process";
import { once } from "node:events";
import t from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView, ReservationView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { DemandSummary } from "../../schemas/demand.ts";
import { type Granularity, type KpiName, kpiNames, type MetricsView } from "../../schemas/metrics.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { priorityOf } from "../../schemas/vocabulary.ts";
import type { WaveView } from "../../schemas/wave.ts";
import { metricsSubcommands } from "../../scripts/administration/metrics.ts";
import type { DemoAirline } from "../../scripts/demonstration/provision.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { openAdministration, scriptCommand } from "../harness/administration.ts";
import { startClients } from "../harness/clients.ts";
import { isFullSize } from "../harness/environment.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t, {
  settings: { ACK_WAIT_MS: "2000" },
  services: [isFullSize ? { KILL_POINT: "after-commit@metrics.note#2" } : {}],
});
const [xn, qz] = night.airlines;
const token = {
  XN: await night.operatorToken(xn.urn, "OPS_SUPERVISOR"),
  QZ: await night.operatorToken(qz.urn, "FINANCE_AUDIT"),
};
const admin = await night.operatorToken(xn.urn, "ADMIN");
const hourMs = 3_600_000;
const span = {
  from: new Date(Date.now() - 2 * hourMs).toISOString(),
  to: new Date(Date.now() + 2 * hourMs).toISOString(),
};

const read = async (kpi: KpiName, more: object = {}, by = token.XN): Promise<MetricsView> =>
  (await night.call<MetricsView>("getMetrics", { token: by, query: { kpi, ...span, ...more } })).body;
const figure = async (kpi: KpiName, more: object = {}, by = token.XN) =>
  (await read(kpi, more, by)).points[0];
const everything = (granularity: Granularity = "hour") =>
  Promise.all(
    [token.XN, token.QZ].flatMap((by) =>
      kpiNames.map(async (kpi) => (await read(kpi, { granularity }, by)).points),
    ),
  );

/** Everything that stands on the streams is counted. */
const settled = (): Promise<unknown> =>
  night.eventually(
    "the figures have heard of everything",
    () =>
      Promise.all(
        ["EVENTS", "INTERNAL"].map((stream) => night.streams.manager.consumers.info(stream, "metrics")),
      ),
    (infos) => infos.every(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0),
  );

const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
const reservations = async (caseUrn: string): Promise<ReservationView[]> =>
  (await night.call<Page<ReservationView>>("listReservations", { token: admin, params: { caseUrn } })).body
    .items;

const decide = async (airline: DemoAirline, travellers: ReturnType<typeof travellersOf>, answers: string) => {
  for (const [i, answer] of [...answers].entries())
    await night.call(answer === "y" ? "acceptMyOffer" : "declineMyOffer", {
      token: await night.passengerToken(airline, travellers[i] ?? { pnr: "", lastName: "" }),
      host: airline.passengerHost,
      body: {},
    });
};

await night.client.command("identity.set-review-sla", {
  tenant: "XN",
  data: { LOW: 0.02, MEDIUM: 0.02, HIGH: 0.02 },
});
const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const season = { from: dayFromNow(-2), until: dayFromNow(30) };
await night.call("putContract", {
  token: token.XN,
  body: {
    name: "Runway House",
    hotel: {
      hotelUrn: "urn:hotel:runway-house-jfk",
      name: "Runway House",
      address: "1 Runway Road, New York, US",
      coordinates: { latitude: 40.6413, longitude: -73.7781 },
      stars: 4,
      amenities: ["24H_RECEPTION", "AIRPORT_SHUTTLE", "BREAKFAST", "WIFI"],
    },
    airport: "JFK",
    validFrom: season.from,
    validUntil: season.until,
    rates: [{ ...season, nightlyRateMinor: 900 }],
    currency: "USD",
    maxOccupancy: 2,
    accessibleRooms: 1,
    block: { roomsPerNight: 3 },
  },
});
const push = async (airline: DemoAirline, name: string, bookings: number, airport = "JFK") => {
  const body = smallFlight(airline.code, name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  const { caseUrn } = (await night.pushed(airline, { ...body, flight })).body;
  return { caseUrn, travellers: travellersOf(body.passengers) };
};
if (isFullSize) {
  const [counting] = night.services;
  if (counting === undefined) throw new Error("nobody counts");
  // The answer may be lost to the death; the same push again is the same case.
  await push(xn, "figures", 5).catch(() => undefined);
  // Who counts dies after a write, before it said so.
  const { signal } = await counting.exited;
  if (signal !== "SIGKILL") throw new Error(`who counts ended with ${signal}`);
  counting.settings.KILL_POINT = "";
  await counting.restart();
}
const [jfk, alone, lhr, foreign] = await Promise.all([
  push(xn, "figures", 5),
  push(xn, "alone", 2),
  push(xn, "no-policy", 1, "LHR"),
  push(qz, "theirs", 2),
]);
const drill = smallFlight("XN", "drill", 2);
const drilled = await night.call<{ caseUrn: string }>("openCaseManually", {
  token: admin,
  body: {
    externalEventId: "exercise",
    kind: "DRILL",
    flight: {
      number: "XN1",
      origin: "JFK",
      destination: "LIS",
      scheduledDeparture: drill.flight.scheduledDeparture,
    },
    passengerGroups: [{ passengers: drill.passengers }],
  },
});
for (const [{ caseUrn }, offers] of [
  [jfk, 5],
  [alone, 2],
  [foreign, 2],
] as const)
  await night.events.untilCount("subcase.offer-ready", offers, { caseUrn });
await decide(xn, jfk.travellers, "yyn");
await decide(xn, alone.travellers, "yy");
await decide(qz, foreign.travellers, "n");
await night.events.untilCount("case.resolved", 1, { caseUrn: alone.caseUrn });
await night.call("requestDemand", {
  token: admin,
  params: { caseUrn: jfk.caseUrn },
  body: { type: "INCREMENTAL", roomsRequested: 2 },
});
const items = async () =>
  (
    await night.call<Page<ReviewItemView & { overdue: boolean; breaches: number }>>("listReviewItems", {
      token: admin,
      query: { limit: 200 },
    })
  ).body.items;
await night.events.untilCount("review.sla-breached", 1, { caseUrn: lhr.caseUrn });
const stays = await night.eventually(
  "rooms stand, or are given back, and deadlines are missed",
  async () => [...(await reservations(jfk.caseUrn)), ...(await reservations(alone.caseUrn))],
  (found) => found.length === 7 && found.filter(({ status }) => status === "CANCELLED").length === 1,
);
/** An item is overdue as soon as its deadline passes; it counts once the timer has told, level by level up to HIGH. */
const levels = { HIGH: 1, MEDIUM: 2, LOW: 3 };
const allOnDesk = await night.eventually("each deadline that can be missed was", items, (found) =>
  found.every(
    ({ state, category, breaches }) => state === "RESOLVED" || breaches === levels[priorityOf[category]],
  ),
);
const onDesk = allOnDesk.filter(({ caseUrn }) => caseUrn !== drilled.body.caseUrn);
const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0);
// A document stands a moment before its events do.
await night.events.untilCount("review.sla-breached", sum(allOnDesk.map(({ breaches }) => breaches)));
await settled();

const standing = stays.filter(({ status }) => status !== "CANCELLED");
const dollars = (amountMinor: number) => (amountMinor === 0 ? [] : [{ currency: "USD", amountMinor }]);

t.test("each figure is what the rest of the API tells", async (t) => {
  t.match(await figure("cases.opened"), { value: 3 });
  const summaries = await Promise.all(
    [jfk, alone, lhr].map(
      async ({ caseUrn }) =>
        (await night.call<DemandSummary>("getDemandSummary", { token: admin, params: { caseUrn } })).body,
    ),
  );
  const requested = sum(summaries.map(({ totalRequested }) => totalRequested));
  t.ok(requested >= 9);
  t.match(await figure("rooms.requested"), { value: requested });
  t.match(await figure("rooms.booked"), { value: sum(standing.map(({ rooms }) => rooms)) });
  t.strictSame(
    (await figure("cost.total"))?.amounts,
    dollars(sum(standing.map(({ totalMinor = 0 }) => totalMinor))),
  );
  t.match(await figure("offers.accepted.rate"), { value: 4 / 5, of: 5 });
  t.match(await figure("offers.accepted.rate", {}, token.QZ), { value: 0, of: 1 });
  t.match(await figure("review.sla-breaches"), { value: sum(onDesk.map(({ breaches }) => breaches)) });
  t.ok(sum(onDesk.map(({ breaches }) => breaches)) > 0);
});

t.test("the time to an offer is what the partner has seen", async (t) => {
  const cases = await Promise.all([jfk, alone].map(({ caseUrn }) => detail(caseUrn)));
  const delivered = await night.eventually(
    "the partner has heard of all offers",
    () => night.deliveries(xn),
    (found) =>
      new Set(
        found.filter(({ eventType }) => eventType === "subcase.offer-ready").map(({ eventUrn }) => eventUrn),
      ).size === 7,
  );
  const first = new Map<string, number>();
  for (const { eventType, body } of delivered) {
    if (eventType !== "subcase.offer-ready") continue;
    const createdAt = cases.find(({ urn }) => urn === body.case_urn)?.createdAt ?? "";
    first.set(
      String(body.data.subCaseUrn),
      (Date.parse(String(body.occurred_at)) - Date.parse(createdAt)) / 1000,
    );
  }
  const times = [...first.values()].sort((a, b) => a - b);
  t.match(await figure("time-to-offer.p50"), { value: times[3], of: 7 });
  t.match(await figure("time-to-offer.p95"), { value: times[6], of: 7 });
});

t.test("who resolved alone", async (t) => {
  const cases = await Promise.all([jfk, alone, lhr].map(({ caseUrn }) => detail(caseUrn)));
  const resolved = cases.filter(({ resolvedAt }) => resolvedAt !== undefined);
  const untouched: string[] = [];
  for (const { urn: caseUrn, resolvedAt = "" } of resolved) {
    const query = { caseUrn, limit: 200 };
    const { body } = await night.call<Page<AuditEntryView>>("searchAudit", { token: admin, query });
    const touched = body.items.some(({ surface, at }) => surface === "operator" && at < resolvedAt);
    if (!touched) untouched.push(caseUrn);
  }
  t.ok(untouched.includes(alone.caseUrn));
  t.match(await figure("auto-resolved.rate"), {
    value: untouched.length / resolved.length,
    of: resolved.length,
  });
});

t.test("what contracts have saved, of the rooms that stand", async (t) => {
  let saved = 0;
  for (const { wave } of await Promise.all([jfk, alone].map(({ caseUrn }) => detail(caseUrn)))) {
    const params = { waveUrn: wave?.urn ?? "" };
    const { allocations } = (await night.call<WaveView>("getWave", { token: admin, params })).body;
    for (const { groupId, marketTotalMinor, totalMinor } of allocations) {
      const room = standing.find((one) => one.groupId === groupId && one.vendor === "direct");
      if (room !== undefined && marketTotalMinor !== undefined) saved += marketTotalMinor - totalMinor;
    }
  }
  t.ok(saved > 0, "contract rooms were sold");
  t.strictSame((await figure("savings.total"))?.amounts, dollars(saved));
});

t.test("airlines and airports don't mix, and a drill counts nothing", async (t) => {
  t.match(await figure("cases.opened", {}, token.QZ), { value: 1 });
  t.match(await figure("cases.opened", { airport: "LHR" }), { value: 1 });
  const atLhr = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LHR");
  t.match(await read("rooms.booked", {}, atLhr), { airport: "LHR", points: [{ value: 0 }] });
  t.match(
    await night.refused("getMetrics", {
      token: atLhr,
      query: { kpi: "rooms.booked", ...span, airport: "JFK" },
    }),
    { status: 403, type: /auth\/foreign-airport$/ },
  );
  const { caseUrn } = drilled.body;
  await night.events.until(
    "the drill has gone on",
    () => night.events.of("subcase.room-changed", caseUrn).length > 0,
  );
  t.equal((await figure("cases.opened"))?.value, 3);
  const buckets = night.documents.tenant("XN").collection("metricsBuckets");
  t.equal(
    await buckets.countDocuments({ caseId: caseUrn.slice("urn:case:".length), "figures.opened": 1 }),
    0,
  );
  t.notSame((await figure("cost.total"))?.amounts, [], "others do count");
});

t.test("what is asked for in vain", async (t) => {
  const ask = (query: object, by = token.XN) =>
    night.refused("getMetrics", { token: by, query: { kpi: "rooms.booked", ...span, ...query } });
  t.match(await ask({ kpi: "rooms.haunted" }), {
    status: 422,
    type: /validation\/kpi$/,
    errors: [{ pointer: "?kpi", detail: new RegExp(kpiNames.join(", ")) }],
  });
  for (const query of [
    { to: span.from },
    { from: "2026-01-01T00:00:00Z", to: "2026-06-01T00:00:00Z" },
    { from: "yesterday" },
    { granularity: "week" },
  ])
    t.match(await ask(query), { status: 400 }, JSON.stringify(query));
  const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  t.match(await ask({}, operator), { status: 403 });
});

const administer = openAdministration(t, night, metricsSubcommands);

t.test("heard again, and made anew: the same figures", async (t) => {
  const live = await everything();
  const again = night.events.all
    .filter(({ type, tenant }) => tenant === xn.urn && type === "subcase.room-changed")
    .reverse();
  t.ok(again.length >= 7);
  for (const [i, { stream: _s, sequence: _q, ...event }] of again.entries())
    await publish(night.streams, {
      subject: internalSubject("XN", event.type, "again"),
      payload: JSON.stringify(event),
      messageId: `again-${i}`,
    });
  await settled();
  t.strictSame(await everything(), live);

  const killed = spawn("/usr/bin/env", scriptCommand("admin", night, ["metrics", "rebuild"]), {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [told] = await once(killed.stderr, "data");
  t.match(
    String(told),
    /^(QZ|XN) {2}(reading|looking through) (EVENTS|INTERNAL): \d+ events read, \d+ left$/m,
  );
  killed.kill("SIGKILL");
  await once(killed, "exit");
  t.strictSame(await everything(), live, "a rebuild that is killed leaves them as they were");
  t.match((await administer("metrics", "rebuild")).json, {
    airlines: [
      { airline: "QZ", wholeFrom: null, takenOver: 0 },
      { airline: "XN", wholeFrom: null, takenOver: 0 },
    ],
  });
  t.strictSame(await everything(), live);
  t.match(await administer("metrics", "rebuild", "--airline", "XN"), {
    text: /^XN {2}made generation \d+ from/,
  });
  t.strictSame(await everything(), live);
});

t.test("scripts/admin metrics show", async (t) => {
  const { text } = await administer("metrics", "show", "--airline", "XN");
  for (const kpi of kpiNames) t.match(text, new RegExp(`^XN +${kpi.replaceAll(".", "\\.")} `, "m"));
  const shown = await administer("metrics", "show", "--kpi", "cases.opened", "--granularity", "day");
  const counted = (shown.json as (MetricsView & { airline: string })[]).map(({ airline, points }) => [
    airline,
    sum(points.map(({ value }) => value ?? 0)),
  ]);
  t.strictSame(counted, [
    ["QZ", 1],
    ["XN", 3],
  ]);
  const unknownKpi = await administer("metrics", "show", "--kpi", "none").catch((error: unknown) => error);
  t.match(unknownKpi, { members: { errors: [{ detail: /cases\.opened/ }] } });
  await t.rejects(administer("metrics", "show", "--airline", "ZZ"), { message: /no airline ZZ/ });
});
