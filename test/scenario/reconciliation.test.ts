// Reconciliation with hotel vendors: what their desks report reaches the groups' sub-cases, once, from a position that outlives
// failures, lost pages and processes; and feeds of flight data are heard by the same rules. The sub-case itself is not here: its commands are read from their stream.
import type { Document } from "mongodb";
import t from "tap";
import { identityActor } from "../../actors/identity/service.ts";
import { recordQueries } from "../../actors/sub-case/on-record.ts";
import {
  givenUpFilter,
  givenUpIndex,
  standingBookings,
  standingFilter,
  standingIndex,
} from "../../actors/sub-case/standing-bookings.ts";
import { StayHub } from "../../actors/vendor-adapter/adapters/stayhub.ts";
import type { HotelPort, LedgerEntry, LedgerRequest } from "../../actors/vendor-adapter/ports.ts";
import { type Source, startReconciling, staysOf } from "../../actors/vendor-adapter/reconcile.ts";
import { vendorAdapterActor } from "../../actors/vendor-adapter/service.ts";
import type { Command } from "../../schemas/command.ts";
import type { StayReport } from "../../schemas/vendor-call.ts";
import { bookRoom, context as call, startSandbox } from "../contract/vendors/sandbox.ts";
import { startActorsUnderTest, watch } from "../harness/actors.ts";
import { system, trace } from "../harness/given.ts";
import { eventually } from "../harness/patience.ts";
import { listensToFeeds } from "./feed-listening.ts";

const it = await startActorsUnderTest(t, [identityActor, vendorAdapterActor]);
const { context, advance, send } = it;
const { documents, streams } = context;
const minuteMs = 60_000;

const groupId = (n: number, airline = "XN"): string => `${airline}-01KAMVW9G0ABCDEFGHJKMNPQ0${n}`;
const room = (n: number, airline = "XN"): string => `${groupId(n, airline)}.room.1.1`;

const positionOf = (tenant: string, vendor: string) =>
  documents.tenant(tenant).collection<Document & { _id: string }>("reconciliations").findOne({ _id: vendor });

/** All that ever came to the sub-cases of the airline: nobody takes them off the stream here. */
const reports = async (tenant: string): Promise<Command[]> => {
  const found: Command[] = [];
  for (let seq = 1; ; ) {
    const next = { seq, next_by_subj: `cmd.${tenant}.sub-case.record-stay.*` };
    const message = await streams.manager.direct.getMessage("COMMANDS", next);
    if (message === null) return found;
    found.push(message.json<Command>());
    seq = message.seq + 1;
  }
};
const told = async (tenant: string): Promise<string[]> =>
  (await reports(tenant)).map(({ entity, data }) => `${entity} ${(data as StayReport).state}`);

