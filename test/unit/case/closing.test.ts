// A case's end, as tables: when it closes by itself, what closing and opening again set going, and what a closed case still takes.
import t from "tap";
import { caseActor } from "../../../actors/case/service.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Outgoing, Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import {
  evening,
  eventsOf,
  givenOf,
  type Like,
  received,
  secondsLater,
  supervisor,
} from "../../harness/given.ts";
import {
  approve,
  asking,
  caseId,
  close,
  economy,
  groupIds,
  human,
  note,
  noteReview,
  noteWave,
  open,
  pair,
  plan,
  plannedCase,
  provisioned,
  provisionedCase,
  reject,
  reopen,
  requestDemand,
  rules,
  standingAt,
  stateOf,
  typesOf,
} from "./planned-case.ts";

const reopenedAt = secondsLater(100);
const subCases = (events: CaseEvent[]): string[] => stateOf(events).groups.map(({ subCaseId }) => subCaseId);
const toGroups = (events: CaseEvent[], verb: string, changedAt: Date): Like<Outgoing>[] =>
  subCases(events).map((entity) => ({
    to: "command",
    name: `sub-case.${verb}`,
    entity,
    data: { changedAt },
  }));
const closing = (events: CaseEvent[], reason: string, by: string): Like<Outgoing>[] => [
  { to: "internal", type: "case.closed", data: { at: evening, airport: "JFK", reason, by } },
  {
    to: "command",
    name: "identity.close-case",
    entity: caseId,
    data: { closedAt: evening, changedAt: evening },
  },
  { to: "command", name: "review.close-case", entity: caseId, data: { reason, changedAt: evening } },
  ...toGroups(events, "suspend", evening),
];
const opening = (events: CaseEvent[]): Like<Outgoing>[] => [
  {
    to: "internal",
    type: "case.reopened",
    data: { reason: "One came back", airport: "JFK", by: supervisor.urn },
  },
  {
    to: "command",
    name: "identity.reopen-case",
    entity: caseId,
    data: { closedAt: evening, changedAt: reopenedAt },
  },
  { to: "command", name: "review.reopen-case", entity: caseId, data: { changedAt: reopenedAt } },
  ...toGroups(events, "resume", reopenedAt),
];

const three = plannedCase([pair, pair, pair], economy);
const two = plannedCase([pair, pair], economy);

t.test("it closes by itself when all who stayed have left", async (t) => {
  const given = givenOf(t, rules, caseId);
  const [a] = groupIds(two);
  /** The other group's letter, and whether the case closes when the first one checks out. */
  const table: [string, boolean][] = [
    ["C", true],
    ["D", true],
    ["O", true],
    ["M", true],
    ["X", true],
    ["N", true],
    ["R", false],
    ["B", false],
    ["A", false],
    ["W", false],
    ["H", false],
    ["F", false],
    ["U", false],
  ];
  for (const [other, closes] of table) {
    const here = standingAt(two, `R${other}`);
    const told = typesOf(eventsOf(rules, here, note(a, "C")).slice(here.length));
    t.equal(told.includes("case.closed"), closes, `beside ${other}`);
    t.equal(told[0], "case.group-noted");
  }
  for (const [progress, letter] of [
    ["RO", "O"],
    ["RD", "O"],
    ["BX", "D"],
    ["BC", "R"],
  ] as const) {
    const here = standingAt(two, progress);
    const told = typesOf(eventsOf(rules, here, note(a, letter)).slice(here.length));
    t.notOk(told.includes("case.closed"), `${progress}, then ${letter}: it stays open`);
  }
  const resolved = eventsOf(
    rules,
    two,
    noteWave(two, groupIds(two)),
    ...groupIds(two).map((id) => note(id, "R")),
  );
  const last = eventsOf(rules, resolved, note(a, "C"));
  given(...last)
    .when(note(groupIds(two)[1], "C"))
    .then(
      { type: "case.group-noted", data: { progress: "CC" } },
      {
        type: "case.closed",
        data: { at: evening, by: "urn:user:system-case", reason: "All reservations are checked out." },
      },
    )
    .leads({ status: "CLOSED", closedAt: evening, resolvedAt: evening })
    .sends(...closing(two, "All reservations are checked out.", "urn:user:system-case"));
  given(...standingAt(two, "RX"))
    .when(note(a, "C"))
    .then(
      { type: "case.group-noted" },
      { type: "demand.settled" },
      { type: "case.resolved" },
      { type: "case.closed" },
    );
  given(...standingAt(two, "FC"))
    .when(noteReview("BOOKING_FAILED", "REBOOKED", [a as string]))
    .leads({ status: "CLOSED", progress: "MC" });
});

