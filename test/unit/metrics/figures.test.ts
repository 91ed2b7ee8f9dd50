// Facts out of events, joined in any order and any number of times; figures out of facts; a series out of figures; what a query
// refuses.
import fc from "fast-check";
import t from "tap";
import { cameInAt, type Facts, join, notedOf, type RoomFact } from "../../../actors/metrics/facts.ts";
import { type Figures, figuresOf, percentile, seriesOf } from "../../../actors/metrics/figures.ts";
import { metricsQueries, spanOf } from "../../../actors/metrics/queries.ts";
import { roomChanged } from "../../../actors/sub-case/room-changed.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { directVendor } from "../../../schemas/contract.ts";
import { type KpiName, kpiNames } from "../../../schemas/metrics.ts";
import { evening, nightOf } from "./events.ts";

const night = nightOf("a");
const factsOf = (events: readonly EventRecord[]): Facts =>
  events.reduce<Facts>((all, event) => join(all, notedOf(event)?.facts ?? {}), {});
const figures = (events: readonly EventRecord[]): Figures =>
  figuresOf(factsOf(events), cameInAt(night.caseId) as Date);
const room = (totalMinor: number, more: object = {}): RoomFact => ({
  rooms: 1,
  amended: 0,
  totalMinor,
  currency: "USD",
  ...more,
});

t.test("what each figure counts", async (t) => {
  const table: [what: string, events: EventRecord[], expected: Partial<Figures>][] = [
    ["a case that came in", [], { opened: 1 }],
    ["all demands", [night.asked(1, 4), night.asked(2, 3), night.asked(1, 4)], { roomsRequested: 7 }],
    [
      "rooms that stand, and what they cost",
      [night.room(1, room(9000)), night.room(2, { ...room(20_000), rooms: 2 } as RoomFact)],
      { roomsBooked: 3, cost: [{ currency: "USD", amountMinor: 29_000 }], savings: [] },
    ],
    [
      "by currency",
      [night.room(1, room(9000)), night.room(2, room(700, { currency: "EUR" }))],
      {
        cost: [
          { currency: "EUR", amountMinor: 700 },
          { currency: "USD", amountMinor: 9000 },
        ],
      },
    ],
    ["a room without a price", [night.room(1, { rooms: 1, amended: 0 })], { roomsBooked: 1, cost: [] }],
    ["given back", [night.room(1, room(9000)), night.room(1, null, 9)], { roomsBooked: 0, cost: [] }],
    ["given back, heard first", [night.room(1, null, 9), night.room(1, room(9000))], { roomsBooked: 0 }],
    [
      "other dates, heard in the wrong order",
      [night.room(1, room(18_000, { amended: 1 }), 9), night.room(1, room(9000))],
      { roomsBooked: 1, cost: [{ currency: "USD", amountMinor: 18_000 }] },
    ],
    [
      "against the market, also where the contract was dearer",
      [night.room(1, room(9000, { marketMinor: 15_000 })), night.room(2, room(9000, { marketMinor: 8000 }))],
      { savings: [{ currency: "USD", amountMinor: 5000 }] },
    ],
    [
      "a group's first offer",
      [night.ready(1, 30), night.ready(1, 6), night.ready(2, 10)],
      { offersMs: [360_000, 600_000] },
    ],
    [
      "answers",
      [night.answered(1, "resolved"), night.answered(2, "declined"), night.answered(1, "resolved")],
      { accepted: 1, answered: 2 },
    ],
    ["resolved alone", [night.resolved(60)], { resolved: 1, resolvedAlone: 1 }],
    ["an operator's hand", [night.resolved(60), night.touched(30)], { resolved: 1, resolvedAlone: 0 }],
    ["after the end", [night.touched(70), night.resolved(60)], { resolvedAlone: 1 }],
    [
      "what is no operator's change of it",
      [
        night.touched(1, { action: "case.open-manually" }),
        night.touched(2, { surface: "passenger" }),
        night.resolved(60),
      ],
      { resolvedAlone: 1 },
    ],
    ["missed deadlines", [night.breached(20), night.breached(20), night.breached(80)], { breaches: 2 }],
  ];
  for (const [what, events, expected] of table) t.match(figures([night.opened(), ...events]), expected, what);
  const all = table.flatMap(([, events]) => events);
  t.match(
    figures(all),
    { opened: 0, roomsBooked: 0, offersMs: [], resolved: 0, cost: [] },
    "nothing of a case that was never opened",
  );
});

