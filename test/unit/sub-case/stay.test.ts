// What hotels tell of a stay, as tables: every report in every state of the booking, and what follows when the hotel takes the room back.
import t from "tap";
import type { SubCaseEvent, SubCaseState } from "../../../actors/sub-case/state.ts";
import type { StayReport } from "../../../schemas/vendor-call.ts";
import { alike, evening, eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  assign,
  calls,
  cardHotel,
  completed,
  decline,
  done,
  doneIn,
  forward,
  opened,
  ready,
  reissue,
  review,
  rules,
  stage,
  standing,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

type Report = StayReport["state"];
const report = (state: Report, { room = "room.1.1", bookingId = "B1" } = {}) =>
  received("sub-case.record-stay", {
    reference: `${subCaseId}.${room}`,
    bookingId,
    state,
    at: evening.toISOString(),
  } satisfies StayReport);
const after = (events: SubCaseEvent[], ...reports: Report[]) =>
  eventsOf(rules, events, ...reports.map((state) => report(state)));

const resolved = eventsOf(rules, ready, accept);
const rolling = eventsOf(rules, ready, decline);
const declined = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel"));
const stuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"), answer("cancel", "refused"));

t.test("arrival, departure, no-show", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const state of ["CHECKED_IN", "CHECKED_OUT"] as const) {
    const note = state === "CHECKED_OUT" ? [stage("C")] : [];
    given(...ready)
      .when(report(state))
      .then(
        { type: "subcase.stay-noted", data: { status: state, at: evening } },
        { type: "subcase.resolved", data: { at: evening } },
      )
      .leads({
        status: "RESOLVED",
        reservation: { status: state },
        offer: { state: "ACCEPTED", decidedAt: evening },
      })
      .sends(...note, announced("subcase.resolved", "RESOLVED"), stage("R"));
    given(...resolved)
      .when(report(state))
      .then({ type: "subcase.stay-noted" })
      .leads({ status: "RESOLVED", reservation: { status: state } })
      .sends(...note);
  }
  given(...ready)
    .when(report("NO_SHOW"))
    .then({ type: "subcase.stay-noted" })
    .leads({ status: "OFFER_READY", offer: { state: "READY" }, reservation: { status: "NO_SHOW" } })
    .sends(stage("O"));
  given(...after(ready, "CHECKED_IN"))
    .when(accept)
    .nothing();
  given(...after(ready, "CHECKED_IN"))
    .when(decline)
    .refused("conflict/offer-decided", { state: "ACCEPTED" });
  const taken: [Report[], Report, boolean][] = [
    [["CHECKED_IN"], "CHECKED_IN", false],
    [["CHECKED_IN"], "NO_SHOW", false],
    [["CHECKED_IN"], "CHECKED_OUT", true],
    [["NO_SHOW"], "CHECKED_IN", false],
    [["NO_SHOW"], "NO_SHOW", false],
    [["NO_SHOW"], "CHECKED_OUT", true],
    [["CHECKED_OUT"], "CHECKED_IN", false],
    [["CHECKED_OUT"], "NO_SHOW", false],
    [["CHECKED_OUT"], "CHECKED_OUT", false],
    [["CHECKED_IN"], "CANCELLED", false],
    [["NO_SHOW"], "CANCELLED", false],
    [["CHECKED_OUT"], "CANCELLED", false],
  ];
  for (const [before, now, counts] of taken) {
    const here = after(resolved, ...before);
    const told = typesOf(after(here, now).slice(here.length));
    t.strictSame(told, counts ? ["subcase.stay-noted"] : [], `${before} then ${now}`);
  }
});

t.test("late and foreign reports change nothing", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const roomless = eventsOf(rules, after(ready, "CANCELLED"), ...done("cancel-ride", "cancel-card"));
  const second = eventsOf(rules, roomless, assign({ waveId: "XN-WAVE2" }), ...doneIn(2, ...forward));
  const states: Report[] = ["CHECKED_IN", "CHECKED_OUT", "NO_SHOW", "CANCELLED"];
  for (const state of states) {
    for (const events of [[opened()], story(), declined, roomless, second])
      given(...events)
        .when(report(state))
        .nothing();
    for (const foreign of [{ room: "room.1.2" }, { bookingId: "B2" }])
      given(...ready)
        .when(report(state, foreign))
        .nothing();
    given(...story(answer("hold")))
      .when(report(state))
      .notYet();
    given().when(report(state)).refused("not-found/resource");
  }
});

