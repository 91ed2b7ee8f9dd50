// How a case follows its groups, as tables: what a wave tells, what groups tell in any order, what is settled, what is asked again.
import t from "tap";
import { type CaseEvent, technicalEvents } from "../../../actors/case/state.ts";
import { alike, eventsOf, givenOf, received, secondsLater } from "../../harness/given.ts";
import {
  caseId,
  economy,
  groupIds,
  human,
  next as nextFlight,
  note,
  noteGroup,
  noteWave,
  open,
  pair,
  plan,
  plannedCase,
  provisionedCase,
  reviewItem,
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
  // What has gone on since the wave was asked for is not this wave's any more.
  const returned = eventsOf(rules, running, note(a, "W"));
  alike(t, stateOf(returned).awaiting, { rounds: "000" }, "as they were when it was asked for");
  given(...returned)
    .when(noteWave(running, [a, b], [c]))
    .then(
      { type: "case.wave-noted", data: { progress: "WAH" } },
      { type: "case.wave-requested", data: { progress: "WAH" } },
    )
    .leads({ awaiting: { rounds: "100" } });
  given(...returned)
    .when(noteWave(running, [b], [a, c]))
    .then({ type: "case.wave-noted", data: { progress: "WAH" } }, { type: "case.wave-requested" });
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
  /** What was told, what is told now, and where the group stands then; undefined: where it stood. */
  const moves: [string, string, string?][] = [
    ["", "B", "B"],
    ["A", "B", "B"],
    ["B", "R", "R"],
    ["B", "F", "F"],
    ["B", "D", "D"],
    ["B", "O", "O"],
    ["R", "C", "C"],
    ["R", "O", "O"],
    ["O", "C", "C"],
    ["R", "F", "F"],
    ["R", "U", "U"],
    ["U", "D", "D"],
    ["U", "F", "F"],
    ["U", "C", "C"],
    ["A", "W", "W"],
    // Late within a round.
    ["F", "W"],
    ["W", "A"],
    ["B", "A"],
    ["B", "W"],
    ["R", "B"],
    ["F", "B"],
    ["F", "A"],
    ["F", "R"],
    ["F", "U"],
    ["D", "R"],
    ["D", "B"],
    ["D", "F"],
    ["C", "R"],
    ["C", "O"],
    ["C", "B"],
    ["R", "R"],
    // A later round counts, whatever it tells.
    ["F", "A2", "A"],
    ["F", "B2", "B"],
    ["W", "B2", "B"],
    ["B", "W2", "W"],
    ["F", "W2", "W"],
    ["F2", "F3", "F"],
    ["F", "R2", "R"],
    ["C", "A2", "A"],
    ["F9", "B12", "B"],
    ["F9", "F10", "F"],
    ["F35", "B36", "B"],
    ["F99", "B100", "B"],
    // An earlier one never does.
    ["A2", "F"],
    ["B2", "F"],
    ["W2", "F"],
    ["W2", "W"],
    ["R2", "C"],
    ["B3", "R2"],
    ["B12", "F9"],
    ["B10", "F9"],
    ["B36", "F35"],
    ["B2", "D0"],
  ];
  for (const [before, now, becomes] of moves) {
    // A second group keeps the case from being settled.
    const two = plannedCase([pair, pair], economy);
    const [group] = groupIds(two);
    const story = eventsOf(rules, two, ...(before === "" ? [] : [note(group, before)]));
    const told = given(...story).when(note(group, now));
    if (becomes === undefined) told.nothing();
    else told.then({ type: "case.group-noted", data: { progress: `${becomes}W` } });
  }
  const [only] = groupIds(plannedCase([pair], economy));
  given(...plannedCase([pair], economy))
    .when(noteGroup("nobody", "B"))
    .nothing();
  given().when(noteGroup(only, "B")).notYet();
  const unneeded = eventsOf(rules, provisionedCase([pair, pair], nextFlight("2026-11-21T23:30:00Z")), [
    plan,
    economy,
  ]);
  given(...unneeded)
    .when(note(groupIds(unneeded)[0], "A5"))
    .nothing();
  const many = plannedCase([pair, pair], economy);
  const [, second] = groupIds(many);
  given(...eventsOf(rules, many, note(second, "B35")))
    .when(note(second, "R36"))
    .leads({ progress: "WR", rounds: "0T" });
});

