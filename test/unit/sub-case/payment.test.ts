// Hotels that take no guarantee, as tables: a card of the stay's own pays the room, and goes back when the room isn't booked after all.
import t from "tap";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { eventsOf, givenOf } from "../../harness/given.ts";
import {
  announced,
  answer,
  assign,
  calls,
  cardHotel,
  completed,
  decline,
  done,
  hotel,
  opened,
  review,
  rules,
  stage,
  started,
  stateOf,
  stepsOf,
  subCaseId,
} from "./group-story.ts";

/** Card hotel, hotel by guarantee, card hotel. */
const candidates = [cardHotel("astor"), hotel("biltmore"), cardHotel("carlton")];
const story = (...commands: Parameters<typeof answer>[0][] | ReturnType<typeof answer>[]): SubCaseEvent[] =>
  eventsOf(
    rules,
    [opened()],
    assign({ candidates }),
    ...commands.map((each) => (typeof each === "string" ? answer(each) : each)),
  );
const pay = (outcome: Parameters<typeof answer>[1] = "done", hotelNumber = 1) =>
  answer("issue-card", outcome, { reference: `payment.1.${hotelNumber}` });
const takeBack = (outcome: Parameters<typeof answer>[1] = "done", hotelNumber = 1) =>
  answer("cancel-card", outcome, { reference: `payment.1.${hotelNumber}` });
const at = (
  hotelNumber: number,
  verb: Parameters<typeof answer>[0],
  outcome: Parameters<typeof answer>[1] = "done",
  code?: string,
) => answer(verb, outcome, { reference: `room.1.${hotelNumber}`, ...(code === undefined ? {} : { code }) });

t.test("the held rooms are paid with a card issued for just that", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...story())
    .when(answer("hold"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "pay" } } },
    )
    .sends(completed("DONE"), started, calls("cardworks", "issue-card", "payment.1.1"));
  const held = story(answer("hold"));
  t.match(stateOf(held).call?.request, {
    balance: { amountMinor: 12_000, currency: "USD" },
    label: "Xenon XN482 hotel",
  });
  given(...held)
    .when(pay())
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "book" } } },
    )
    .leads({ payment: { cardId: "K1", vendor: "cardworks", status: "ACTIVE" } })
    .sends(completed("DONE"), started, calls("stayhub", "book", "room.1.1"));
  const paid = story(answer("hold"), pay());
  t.strictSame(stateOf(paid).call?.request.payment, { method: "CARD", cardId: "K1" });
  t.notOk("card" in stateOf(paid), "it is not the passengers' wallet card");
  const offered = story(answer("hold"), pay(), ...done("book", "issue-card", "book-ride", "send"));
  t.strictSame(stepsOf(offered), [
    "hold DONE",
    "pay DONE",
    "book DONE",
    "voucher DONE",
    "card DONE",
    "transport DONE",
    "notify DONE",
  ]);
  t.match(stateOf(offered), {
    status: "OFFER_READY",
    payment: { status: "ACTIVE" },
    card: { status: "ACTIVE" },
  });
});

t.test("a hotel that takes a guarantee gets no card", async (t) => {
  const second = story(answer("hold", "refused"), at(2, "hold"));
  t.match(stateOf(second).call, { step: "book", request: { payment: { method: "GUARANTEE" } } });
});

t.test("a room that cannot be paid goes to the next hotel", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...story(answer("hold")))
    .when(pay("refused"))
    .then(
      { type: "subcase.step-failed", data: { step: "pay", result: "REFUSED" } },
      { type: "subcase.hotel-refused", data: { hotelUrn: "urn:hotel:astor" } },
      { type: "subcase.step-started", data: { record: { name: "hold" } } },
    )
    .leads({ status: "PROCESSING", candidate: 1 })
    .sends(completed("REFUSED"), started, calls("stayhub", "hold", "room.1.2"));
});