t.test("while the case is closed a report is put on record, and what follows from it waits", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  /** What is told meanwhile, and what follows when the case is open again. */
  const table: [Report, SubCaseEvent["type"][], SubCaseState["status"]][] = [
    ["CHECKED_IN", ["subcase.resolved"], "RESOLVED"],
    ["CHECKED_OUT", ["subcase.resolved"], "RESOLVED"],
    ["NO_SHOW", [], "OFFER_READY"],
    ["CANCELLED", ["subcase.room-lost", "subcase.step-started"], "ROLLING_BACK"],
  ];
  for (const [state, follows, status] of table) {
    const closed = eventsOf(rules, ready, standing("suspend", 10));
    given(...closed)
      .when(report(state))
      .then({ type: "subcase.stay-noted", data: { status: state } })
      .leads({ status: "OFFER_READY", reservation: { status: state }, offer: { state: "WITHDRAWN" } });
    given(...after(closed, state))
      .when(report(state))
      .nothing();
    given(...after(closed, state))
      .when(standing("resume", 60))
      .then({ type: "subcase.resumed" }, ...follows.map((type) => ({ type }) as never))
      .leads({ status });
  }
});

t.test("the hotel takes the room back", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const events of [ready, resolved])
    given(...events)
      .when(report("CANCELLED"))
      .then(
        { type: "subcase.stay-noted", data: { status: "CANCELLED" } },
        { type: "subcase.room-lost", data: { hotelUrn: "urn:hotel:astor" } },
        { type: "subcase.step-started", data: { record: { name: "cancel-transport" } } },
      )
      .leads({
        status: "ROLLING_BACK",
        roomLost: true,
        reservation: { status: "CANCELLED" },
        offer: { state: "WITHDRAWN" },
        attemptedHotels: [{ hotelUrn: "urn:hotel:astor", reason: "CANCELLED_BY_HOTEL" }],
      })
      .sends(
        { to: "public", type: "voucher.amended", data: { status: "VOID", groupId: "K7QX2M" } },
        started,
        calls("ridefleet", "cancel-ride", "ride.1"),
      );
  const losing = after(ready, "CANCELLED");
  given(...losing)
    .when(report("CANCELLED"))
    .nothing();
  for (const decision of [accept, decline])
    given(...losing)
      .when(decision)
      .refused("conflict/offer-decided", { state: "WITHDRAWN" });
  given(...eventsOf(rules, losing, answer("cancel-ride")))
    .when(answer("cancel-card"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "void-voucher" } } },
      { type: "subcase.step-completed" },
      { type: "subcase.failed" },
    )
    .leads({ status: "FAILED", voucher: { status: "VOID" }, card: { status: "CANCELLED" } })
    .sends(
      completed("DONE"),
      started,
      completed("DONE"),
      announced("subcase.failed", "FAILED"),
      stage("F"),
      review("BOOKING_FAILED", "booking", {
        detail: "The hotel cancelled the booking; the group has no room any more.",
        occurrence: "round 1",
      }),
    );
  const lost = eventsOf(rules, losing, ...done("cancel-ride", "cancel-card"));
  t.strictSame(
    stepsOf(lost).slice(-3),
    ["cancel-transport DONE", "cancel-card DONE", "void-voucher DONE"],
    "and the room is not cancelled a second time",
  );
  const paid = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [cardHotel("astor")] }),
    answer("hold"),
    answer("issue-card", "done", { reference: "payment.1.1" }),
    ...done("book", "issue-card", "book-ride", "send"),
    report("CANCELLED"),
    ...done("cancel-ride", "cancel-card"),
  );
  t.match(stateOf(paid).call, { step: "cancel-payment" }, "what paid for it goes back");
});

