// Changes of a group as its sub-case takes them: others in it, nobody left in it, no room needed any more; and where sessions go.
import t from "tap";
import { movedTo } from "../../../actors/sub-case/sessions.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { groupView, manifestItem } from "../../../actors/sub-case/view.ts";
import { isSessionOf, sessionIdOf } from "../../../schemas/passenger-session.ts";
import type { Regrouped } from "../../../schemas/regroup.ts";
import { evening, eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  accept,
  answer,
  assign,
  caseId,
  decline,
  done,
  doneIn,
  forward,
  opened,
  ready,
  refusedBy,
  rules,
  stage,
  standing,
  stateOf,
  stepsOf,
  story,
  subCaseId,
} from "./group-story.ts";

const [ada, byron] = stateOf([opened()]).passengers as [
  Regrouped["passengers"][0],
  Regrouped["passengers"][0],
];
const cleo = { ...byron, urn: "urn:passenger:XN-CLEO", pnr: "B2 bbge" };
const regroup = (data: Partial<Regrouped> = {}) =>
  received("sub-case.regroup", { shape: 1, passengers: [ada], tier: "BUSINESS", moved: [], ...data });
const away = (shape = 1) =>
  regroup({
    shape,
    passengers: [],
    mergedInto: { groupId: "OTHER", subCaseId: "XN-OTHER" },
    moved: [{ passengerUrns: [ada.urn, byron.urn], subCaseId: "XN-OTHER" }],
  });
const failed = story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"));
const resolved = eventsOf(rules, ready, accept);
const undone = ["cancel-ride", "cancel-card", "cancel"] as const;

t.test("who is in the group from now on", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(opened())
    .when(regroup({ passengers: [ada, cleo], moved: [{ passengerUrns: [byron.urn], subCaseId: "XN-NEW" }] }))
    .then({ type: "subcase.regrouped" })
    .sends()
    .leads({
      status: "PENDING",
      tier: "BUSINESS",
      shape: 1,
      pnrs: ["K7QX2M", "B2BBGE"],
      passengers: [ada, cleo],
    });
  given(...failed)
    .when(regroup())
    .leads({ status: "PENDING", assignment: undefined as never, round: 1 });
  const waiting = eventsOf(rules, [opened()], assign({ book: false }));
  given(...waiting)
    .when(regroup())
    .leads({ status: "PENDING", assignment: undefined as never });
  const closed = eventsOf(rules, [opened()], standing("suspend", 10));
  given(...closed)
    .when(regroup())
    .leads({ passengers: [ada], shape: 1 });
});

t.test("each change once and in order, however it arrives", async (t) => {
  const once = eventsOf(rules, [opened()], regroup());
  givenOf(
    t,
    rules,
    subCaseId,
  )(...once)
    .when(regroup({ passengers: [byron] }))
    .nothing();
  givenOf(
    t,
    rules,
    subCaseId,
  )(...once)
    .when(regroup({ shape: 3 }))
    .notYet();
  givenOf(
    t,
    rules,
    subCaseId,
  )(...once)
    .when(regroup({ shape: 2, passengers: [byron] }))
    .leads({ shape: 2 });
});

t.test("a wave's choice counts for the group as the wave knew it", async (t) => {
  const once = eventsOf(rules, [opened()], regroup());
  const given = givenOf(t, rules, subCaseId)(...once);
  given
    .when(assign({ shape: 0 }))
    .then({ type: "subcase.choice-outgrown" })
    .sends(stage("W", 0));
  given
    .when(received("sub-case.book", { waveId: "XN-WAVE", shape: 0 }))
    .then({ type: "subcase.choice-outgrown" })
    .sends(stage("W", 0));
  given.when(received("sub-case.book", { waveId: "XN-WAVE", shape: 2 })).notYet();
  givenOf(
    t,
    rules,
    subCaseId,
  )(...eventsOf(rules, once, away(2)))
    .when(assign({ shape: 3 }))
    .notYet();
  given.when(assign({ shape: 2 })).notYet();
  given.when(assign({ shape: 1, book: false })).then({ type: "subcase.assigned" });
  given.when(assign({ book: false })).then({ type: "subcase.assigned" });
});

