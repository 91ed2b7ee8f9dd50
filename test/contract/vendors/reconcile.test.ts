/** The vendors' reconciliation interfaces, each adapter against its sandbox process, and the hotels' front desks behind them. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { systemClock } from "../../../actors/runtime/clock.ts";
import { CardWorks } from "../../../actors/vendor-adapter/adapters/cardworks.ts";
import { Hotelbeds } from "../../../actors/vendor-adapter/adapters/hotelbeds.ts";
import { Rapid } from "../../../actors/vendor-adapter/adapters/rapid.ts";
import { RideFleet } from "../../../actors/vendor-adapter/adapters/ridefleet.ts";
import { RoomLink } from "../../../actors/vendor-adapter/adapters/roomlink.ts";
import { StayHub } from "../../../actors/vendor-adapter/adapters/stayhub.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { VendorOptions } from "../../../actors/vendor-adapter/http.ts";
import type {
  HotelPort,
  LedgerEntry,
  LedgerRequest,
  Reconciling,
} from "../../../actors/vendor-adapter/ports.ts";
import { staysOf } from "../../../actors/vendor-adapter/reconcile.ts";
import { bookRoom, closedPort, context, done, type Sandbox, startSandbox } from "./sandbox.ts";

/** One kind of thing that a vendor sells: how it comes into its ledger, and how it is taken back. */
interface Selling {
  name: string;
  kind: LedgerEntry["kind"];
  standing: string;
  open(options: VendorOptions): {
    port: Reconciling;
    make(reference: string): Promise<string>;
    cancel(reference: string, id: string): Promise<{ outcome: string }>;
  };
  /** Bodies of a page as the vendor would send it, but for one thing. */
  hostile: Record<string, unknown>;
}

const hotel = (name: string, Adapter: new (name: string, options: VendorOptions) => HotelPort) => ({
  name,
  kind: "booking" as const,
  standing: "BOOKED",
  open: (options: VendorOptions) => {
    const port = new Adapter(name, options);
    return {
      port,
      make: (reference: string) => bookRoom(port, reference),
      cancel: (reference: string, bookingId: string) => port.cancel({ reference, bookingId }, context),
    };
  },
});

const leapSecond = "2031-03-14T23:59:60Z";
const stayhubChange = {
  booking_no: "B",
  client_ref: "r",
  status: "confirmed",
  last_modified: "2031-03-14T20:00:00Z",
};
const roomlinkChange = { reservationId: "B", externalReference: "r", phase: "CONFIRMED", modifiedEpoch: 1 };
const card = { id: "c", external_id: "r", status: "active", updated: 1 };
const ride = { id: "rf", bookingRef: "r", state: "confirmed", changedTime: "2031-03-14T20:00:00Z" };

const sellings: Selling[] = [
  {
    ...hotel("stayhub", StayHub),
    hostile: {
      "a status nobody knows": { changes: [{ ...stayhubChange, status: "eaten" }], next_page_token: null },
      "no reference": { changes: [{ ...stayhubChange, client_ref: null }], next_page_token: null },
      "a time that is none": {
        changes: [{ ...stayhubChange, last_modified: leapSecond }],
        next_page_token: null,
      },
      "a token that is none": { changes: [stayhubChange], next_page_token: 7 },
    },
  },
  {
    ...hotel("roomlink", RoomLink),
    hostile: {
      "a phase nobody knows": { data: { items: [{ ...roomlinkChange, phase: "EATEN" }] }, errors: [] },
      "an option": { data: { items: [{ ...roomlinkChange, phase: "OPTION" }] }, errors: [] },
      "a time that is none": { data: { items: [{ ...roomlinkChange, modifiedEpoch: 1e15 }] }, errors: [] },
      "neither data nor errors": { data: null, errors: [] },
    },
  },
  {
    name: "cardworks",
    kind: "card",
    standing: "ACTIVE",
    open: (options) => {
      const port = new CardWorks(options);
      const balance = { amountMinor: 2500, currency: "EUR" };
      return {
        port,
        make: async (reference) =>
          done(await port.issueCard({ reference, balance, label: "XN 482" }, context)).cardId,
        cancel: (reference, cardId) => port.cancelCard({ reference, cardId }, context),
      };
    },
    hostile: {
      "a status nobody knows": { data: [{ ...card, status: "eaten" }], has_more: false },
      "a time that is none": { data: [{ ...card, updated: 1e15 }], has_more: false },
      "more without a cursor": { data: [card], has_more: true },
    },
  },
  {
    name: "ridefleet",
    kind: "ride",
    standing: "BOOKED",
    open: (options) => {
      const port = new RideFleet(options);
      const place = { label: "LIS", coordinates: { latitude: 38.77, longitude: -9.13 } };
      const ride = {
        direction: "AIRPORT_TO_HOTEL",
        vehicleType: "SHUTTLE",
        pickupAt: "2031-03-14T20:30:00Z",
        from: place,
        to: place,
        passengers: 2,
        specialRequirements: [],
      } as const;
      return {
        port,
        make: async (reference) => done(await port.book({ ...ride, reference }, context)).rideId,
        cancel: (reference, rideId) => port.cancel({ reference, rideId }, context),
      };
    },
    hostile: {
      "a state nobody knows": { rides: [{ ...ride, state: "eaten" }], cursor: "" },
      "a time that is none": { rides: [{ ...ride, changedTime: leapSecond }], cursor: "" },
      "no cursor": { rides: [ride] },
    },
  },
];

