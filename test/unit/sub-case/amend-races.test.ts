// Changes of dates that cross each other, or what was decided before: nobody is left with no room, or with one for other nights.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  answer,
  assign,
  caseId,
  decline,
  done,
  opened,
  ready,
  review,
  rules,
  stage,
  standing,
  stateOf,
  subCaseId,
} from "./group-story.ts";

const until = (checkOut: string, shape = 1, nights = 2): Received =>
  received("sub-case.amend-stay", { shape, stay: { checkIn: "2026-11-21", checkOut, nights } });
const longer = until("2026-11-23");
const suspend = standing("suspend", 10);
const resume = standing("resume", 60);
const modified = (outcome: "done" | "refused") => answer("modify", outcome);

t.test("let go, and wanted again", async (t) => {
  const none = (shape: number) => until("2026-11-21", shape, 0);
  const given = givenOf(t, rules, subCaseId);
  const undone = done("cancel-ride", "cancel-card", "cancel");
  const again = (effect: string, shape = 2) => {
    const { data, ...command } = until("2026-11-23", shape);
    return { ...command, data: { ...(data as object), effect } };
  };
  // Before all is given back: it waits again, in a round that the case counts after all that it has heard.
  const meanwhile = eventsOf(rules, ready, none(1), again("AMENDING"));
  t.match(stateOf(meanwhile), { status: "ROLLING_BACK", call: { step: "cancel-transport" } });
  given(...eventsOf(rules, meanwhile, ...undone.slice(0, 2)))
    .when(undone[2] as Received)
    .then({ type: "subcase.step-completed" }, { type: "subcase.waits-again" })
    .leads({
      status: "PENDING",
      round: 2,
      released: undefined as never,
      reservation: undefined as never,
      card: undefined as never,
      offer: { state: "PENDING" },
    });
  const waiting = eventsOf(rules, meanwhile, ...undone);
  t.match(rules.outgoing(waiting.at(-1) as SubCaseEvent, stateOf(waiting)), [stage("W", 2)]);
  // Thereafter: the case tells whether it knows.
  const gone = eventsOf(rules, ready, none(1), ...undone);
  given(...gone)
    .when(again("REPLANNED"))
    .then({ type: "subcase.stay-amended" })
    .sends()
    .leads({ status: "PENDING", round: 1 });
  given(...gone)
    .when(again("AMENDING"))
    .then({ type: "subcase.stay-amended" }, { type: "subcase.waits-again" })
    .sends(stage("W", 2));
  given(...gone)
    .when(none(2))
    .then({ type: "subcase.stay-amended" }, { type: "subcase.not-required" })
    .sends({ ...stage("N"), data: { stage: "N", round: 1, shape: 2 } } as never);
  // Who has declined stays so.
  const declined = eventsOf(rules, ready, decline, none(1), again("AMENDING"), ...undone);
  t.match(stateOf(declined), { status: "DECLINED", released: undefined });
  // Who is at the hotel is a person's to see to.
  const arrived = eventsOf(
    rules,
    ready,
    received("sub-case.record-stay", {
      reference: `${subCaseId}.room.1.1`,
      bookingId: "B1",
      state: "CHECKED_IN",
      at: "2026-11-21T23:00:00Z",
    }),
  );
  given(...arrived)
    .when(none(1))
    .then({ type: "subcase.stay-amended" }, { type: "subcase.outgrown" })
    .sends(review("BOOKING_FAILED", "amendment") as never)
    .leads({ status: "RESOLVED", reservation: { status: "CHECKED_IN" } });
});

t.test("a wave has chosen another hotel in vain", async (t) => {
  const refused = eventsOf(rules, ready, longer, modified("refused"));
  const choice = received("sub-case.override", {
    assignment: {
      ...(assign({ waveId: "XN-WAVE2", shape: 1 }).data as object),
      stay: { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 },
    },
  });
  const given = givenOf(t, rules, subCaseId);
  given(...eventsOf(rules, ready, longer))
    .when(choice)
    .notYet();
  const arrived = received("sub-case.record-stay", {
    reference: `${subCaseId}.room.1.1`,
    bookingId: "B1",
    state: "CHECKED_IN",
    at: "2026-11-21T23:00:00Z",
  });
  given(...eventsOf(rules, refused, arrived))
    .when(choice)
    .then({ type: "subcase.outgrown", data: { code: "CHECKED_IN" } })
    .sends(review("BOOKING_FAILED", "amendment") as never);
  // The case was closed before it heard that another one is to be sought.
  given(...eventsOf(rules, refused, standing("suspend", 10)))
    .when(standing("resume", 60, 60, { stage: "B", round: 1, shape: 1 }))
    .then({ type: "subcase.resumed" })
    .sends({ to: "command", name: "case.replace-group", entity: caseId, data: { shape: 1 } } as never);
});

t.test("what the case and people have decided before is not lost", async (t) => {
  const settled = eventsOf(rules, [opened()], suspend, received("sub-case.settle"));
  t.match(stateOf(settled), { settled: true });
  const none = eventsOf(rules, [opened()], suspend, received("sub-case.mark-not-required"));
  t.match(stateOf(none), { status: "NOT_REQUIRED" });
  // A person has resolved the item of a stuck rollback: it is not on a desk any more.
  const rolling = eventsOf(rules, ready, decline);
  const stuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"), answer("cancel", "refused"));
  const ordered = eventsOf(rules, stuck, suspend, received("sub-case.compensate"));
  t.match(stateOf(ordered), { status: "COMPENSATION_FAILED", call: undefined });
  givenOf(
    t,
    rules,
    subCaseId,
  )(...ordered)
    .when(resume)
    .then(
      { type: "subcase.resumed" },
      { type: "subcase.processing" },
      { type: "subcase.step-started", data: { record: { name: "cancel-room" }, call: { again: 1 } } },
    )
    .leads({ status: "ROLLING_BACK" });
  const undone = eventsOf(rules, ordered, resume, answer("cancel", "done", { again: 1 }));
  t.notOk("retryOrdered" in stateOf(undone));
  t.equal(stateOf(undone).status, "DECLINED");
});

t.test("a change before the opening is heard first", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...eventsOf(rules, ready, suspend))
    .when(standing("resume", 60, 60, { stage: "B", round: 1, shape: 1 }))
    .notYet();
});
