// Round after round, as tables: which wave's choice counts, what a group does when every hotel was taken, and what a new saga owes to the
// one before it.
import t from "tap";
import { offerView } from "../../../actors/sub-case/view.ts";
import { evening, eventsOf, givenOf, received, supervisor } from "../../harness/given.ts";
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
  hotel,
  opened,
  ready,
  refusedBy,
  review,
  rules,
  stage,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

const later = (n: number) => assign({ waveId: `XN-WAVE${n}` });
const soldOut = (round: number) => refusedBy(round, "SOLD_OUT", "HOLD_EXPIRED", "SOLD_OUT");
const failed = story(...refusedBy(1, "SOLD_OUT", "SOLD_OUT", "INVALID_REQUEST"));
const lost = received("sub-case.record-stay", {
  reference: `${subCaseId}.room.1.1`,
  bookingId: "B1",
  state: "CANCELLED",
  at: evening.toISOString(),
});

t.test("which of two waves counts", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const waiting = eventsOf(rules, [opened()], assign({ book: false }));
  const rolling = eventsOf(rules, ready, decline);
  const table: [string, Parameters<typeof stateOf>[0], boolean][] = [
    ["waits with an earlier choice", waiting, true],
    ["has failed", failed, true],
    ["has a call under way", story(), false],
    ["has an offer", ready, false],
    ["is resolved", eventsOf(rules, ready, accept), false],
    ["rolls back", rolling, false],
    ["is declined", eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel")), false],
    [
      "is stuck",
      eventsOf(rules, rolling, answer("cancel-ride", "refused"), ...done("cancel-card", "cancel")),
      false,
    ],
    ["needs no room", eventsOf(rules, [opened()], received("sub-case.mark-not-required")), false],
  ];
  for (const [what, events, taken] of table) {
    const told = eventsOf(rules, events, later(2)).slice(events.length);
    t.equal(typesOf(told).includes("subcase.assigned"), taken, `a later wave, when the group ${what}`);
  }
  for (const waveId of ["XN-WAVE", "XN-WAVA"])
    for (const events of [waiting, failed])
      given(...events)
        .when(assign({ waveId }))
        .nothing();
  given(...waiting)
    .when(assign({ waveId: "XN-WAVE2", book: false }))
    .then({ type: "subcase.assigned" })
    .leads({ status: "PENDING", round: 0, assignment: { waveId: "XN-WAVE2" } });
  given(...failed)
    .when(assign({ waveId: "XN-WAVE2", book: false }))
    .then({ type: "subcase.assigned" })
    .leads({ status: "FAILED", round: 1, candidate: 0, assignment: { waveId: "XN-WAVE2" } })
    .sends();
});

t.test("a new round owes nothing to the one before", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...failed)
    .when(later(2))
    .then(
      { type: "subcase.assigned" },
      { type: "subcase.processing", data: { candidate: 0 } },
      { type: "subcase.step-started", data: { record: { name: "hold" } } },
    )
    .leads({ status: "PROCESSING", round: 2, candidate: 0, offer: { state: "PENDING" } })
    .sends(announced("subcase.processing", "PROCESSING"), started, calls("stayhub", "hold", "room.2.1"));

  // A room that was lost leaves a cancelled reservation, card and ride, and a withdrawn offer behind.
  const roomless = eventsOf(rules, ready, lost, ...done("cancel-ride", "cancel-card"));
  t.match(stateOf(roomless), {
    status: "FAILED",
    roomLost: true,
    reservation: { status: "CANCELLED" },
    card: { status: "CANCELLED" },
    ride: { status: "cancelled" },
    voucher: { status: "VOID" },
    offer: { state: "WITHDRAWN" },
  });
  const again = stateOf(eventsOf(rules, roomless, later(2)));
  for (const key of ["roomLost", "reservation", "card", "ride", "voucher", "payment"])
    t.notOk(key in again, `no ${key}`);
  t.strictSame(again.offer, { state: "PENDING" });
  t.equal(again.attemptedHotels.length, 1, "what was tried is remembered");

  const offered = eventsOf(rules, roomless, later(2), ...doneIn(2, ...forward));
  t.match(stateOf(offered), {
    status: "OFFER_READY",
    reservation: { reference: `${subCaseId}.room.2.1`, status: "CONFIRMED" },
    card: { reference: `${subCaseId}.card.2`, status: "ACTIVE" },
    ride: { reference: `${subCaseId}.ride.2`, status: "booked" },
    offer: { state: "READY" },
  });
  const [first, second] = [stateOf(ready), stateOf(offered)];
  t.not(first.voucher?.voucherId, second.voucher?.voucherId, "the voucher is another one");
  t.not(first.reservation?.reservationId, second.reservation?.reservationId, "and the booking");
  const declined = eventsOf(rules, offered, decline, ...doneIn(2, "cancel-ride", "cancel-card"));
  given(...declined)
    .when(answer("cancel", "done", { round: 2 }))
    .leads({ status: "DECLINED" })
    .sends(completed("DONE"), stage("D", 2));
  given(...offered)
    .when(answer("send"))
    .nothing();
  given(...eventsOf(rules, roomless, later(2)))
    .when(answer("hold"))
    .nothing();
});