const all = async (port: Reconciling, from: LedgerRequest = {}): Promise<LedgerEntry[]> => {
  const { entries, nextCursor } = done(await port.reconcile(from, context));
  return nextCursor === undefined ? entries : [...entries, ...(await all(port, { cursor: nextCursor }))];
};

t.test("reconciliation", async (t) => {
  const names = [...sellings.map(({ name }) => name), "hotelbeds", "rapid"];
  const sandbox = await startSandbox(t, t.testdir(), ["--only", names.join(","), "--latency", "1"]);
  for (const selling of sellings) await t.test(selling.name, (t) => suite(t, sandbox, selling));
  for (const selling of sellings.filter(({ kind }) => kind === "booking"))
    await t.test(`the front desk of ${selling.name}`, (t) => frontDesk(t, sandbox, selling.name));
  await t.test("hotelbeds, which lists bookings by days", (t) => listedByDays(t, sandbox));
  await t.test("rapid, which lists nothing", (t) => askedAfter(t, sandbox));
  t.match(await mark(sandbox, "cardworks", { reference: "x", state: "NO_SHOW" }), { status: 400 });
  t.match(await mark(sandbox, "nobody", { reference: "x", state: "NO_SHOW" }), { status: 404 });
});

const suite = async (t: Test, sandbox: Sandbox, selling: Selling): Promise<void> => {
  const { name, kind, standing } = selling;
  const options = { ...sandbox.vendor(name), timeoutMs: 20_000 };
  const { port, make, cancel } = selling.open(options);
  await sandbox.reset();

  await t.test("pages in the order of change, steady while things change", async (t) => {
    t.same(await port.reconcile({}, context), { outcome: "done", entries: [] });
    const ids: string[] = [];
    for (const n of [0, 1, 2, 3, 4]) ids.push(await make(`XN-1.${n}`));
    const entry = (n: number, state = standing) => ({ kind, id: ids[n], reference: `XN-1.${n}`, state });
    await sandbox.control({ [name]: { ledgerPageSize: 2 } });
    const first = done(await port.reconcile({}, context));
    t.match(first, { entries: [entry(0), entry(1)], nextCursor: String });
    t.equal(first.entries.length, 2);
    t.match(await cancel("XN-1.0", ids[0]!), { outcome: "done" });
    t.match(await cancel("XN-1.3", ids[3]!), { outcome: "done" });
    const rest = await all(port, { cursor: first.nextCursor! });
    const cancelled = [entry(0, "CANCELLED"), entry(3, "CANCELLED")];
    t.match(rest, [entry(2), entry(4), ...cancelled]);
    t.equal(rest.length, 4, "each once, by its last change; none is passed over");
    t.same(await all(port), rest.slice(0, 2).toSpliced(0, 0, first.entries[1]!).concat(rest.slice(2)));
    const times = rest.map(({ changedAt }) => changedAt);
    for (const at of times) t.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    t.same(times, times.toSorted(), "oldest first");
    const since = await all(port, { since: times.at(-1)! });
    t.match(since.at(-1), entry(3, "CANCELLED"), "the time itself is included");
    t.same(await all(port, { since: "2999-01-01T00:00:00.000Z" }), []);
  });

  await t.test("what a failed answer means", async (t) => {
    for (const fault of ["unavailable", "error", "error-after", "malformed", "lost-answer"]) {
      await sandbox.control({ [name]: { failNext: [{ operation: "reconcile", kind: fault, times: 1 }] } });
      t.match(await port.reconcile({}, context), { outcome: "unavailable" }, fault);
    }
    await sandbox.control({ [name]: { failNext: [{ operation: "reconcile", kind: "timeout", times: 1 }] } });
    const signal = AbortSignal.timeout(50);
    t.match(await port.reconcile({}, { ...context, signal }), { outcome: "unavailable" });
    // On a busy machine the call may be given up before the vendor has heard of it.
    await sandbox.control({ [name]: { failNext: [] } });
    t.match(await port.reconcile({ cursor: "bm9uZQ" }, context), {
      outcome: "refused",
      code: "INVALID_REQUEST",
    });
    const stranger = selling.open({ ...options, apiKey: "wrong" });
    t.match(await stranger.port.reconcile({}, context), { outcome: "refused", code: "NOT_AUTHORISED" });
    const nowhere = selling.open({ ...options, baseUrl: await closedPort() });
    t.match(await nowhere.port.reconcile({}, context), { outcome: "unavailable" });
  });

  await t.test("hostile bodies", async (t) => {
    let body: unknown;
    const server = createServer((_, response) => response.end(JSON.stringify(body))).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.teardown(() => server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const impostor = selling.open({ ...options, baseUrl }).port;
    for (const [what, answer] of Object.entries({ ...selling.hostile, nothing: {}, "a list": [] })) {
      body = answer;
      t.match(await impostor.reconcile({}, context), { outcome: "unavailable" }, what);
    }
  });
};

/** What is told of arrivals: nothing. Of cancellations by the hotel: those of the days asked for. */
const listedByDays = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const options = { ...sandbox.vendor("hotelbeds"), timeoutMs: 20_000 };
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  let aheadMs = 0;
  const port = new Hotelbeds("hotelbeds", options, clock);
  const [first, second] = ["XN-1.room.1.1", "XN-2.room.1.1"] as const;
  const ids = new Map<string, string>();
  for (const reference of [first, second]) ids.set(reference, await bookRoom(port, reference));
  const entry = (reference: string, state: string) => ({ id: ids.get(reference), reference, state });
  t.match(await all(port), [entry(first, "BOOKED"), entry(second, "BOOKED")]);
  await mark(sandbox, "hotelbeds", { reference: first, state: "CHECKED_IN" });
  await mark(sandbox, "hotelbeds", { reference: second, state: "CANCELLED" });
  const since = new Date().toISOString();
  const told = await all(port, { since });
  t.match(told, [entry(first, "BOOKED"), entry(second, "CANCELLED")], "who has arrived is not told");
  t.match(await port.lookup({ reference: second }, context), { state: "CANCELLED", fee: { amountMinor: 0 } });
  aheadMs = 3 * 86_400_000;
  t.match(
    await port.reconcile({}, context),
    { code: "NOT_AUTHORISED" },
    "a clock that is days off signs for nobody",
  );
  aheadMs = 0;
  t.same(await all(port, { since: new Date(Date.now() + 3 * 86_400_000).toISOString() }), []);
  for (const cursor of ["bm9uZQ", "CREATION_2026_2026_1", ""])
    t.match(
      await port.reconcile({ cursor }, context),
      { outcome: "refused", code: "INVALID_REQUEST" },
      cursor,
    );
  for (const fault of ["unavailable", "error", "malformed", "lost-answer"]) {
    await sandbox.control({ hotelbeds: { failNext: [{ operation: "reconcile", kind: fault, times: 1 }] } });
    t.match(await port.reconcile({}, context), { outcome: "unavailable" }, fault);
  }
};

