// How a case follows its groups, as tables: what a wave tells, what groups tell in any order, what is settled, what is asked again.
import t from "tap";
import { placeable } from "../../../actors/case/capacity.ts";
import { type CaseEvent, type Stage, technicalEvents } from "../../../actors/case/state.ts";
import { alike, eventsOf, givenOf, received, secondsLater } from "../../harness/given.ts";
import {
  approve,
  asking,
  caseId,
  economy,
  groupIds,
  human,
  noteGroup,
  noteWave,
  open,
  pair,
  plannedCase,
  provisionedCase,
  requestDemand,
  rules,
  stateOf,
  typesOf,
} from "./planned-case.ts";

t.test("what a wave tells", async (t) => {
  const given = givenOf(t, rules, caseId);
  const running = plannedCase([pair, pair, pair], economy);
  const [a = "", b = "", c = ""] = groupIds(running);
  given(...running)
    .when(noteWave(running, [a], [b]))
    .then(
      { type: "case.wave-noted", data: { progress: "AHW" } },
      { type: "case.wave-requested", data: { progress: "AHW" } },
    )
    .sends({ to: "command", name: "wave.run" });
  const over = eventsOf(rules, running, noteWave(running, [a], [b, c]));
  t.notOk("awaiting" in stateOf(over), "and is awaited no more");
  const ahead = eventsOf(rules, running, noteGroup(a, "B"), noteGroup(b, "F"));
  given(...ahead)
    .when(noteWave(running, [a, b, c]))
    .then({ type: "case.wave-noted", data: { progress: "BFA" } });
  given(...eventsOf(rules, running, noteWave(running, [a])))
    .when(noteWave(running, [a]))
    .nothing();
  given(...ahead)
    .when(noteWave(running, [c], []))
    .then({ type: "case.wave-noted", data: { progress: "BFA" } });
  const booked = eventsOf(rules, running, noteGroup(a, "B"), noteGroup(b, "B"));
  given(...booked)
    .when(noteWave(running, [], [c]))
    .then(
      { type: "case.wave-noted", data: { progress: "BBH" } },
      { type: "demand.settled", data: { state: "PARTIAL" } },
    );
});

t.test("what groups tell, in any order", async (t) => {
  const given = givenOf(t, rules, caseId);
  const moves: [Stage[], Stage, string][] = [
    [["A"], "B", "B"],
    [[], "B", "B"],
    [["B"], "B", "same"],
    [["R"], "B", "same"],
    [["D"], "B", "same"],
    [["R"], "D", "same"],
    [["D"], "R", "same"],
    [["F"], "R", "R"],
    [["B"], "D", "D"],
    [["B"], "F", "F"],
  ];
  for (const [past, stage, becomes] of moves) {
    // A second group keeps the case from being settled.
    const two = plannedCase([pair, pair], economy);
    const [group] = groupIds(two);
    const story = eventsOf(rules, two, ...past.map((before) => noteGroup(group, before)));
    const told = given(...story).when(noteGroup(group, stage));
    if (becomes === "same") told.nothing();
    else told.then({ type: "case.group-noted", data: { progress: `${becomes}W` } });
  }
  const [only] = groupIds(plannedCase([pair], economy));
  given(...plannedCase([pair], economy))
    .when(noteGroup("nobody", "B"))
    .nothing();
  given().when(noteGroup(only, "B")).notYet();
});

t.test("what is settled when nobody is on the way", async (t) => {
  const table: [string, Stage[], string, boolean][] = [
    ["all booked", ["B", "B"], "FULFILLED", false],
    ["all resolved", ["R", "R"], "FULFILLED", true],
    ["one failed", ["B", "F"], "PARTIAL", false],
    ["one declined", ["R", "D"], "FULFILLED", true],
    ["one is still on the way", ["B"], "APPROVED", false],
    ["none booked", ["F", "F"], "APPROVED", false],
    ["one failed, then was helped", ["B", "F", "R"], "FULFILLED", false],
  ];
  for (const [what, stages, demand, resolved] of table) {
    const two = plannedCase([pair, pair], economy);
    const groups = groupIds(two);
    const notes = stages.map((stage, i) => noteGroup(groups[Math.min(i, 1)], stage));
    const story = eventsOf(rules, two, noteWave(two, groups), ...notes);
    alike(t, stateOf(story).demands, [{ state: demand }], what);
    t.equal(
      typesOf(story).filter((type) => type === "case.resolved").length,
      resolved ? 1 : 0,
      `${what}: resolved`,
    );
    t.strictSame(
      typesOf(eventsOf(rules, story, noteGroup(groups[0], stages[0] as Stage))),
      typesOf(story),
      `${what}: told twice is told once`,
    );
  }
});

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
});

t.test("a step that doesn't answer is asked for again", async (t) => {
  const given = givenOf(t, rules, caseId);
  const reissue = (seconds: number) => received("case.reissue", {}, { now: secondsLater(seconds) });
  const registered = eventsOf(rules, [] as CaseEvent[], open([pair]));
  const running = plannedCase([pair], economy);
  const { waveId = "" } = stateOf(running);
  const table: [string, CaseEvent[], Parameters<ReturnType<ReturnType<typeof given>["when"]>["sends"]>[0]][] =
    [
      ["provisioning", registered, { to: "command", name: "sub-case.open-many", data: { from: 0 } as never }],
      ["planning", provisionedCase([pair]), { to: "command", name: "case.plan", entity: caseId }],
      ["the wave", running, { to: "command", name: "wave.run", entity: waveId }],
    ];
  for (const [, events, message] of table) {
    given(...events)
      .when(reissue(20))
      .then({ type: "case.step-reissued", data: { dueAt: secondsLater(40) } })
      .sends(message);
    given(...events)
      .when(reissue(19))
      .nothing();
  }
  const [group = ""] = groupIds(running);
  given(...eventsOf(rules, running, noteWave(running, [group])))
    .when(reissue(60))
    .nothing();
  given().when(reissue(60)).notYet();
  t.ok(technicalEvents.has("case.step-reissued"), "and no reader is told of it");
});