t.test("what is on the way ends first", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const before of [
    ["hold", "book"],
    ["hold", "book", "issue-card"],
  ] as const)
    given(...story(...done(...before)))
      .when(report("CANCELLED"))
      .then({ type: "subcase.stay-noted", data: { status: "CANCELLED" } })
      .leads({ status: "PROCESSING", reservation: { status: "CANCELLED" } })
      .sends();
  given(...rolling)
    .when(report("CANCELLED"))
    .nothing();
  const doubtful = eventsOf(
    rules,
    story(...done("hold", "book")),
    answer("issue-card", "in-doubt"),
    reissue(1),
  );
  given(...doubtful)
    .when(report("CANCELLED"))
    .then({ type: "subcase.stay-noted" })
    .leads({ call: { step: "card", doubt: true } });
  const last = after(story(...done(...forward.slice(0, 4))), "CANCELLED");
  given(...last)
    .when(answer("send"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.room-lost", data: { hotelUrn: "urn:hotel:astor" } },
      { type: "subcase.step-started", data: { record: { name: "cancel-transport" } } },
    )
    .leads({ status: "ROLLING_BACK", roomLost: true, offer: { state: "WITHDRAWN" } })
    .sends(completed("DONE"), started, calls("ridefleet", "cancel-ride", "ride.1"));
  const lost = eventsOf(rules, last, answer("send"), ...done("cancel-ride", "cancel-card"));
  t.match(stateOf(lost), { status: "FAILED", offer: { readyAt: undefined } }, "no offer was made of it");
  t.notOk(stepsOf(lost).some((step) => step.startsWith("cancel-room")));
});

t.test("who arrives before the offer is made has accepted it", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const [state, notes] of [
    ["CHECKED_IN", []],
    ["CHECKED_OUT", [stage("C")]],
  ] as const) {
    const booked = story(...done(...forward.slice(0, 4)));
    given(...booked)
      .when(report(state))
      .then({ type: "subcase.stay-noted" })
      .leads({ status: "PROCESSING", offer: { state: "PENDING" }, call: { step: "notify" } })
      .sends(...notes);
    given(...after(booked, state))
      .when(answer("send"))
      .then(
        { type: "subcase.step-completed" },
        { type: "subcase.offer-ready" },
        { type: "subcase.resolved", data: { at: evening } },
      )
      .leads({ status: "RESOLVED", offer: { state: "ACCEPTED", readyAt: evening, decidedAt: evening } });
  }
  t.equal(
    stateOf(eventsOf(rules, after(story(...done(...forward.slice(0, 4))), "NO_SHOW"), answer("send"))).offer
      .state,
    "READY",
    "who did not come has not",
  );
});

t.test("a stuck rollback that the hotel ends itself leaves nobody without a room", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...stuck)
    .when(report("CANCELLED"))
    .then({ type: "subcase.stay-noted" })
    .leads({
      status: "COMPENSATION_FAILED",
      reservation: { status: "CANCELLED" },
      offer: { state: "DECLINED" },
    })
    .sends();
  given(...after(stuck, "CANCELLED"))
    .when(received("sub-case.compensate"))
    .then(
      { type: "subcase.compensation-submitted" },
      { type: "subcase.processing" },
      { type: "subcase.rolled-back" },
    )
    .leads({ status: "DECLINED" });
});

t.test("a rollback of a lost room that gets stuck, then ends, leaves the group without a room", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const losing = eventsOf(rules, after(ready, "CANCELLED"), answer("cancel-ride", "refused"));
  given(...losing)
    .when(answer("cancel-card"))
    .leads({ status: "COMPENSATION_FAILED", roomLost: true });
  const again = eventsOf(rules, losing, answer("cancel-card"), received("sub-case.compensate"));
  given(...again)
    .when(answer("cancel-ride"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.failed" })
    .leads({ status: "FAILED" });
  const next = eventsOf(rules, again, answer("cancel-ride"), assign({ waveId: "XN-WAVE2" }));
  alike(t, stateOf(next).round, 2, "and a wave finds it another one");
});
