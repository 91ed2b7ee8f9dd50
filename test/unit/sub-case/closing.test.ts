// A closed case's group, as tables: everything stands still, what comes late is put on record, and the saga goes on where it stopped.
import t from "tap";
import { reviewIdOf } from "../../../actors/review/decide.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { subCaseActor } from "../../../actors/sub-case/service.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import type { GroupNote, KnownStage } from "../../../schemas/group-note.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import { evening, eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import {
  accept,
  answer,
  assign,
  calls,
  cardHotel,
  decline,
  done,
  forward,
  opened,
  progressed,
  ready,
  refusedBy,
  reissue,
  rules,
  stage,
  standing,
  stateOf,
  stepDeadlineMs,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

const suspend = standing("suspend", 10);
const resume = standing("resume", 60);
const passenger = { ...supervisor, surface: "passenger" as const };
const rolling = eventsOf(rules, ready, decline);
const resolved = eventsOf(rules, ready, accept);
const failed = story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"));
const payingHold = eventsOf(rules, [opened()], assign({ candidates: [cardHotel("astor"), cardHotel("b")] }));
const paid = eventsOf(
  rules,
  payingHold,
  answer("hold"),
  answer("issue-card", "done", { reference: "payment.1.1" }),
);
const takeBack = (outcome: "done" | "refused" = "done") =>
  answer("cancel-card", outcome, { reference: "payment.1.1" });

t.test("closing and opening again, in every state", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const table: [string, SubCaseEvent[], string, string][] = [
    ["waits", [opened()], "PENDING", "PENDING"],
    ["has an offer", ready, "WITHDRAWN", "READY"],
    ["is resolved", resolved, "ACCEPTED", "ACCEPTED"],
    ["has failed", failed, "PENDING", "PENDING"],
    ["rolls back", rolling, "DECLINED", "DECLINED"],
  ];
  for (const [what, events, closed, open] of table) {
    given(...events)
      .when(suspend)
      .then({ type: "subcase.suspended", data: { at: secondsLater(10) } })
      .leads({ status: stateOf(events).status, closedAt: secondsLater(10) })
      .sends();
    const suspended = eventsOf(rules, events, suspend);
    t.equal(stateOf(suspended).offer.state, closed, `${what}: closed`);
    given(...suspended)
      .when(suspend)
      .nothing();
    const resumed = stateOf(eventsOf(rules, suspended, resume));
    t.equal(resumed.offer.state, open, `${what}: open again`);
    t.equal(resumed.status, stateOf(events).status);
    t.notOk("closedAt" in resumed);
  }
  t.strictSame(
    stateOf(eventsOf(rules, ready, suspend, resume)).offer,
    stateOf(ready).offer,
    "the offer is as it was, with the time at which it was made",
  );
  given().when(suspend).notYet();
  given().when(resume).notYet();
});

t.test("the newest of closings and openings counts, however they arrive", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  /** When it was closed (`-`) or opened (`+`), in the order of arrival, and when the case has been closed since; undefined: it is open. */
  const table: [string[], number?][] = [
    [["-10"], 10],
    [["+60"]],
    [["-10", "+60"]],
    [["+60", "-10"]],
    [["-10", "+60", "-10", "+60"]],
    [["-70", "-10", "+60"], 70],
    [["+60", "-70", "-10"], 70],
    [["-70", "+60", "+80"]],
    [["+80", "+60", "-70"]],
    [["-10", "+10"], 10],
    [["+10", "-10"]],
  ];
  for (const events of [[opened()], story(), ready, resolved, failed, rolling])
    for (const [told, closedAt] of table) {
      const changes = told.map((one) => standing(one[0] === "-" ? "suspend" : "resume", +one.slice(1), 90));
      const state = stateOf(eventsOf(rules, events, ...changes));
      const expected = closedAt === undefined ? undefined : secondsLater(closedAt);
      t.strictSame(state.closedAt, expected, `${stateOf(events).status}: ${told.join(" ")}`);
      t.equal(state.status, stateOf(events).status);
      const offered = stateOf(events).offer.state;
      t.equal(state.offer.state, offered === "READY" && closedAt !== undefined ? "WITHDRAWN" : offered);
    }
  given(...story())
    .when(resume)
    .then({ type: "subcase.resumed", data: { at: secondsLater(60) } })
    .leads({ standingSince: secondsLater(60), call: { step: "hold", tries: 1 } })
    .sends(stage("A"));
  given(...eventsOf(rules, story(), resume))
    .when(suspend)
    .nothing();
});

t.test("while it is closed nobody changes anything", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const commands: [SubCaseEvent[], Received][] = [
    [[opened()], assign()],
    [failed, assign({ waveId: "XN-WAVE2" })],
    [story(), reissue(999)],
    [failed, received("sub-case.compensate")],
    [ready, accept],
    [ready, decline],
  ];
  for (const [events, command] of commands) {
    const decided = eventsOf(rules, events, command);
    t.ok(decided.length > events.length, `${command.name} is taken while the case is open`);
    const closed = eventsOf(rules, events, suspend);
    given(...closed)
      .when(command)
      .nothing();
    for (const principal of [supervisor, passenger])
      given(...closed)
        .when({ ...command, principal })
        .refused("conflict/state", { state: "CLOSED" });
  }
});