t.test("what is no fact", async (t) => {
  const drill = night.event("subcase.room-changed", 5, { kind: "DRILL", room: null });
  const none: [string, EventRecord][] = [
    ["a drill's", drill],
    ["of no case", { ...night.opened(), case_urn: undefined as never }],
    ["of an id that says no time", { ...night.opened(), case_urn: "urn:case:XN-1" }],
    ["without its time", { ...night.opened(), occurred_at: "soon" }],
    ["another type", night.event("case.closed", 1)],
    ["an offer of nobody", night.event("subcase.resolved", 1)],
    ["a demand without its number", night.event("demand.requested", 1, { demandId: "x" })],
  ];
  for (const [what, event] of none) t.equal(notedOf(event), undefined, what);
});

t.test("which hour a fact belongs to", async (t) => {
  const hour = (event: EventRecord) => notedOf(event)?.hour.toISOString();
  t.equal(hour(night.opened(120)), "2020-11-21T21:00:00.000Z", "when the case came in");
  t.equal(hour(night.room(1, null, 500)), "2020-11-21T21:00:00.000Z");
  t.equal(hour(night.breached(120)), "2020-11-21T23:00:00.000Z", "when the deadline was missed");
  t.equal(notedOf(night.opened())?.airport, "JFK");
});

t.test("facts are joined in any order, any number of times", async (t) => {
  const events = fc.constantFrom(
    night.opened(),
    ...[1, 2].flatMap((n) => [
      night.asked(n, n),
      night.room(n, room(100 * n)),
      night.room(n, room(300 * n, { amended: 1 })),
      night.ready(n, 5 + n),
      night.ready(n, 40),
    ]),
    night.room(2, null),
    night.answered(1, "resolved"),
    night.answered(2, "declined"),
    night.touched(30),
    night.touched(90),
    night.resolved(60),
    night.breached(25),
  );
  fc.assert(
    fc.property(
      fc.array(events, { maxLength: 30 }),
      fc.array(events, { maxLength: 10 }),
      fc.nat(),
      (some, again, cut) => {
        const once = factsOf(some);
        const at = some.length === 0 ? 0 : cut % some.length;
        const mixed = [...some.slice(at), ...again.filter((one) => some.includes(one)), ...some.slice(0, at)];
        t.strictSame(sorted(factsOf(mixed.reverse())), sorted(once));
        t.strictSame(sorted(join(factsOf(some.slice(0, at)), factsOf(some.slice(at)))), sorted(once));
        t.strictSame(sorted(join(once, once)), sorted(once));
      },
    ),
    { numRuns: 300 },
  );
});

/** Members in one order. */
const sorted = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one) =>
      one !== null && typeof one === "object" && !Array.isArray(one)
        ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
        : one,
    ),
  );

t.test("percentiles by nearest rank", async (t) => {
  const table: [number[], number, number | null][] = [
    [[], 0.5, null],
    [[7], 0.95, 7],
    [[2, 1], 0.5, 1],
    [[3, 1, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, i) => 100 - i), 0.95, 95],
    [Array.from({ length: 20 }, (_, i) => i + 1), 0.95, 19],
  ];
  for (const [values, share, expected] of table) t.equal(percentile(values, share), expected);
});

t.test("a series", async (t) => {
  const one = figures([night.opened(), night.answered(1, "resolved"), night.ready(1, 6), night.asked(1, 2)]);
  const at = (text: string) => new Date(`2026-11-${text}:00:00.000Z`);
  const buckets = [
    { hour: at("21T21"), figures: one },
    { hour: at("21T21"), figures: one },
    { hour: at("22T01"), figures: { ...one, accepted: 0, offersMs: [2000] } },
  ];
  const series = (kpi: KpiName, granularity: "hour" | "day" | "total") =>
    seriesOf(kpi, buckets, { from: at("21T20"), to: at("22T03"), granularity });
  t.strictSame(
    series("rooms.requested", "hour").map(({ value }) => value),
    [0, 4, 0, 0, 0, 2, 0],
  );
  t.strictSame(series("rooms.requested", "day"), [
    { from: "2026-11-21T20:00:00.000Z", to: "2026-11-22T00:00:00.000Z", value: 4 },
    { from: "2026-11-22T00:00:00.000Z", to: "2026-11-22T03:00:00.000Z", value: 2 },
  ]);
  t.match(series("offers.accepted.rate", "total"), [{ value: 2 / 3, of: 3 }], "shares are not averaged");
  t.match(series("offers.accepted.rate", "hour")[0], { value: null, of: 0 });
  t.match(series("time-to-offer.p50", "total"), [{ value: 360, of: 3 }]);
  t.match(series("time-to-offer.p95", "day"), [{ value: 360 }, { value: 2 }]);
  t.strictSame(series("cost.total", "total"), [
    { from: "2026-11-21T20:00:00.000Z", to: "2026-11-22T03:00:00.000Z", amounts: [] },
  ]);
  for (const kpi of kpiNames) t.equal(series(kpi, "hour").length, 7, kpi);
});