t.test("closing by hand", async (t) => {
  const given = givenOf(t, rules, caseId);
  const table: [string, CaseEvent[]][] = [
    ["waits for a wave", two],
    ["waits for an approval", plannedCase([pair, pair], asking)],
    ["is with a person", plannedCase([pair, pair], { ECONOMY: null })],
    ["is resolved", eventsOf(rules, standingAt(two, "RB"), note(groupIds(two)[1], "R"))],
    ["is being planned", provisionedCase([pair, pair])],
  ];
  for (const [what, events] of table) {
    given(...events)
      .when(close)
      .then({ type: "case.closed", data: { at: evening, by: supervisor.urn, reason: "All are home" } })
      .leads({ status: "CLOSED", closedAt: evening })
      .sends(...closing(events, "All are home", supervisor.urn));
    const closed = eventsOf(rules, events, close);
    given(...closed)
      .when(close)
      .refused("conflict/state", { state: "CLOSED" });
    t.equal(stateOf(eventsOf(rules, closed, reopen)).status, "OPEN", `open again: ${what}`);
  }
  given(...two)
    .when({ ...close, principal: { ...supervisor, airport: "LAX" } })
    .refused("auth/foreign-airport");
  given().when(close).refused("not-found/resource");
});

t.test("what a closed case takes", async (t) => {
  const given = givenOf(t, rules, caseId);
  const waiting = plannedCase([pair, pair], asking);
  const [a = ""] = groupIds(waiting);
  const closed = eventsOf(rules, waiting, close);
  for (const command of [
    approve(waiting),
    reject(waiting),
    requestDemand(1),
    human("allocate", {}),
    close,
  ] as Received[])
    given(...closed)
      .when(command)
      .refused("conflict/state", { state: "CLOSED" });
  for (const command of [
    plan,
    note(a, "B"),
    note(a, "C"),
    received("case.reissue", {}, { now: secondsLater(999) }),
  ])
    given(...closed)
      .when(command)
      .nothing();
  const running = eventsOf(rules, two, close);
  given(...running)
    .when(noteWave(two, groupIds(two)))
    .nothing();
});

t.test("opening again: refusals", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...two)
    .when(reopen)
    .refused("conflict/state", { state: "OPEN" });
  given(...plannedCase([pair], { ECONOMY: null }))
    .when(reopen)
    .refused("conflict/state", { state: "MANUAL_REVIEW" });
  given(...eventsOf(rules, two, close, reopen))
    .when(reopen)
    .refused("conflict/state", { state: "OPEN" });
  given().when(reopen).refused("not-found/resource");
  given(...eventsOf(rules, two, close))
    .when({ ...reopen, principal: { ...supervisor, airport: "LAX" } })
    .refused("auth/foreign-airport");
});

t.test("opening again goes on where it stopped", async (t) => {
  const given = givenOf(t, rules, caseId);
  const closed = eventsOf(rules, two, close);
  given(...closed)
    .when(reopen)
    .then(
      {
        type: "case.reopened",
        data: { at: reopenedAt, closedAt: evening, by: supervisor.urn, reason: "One came back" },
      },
      { type: "case.wave-requested", data: { progress: "WW", dueAt: secondsLater(120) } },
    )
    .sends(...opening(two), { to: "command", name: "wave.run" });
  const reopened = eventsOf(rules, closed, reopen);
  t.not(stateOf(reopened).waveId, stateOf(two).waveId, "the wave that was under way went by unheard");
  t.notOk("closedAt" in stateOf(reopened));
  given(...reopened)
    .when(noteWave(two, groupIds(two)))
    .nothing();

  const registered = eventsOf(rules, [] as CaseEvent[], open([pair, pair]));
  const half = eventsOf(rules, registered, received("case.note-provisioned", { from: 0, count: 1 }));
  given(...half)
    .when(close)
    .sends(...(closing(half, "All are home", supervisor.urn) as never[]));
  const closedHalf = eventsOf(rules, half, close);
  given(...closedHalf)
    .when(received("case.note-provisioned", { from: 1, count: 1 }))
    .nothing();
  given(...closedHalf)
    .when(reopen)
    .then({ type: "case.reopened" })
    .leads({ awaiting: { step: "provisioning", dueAt: secondsLater(120) } })
    .sends(...(opening(half) as never[]), {
      to: "command",
      name: "sub-case.open-many",
      data: { from: 1 } as never,
    });
  given(...eventsOf(rules, closedHalf, reopen))
    .when(received("case.note-provisioned", { from: 1, count: 1 }))
    .then({ type: "case.opened" });
  const unplanned = eventsOf(rules, registered, provisioned(2), close);
  given(...unplanned)
    .when(reopen)
    .then({ type: "case.reopened" })
    .sends(...opening(half), { to: "command", name: "case.plan", entity: caseId });
  const waiting = plannedCase([pair], asking);
  given(...eventsOf(rules, waiting, close))
    .when(reopen)
    .then({ type: "case.reopened" })
    .sends(...opening(waiting), { to: "command", name: "case.apply-freeze", entity: caseId });
  const resolved = eventsOf(rules, standingAt(two, "RC"), close, reopen);
  t.equal(stateOf(resolved).status, "OPEN", "and a finished one just stands open");
  given(...resolved)
    .when(note(groupIds(two)[0], "C"))
    .leads({ status: "CLOSED" });
});

