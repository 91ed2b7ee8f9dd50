// The dashboard's sums: what case documents and the desks tell, put together, also when one of them does not answer.
import t from "tap";
import { type BoardCase, sectionsOf } from "../../../actors/case/dashboard.ts";
import { roomsAt } from "../../../actors/case/group-rooms.ts";
import { desksOf, type OnDesk } from "../../../actors/review/desks.ts";
import type { DashboardView } from "../../../schemas/dashboard.ts";
import { evening, secondsLater } from "../../harness/given.ts";
import { economy, plannedCase, stateOf } from "./planned-case.ts";

const planned = stateOf(
  plannedCase(
    [
      [1, "ECONOMY"],
      [4, "ECONOMY"],
      [3, "ECONOMY"],
    ],
    economy,
  ),
);

const caseOf = (_id: string, more: Partial<BoardCase> = {}): BoardCase => ({
  ...planned,
  _id: `XN-${_id}`,
  demands: [],
  ...more,
});

const demand = (state: "REQUESTED" | "APPROVED" | "REJECTED" | "PARTIAL", rooms: number, at = evening) => ({
  state,
  roomsRequested: rooms,
  requestedAt: at,
});

const item = (caseId: string, category: OnDesk["category"], priority: OnDesk["priority"]): OnDesk => ({
  caseId: `XN-${caseId}`,
  category,
  priority,
  dueAt: secondsLater(60),
  overdue: false,
});

const sections = (open: BoardCase[], items?: OnDesk[], now = evening): Partial<DashboardView> =>
  sectionsOf({ open, closedLately: 4 }, items && desksOf(items, now));

t.test("a planned case keeps its rooms beside its letters", async (t) => {
  t.same(
    planned.groups.map((_, i) => roomsAt(planned.rooms, i)),
    planned.groups.map(({ stay }) => stay?.rooms),
  );
  t.equal(roomsAt(undefined, 0), 0, "a document from before");
});

t.test("counts by status, airport, progress, rooms and demand", async (t) => {
  const told = sections(
    [
      caseOf("A", {
        progress: "BWH",
        demands: [demand("APPROVED", 5), demand("REQUESTED", 2, secondsLater(9))],
      }),
      caseOf("B", {
        airport: "OPO",
        progress: "RRF",
        demands: [demand("PARTIAL", 4), demand("REJECTED", 9)],
      }),
      caseOf("C", { status: "MANUAL_REVIEW", progress: "NDX", demands: [demand("REQUESTED", 1)] }),
      caseOf("D", { kind: "DRILL", progress: "WWW", demands: [demand("REQUESTED", 7)] }),
    ],
    [],
  );
  t.same(told.cases, {
    byStatus: [
      { status: "OPEN", count: 2 },
      { status: "MANUAL_REVIEW", count: 1 },
      { status: "CLOSED", count: 4 },
    ],
    byAirport: [
      { airport: "JFK", cases: 2, groups: 6, groupsWithoutRoom: 2 },
      { airport: "OPO", cases: 1, groups: 3, groupsWithoutRoom: 1 },
    ],
    drills: 1,
  });
  t.same(told.groups, [
    { progress: "WAITING", count: 1 },
    { progress: "HELD", count: 1 },
    { progress: "BOOKED", count: 1 },
    { progress: "FAILED", count: 1 },
    { progress: "RESOLVED", count: 2 },
    { progress: "DECLINED", count: 1 },
    { progress: "SETTLED_BY_HAND", count: 1 },
    { progress: "NOT_REQUIRED", count: 1 },
  ]);
  // A has 1 room booked of 5 approved, B 1 + 2 of 4; who declined in C had 2.
  t.same(told.rooms, { requested: 12, approved: 9, booked: 6, short: 5 });
  t.same(told.pendingApprovals, { demands: 2, rooms: 3, oldestRequestedAt: evening.toISOString() });
});

t.test("the desks: by category and priority, overdue by their deadline", async (t) => {
  const items = [
    item("A", "BOOKING_FAILED", "HIGH"),
    item("A", "DATA_INCOMPLETE", "LOW"),
    { ...item("B", "BOOKING_FAILED", "HIGH"), overdue: true },
  ];
  const cases = [caseOf("A"), caseOf("B")];
  t.same(sections(cases, items).reviewItems, {
    open: 3,
    overdue: 1,
    byCategory: [
      { category: "BOOKING_FAILED", count: 2 },
      { category: "DATA_INCOMPLETE", count: 1 },
    ],
    byPriority: [
      { priority: "HIGH", count: 2 },
      { priority: "LOW", count: 1 },
    ],
  });
  t.equal(sections(cases, items, secondsLater(60)).reviewItems?.overdue, 3, "due now is too late");
});

t.test("the most urgent first, ten at most, and nobody whom all is done for", async (t) => {
  const quiet = { progress: "RRN", demands: [] };
  const cases = [
    caseOf("1", quiet),
    caseOf("2", { progress: "WWW" }),
    caseOf("3", { progress: "WRR" }),
    caseOf("4", quiet),
    caseOf("5", { progress: "RRR", demands: [demand("APPROVED", 9)] }),
    caseOf("6", quiet),
  ];
  const items = [
    item("4", "BOOKING_FAILED", "HIGH"),
    { ...item("6", "DATA_INCOMPLETE", "LOW"), overdue: true },
  ];
  const order = (told: Partial<DashboardView>) => told.urgentCases?.map(({ caseUrn }) => caseUrn.at(-1));
  t.same(order(sections(cases, items)), ["6", "4", "2", "3", "5"]);
  t.same(sections(cases, items).urgentCases?.[1]?.reviewItems, { open: 1, high: 1, overdue: 0 });
  const many = Array.from({ length: 30 }, (_, i) => caseOf(`M${i + 10}`, { progress: "WWW" }));
  t.equal(sections(many, []).urgentCases?.length, 10);
  t.equal(sections(many, []).urgentCases?.[0]?.caseUrn, "urn:case:XN-M10", "of equals the oldest");
});

t.test("a part that has not answered is left out, the others stand", async (t) => {
  const cases = [caseOf("A", { progress: "WWW" })];
  const withoutDesks = sections(cases);
  t.notOk("reviewItems" in withoutDesks);
  t.equal(withoutDesks.urgentCases?.length, 1);
  t.notOk("reviewItems" in withoutDesks.urgentCases![0]!);
  const withoutCases = sectionsOf(undefined, desksOf([item("A", "BOOKING_FAILED", "HIGH")], evening));
  t.same(Object.keys(withoutCases), ["reviewItems"]);
});