/** Only what we think stands is asked after; one that can't be asked after stops no other. */
const askedAfter = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const options = { ...sandbox.vendor("rapid"), timeoutMs: 20_000 };
  const port = new Rapid("rapid", options, systemClock);
  const standing = ["XN-1.room.1.1", "XN-2.room.1.1", "XN-3.room.1.1"];
  const [one, two] = standing as [string, string, string];
  await bookRoom(port, one);
  const id = await bookRoom(port, two);
  t.match(await port.reconcile({ standing }, context), {
    outcome: "done",
    entries: [
      { reference: one, state: "BOOKED" },
      { reference: two, state: "BOOKED" },
    ],
  });
  await mark(sandbox, "rapid", { reference: one, state: "CHECKED_IN" });
  await mark(sandbox, "rapid", { reference: two, state: "CANCELLED" });
  const { entries } = done(await port.reconcile({ standing }, context));
  const cancelled = { kind: "booking", id, reference: two, state: "CANCELLED" };
  t.match(entries, [cancelled, { reference: one, state: "BOOKED" }], "who has arrived is not told");
  t.equal(entries.length, 2, "nothing of what was never booked");
  t.same(await port.reconcile({}, context), { outcome: "done", entries: [] });
  const pages: (string | undefined)[] = [];
  const ask = staysOf(port, "rapid", {
    standing: async (after) => {
      pages.push(after);
      return after === undefined ? { references: [one], next: "XN-1" } : { references: [two] };
    },
  });
  const signal = AbortSignal.timeout(20_000);
  t.match(await ask({ since: "2026-11-21T00:00:00Z" }, { ...context, signal }), {
    reports: [],
    nextCursor: "XN-1",
  });
  const last = done(await ask({ cursor: "XN-1" }, { ...context, signal }));
  t.match(last, { reports: [{ reference: two, data: { state: "CANCELLED", bookingId: id } }] });
  t.equal(last.nextCursor, undefined);
  t.same(pages, [undefined, "XN-1"]);
  for (const fault of ["unavailable", "error", "malformed", "lost-answer"]) {
    const fail = (times: number) =>
      sandbox.control({ rapid: { failNext: [{ operation: "lookup", kind: fault, times }] } });
    await fail(1);
    const { entries: others, unreadable } = done(await port.reconcile({ standing }, context));
    t.equal(unreadable?.length, 1, `${fault}: one`);
    t.same(
      others.map(({ reference }) => reference).sort(),
      [one, two].filter((reference) => reference !== unreadable?.[0]),
      "the others are told",
    );
    await fail(standing.length);
    t.match(await port.reconcile({ standing }, context), { outcome: "unavailable" }, `${fault}: all`);
  }
  const stranger = new Rapid("rapid", { ...options, apiKey: "wrong" }, systemClock);
  t.match(await stranger.reconcile({ standing }, context), { outcome: "refused", code: "NOT_AUTHORISED" });
};