t.test("who has no room stands as before when it opens again, and the desks hear of it", async (t) => {
  const given = givenOf(t, rules, caseId);
  for (const progress of ["RRR", "HRR", "HRH", "RFF", "RUD", "MXN"])
    given(...eventsOf(rules, standingAt(three, progress), close))
      .when(reopen)
      .then({ type: "case.reopened" })
      .leads({ progress })
      .sends(...opening(three));
  const held = plannedCase([[2, "ECONOMY", "FIRST"]], { ECONOMY: null });
  const again = { ...reopen, now: secondsLater(900) };
  given(...eventsOf(rules, held, close, reopen, close))
    .when(again)
    .sends(
      { to: "internal" },
      { to: "command", name: "identity.reopen-case" },
      { to: "command", name: "review.reopen-case", data: { changedAt: secondsLater(900) } },
      ...toGroups(held, "resume", secondsLater(900)),
    );
});

t.test("a person's word counts also when it comes after the closing", async (t) => {
  const given = givenOf(t, rules, caseId);
  const [a = "", b = ""] = groupIds(two);
  /** Where the groups stood, what was said of the first, and where they stand then. */
  const table: [string, string, string, string, string[]][] = [
    ["HR", "ALLOCATION_FAILED", "REBOOKED", "MR", ["settle"]],
    ["FR", "BOOKING_FAILED", "SETTLED", "XR", ["settle"]],
    ["FC", "BOOKING_FAILED", "REBOOKED", "MC", ["settle"]],
    ["HR", "ALLOCATION_FAILED", "RETRIED", "WR", []],
    ["FR", "BOOKING_FAILED", "RETRIED", "WR", []],
  ];
  for (const [before, category, resolution, progress, sent] of table) {
    const closed = eventsOf(rules, standingAt(two, before), close);
    const told = eventsOf(rules, closed, noteReview(category, resolution, [a]));
    const types = typesOf(told.slice(closed.length));
    t.equal(types[0], "case.review-noted");
    t.notOk(
      types.includes("case.closed") || types.includes("case.wave-requested"),
      `${before} ${resolution}`,
    );
    t.match(stateOf(told), { status: "CLOSED", closedAt: evening, progress });
    const messages = told
      .slice(closed.length)
      .flatMap((event) => rules.outgoing(event, stateOf(told), received("x"), caseId))
      .filter((message) => message.to === "command" && message.name.startsWith("sub-case."));
    t.match(
      messages,
      sent.map((verb) => ({ name: `sub-case.${verb}`, entity: subCases(two)[0] })),
    );
    t.equal(messages.length, sent.length);
  }
  const retried = eventsOf(
    rules,
    standingAt(two, "HR"),
    close,
    noteReview("ALLOCATION_FAILED", "RETRIED", [a]),
  );
  given(...retried)
    .when(reopen)
    .then({ type: "case.reopened" }, { type: "case.wave-requested", data: { progress: "WR" } });
  given(...retried)
    .when(noteReview("ALLOCATION_FAILED", "RETRIED", [b]))
    .nothing();
});

t.test("what a closing and an opening answer", async (t) => {
  const [decider] = caseActor({} as ActorContext).deciders ?? [];
  const closed = eventsOf(rules, two, close);
  const reading = (command: Received) => ({ id: caseId, version: 12, command });
  t.strictSame(decider?.view(stateOf(closed), reading(close)), {
    caseUrn: `urn:case:${caseId}`,
    status: "CLOSED",
    closedAt: evening.toISOString(),
    correlationUrn: close.correlationUrn,
    version: 12,
  });
  t.strictSame(decider?.view(stateOf(eventsOf(rules, closed, reopen)), reading(reopen)), {
    caseUrn: `urn:case:${caseId}`,
    status: "OPEN",
    correlationUrn: reopen.correlationUrn,
    version: 12,
  });
  t.equal(decider?.timers?.(stateOf(two)).length, 1);
  t.strictSame(decider?.timers?.(stateOf(closed)), [], "and no timer wakes a closed one");
});
