// What people set going about a case's rooms: booking what was allocated, another wave, and a hotel chosen by hand.
import t from "tap";
import { toBePlaced } from "../../../actors/case/booking.ts";
import { allocate, bookRooms } from "../../../actors/case/compositions.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { eventsOf, givenOf, received, supervisor } from "../../harness/given.ts";
import {
  asking,
  caseId,
  economy,
  groupIds,
  human,
  note,
  noteWave,
  pair,
  plannedCase,
  rules,
  standingAt,
  stateOf,
} from "./planned-case.ts";

const three = plannedCase([pair, pair, pair], economy);
const [a = "", b = "", c = ""] = groupIds(three);
const waveId = stateOf(three).waveId ?? "";
const noted = (unbooked: string[]): CaseEvent[] =>
  eventsOf(rules, three, {
    ...noteWave(three, [a, b], [c]),
    data: { waveId, allocated: [a, b], unplaced: [c], unbooked },
  });
const book = (groupIds?: string[]) => human("book-rooms", groupIds === undefined ? {} : { groupIds });
const subCaseOf = (at: number) => stateOf(three).groups[at]?.subCaseId as string;

t.test("book-rooms starts what waits for it, once", async (t) => {
  const given = givenOf(t, rules, caseId);
  const waiting = noted([a, b]);
  t.strictSame(stateOf(waiting).toBook, [
    { groupId: a, waveId },
    { groupId: b, waveId },
  ]);
  given(...waiting)
    .when(book())
    .then({ type: "case.booking-requested" })
    .leads({ toBook: [], progress: "AAH", lastBooking: { groups: [a, b] } })
    .sends(
      { to: "command", name: "sub-case.book", entity: subCaseOf(0), data: { waveId } },
      { to: "command", name: "sub-case.book", entity: subCaseOf(1), data: { waveId } },
    );
  given(...waiting)
    .when(book([b, c]))
    .leads({ toBook: [{ groupId: a, waveId }], lastBooking: { groups: [b] } });
  given(...waiting)
    .when(book(["nobody"]))
    .refused("validation/body");
  given(...waiting)
    .when(book([c]))
    .refused("conflict/state");
  given(...eventsOf(rules, waiting, book()))
    .when(book())
    .refused("conflict/state", { state: "OPEN" });
  given(...noted([]))
    .when(book())
    .refused("conflict/state");
  given(...waiting)
    .when({ ...book(), principal: { ...supervisor, airport: "LAX" } })
    .refused("auth/foreign-airport");
  t.strictSame(
    stateOf(eventsOf(rules, waiting, note(a, "A"))).toBook,
    [{ groupId: b, waveId }],
    "a saga that an operator has begun needs no booking",
  );
});

t.test("a rerun is for whoever has no room, and for those that are named", async (t) => {
  const given = givenOf(t, rules, caseId);
  const rerun = (data: object = {}) => human("rerun", { waveId, ...data });
  given(...three)
    .when(rerun())
    .refused("conflict/state", { state: "RUNNING" });
  given(...noted([b]))
    .when(rerun())
    .then({ type: "case.wave-requested", data: { progress: "AWW" } })
    .leads({ toBook: [] });
  const housed = standingAt(noted([]), "BRF");
  given(...housed)
    .when(rerun())
    .then({ type: "case.wave-requested", data: { progress: "BRW" } })
    .leads({ awaiting: { again: undefined } });
  const again = eventsOf(rules, housed, rerun({ groupIds: [b, c] }));
  t.strictSame(toBePlaced(stateOf(again)), { waiting: [2], again: [1] });
  t.not(stateOf(again).waveId, waveId);
  given(...again)
    .when(rerun())
    .refused("conflict/state", { state: "RUNNING" });
  const second = stateOf(again).waveId;
  const over = eventsOf(rules, again, {
    ...noteWave(again, [b, c]),
    data: { waveId: second, allocated: [b, c], unplaced: [] },
  });
  t.equal(stateOf(over).progress, "BRA", "who has a room keeps its letter");
  given(...over)
    .when(rerun())
    .refused("conflict/state", { state: "SUPERSEDED" });
  given(...housed)
    .when(rerun({ groupIds: ["nobody"] }))
    .refused("validation/body");
  const unapproved = plannedCase([pair], asking);
  given(...unapproved)
    .when(human("rerun", { waveId: undefined }))
    .refused("conflict/demand-not-approved", { state: "REQUESTED" });
});

t.test("a hotel chosen by hand makes a group without a room an allocated one", async (t) => {
  const given = givenOf(t, rules, caseId);
  const override = (groupId: string, round = 0) => received("case.note-override", { groupId, waveId, round });
  given(...noted([a]))
    .when(override(c))
    .leads({
      progress: "AAA",
      toBook: [
        { groupId: a, waveId },
        { groupId: c, waveId },
      ],
    });
  given(...noted([a]))
    .when(override(b))
    .nothing();
  given(...standingAt(three, "BRF"))
    .when(override(a, 1))
    .nothing();
  given(...standingAt(three, "BRF"))
    .when(override(c, 1))
    .leads({ progress: "BRA" });
  given(...standingAt(three, "BRW"))
    .when(override(c, 0))
    .nothing();
  given(...three)
    .when(override("nobody"))
    .nothing();
});

t.test("what a part doesn't answer is left out and named", async (t) => {
  const away = { call: async () => Promise.reject(new Error("away")) } as unknown as ActorContext;
  const allocations = [{ groupId: a, hotelUrn: "urn:hotel:astor", hotelName: "Astor", rooms: 1, nights: 1 }];
  const there = { call: async () => allocations } as unknown as ActorContext;
  const command = { ...book(), entity: "XN-CASE" };
  const started = async () => ({ ok: { caseUrn: "urn:case:XN-CASE", groups: [{ groupId: a }] }, version: 7 });
  t.match(await bookRooms(there)(command, started), {
    version: 7,
    ok: { groups: [{ groupId: a, hotelName: "Astor", rooms: 1 }], partialFailures: [] },
  });
  t.match(await bookRooms(away)(command, started), {
    ok: { groups: [{ groupId: a }], partialFailures: [{ failedDomain: "wave", detail: "away" }] },
  });
  t.match(await allocate(away)(human("allocate", {}), started), {
    ok: { partialFailures: [{ failedDomain: "policy" }, { failedDomain: "vendor-adapter" }] },
  });
});
