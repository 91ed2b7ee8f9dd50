// Approved rooms, as tables: whom they are given to, and what becomes of those who wait for more.
import t from "tap";
import { placeable } from "../../../actors/case/capacity.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import { alike, eventsOf, givenOf } from "../../harness/given.ts";
import {
  approve,
  asking,
  caseId,
  groupIds,
  human,
  note,
  noteGroup,
  noteWave,
  type Party,
  pair,
  plannedCase,
  reject,
  requestDemand,
  reviewItem,
  rules,
  stateOf,
} from "./planned-case.ts";

t.test("rooms are given out as far as they are approved", async (t) => {
  const given = givenOf(t, rules, caseId);
  const whole = plannedCase([pair, [6, "ECONOMY"], pair, pair], asking);
  const [small = "", large = "", last = "", late = ""] = groupIds(whole);
  const placed = (events: CaseEvent[]) => placeable(stateOf(events)).map((i) => groupIds(events)[i]);
  t.strictSame(placed(whole), [], "none before the approval");
  const approved = eventsOf(rules, whole, approve(whole));
  t.strictSame(placed(approved), [small, large, last, late]);
  const [initial] = stateOf(whole).demands;
  const fewer: CaseEvent[] = whole.map((event) =>
    event.type === "demand.requested" && initial !== undefined
      ? { type: "demand.requested", data: { ...initial, roomsRequested: 2 } }
      : event,
  );
  const two = eventsOf(rules, fewer, approve(fewer));
  t.strictSame(placed(two), [small, last], "one that is too large for what is left is passed over");

  const more = eventsOf(rules, two, requestDemand(3));
  given(...more)
    .when(approve(more, 1))
    .then({ type: "demand.approved" })
    .leads({ awaiting: { waveId: stateOf(two).waveId as string } });
  const both = eventsOf(rules, more, approve(more, 1));
  given(...both)
    .when(noteWave(both, [small, last]))
    .then(
      { type: "case.wave-noted", data: { progress: "AWAW" } },
      { type: "case.wave-requested", data: { demandId: stateOf(both).demands[1]?.demandId as string } },
    );
  const half = eventsOf(rules, two, noteWave(two, [small]));
  t.strictSame(placed(half), [last], "what a group has been given is given");
  t.strictSame(
    placed(eventsOf(rules, half, noteGroup(small, "F"))),
    [last, late],
    "and is there again when it fails",
  );
  const out = eventsOf(rules, two, noteWave(two, [small, last]));
  given(...out)
    .when(human("allocate", {}))
    .refused("conflict/state");
  const idle = eventsOf(rules, out, noteGroup(small, "B"), noteGroup(last, "B"));
  alike(
    t,
    stateOf(idle).demands,
    [{ state: "FULFILLED" }],
    "what was approved is booked, though a group waits",
  );
  alike(t, stateOf(idle), { progress: "BHBH", onDesk: [large, late] }, "which is on a desk");
});

t.test("nobody who waits is left to nobody", async (t) => {
  const given = givenOf(t, rules, caseId);
  const large: Party = [6, "ECONOMY"];
  const whole = plannedCase([pair, large], asking);
  const [small = "", six = ""] = groupIds(whole);
  // Two rooms are approved, of which the large group cannot have what it needs.
  const fewer = whole.map((event) =>
    event.type === "demand.requested" ? { ...event, data: { ...event.data, roomsRequested: 2 } } : event,
  );
  const approved = eventsOf(rules, fewer, approve(fewer));
  const placed = noteWave(approved, [small]);
  given(...approved)
    .when(placed)
    .then(
      { type: "case.wave-noted", data: { progress: "AW" } },
      { type: "case.groups-stranded", data: { progress: "AH", groups: [six], occurrence: placed.id } },
    )
    .leads({ progress: "AH", onDesk: [six] })
    .sends(reviewItem("ALLOCATION_FAILED", [six], { origin: "capacity", occurrence: placed.id }));
  const stranded = eventsOf(rules, approved, placed);
  given(...stranded)
    .when(placed)
    .nothing();
  // While a demand is to be decided they wait for it, and its approval finds them.
  const asked = eventsOf(rules, approved, requestDemand(2));
  given(...asked)
    .when(placed)
    .then({ type: "case.wave-noted" })
    .leads({ progress: "AW" });
  const waiting = eventsOf(rules, asked, placed);
  given(...waiting)
    .when(approve(waiting, 1))
    .then({ type: "demand.approved" }, { type: "case.wave-requested", data: { progress: "AW" } });
  given(...waiting)
    .when(reject(waiting, 1))
    .then({ type: "demand.rejected" }, { type: "case.groups-stranded", data: { groups: [six] } });
  const more = eventsOf(rules, stranded, requestDemand(2));
  given(...more)
    .when(approve(more, 1))
    .then({ type: "demand.approved" }, { type: "case.wave-requested", data: { progress: "AW" } })
    .leads({ onDesk: [six] });
  const again = eventsOf(rules, more, approve(more, 1));
  given(...eventsOf(rules, again, noteWave(again, [six])))
    .when(note(six, "B"))
    .then({ type: "case.group-noted", data: { housed: [six] } }, { type: "demand.settled" });
  // A group whose saga gives its rooms back makes room for another at once.
  const two = plannedCase([pair, pair], asking);
  const [first = "", second = ""] = groupIds(two);
  const one = two.map((event) =>
    event.type === "demand.requested" ? { ...event, data: { ...event.data, roomsRequested: 1 } } : event,
  );
  const full = eventsOf(rules, one, approve(one), requestDemand(9));
  const waits = eventsOf(rules, full, noteWave(full, [first]), note(first, "D"), reject(full, 1));
  alike(t, stateOf(waits), { progress: "DW", awaiting: { step: "wave" } }, `${second} is looked for`);
  given(...plannedCase([pair, [2, "FIRST"]], { ...asking, FIRST: null }))
    .when(reject(plannedCase([pair, [2, "FIRST"]], { ...asking, FIRST: null })))
    .then({ type: "demand.rejected" }, { type: "case.groups-stranded", data: { progress: "HH" } });
});