t.test("merged away: nobody is left, and it needs no room", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const events of [[opened()], failed])
    given(...events)
      .when(away())
      .then({ type: "subcase.regrouped" }, { type: "subcase.not-required" })
      .sends()
      .leads({ status: "NOT_REQUIRED", passengers: [], pnrs: [], mergedInto: { groupId: "OTHER" } });
  const state = stateOf(eventsOf(rules, [opened()], away()));
  t.match(groupView(state, evening), { operationalStatus: "NOT_REQUIRED", mergedInto: "OTHER" });
  t.match(manifestItem(state, 3, evening), { status: "NOT_REQUIRED", mergedInto: "OTHER", passengers: [] });
});

t.test("in a race with a compensation what the saga gets is given back", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const holding = story();
  given(...holding)
    .when(away())
    .then({ type: "subcase.regrouped" }, { type: "subcase.released", data: { cause: "MERGED" } })
    .leads({ status: "ROLLING_BACK" });
  const table: [string, ReturnType<typeof done>, string[]][] = [
    ["the hold is made, and expires", done("hold"), ["hold DONE"]],
    ["the hold is refused", refusedBy(1, "SOLD_OUT"), ["hold REFUSED"]],
    ["nobody can say", [answer("hold", "unavailable")], ["hold REFUSED"]],
  ];
  for (const [what, answers, steps] of table) {
    const events = eventsOf(rules, holding, away(), ...answers);
    t.same(stepsOf(events), steps, what);
    t.equal(stateOf(events).status, "NOT_REQUIRED", what);
  }
  const booking = eventsOf(rules, story(...done("hold")), away(), ...done("book"), answer("cancel"));
  t.same(stepsOf(booking), ["hold DONE", "book DONE", "cancel-room DONE"]);
  t.match(stateOf(booking), { status: "NOT_REQUIRED", reservation: { status: "CANCELLED" } });
  const inDoubt = eventsOf(rules, story(...done("hold")), away(), answer("book", "in-doubt"));
  t.match(stateOf(inDoubt), { status: "ROLLING_BACK", call: { step: "book", doubt: true } });
});

t.test("in a race with a compensation whoever comes into the group has a bed, too", async (t) => {
  const more = regroup({ passengers: [ada, byron, cleo] });
  const events = eventsOf(rules, story(...done("hold")), more);
  t.match(stateOf(events), { status: "ROLLING_BACK", released: "REGROUPED", call: { step: "book" } });
  const back = eventsOf(rules, events, ...done("book", "cancel"));
  t.match(stateOf(back), {
    status: "PENDING",
    round: 2,
    assignment: undefined,
    released: undefined,
    reservation: undefined,
    passengers: { length: 3 },
  });
  t.match(rules.outgoing(back.at(-1) as SubCaseEvent, stateOf(back)), [stage("W", 2)]);
  const fewer = eventsOf(rules, story(...done("hold")), regroup());
  t.match(stateOf(fewer), { status: "PROCESSING", passengers: [ada] });
});