t.test("a refused booking's card goes back before the next hotel is tried", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const paid = story(answer("hold"), pay());
  given(...paid)
    .when(answer("book", "refused"))
    .then(
      { type: "subcase.step-failed", data: { step: "book", result: "REFUSED" } },
      { type: "subcase.hotel-refused" },
      { type: "subcase.step-started", data: { record: { name: "cancel-payment" } } },
    )
    .leads({ status: "PROCESSING", candidate: 1 })
    .sends(completed("REFUSED"), started, calls("cardworks", "cancel-card", "payment.1.1"));
  const refused = eventsOf(rules, paid, answer("book", "refused"));
  t.strictSame(stateOf(refused).call?.request, { cardId: "K1" });
  given(...refused)
    .when(takeBack())
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "hold" } } },
    )
    .leads({ payment: { status: "CANCELLED" } })
    .sends(completed("DONE"), started, calls("stayhub", "hold", "room.1.2"));

  const third = eventsOf(rules, refused, takeBack(), at(2, "hold", "refused"), at(3, "hold"));
  given(...third)
    .when(pay("done", 3))
    .leads({ payment: { reference: `${subCaseId}.payment.1.3`, status: "ACTIVE" } });
  const last = eventsOf(rules, third, pay("done", 3), at(3, "book", "refused", "PAYMENT_DECLINED"));
  given(...last)
    .when(takeBack("done", 3))
    .then({ type: "subcase.step-completed" }, { type: "subcase.failed" })
    .leads({ status: "FAILED", payment: { status: "CANCELLED" } });
});

t.test(
  "a card that does not go back is somebody's work, and the next hotel is tried all the same",
  async (t) => {
    const given = givenOf(t, rules, subCaseId);
    const stuck = (hotelNumber: number) =>
      review("PAYMENT_FAILED", "payment", { occurrence: `${subCaseId}.payment.1.${hotelNumber}` });
    const refused = story(answer("hold"), pay(), answer("book", "refused"));
    given(...refused)
      .when(takeBack("refused"))
      .then({ type: "subcase.step-failed", data: { result: "FAILED" } }, { type: "subcase.step-started" })
      .leads({ status: "PROCESSING", payment: { status: "ACTIVE" } })
      .sends(completed("FAILED"), stuck(1), started, calls("stayhub", "hold", "room.1.2"));

    for (const [code, status, letter] of [
      ["SOLD_OUT", "PENDING", "W"],
      ["INVALID_REQUEST", "FAILED", "F"],
    ] as const) {
      const [lone] = candidates;
      const last = eventsOf(
        rules,
        [opened()],
        assign({ candidates: lone === undefined ? [] : [lone] }),
        answer("hold"),
        pay(),
        at(1, "book", "refused", code),
      );
      const [before, after] =
        status === "FAILED"
          ? [[announced("subcase.failed", status)], [review("BOOKING_FAILED", "booking")]]
          : [[], []];
      given(...last)
        .when(takeBack("refused"))
        .leads({ status, payment: { status: "ACTIVE" } })
        .sends(completed("FAILED"), stuck(1), ...before, stage(letter), ...after);
    }

    const booked = eventsOf(
      rules,
      refused,
      takeBack("refused"),
      ...[at(2, "hold"), at(2, "book")],
      ...done("issue-card", "book-ride", "send"),
    );
    const rolledBack = (...last: ReturnType<typeof answer>[]) =>
      stateOf(
        eventsOf(rules, booked, decline, ...done("cancel-ride", "cancel-card"), at(2, "cancel"), ...last),
      );
    t.match(rolledBack().call, { step: "cancel-payment" }, "a rollback asks for it once more");
    t.match(rolledBack(takeBack()), { status: "DECLINED", payment: { status: "CANCELLED" } });
    t.match(rolledBack(takeBack("refused")), {
      status: "COMPENSATION_FAILED",
      payment: { status: "ACTIVE" },
    });
  },
);

t.test("a rollback cancels the room, then what paid for it", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const offered = story(answer("hold"), pay(), ...done("book", "issue-card", "book-ride", "send"));
  const rolling = eventsOf(rules, offered, decline, ...done("cancel-ride", "cancel-card"));
  t.match(stateOf(rolling).call, { step: "cancel-room", verb: "cancel" });
  given(...rolling)
    .when(answer("cancel"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "cancel-payment" } } },
    )
    .sends(completed("DONE"), started, calls("cardworks", "cancel-card", "payment.1.1"));
  given(...eventsOf(rules, rolling, answer("cancel")))
    .when(takeBack())
    .then({ type: "subcase.step-completed" }, { type: "subcase.rolled-back" })
    .leads({ status: "DECLINED", reservation: { status: "CANCELLED" }, payment: { status: "CANCELLED" } })
    .sends(completed("DONE"), stage("D"));
  const stuck = eventsOf(rules, rolling, answer("cancel"), takeBack("refused"));
  t.match(stateOf(stuck), { status: "COMPENSATION_FAILED", payment: { status: "ACTIVE" } });
});