t.test("a group that went back to the case is placed again", async (t) => {
  const given = givenOf(t, rules, caseId);
  const running = plannedCase([pair, pair], economy);
  const [a = "", b = ""] = groupIds(running);
  const placed = eventsOf(rules, running, noteWave(running, [a, b]), note(b, "B"));
  given(...placed)
    .when(note(a, "W"))
    .then(
      { type: "case.group-noted", data: { progress: "WB", rounds: "11" } },
      { type: "case.wave-requested", data: { progress: "WB" } },
    )
    .sends({ to: "command", name: "wave.run", data: { caseId } });
  given(...running)
    .when(note(a, "W"))
    .then({ type: "case.group-noted", data: { progress: "WW" } });
  const again = eventsOf(rules, placed, note(a, "W"));
  t.not(stateOf(again).waveId, stateOf(placed).waveId, "by another wave");
  given(...again)
    .when(noteWave(again, [a]))
    .leads({ progress: "AB" });
  const third = eventsOf(rules, again, noteWave(again, [a]), note(a, "W2"));
  given(...eventsOf(rules, third, noteWave(third, [], [a])))
    .when(note(a, "W2"))
    .nothing();
  const holding = eventsOf(rules, running, noteWave(running, [b], [a]));
  given(...holding)
    .when(note(a, "W0"))
    .nothing();
  const unheard = eventsOf(rules, running, noteWave(running, [a, b]));
  given(...unheard)
    .when(note(a, "W0"))
    .then({ type: "case.group-noted", data: { progress: "WA" } }, { type: "case.wave-requested" });
  const byHand = eventsOf(rules, placed, note(a, "F"), note(a, "A2"));
  given(...byHand)
    .when(note(a, "W2"))
    .then({ type: "case.group-noted", data: { progress: "WB" } }, { type: "case.wave-requested" });
});

t.test("who was on a desk is taken off it", async (t) => {
  const given = givenOf(t, rules, caseId);
  const running = plannedCase([pair, pair], economy);
  const [a = "", b = ""] = groupIds(running);
  const housed = (groupId: string) => ({
    to: "command" as const,
    name: "review.note-housed",
    entity: caseId,
    data: { groupId },
  });
  const held = eventsOf(rules, running, noteWave(running, [a], [b]));
  alike(t, stateOf(held).onDesk, [b], "held by the wave");
  given(...held)
    .when(note(a, "B"))
    .then({ type: "case.group-noted", data: { housed: [] } }, { type: "demand.settled" });
  const again = eventsOf(rules, held, human("allocate", {}));
  alike(t, stateOf(again), { progress: "AW", onDesk: [b] }, "tried again, still on the desk");
  given(...again)
    .when(note(b, "B"))
    .then({ type: "case.group-noted", data: { housed: [b] } })
    .leads({ onDesk: [] })
    .sends(housed(b));
  const failed = eventsOf(rules, running, noteWave(running, [a, b]), note(a, "F"));
  alike(t, stateOf(failed).onDesk, [a], "failed");
  given(...failed)
    .when(note(a, "B2"))
    .leads({ onDesk: [], progress: "BA" })
    .sends(housed(a));
  for (const letter of ["R", "C"])
    given(...eventsOf(rules, failed, note(a, "A2")))
      .when(note(a, `${letter}2`))
      .then({ type: "case.group-noted", data: { housed: [a] } })
      .leads({ onDesk: [] })
      .sends(housed(a));
  for (const letter of ["D", "U"])
    given(...eventsOf(rules, failed, note(a, "A2")))
      .when(note(a, `${letter}2`))
      .then({ type: "case.group-noted", data: { housed: [] } });
  given(...eventsOf(rules, failed, note(a, "A2")))
    .when(note(a, "F2"))
    .leads({ onDesk: [a] })
    .sends();
  given(...eventsOf(rules, failed, note(a, "B2")))
    .when(note(a, "R2"))
    .sends();
  const stuck = eventsOf(rules, running, note(a, "B"), note(a, "U"));
  alike(t, stateOf(stuck).onDesk, [], "a stuck rollback is not about a room");
});