/** Where the closing finds the saga, what comes meanwhile, and which call it makes when the case is open again. */
const standstills: [string, SubCaseEvent[], Received[], [step: string, reference: string] | string][] = [
  ["the hold was got", story(), [answer("hold")], ["book", "room.1.1"]],
  ["the room was booked", story(answer("hold")), [answer("book")], ["card", "card.1"]],
  ["the hold was refused", story(), [answer("hold", "refused")], ["hold", "room.1.2"]],
  ["the booking was refused", story(answer("hold")), [answer("book", "refused")], ["hold", "room.1.2"]],
  [
    "the last hotel refused",
    story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT")),
    [answer("hold", "refused", { reference: "room.1.3" })],
    "FAILED",
  ],
  [
    "the last hotel was taken, too",
    story(...refusedBy(1, "SOLD_OUT", "SOLD_OUT")),
    [answer("hold", "refused", { reference: "room.1.3" })],
    "PENDING",
  ],
  [
    "a card was refused",
    story(...done("hold", "book")),
    [answer("issue-card", "refused")],
    ["transport", "ride.1"],
  ],
  ["the message was sent", story(...done(...forward.slice(0, 4))), [answer("send")], "OFFER_READY"],
  [
    "the message was refused",
    story(...done(...forward.slice(0, 4))),
    [answer("send", "refused")],
    "OFFER_READY",
  ],
  ["a ride was given back", rolling, [answer("cancel-ride")], ["cancel-card", "card.1"]],
  ["a ride was not given back", rolling, [answer("cancel-ride", "refused")], ["cancel-card", "card.1"]],
  [
    "a card was given back",
    eventsOf(rules, rolling, answer("cancel-ride")),
    [answer("cancel-card")],
    ["cancel-room", "room.1.1"],
  ],
  [
    "the room was given back",
    eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card")),
    [answer("cancel")],
    "DECLINED",
  ],
  [
    "the room was not given back",
    eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card")),
    [answer("cancel", "refused")],
    "COMPENSATION_FAILED",
  ],
  ["a paid booking was refused", paid, [answer("book", "refused")], ["cancel-payment", "payment.1.1"]],
  [
    "the payment was taken back",
    eventsOf(rules, paid, answer("book", "refused")),
    [takeBack()],
    ["hold", "room.1.2"],
  ],
  [
    "the payment was not taken back",
    eventsOf(rules, paid, answer("book", "refused")),
    [takeBack("refused")],
    ["hold", "room.1.2"],
  ],
];

t.test("what comes late is put on record, and nothing follows until the case is open again", async (t) => {
  for (const [what, events, late, then] of standstills) {
    const closed = eventsOf(rules, events, suspend);
    const told = eventsOf(rules, closed, ...late);
    const since = typesOf(told.slice(closed.length));
    t.ok(since.length > 0, `${what}: it is on record`);
    t.notOk(
      since.some((type) => type === "subcase.step-started" || type === "subcase.offer-ready"),
      `${what}: nothing follows`,
    );
    t.equal(stateOf(told).status, stateOf(events).status, `${what}: the state stands`);
    t.notOk("call" in stateOf(told), `${what}: nothing is under way`);
    const resumed = stateOf(eventsOf(rules, told, resume));
    if (typeof then === "string") t.equal(resumed.status, then, `${what}: it ends`);
    else
      t.match(
        resumed.call,
        { step: then[0], reference: `${subCaseId}.${then[1]}`, tries: 1, doubt: false },
        `${what}: it goes on`,
      );
    const uninterrupted = stateOf(eventsOf(rules, events, ...late));
    t.equal(resumed.status, uninterrupted.status, `${what}: as if it had not been closed`);
    t.equal(resumed.call?.reference, uninterrupted.call?.reference);
    t.equal(resumed.call?.step, uninterrupted.call?.step);
  }
});

t.test("a call under way at the closing", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const closed = eventsOf(rules, story(), suspend);
  given(...closed)
    .when(resume)
    .then(
      { type: "subcase.resumed" },
      {
        type: "subcase.call-reissued",
        data: { call: { step: "hold", tries: 2, doubt: true, postponed: false } },
      },
    )
    .sends(
      stage("A"),
      { ...calls("stayhub", "hold", "room.1.1"), data: { doubt: true } as never },
      progressed(0, "stayhub has not answered; asked twice"),
    );
  const postponed = eventsOf(rules, closed, answer("hold", "unavailable", { now: secondsLater(20) }));
  t.match(stateOf(postponed).call, { postponed: true, doubt: false });
  given(...postponed)
    .when(resume)
    .then(
      { type: "subcase.resumed" },
      { type: "subcase.call-reissued", data: { call: { tries: 2, doubt: false } } },
    );
  const resumed = eventsOf(rules, closed, resume);
  for (const outcome of ["refused", "unavailable", "in-doubt"] as const)
    given(...resumed)
      .when(answer("hold", outcome, { tries: 1 }))
      .nothing();
  given(...resumed)
    .when(answer("hold", "done", { tries: 1 }))
    .leads({ call: { step: "book" } });
  given(...eventsOf(rules, eventsOf(rules, rolling, suspend), resume))
    .when(answer("cancel-ride"))
    .leads({ call: { step: "cancel-card" } });
});