const mark = async (sandbox: Sandbox, name: string, marking: object) => {
  const url = `${sandbox.announcement.controlUrl}/stay/${name}`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(marking) });
  return { status: answer.status, body: (await answer.json()) as unknown };
};

const frontDesk = async (t: Test, sandbox: Sandbox, name: string): Promise<void> => {
  await sandbox.reset();
  const Adapter = name === "stayhub" ? StayHub : RoomLink;
  const port = new Adapter(name, { ...sandbox.vendor(name), timeoutMs: 20_000 });
  const [one, two, three] = [
    await bookRoom(port, "XN-1.room"),
    await bookRoom(port, "XN-2.room"),
    await bookRoom(port, "QZ-3.room"),
  ] as const;
  const states = async () => (await all(port)).map(({ id, state }) => [id, state]);
  t.match(await mark(sandbox, name, { reference: "XN-1.room", state: "CHECKED_IN" }), {
    status: 200,
    body: { marked: [one], passedOver: [] },
  });
  t.same(await states(), [
    [two, "BOOKED"],
    [three, "BOOKED"],
    [one, "CHECKED_IN"],
  ]);
  t.match(await port.lookup({ reference: "XN-1.room" }, context), { state: "CHECKED_IN", bookingId: one });
  const cancel = { reference: "XN-1.room", bookingId: one };
  t.match(await port.cancel(cancel, context), { outcome: "refused", code: "NOT_CANCELLABLE" });

  const call = {
    reference: "XN-1.room",
    tries: 2,
    doubt: true,
    request: {},
    replyTo: { name: "a.b", entity: "" },
  };
  const book = () => carryOut({ name, kind: "hotel", port }, "book", call, { ...context, attempt: 1 });
  t.match(await book(), { outcome: "done", result: { bookingId: one } }, "who has arrived was booked");
  t.match(await mark(sandbox, name, { bookingId: two, state: "NO_SHOW" }), { body: { marked: [two] } });
  t.match(await mark(sandbox, name, { referencePrefix: "XN-", state: "CHECKED_OUT" }), {
    body: { marked: [one], passedOver: [two] },
  });
  t.match(await book(), { outcome: "done", result: { bookingId: one } });
  t.match(await mark(sandbox, name, { reference: "QZ-3.room", state: "CANCELLED" }), {
    body: { marked: [three] },
  });
  t.match(await port.lookup({ reference: "QZ-3.room" }, context), {
    state: "CANCELLED",
    fee: { amountMinor: 0 },
  });
  t.same(await states(), [
    [two, "NO_SHOW"],
    [one, "CHECKED_OUT"],
    [three, "CANCELLED"],
  ]);

  for (const wrong of [
    { reference: "XN-1.room" },
    { state: "NO_SHOW" },
    { bookingId: "B-none", state: "NO_SHOW" },
  ])
    t.match(await mark(sandbox, name, wrong), { status: 400, body: { detail: String } });
};