t.test("no room needed any more: everything goes back, in reverse", async (t) => {
  const release = received("sub-case.amend-stay", {
    shape: 1,
    stay: { checkIn: "2026-11-21", checkOut: "2026-11-21", nights: 0 },
  });
  for (const events of [ready, resolved]) {
    const rolled = eventsOf(rules, events, release, ...done(...undone));
    t.match(stateOf(rolled), {
      status: "NOT_REQUIRED",
      offer: { state: "WITHDRAWN" },
      reservation: { status: "CANCELLED" },
    });
    t.same(stepsOf(rolled).slice(-4), [
      "cancel-transport DONE",
      "cancel-card DONE",
      "void-voucher DONE",
      "cancel-room DONE",
    ]);
  }
  const last = eventsOf(rules, ready, release, ...done("cancel-ride", "cancel-card"));
  givenOf(
    t,
    rules,
    subCaseId,
  )(...last)
    .when(answer("cancel"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.not-required" });
  const sent = rules.outgoing({ type: "subcase.not-required", data: {} }, stateOf(last));
  t.match(sent, [stage("N")]);
  const released = eventsOf(rules, ready, release).slice(ready.length)[1] as SubCaseEvent;
  t.match(rules.outgoing(released, stateOf(ready)), [
    { type: "voucher.amended", caseId, data: { status: "VOID" } },
  ]);
  givenOf(
    t,
    rules,
    subCaseId,
  )(opened())
    .when(release)
    .then({ type: "subcase.stay-amended" }, { type: "subcase.not-required" })
    // The case may take it to be on its way to a room.
    .sends(stage("N", 0));
  givenOf(
    t,
    rules,
    subCaseId,
  )(...failed)
    .when(release)
    .sends(stage("N"));
});

t.test("released while it rolls back, is stuck, or closed", async (t) => {
  const release = received("sub-case.amend-stay", {
    shape: 1,
    stay: { checkIn: "2026-11-21", checkOut: "2026-11-21", nights: 0 },
  });
  const declined = eventsOf(rules, ready, decline, release, ...done(...undone));
  t.match(stateOf(declined), { status: "NOT_REQUIRED", offer: { state: "DECLINED" } });
  const stuck = eventsOf(
    rules,
    ready,
    decline,
    ...done("cancel-ride", "cancel-card"),
    answer("cancel", "refused"),
  );
  t.equal(stateOf(stuck).status, "COMPENSATION_FAILED");
  const after = eventsOf(
    rules,
    stuck,
    release,
    received("sub-case.compensate", { reason: "They say it is done" }),
    answer("cancel", "done", { again: 1 }),
  );
  t.equal(stateOf(after).status, "NOT_REQUIRED");
  const closed = eventsOf(rules, story(...done("hold")), away(), standing("suspend", 10), ...done("book"));
  t.match(stateOf(closed), { status: "ROLLING_BACK", call: undefined });
  const open = eventsOf(rules, closed, standing("resume", 60), answer("cancel"));
  t.equal(stateOf(open).status, "NOT_REQUIRED");
  // Long after a group was let go there is a night to bridge after all: its next round owes nothing to the last.
  t.equal(doneIn(2, ...forward).length, forward.length);
});

t.test("sessions tell whose they are, and follow", async (t) => {
  const random = "c0ffee00-1234-4abc-9def-0123456789ab";
  const id = sessionIdOf(byron.urn, random);
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8abc-9def-0123456789ab$/);
  const session = `urn:passenger-session:${id}`;
  t.ok(isSessionOf(session, byron.urn));
  t.notOk(isSessionOf(session, ada.urn));
  t.notOk(isSessionOf(`urn:passenger-session:${random}`, byron.urn), "one from before knows nobody");
  const whole = stateOf([opened()]);
  t.equal(movedTo(whole, session), undefined);
  const events = eventsOf(
    rules,
    [opened()],
    regroup({ moved: [{ passengerUrns: [byron.urn], subCaseId: "XN-NEW" }] }),
  );
  t.equal(movedTo(stateOf(events), session), "XN-NEW");
  t.equal(movedTo(stateOf(events), `urn:passenger-session:${random}`), undefined, "stays where it was");
  const merged = stateOf(eventsOf(rules, events, away(2)));
  t.equal(movedTo(merged, `urn:passenger-session:${random}`), "XN-OTHER", "nobody is left here");
  const back = stateOf(eventsOf(rules, events, regroup({ shape: 2, passengers: [ada, byron] })));
  t.equal(movedTo(back, session), undefined);
  t.same(back.moved, []);
});