t.test("which bookings a vendor that lists no changes is asked after", async (t) => {
  const groups = documents.tenant("XN").collection<Document & { _id: string }>("standing");
  const { key, ...options } = standingIndex;
  await groups.createIndex(key, options);
  const today = context.clock.now();
  const day = (n: number): string => new Date(today.getTime() + n * 86_400_000).toISOString().slice(0, 10);
  const group = (n: number, checkOut: number, more: object = {}) => ({
    _id: groupId(n),
    assignment: { stay: { checkIn: day(checkOut - 1), checkOut: day(checkOut) } },
    reservation: { vendor: "rapid", status: "CONFIRMED", reference: room(n), ...more },
  });
  await groups.insertMany([
    group(1, 1),
    group(2, -1),
    group(3, -2),
    group(4, 1, { status: "CHECKED_IN" }),
    group(5, 1, { status: "CHECKED_IN", selfCheckIn: true }),
    group(6, 1, { status: "CANCELLED" }),
    group(7, 1, { vendor: "stayhub" }),
    group(8, -2, { status: "CHECKED_IN", selfCheckIn: true }),
  ]);
  /** What is over is not looked at: seen where an engine counts. */
  const examines = async (filter: Document, index: string, count: number): Promise<void> => {
    const plan = await groups.find(filter).explain("executionStats");
    const { totalDocsExamined } = plan.executionStats;
    if (totalDocsExamined === undefined) return;
    t.equal(totalDocsExamined, count, index);
    t.match(JSON.stringify(plan), `"indexName":"${index}"`);
  };
  const query = (params: Record<string, unknown>) => ({ ...trace, tenant: "XN", principal: system, params });
  const ask = standingBookings(context, "standing");
  t.strictSame(await ask(query({ vendor: "rapid" })), { references: [room(1), room(2), room(5)] });
  t.strictSame(await ask(query({ vendor: "rapid", after: groupId(1) })), { references: [room(2), room(5)] });
  t.strictSame(await ask(query({ vendor: "hotelbeds" })), { references: [] });
  await examines(standingFilter("rapid", today), "staying", 5);

  const { key: givenUpKey, ...givenUpOptions } = givenUpIndex;
  await groups.createIndex(givenUpKey, givenUpOptions);
  const attempt = (n: number, vendor = "rapid") => ({ vendor, reference: room(n) });
  await groups.insertMany([
    group(9, 1, { vendor: "stayhub" }),
    { ...group(10, 1), givenUp: [attempt(20), attempt(21, "stayhub")], givenUpAt: ["rapid", "stayhub"] },
    { ...group(11, -2), givenUp: [attempt(22)], givenUpAt: ["rapid"] },
    { ...group(12, 1, { vendor: "stayhub" }), givenUp: [attempt(23), attempt(24)], givenUpAt: ["rapid"] },
  ]);
  t.strictSame(await ask(query({ vendor: "rapid" })), {
    references: [room(1), room(10), room(2), room(5), room(20), room(23), room(24)],
  });
  t.strictSame(await ask(query({ vendor: "rapid", after: `~${groupId(10)}` })), {
    references: [room(23), room(24)],
  });
  await examines(givenUpFilter("rapid", today), "givenUp", 2);

  const many = Array.from({ length: 21 }, (_, i) => ({
    ...group(i, 1, { vendor: "many", reference: `held ${i}` }),
    ...{ _id: `many ${i}`, givenUpAt: i < 6 ? ["many"] : [] },
    givenUp: [{ vendor: "many", reference: `given up ${i}` }],
  }));
  await groups.insertMany(many);
  const pages: string[][] = [];
  for (let after: string | undefined, isEnd = false; !isEnd; isEnd = after === undefined) {
    const page = await ask(query({ vendor: "many", ...(after !== undefined && { after }) }));
    pages.push(page.references);
    after = page.next;
  }
  t.same(
    pages.map(({ length }) => length),
    [20, 1 + 5, 1],
    "each is asked after by itself, within one claim",
  );
  t.equal(new Set(pages.flat()).size, 21 + 6);

  const oddAmong = recordQueries(context, { collection: "standing", schemaVersion: 1 })["odd-among"];
  await groups.updateOne({ _id: groupId(1) }, { $set: { "reservation.bookingId": "B1" } });
  const standing = (reference: string, bookingId: string) => ({ reference, bookingId });
  const ofGroup10 = `${groupId(10)}.room.9.1`;
  await groups.updateOne(
    { _id: groupId(10) },
    { $set: { givenUp: [{ vendor: "rapid", reference: ofGroup10 }] } },
  );
  const bookings = [
    ...[standing(room(1), "B1"), standing(room(1), "B2"), standing(ofGroup10, "B3")],
    ...[standing(room(7, "YY"), "B4"), standing("", "B5")],
  ];
  t.strictSame(await oddAmong(query({ vendor: "rapid", bookings })), [
    { vendor: "rapid", reference: room(1), bookingId: "B2", oddity: "TWIN" },
    { vendor: "rapid", reference: ofGroup10, bookingId: "B3", oddity: "STRAY" },
  ]);
});

