// Policies that run in batches, as tables: which approvals wait for the next beat, when it comes, and what it then asks for.
import t from "tap";
import type { CaseEvent } from "../../../actors/case/state.ts";
import { eventsOf, givenOf, received, secondsLater } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import {
  approve,
  caseId,
  close,
  groupIds,
  human,
  note,
  noteReview,
  noteWave,
  type Party,
  type Policies,
  pair,
  plannedCase,
  reopen,
  requestDemand,
  rules,
  stateOf,
  typesOf,
} from "./planned-case.ts";

const every = (batchIntervalMinutes: number, more: object = {}) =>
  policy({ mode: "BATCH", batchIntervalMinutes, ...more });
const due = (seconds: number) => received("case.reissue", {}, { now: secondsLater(seconds) });
const batched: Policies = { ECONOMY: every(15) };

t.test("which approvals wait for the next beat", async (t) => {
  const first: Party = [2, "FIRST"];
  /** Parties, policies, and after how many minutes of the evening (21:00) the wave runs; 0: at once. */
  const table: [string, Party[], Policies, number][] = [
    ["the next beat, not this one", [pair], batched, 15],
    ["every minute", [pair], { ECONOMY: every(1) }, 1],
    ["beats are counted from the epoch", [pair], { ECONOMY: every(7) }, 4],
    ["twelve hours", [pair], { ECONOMY: every(720) }, 180],
    ["nobody waits longer than need be", [pair, first], { ECONOMY: every(20), FIRST: every(30) }, 20],
    ["one tier is on demand", [pair, first], { ECONOMY: every(15), FIRST: policy() }, 0],
    ["all are on demand", [pair], { ECONOMY: policy() }, 0],
    ["a held tier has no say", [pair, first], { ECONOMY: every(15), FIRST: null }, 15],
  ];
  for (const [what, parties, policies, minutes] of table) {
    const state = stateOf(plannedCase(parties, policies));
    const { step, dueAt } = state.awaiting ?? {};
    t.equal(step, minutes === 0 ? "wave" : "batch", what);
    if (minutes > 0) t.strictSame(dueAt, secondsLater(minutes * 60), what);
  }
});

t.test("the beat", async (t) => {
  const given = givenOf(t, rules, caseId);
  const asking = plannedCase([pair, pair], { ECONOMY: every(15, { autoApproveDemand: false }) });
  const [a = "", b = ""] = groupIds(asking);
  const { demandId = "" } = stateOf(asking).demands[0] ?? {};
  given(...asking)
    .when(approve(asking))
    .then(
      { type: "demand.approved" },
      { type: "case.batch-awaited", data: { demandId, dueAt: secondsLater(900) } },
    )
    .sends({ to: "internal", type: "demand.approved" });
  const waiting = eventsOf(rules, asking, approve(asking));
  given(...waiting)
    .when(due(899))
    .nothing();
  given(...waiting)
    .when(due(900))
    .then({ type: "case.wave-requested", data: { demandId, progress: "WW", dueAt: secondsLater(920) } })
    .leads({ awaiting: { step: "wave" } })
    .sends({ to: "command", name: "wave.run", data: { caseId, demandId } });
  const running = eventsOf(rules, waiting, due(900));
  given(...running)
    .when(due(920))
    .then({ type: "case.step-reissued" });
  const held = eventsOf(rules, running, noteWave(running, [a], [b]), requestDemand(2));
  const more = { ...approve(held, 1), now: secondsLater(950) };
  given(...held)
    .when(more)
    .then({ type: "demand.approved" }, { type: "case.batch-awaited", data: { dueAt: secondsLater(1800) } })
    .leads({ progress: "AH" });
  given(...eventsOf(rules, held, more))
    .when(due(1800))
    .then({ type: "case.wave-requested", data: { progress: "AW" } });
  given(...waiting)
    .when(human("allocate", {}))
    .then({ type: "case.wave-requested" })
    .leads({ awaiting: { step: "wave", dueAt: secondsLater(20) } });
  given(...eventsOf(rules, waiting, note(a, "B"), note(b, "B")))
    .when(due(900))
    .then({ type: "case.batch-ended" })
    .sends();
  t.notOk("awaiting" in stateOf(eventsOf(rules, waiting, note(a, "B"), note(b, "B"), due(900))));
});

t.test("approvals and returns while a batch is awaited, or a wave under way", async (t) => {
  const given = givenOf(t, rules, caseId);
  const asking = plannedCase([pair, pair], { ECONOMY: every(15, { incrementalRequiresApproval: true }) });
  const [a = "", b = ""] = groupIds(asking);
  t.equal(stateOf(asking).awaiting?.step, "batch");
  const more = eventsOf(rules, asking, requestDemand(2));
  given(...more)
    .when(approve(more, 1))
    .then({ type: "demand.approved" })
    .leads({ awaiting: { step: "batch", dueAt: secondsLater(900) } });
  const running = eventsOf(rules, asking, due(900), requestDemand(2));
  given(...running)
    .when(approve(running, 1))
    .then({ type: "demand.approved" })
    .leads({ awaiting: { step: "wave" } });
  const noted: CaseEvent[] = eventsOf(rules, running, approve(running, 1));
  const half = { ...noteWave(noted, [a]), now: secondsLater(901) };
  given(...noted)
    .when(half)
    .then(
      { type: "case.wave-noted", data: { progress: "AW" } },
      { type: "case.batch-awaited", data: { dueAt: secondsLater(1800) } },
    );
  const left = eventsOf(rules, asking, due(900));
  given(...left)
    .when(noteWave(left, [a]))
    .then({ type: "case.wave-noted" }, { type: "case.wave-requested" });
  const placed = eventsOf(rules, left, noteWave(left, [a, b]));
  given(...placed)
    .when(note(a, "W"))
    .then({ type: "case.group-noted" }, { type: "case.wave-requested" });
  given(...eventsOf(rules, placed, note(a, "F")))
    .when(noteReview("BOOKING_FAILED", "RETRIED", [a]))
    .then({ type: "case.review-noted" }, { type: "case.wave-requested" });
});

t.test("a case closed while it waited for the beat keeps it", async (t) => {
  const given = givenOf(t, rules, caseId);
  const waiting = plannedCase([pair], batched);
  const closed = eventsOf(rules, waiting, close);
  given(...closed)
    .when(due(900))
    .nothing();
  given(...closed)
    .when(reopen)
    .then({ type: "case.reopened" })
    .leads({ awaiting: { step: "batch", dueAt: secondsLater(900) } });
  const late = eventsOf(rules, closed, { ...reopen, now: secondsLater(2000) });
  t.strictSame(stateOf(late).awaiting?.dueAt, secondsLater(2020), "one that has gone by is made up for");
  t.strictSame(typesOf(eventsOf(rules, late, due(2020))).slice(-1), ["case.wave-requested"]);
});