t.test("what a later round lacks is an item of its own, and its ride its own", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const second = (...before: Parameters<typeof story>) =>
    eventsOf(
      rules,
      story(...before),
      lost,
      ...done("cancel-ride", "cancel-card"),
      later(2),
      ...doneIn(2, "hold", "book"),
    );
  const again = second(...done(...forward));
  given(...again)
    .when(answer("issue-card", "refused", { round: 2 }))
    .sends(
      completed("REFUSED"),
      review("PAYMENT_FAILED", "card", { occurrence: "round 2" }),
      started,
      calls("ridefleet", "book-ride", "ride.2"),
    );
  const refusedOnce = second(
    ...done("hold", "book", "issue-card"),
    answer("book-ride", "refused"),
    answer("send"),
  );
  const transport = (events: Parameters<typeof stateOf>[0]) =>
    (offerView(stateOf(events), 1, undefined) as { transport?: unknown }).transport;
  const offered = (outcome: "done" | "refused") =>
    eventsOf(
      rules,
      refusedOnce,
      answer("issue-card", "done", { round: 2 }),
      answer("book-ride", outcome, { round: 2 }),
      answer("send", "done", { round: 2 }),
    );
  t.match(transport(offered("done")), { status: "booked" });
  t.strictSame(transport(offered("refused")), { status: "declined" });
  const asked = eventsOf(rules, refusedOnce, answer("issue-card", "done", { round: 2 }));
  t.match(stateOf(asked), { call: { step: "transport" }, ride: undefined }, "an earlier refusal is over");
});

t.test("a person has seen to it: no wave's choice is for the group any more", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const settle = received("sub-case.settle");
  for (const events of [[opened()], eventsOf(rules, [opened()], assign({ book: false })), failed]) {
    given(...events)
      .when(settle)
      .then({ type: "subcase.settled" })
      .leads({ status: stateOf(events).status, settled: true })
      .sends();
    given(...eventsOf(rules, events, settle))
      .when(later(2))
      .nothing();
  }
  for (const events of [story(), ready, eventsOf(rules, ready, accept), eventsOf(rules, ready, decline)])
    given(...events)
      .when(settle)
      .nothing();
  const anew = received("sub-case.compensate", {}, { principal: supervisor });
  const helped = eventsOf(rules, failed, settle, anew);
  t.notOk("settled" in stateOf(helped), "unless a person has it tried again");
  given(...eventsOf(rules, helped, ...refusedBy(2, "SOLD_OUT", "SOLD_OUT", "INVALID_REQUEST")))
    .when(later(2))
    .leads({ status: "PROCESSING", round: 3 });
  given().when(settle).notYet();
});

t.test("a group whose hotels were all taken goes back to the case, twice", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const two = story(...soldOut(1).slice(0, 2));
  const last = soldOut(1)[2] as ReturnType<typeof answer>;
  given(...two)
    .when(last)
    .then({ type: "subcase.step-failed" }, { type: "subcase.hotel-refused" }, { type: "subcase.returned" })
    .leads({ status: "PENDING", returns: 1, round: 1 })
    .sends(completed("REFUSED"), stage("W"));
  const once = eventsOf(rules, two, last);
  t.notOk("assignment" in stateOf(once), "it has no hotel to try");
  t.notOk("call" in stateOf(once));
  given(...once)
    .when(later(1))
    .then({ type: "subcase.assigned" }, { type: "subcase.processing" }, { type: "subcase.step-started" })
    .leads({ round: 2 });
  given(...once)
    .when(assign({ waveId: "XN-WAVE2", book: false }))
    .then({ type: "subcase.assigned" }, { type: "subcase.processing" }, { type: "subcase.step-started" });
  const twice = eventsOf(rules, once, later(2), ...soldOut(2));
  t.match(stateOf(twice), { status: "PENDING", returns: 2, round: 2 });
  const third = eventsOf(rules, twice, later(3), ...soldOut(3).slice(0, 2));
  given(...third)
    .when(soldOut(3)[2] as ReturnType<typeof answer>)
    .then({ type: "subcase.step-failed" }, { type: "subcase.hotel-refused" }, { type: "subcase.failed" })
    .leads({ status: "FAILED", returns: 2 })
    .sends(
      completed("REFUSED"),
      announced("subcase.failed", "FAILED"),
      stage("F", 3),
      review("BOOKING_FAILED", "booking", { occurrence: "round 3" }),
    );
});