t.test("what happens at the desks reaches each airline's own groups", async (t) => {
  const sandbox = await startSandbox(t, t.testdir(), ["--only", "stayhub", "--latency", "1"]);
  const { baseUrl, apiKey } = sandbox.vendor("stayhub");
  const hotels = new StayHub("stayhub", { baseUrl, apiKey, timeoutMs: 20_000 });
  const mark = async (marking: object) => {
    const url = `${sandbox.announcement.controlUrl}/stay/stayhub`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(marking) });
    t.equal(answer.status, 200);
  };
  const ids: Record<string, string> = {};
  for (const reference of [room(1), room(2), room(3), room(4), room(1, "QZ"), "XN-nobody.room.1", "else"])
    ids[reference] = await bookRoom(hotels, reference);
  await mark({ reference: room(1), state: "CHECKED_IN" });
  await mark({ reference: room(2), state: "NO_SHOW" });
  await hotels.cancel({ reference: room(3), bookingId: ids[room(3)]! }, call);
  await mark({ reference: room(1, "QZ"), state: "CHECKED_IN" });
  await mark({ reference: "XN-nobody.room.1", state: "CHECKED_IN" });

  for (const code of ["XN", "QZ"]) {
    const airline = { name: code, passengerHosts: [], homeCountry: "US" };
    await send("identity.register-tenant", airline, { tenant: code });
  }
  const seen = await watch(streams.connection, "cmd.*.sub-case.record-stay.*");
  const vendor = { name: "stayhub", dialect: "stayhub", baseUrl, apiKey };
  for (const reconcileMinutes of [4, 61, 7.5])
    await t.rejects(send("vendor-adapter.put-vendor", { ...vendor, reconcileMinutes }), {
      code: "validation/body",
    });
  await send("vendor-adapter.put-vendor", { ...vendor, reconcileMinutes: 5 });
  await send("vendor-adapter.put-vendor", vendor, { tenant: "QZ" });
  t.match(await it.ask("vendor-adapter.vendors", {}), [{ name: "stayhub", reconcileMinutes: 5 }]);
  await seen.until((all) => all.length === 4);
  await eventually("both at the end", async () =>
    (await positionOf("XN", "stayhub"))?.polledAt && (await positionOf("QZ", "stayhub"))?.polledAt
      ? undefined
      : "not yet",
  );
  const first = [`${groupId(1)} CHECKED_IN`, `${groupId(2)} NO_SHOW`, `${groupId(3)} CANCELLED`];
  t.strictSame(await told("XN"), [first[0], first[1], first[2]], "in the order of change; no stranger's");
  t.strictSame(await told("QZ"), [`${groupId(1, "QZ")} CHECKED_IN`]);
  const [report] = await reports("XN");
  const data = { reference: room(1), bookingId: ids[room(1)], state: "CHECKED_IN" };
  t.match(report, { name: "sub-case.record-stay", entity: groupId(1), tenant: "XN", data });

  await mark({ reference: room(1), state: "CHECKED_OUT" });
  await mark({ reference: room(1, "QZ"), state: "CHECKED_OUT" });
  await sandbox.control({
    stayhub: { failNext: [{ operation: "reconcile", kind: "unavailable", times: 1 }] },
  });
  const failed = async () => {
    const { requests } = await sandbox.ledger("stayhub");
    return requests.some(({ fault }) => fault === "unavailable") ? undefined : "no poll yet";
  };
  advance(5 * minuteMs);
  await eventually("the poll that fails", failed);
  t.strictSame(await told("XN"), first, "nothing came of it");
  await eventually("given back", async () => (await positionOf("XN", "stayhub"))?.claimedUntil);
  advance(5 * minuteMs);
  await seen.until((all) => all.length === 5);
  t.strictSame(await told("XN"), [...first, `${groupId(1)} CHECKED_OUT`], "what was told is not told again");
  t.equal((await told("QZ")).length, 1, "whose interval is longer is not asked yet");
  advance(5 * minuteMs);
  await seen.until((all) => all.length === 6);
  t.equal((await told("QZ")).length, 2);
});

/** A vendor with one entry a page, whose next answer can be made another. */
const pagedVendor = (name: string, groups: readonly number[]) => {
  const asked: LedgerRequest[] = [];
  const at = context.clock.now().toISOString();
  const entries = groups.map(
    (n): LedgerEntry => ({
      kind: "booking",
      id: `${name}-${n}`,
      reference: room(n),
      state: "CHECKED_IN",
      changedAt: at,
    }),
  );
  type Answer = Awaited<ReturnType<HotelPort["reconcile"]>>;
  const instead = new Map<number, Answer>();
  const port: Pick<HotelPort, "reconcile"> = {
    reconcile: async (request) => {
      asked.push(request);
      const answer = instead.get(asked.length);
      if (answer !== undefined) return answer;
      const place = Number(request.cursor ?? 0);
      const nextCursor = place + 1 < entries.length ? { nextCursor: String(place + 1) } : {};
      return { outcome: "done", entries: entries.slice(place, place + 1), ...nextCursor };
    },
  };
  const source: Source = { tenant: "XN", name, ask: staysOf(port, name), intervalMs: 15 * minuteMs };
  /** One look, to its end. */
  const look = (more: Partial<typeof context> = {}) =>
    startReconciling({ ...context, ...more }, () => [source])();
  return {
    asked,
    look,
    /** A look whose n-th request, from 1, gets this answer. */
    answerAt: (n: number, answer: Answer) => {
      instead.set(asked.length + n, answer);
      return look();
    },
    told: async () =>
      (await reports("XN"))
        .filter(({ data }) => (data as StayReport).bookingId.startsWith(`${name}-`))
        .map(({ data }) => (data as StayReport).bookingId),
  };
};