t.test("what a booking that came late tells the case", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...eventsOf(rules, story(answer("hold")), suspend))
    .when(answer("book"))
    .then({ type: "subcase.step-completed", data: { step: "book" } })
    .leads({ status: "PROCESSING", reservation: { status: "CONFIRMED" } })
    .sends({ to: "internal", type: "graph.step-completed" }, stage("B"));
});

t.test("the case, which took no notes, hears again how far the group has come", async (t) => {
  const stay = (state: string) =>
    received("sub-case.record-stay", {
      reference: `${subCaseId}.room.1.1`,
      bookingId: "B1",
      state,
      at: evening.toISOString(),
    });
  const declined = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel"));
  const stuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"), answer("cancel", "refused"));
  const returned = story(...refusedBy(1, "SOLD_OUT", "SOLD_OUT", "SOLD_OUT"));
  const chosen = eventsOf(rules, [opened()], assign({ book: false }));
  const table: [string, SubCaseEvent[], string[], Partial<KnownStage>?][] = [
    ["no hotel yet", [opened()], ["W0"]],
    ["a hotel, not yet booked", chosen, []],
    ["waiting for book-rooms", chosen, [], { stage: "A", toBook: true }],
    ["the order to book it was not taken", chosen, ["W0"], { stage: "A" }],
    ["tried again, and the choice was not taken", failed, ["W1"], { stage: "A", round: 1 }],
    ["failed since", failed, ["F1"], { stage: "A", round: 0 }],
    ["failed, as is known", failed, [], { stage: "F", round: 1 }],
    ["booked, as is known", ready, [], { stage: "B", round: 1 }],
    ["gone back for another wave", returned, ["W1"]],
    ["no room needed", eventsOf(rules, [opened()], received("sub-case.mark-not-required")), []],
    ["a hold under way", story(), ["A1"]],
    ["a room", story(...done("hold", "book")), ["B1"]],
    ["an offer", ready, ["B1"]],
    ["accepted", resolved, ["R1"]],
    ["rolling back", rolling, []],
    ["declined", declined, ["D1"]],
    ["failed", failed, ["F1"]],
    ["a stuck rollback", stuck, ["U1"]],
    ["in the house", eventsOf(rules, ready, stay("CHECKED_IN")), ["R1"]],
    ["gone", eventsOf(rules, ready, stay("CHECKED_OUT")), ["C1"]],
    ["never came", eventsOf(rules, ready, stay("NO_SHOW")), ["O1"]],
  ];
  for (const [what, events, expected, known] of table) {
    const closed = eventsOf(rules, events, suspend);
    const open = standing("resume", 60, 60, known);
    const after = stateOf(eventsOf(rules, closed, open));
    const told = eventsOf(rules, closed, open)
      .slice(closed.length)
      .flatMap((event) => rules.outgoing(event, after))
      .flatMap((message) =>
        message.to === "command" && message.name === "case.note-group" ? [message.data as GroupNote] : [],
      );
    t.strictSame(
      told.map(({ stage, round }) => `${stage}${round}`),
      expected,
      what,
    );
  }
});

t.test("a group that is a person's work is put on a desk again, as the same item", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const beforeStuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"));
  for (const [before, last] of [
    [story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT")), refusedBy(1, "", "", "SOLD_OUT").at(-1)],
    [beforeStuck, answer("cancel", "refused")],
  ] as [SubCaseEvent[], Received][]) {
    const items = (events: SubCaseEvent[], command: Received) => {
      const told = eventsOf(rules, events, command);
      return told
        .slice(events.length)
        .flatMap((event) => rules.outgoing(event, stateOf(told)))
        .flatMap((message) =>
          message.to === "command" && message.name === "review.open"
            ? [reviewIdOf(message.data as OpenReview)]
            : [],
        );
    };
    const first = items(before, last);
    t.equal(first.length, 1);
    const closed = eventsOf(rules, before, last, suspend);
    t.strictSame(items(closed, resume), first, stateOf(closed).status);
    given(...closed)
      .when(resume)
      .then({ type: "subcase.resumed" });
  }
});

t.test("no timer wakes a group whose case is closed", async (t) => {
  const [decider] =
    subCaseActor({ config: { STEP_DEADLINE_MS: stepDeadlineMs } } as ActorContext).deciders ?? [];
  const timers = (events: SubCaseEvent[]) => decider?.timers?.(stateOf(events));
  t.strictSame(timers(story()), [{ name: "reissue-call", dueAt: secondsLater(30) }]);
  t.strictSame(timers(eventsOf(rules, story(), suspend)), []);
  t.strictSame(timers(eventsOf(rules, story(), suspend, answer("hold", "unavailable"))), []);
  t.strictSame(timers(eventsOf(rules, story(), suspend, resume)), [
    { name: "reissue-call", dueAt: secondsLater(120) },
  ]);
  t.strictSame(timers(ready), []);
});