t.test("what is settled when nobody is on the way", async (t) => {
  const table: [string, string[], string, boolean][] = [
    ["all booked", ["B", "B"], "FULFILLED", false],
    ["all resolved", ["R", "R"], "FULFILLED", true],
    ["one failed", ["B", "F"], "PARTIAL", false],
    ["one declined", ["R", "D"], "FULFILLED", true],
    ["one did not come", ["R", "O"], "FULFILLED", true],
    ["one is stuck in its rollback", ["B", "U"], "FULFILLED", false],
    ["one is still on the way", ["B"], "APPROVED", false],
    ["none booked", ["F", "F"], "APPROVED", false],
    ["one failed, then was helped", ["B", "F", "R2"], "FULFILLED", false],
    ["one failed, then was helped, the other came", ["R", "F", "R2"], "FULFILLED", true],
  ];
  for (const [what, stages, demand, resolved] of table) {
    const two = plannedCase([pair, pair], economy);
    const groups = groupIds(two);
    const notes = stages.map((stage, i) => note(groups[Math.min(i, 1)], stage));
    const story = eventsOf(rules, two, noteWave(two, groups), ...notes);
    alike(t, stateOf(story).demands, [{ state: demand }], what);
    t.equal(
      typesOf(story).filter((type) => type === "case.resolved").length,
      resolved ? 1 : 0,
      `${what}: resolved`,
    );
    t.strictSame(
      typesOf(eventsOf(rules, story, note(groups[0], stages[0] as string))),
      typesOf(story),
      `${what}: told twice is told once`,
    );
  }
});

t.test("a demand that is partly fulfilled is somebody's work, once", async (t) => {
  const given = givenOf(t, rules, caseId);
  const running = plannedCase([pair, pair, pair], economy);
  const [a = "", b = "", c = ""] = groupIds(running);
  const { demandId = "" } = stateOf(running).demands[0] ?? {};
  const placed = eventsOf(rules, running, noteWave(running, [a, b], [c]), note(a, "B"));
  given(...placed)
    .when(note(b, "F"))
    .then(
      { type: "case.group-noted" },
      { type: "demand.settled", data: { demandId, state: "PARTIAL", lacking: [b, c] } },
    )
    .leads({ demands: [{ state: "PARTIAL", lacking: [b, c] }] })
    .sends(
      { to: "internal", type: "demand.settled", data: { state: "PARTIAL", lacking: [b, c] } },
      reviewItem("PARTIAL_FULFILLMENT", [b, c], { origin: "demand", occurrence: demandId }),
    );
  const partial = eventsOf(rules, placed, note(b, "F"));
  given(...eventsOf(rules, partial, note(b, "A2")))
    .when(note(b, "F2"))
    .then({ type: "case.group-noted" })
    .sends();
  const whole = eventsOf(rules, partial, note(b, "B2"), human("allocate", {}));
  given(...eventsOf(rules, whole, noteWave(whole, [c])))
    .when(note(c, "B"))
    .then(
      { type: "case.group-noted", data: { housed: [c] } },
      { type: "demand.settled", data: { state: "FULFILLED", lacking: [] } },
    )
    .sends(
      { to: "command", name: "review.note-housed", data: { groupId: c } },
      { to: "internal", type: "demand.settled" },
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