t.test("pages: a failed one is asked for again, a lost cursor begins again, a circle ends", async (t) => {
  const vendor = pagedVendor("pages", [1, 2, 3]);
  const { asked, look, told } = vendor;
  await look();
  t.strictSame(asked, [{}, { cursor: "1" }, { cursor: "2" }]);
  t.strictSame(await told(), ["pages-1", "pages-2", "pages-3"]);
  await look();
  t.equal(asked.length, 3, "not due yet");

  // Breaks off before the second page; the next poll begins there.
  advance(15 * minuteMs);
  await vendor.answerAt(2, { outcome: "unavailable", detail: "busy" });
  t.match(asked.slice(3), [{ since: String }, { cursor: "1" }]);
  advance(15 * minuteMs);
  await vendor.answerAt(2, { outcome: "refused", code: "INVALID_REQUEST", detail: "no cursor of ours" });
  t.strictSame(asked.slice(5), [{ cursor: "1" }, { cursor: "2" }]);
  advance(15 * minuteMs);
  await vendor.answerAt(2, { outcome: "done", entries: [], nextCursor: "1" });
  t.match(asked.slice(7), [{ since: String }, { cursor: "1" }], "a refused cursor is let go");
  advance(15 * minuteMs);
  await look();
  t.match(
    asked.slice(9),
    [{ since: String }, { cursor: "1" }, { cursor: "2" }],
    "and so is one that leads nowhere",
  );
  t.equal((await told()).length, 3, "nothing twice");
});

t.test("of several processes one polls, and a dead one's poll goes on where it stood", async (t) => {
  const { asked, look, told } = pagedVendor("shared", [4, 5, 6]);
  await Promise.all([look(), look(), look()]);
  t.equal(asked.length, 3, "each page once");
  t.strictSame(await told(), ["shared-4", "shared-5", "shared-6"]);

  const dying = pagedVendor("dying", [7, 8, 9]);
  let published = 0;
  const jetstream = new Proxy(streams.jetstream, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (name !== "publish") return typeof member === "function" ? member.bind(target) : member;
      return async (...message: Parameters<typeof target.publish>) => {
        const ack = await target.publish(...message);
        published += 1;
        // The second report stands on the stream, and its sender never hears of it.
        if (published === 2) throw new Error("killed");
        return ack;
      };
    },
  });
  await dying.look({ streams: { ...streams, jetstream } });
  t.strictSame(await dying.told(), ["dying-7", "dying-8"]);
  t.match(await positionOf("XN", "dying"), { cursor: "1", claimedUntil: Date });
  await dying.look();
  t.equal(dying.asked.length, 2, "it is not known to be dead yet");
  advance(context.config.VENDOR_TIMEOUT_MS + 30_001);
  await dying.look();
  t.strictSame(dying.asked.slice(2), [{ cursor: "1" }, { cursor: "2" }], "nothing before it is asked again");
  t.strictSame(await dying.told(), ["dying-7", "dying-8", "dying-9"], "the second report is one");
});

t.test("a vendor whose clock is ahead keeps being heard", async (t) => {
  const vendor = pagedVendor("ahead", []);
  const entry = (n: number, changedAt: string): LedgerEntry => {
    return { kind: "booking", id: `ahead-${n}`, reference: room(n), state: "CHECKED_OUT", changedAt };
  };
  await vendor.answerAt(1, { outcome: "done", entries: [entry(1, "2999-01-01T00:00:00.000Z")] });
  advance(15 * minuteMs);
  const entries = [entry(1, "2999-01-01T00:00:00.000Z"), entry(2, "2031-01-01T00:00:00.000Z")];
  await vendor.answerAt(1, { outcome: "done", entries });
  t.ok(new Date(vendor.asked[1]?.since ?? "") <= context.clock.now(), "asked from a time that has been");
  t.strictSame(await vendor.told(), ["ahead-1", "ahead-2"]);
});

t.test("listening to flight-data vendors", (t) => listensToFeeds(t, it));