t.test("what is asked for", async (t) => {
  const asked = (from: string, to: string) => {
    const span = spanOf({ from, to });
    return [span.from.toISOString(), span.to.toISOString()];
  };
  t.strictSame(asked("2026-11-21T21:10:00Z", "2026-11-21T23:00:00Z"), [
    "2026-11-21T21:00:00.000Z",
    "2026-11-21T23:00:00.000Z",
  ]);
  t.strictSame(asked("2026-11-21T21:10:00Z", "2026-11-21T21:10:01+00:00"), [
    "2026-11-21T21:00:00.000Z",
    "2026-11-21T22:00:00.000Z",
  ]);
  const wrong = { code: "validation/query", members: { errors: [{ pointer: "?to" }] } };
  for (const [from, to] of [
    ["2026-11-21T21:00:00Z", "2026-11-21T21:00:00Z"],
    ["2026-11-21T21:00:00Z", "2026-11-20T21:00:00Z"],
    ["2026-08-01T00:00:00Z", "2026-11-01T00:00:01Z"],
  ] as const)
    t.throws(() => spanOf({ from, to }), wrong, `${from} to ${to}`);
  t.doesNotThrow(() => spanOf({ from: "2026-08-01T00:00:00Z", to: "2026-11-01T00:00:00Z" }));
  const read = metricsQueries({} as never).read({ params: { kpi: "constructor" } } as never);
  await t.rejects(read, {
    code: "validation/kpi",
    members: { errors: [{ detail: /cases\.opened, .*review/ }] },
  });
});

t.test("what a group tells of its room", async (t) => {
  const reservation = {
    reservationId: "XN-1",
    status: "CONFIRMED",
    hotelUrn: "urn:hotel:x",
    vendor: directVendor,
    reference: "r",
    rooms: 2,
    totalMinor: 36_000,
    currency: "USD",
  } as const;
  const state = {
    subCaseId: "XN-2",
    caseId: "XN-3",
    groupId: "G",
    reservation,
    candidate: 0,
    assignment: { stay: { nights: 2 }, candidates: [{ marketNightlyMinor: 11_000 }] },
  };
  const told = (event: object, now: object = state) =>
    roomChanged(event as never, now as never).map((message) => ("data" in message ? message.data : message));
  const step = (step: string, gained: object) => ({
    type: "subcase.step-completed",
    data: { step, at: evening, gained },
  });
  t.match(told(step("book", { reservation })), [
    {
      bookingUrn: "urn:booking:XN-1",
      room: { rooms: 2, amended: 0, totalMinor: 36_000, currency: "USD", marketMinor: 44_000 },
    },
  ]);
  const amended = { ...reservation, amended: 1 };
  t.match(told(step("modify", { reservation: amended })), [{ room: { amended: 1 } }]);
  const byVendor = { ...reservation, vendor: "roomlink" };
  t.notMatch(told(step("book", { reservation: byVendor }))[0], { room: { marketMinor: 44_000 } });
  const cancelled = { ...reservation, status: "CANCELLED" };
  t.match(told(step("cancel-room", { reservation: cancelled })), [{ room: null }]);
  t.match(told(step("leave-room", { left: { reservation: cancelled } })), [{ room: null }], "the one left");
  const noted = (status: string, more: object = {}) => ({
    type: "subcase.stay-noted",
    data: { status, at: evening, ...more },
  });
  t.match(told(noted("CANCELLED")), [{ bookingUrn: "urn:booking:XN-1", room: null }]);
  const left = { ...state, left: { reservation: { ...cancelled, reservationId: "XN-9" } } };
  t.match(told(noted("CANCELLED", { ofLeft: true }), left), [{ bookingUrn: "urn:booking:XN-9", room: null }]);
  for (const event of [
    noted("CHECKED_IN"),
    step("voucher", {}),
    step("hold", { reservation }),
    noted("NO_SHOW"),
  ])
    t.strictSame(told(event), []);
});