t.test("what sends it back, and what fails it", async (t) => {
  const table: [string[], string][] = [
    [["SOLD_OUT", "SOLD_OUT", "SOLD_OUT"], "PENDING"],
    [["HOLD_EXPIRED", "SOLD_OUT", "HOLD_EXPIRED"], "PENDING"],
    [["SOLD_OUT", "INVALID_REQUEST", "SOLD_OUT"], "FAILED"],
    [["PAYMENT_DECLINED", "SOLD_OUT", "SOLD_OUT"], "FAILED"],
    [["SOLD_OUT", "SOLD_OUT", "UNAVAILABLE"], "FAILED"],
    [["SOLD_OUT", "SOLD_OUT"], "PROCESSING"],
  ];
  for (const [codes, status] of table)
    t.equal(stateOf(story(...refusedBy(1, ...codes))).status, status, codes.join(", "));
  const second = eventsOf(rules, failed, later(2), ...soldOut(2));
  t.equal(stateOf(second).status, "PENDING", "what an earlier assignment's hotels said doesn't count");
  // A person may have it begin with another hotel, so that not all of the wave's are tried in a round.
  const anew = (...codes: string[]) =>
    eventsOf(
      rules,
      story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT")),
      received("sub-case.compensate", { hotelUrn: "urn:hotel:biltmore" }, { principal: supervisor }),
      ...codes.map((code, i) => answer("hold", "refused", { reference: `room.2.${i + 2}`, code })),
    );
  t.match(stateOf(anew()), { round: 2, firstCandidate: 1, candidate: 1 });
  t.equal(stateOf(anew("SOLD_OUT", "SOLD_OUT")).status, "PENDING", "only this round's refusals count");
  t.equal(stateOf(anew("INVALID_REQUEST", "SOLD_OUT")).status, "FAILED");
  const expired = story(
    ...[1, 2, 3].flatMap((n) => [
      answer("hold", "done", { reference: `room.1.${n}` }),
      answer("book", "refused", { reference: `room.1.${n}`, code: "HOLD_EXPIRED" }),
    ]),
  );
  t.equal(stateOf(expired).status, "PENDING", "held, but not booked in time");
  const cards = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [cardHotel("astor")] }, { vendors: {} }),
    answer("hold"),
  );
  t.equal(stateOf(cards).status, "FAILED", "a hotel that nobody can pay");
  const paid = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [cardHotel("astor"), hotel("biltmore")].slice(0, 1) }),
    answer("hold"),
    answer("issue-card", "done", { reference: "payment.1.1" }),
    answer("book", "refused"),
  );
  t.match(stateOf(paid).call, { step: "cancel-payment" }, "a payment goes back before the group does");
  const back = eventsOf(rules, paid, answer("cancel-card", "done", { reference: "payment.1.1" }));
  t.equal(stateOf(back).status, "PENDING");
});

t.test("a payment of an earlier round that did not go back hinders no later rollback", async (t) => {
  const stuck = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [cardHotel("astor")] }),
    answer("hold"),
    answer("issue-card", "done", { reference: "payment.1.1" }),
    answer("book", "refused", { code: "INVALID_REQUEST" }),
    answer("cancel-card", "refused", { reference: "payment.1.1" }),
  );
  t.match(
    stateOf(stuck),
    { status: "FAILED", payment: { status: "ACTIVE" } },
    "a person has been told of it",
  );
  const declined = eventsOf(
    rules,
    stuck,
    later(2),
    ...doneIn(2, ...forward),
    decline,
    ...doneIn(2, "cancel-ride", "cancel-card", "cancel"),
  );
  t.equal(stateOf(declined).status, "DECLINED");
  t.strictSame(stepsOf(declined).slice(-2), ["void-voucher DONE", "cancel-room DONE"]);
});
