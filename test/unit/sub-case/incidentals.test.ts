// What is put on a group's cards while its nights go up and down: never more than the most nights ever had are worth.
import t from "tap";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import type { Stay } from "../../../schemas/assignment.ts";
import { eventsOf, received } from "../../harness/given.ts";
import { answer, assign, cardHotel, done, opened, rules, stateOf } from "./group-story.ts";

const stayOf = (nights: number): Stay => ({
  checkIn: "2026-11-21",
  checkOut: `2026-11-${21 + nights}`,
  nights,
});
/** What the hotel asks for so many nights. */
const totalMinor = (nights: number): number => 12_500 * nights;

/** A group whose hotel takes only cards, and that has its offer. @param nightlyMinor of the card for incidentals; 0: there is none */
const offered = (nights: number, nightlyMinor: number): SubCaseEvent[] =>
  eventsOf(
    rules,
    [opened()],
    assign(
      { candidates: [cardHotel("astor")], stay: stayOf(nights) },
      { incidentalsMinor: nightlyMinor * nights },
    ),
    ...["hold", "pay", "book", ...(nightlyMinor === 0 ? [] : ["card"])].map((step) =>
      given(step, nights, nightlyMinor),
    ),
    ...done("book-ride", "send"),
  );

/** The vendor does what a step of the saga's way to its offer asks. */
const given = (step: string, nights: number, nightlyMinor: number) => {
  const total = { amountMinor: totalMinor(nights), currency: "USD" };
  const balance = step === "pay" ? total : { amountMinor: nightlyMinor * nights, currency: "USD" };
  const command =
    step === "pay"
      ? answer("issue-card", "done", { reference: "payment.1.1" })
      : answer(step === "card" ? "issue-card" : (step as "hold" | "book"));
  const data = command.data as { result: object };
  return { ...command, data: { ...data, result: { ...data.result, total, balance } } };
};

let sent = 0;
/** Whatever is asked for the new dates is done, unless its step is named. */
const amended = (before: SubCaseEvent[], nights: number, refused: readonly string[] = []): SubCaseEvent[] => {
  const shape = (stateOf(before).shape ?? 0) + 1;
  let events = eventsOf(rules, before, received("sub-case.amend-stay", { shape, stay: stayOf(nights) }));
  for (let { call } = stateOf(events); call !== undefined; { call } = stateOf(events)) {
    const { verb, vendor, reference, request, step } = call;
    const result = {
      confirmationNumber: "C-78",
      messageId: "M1",
      balance: request.loaded,
      total: { amountMinor: totalMinor(nights), currency: "USD" },
    };
    const outcome = refused.includes(step)
      ? { outcome: "refused", code: "PAYMENT_DECLINED", detail: "No." }
      : { outcome: "done", result };
    const data = { verb, vendor, reference, ...outcome };
    events = eventsOf(rules, events, { ...received("sub-case.record-answer", data), id: `told ${++sent}` });
  }
  return events;
};

/** Incidentals, and what the hotel is paid with. */
const loadedOn = (events: SubCaseEvent[]): (number | undefined)[] => {
  const { card, payment } = stateOf(events);
  return [card?.loadedMinor, payment?.loadedMinor];
};

t.test("so much a night, whatever the nights were before", async (t) => {
  const table: [string, number[], number[]][] = [
    // the nights in their order, and what is on the card after each
    ["longer", [1, 2, 3], [3_000, 6_000, 9_000]],
    ["shorter, and as it was", [3, 1, 3], [9_000, 9_000, 9_000]],
    ["up and down for long", [3, 1, 3, 1, 3, 2, 3], Array(7).fill(9_000)],
    ["longer than ever", [3, 1, 2, 4, 1, 4, 5], [9_000, 9_000, 9_000, 12_000, 12_000, 12_000, 15_000]],
  ];
  for (const [what, [first = 1, ...others], expected] of table) {
    let events = offered(first, 3_000);
    const found = [loadedOn(events)[0]];
    for (const nights of others) {
      events = amended(events, nights);
      found.push(loadedOn(events)[0]);
    }
    t.same(found, expected, what);
    t.match(stateOf(events), {
      assignment: { stay: stayOf(others.at(-1) ?? 1) },
      card: { balanceMinor: expected.at(-1) },
    });
  }
});

t.test("any nights in any order", async (t) => {
  const every = (length: number): number[][] =>
    length === 0
      ? [[]]
      : every(length - 1).flatMap((rest) => [1, 2, 3, 4].map((nights) => [...rest, nights]));
  const wrong: unknown[] = [];
  for (const nightlyMinor of [0, 3_333])
    for (const nights of every(4)) {
      const [first = 1, ...others] = nights;
      let most = first;
      let events = offered(first, nightlyMinor);
      for (const next of others) {
        events = amended(events, next);
        most = Math.max(most, next);
        const expected = [nightlyMinor === 0 ? undefined : nightlyMinor * most, totalMinor(most)];
        if (String(loadedOn(events)) !== String(expected)) wrong.push([nights, loadedOn(events), expected]);
      }
    }
  t.same(wrong.slice(0, 3), []);
});

t.test("what the vendor would not load is asked for by the nights that are had then", async (t) => {
  const declined = amended(offered(1, 3_000), 3, ["load-card", "load-payment"]);
  t.same(loadedOn(declined), [3_000, 12_500]);
  t.same(loadedOn(amended(declined, 2)), [6_000, 25_000]);
  t.same(loadedOn(amended(declined, 1)), [3_000, 12_500]);
  const unmoved = amended(offered(2, 3_000), 3, ["modify"]);
  t.same([loadedOn(unmoved), stateOf(unmoved).unfit], [[6_000, 25_000], true], "the hotel keeps its dates");
});

t.test("a card that is issued anew is for the nights that are had then", async (t) => {
  const { reservation } = stateOf(offered(3, 3_000));
  const lost = {
    reference: reservation?.reference,
    bookingId: reservation?.bookingId,
    state: "CANCELLED",
    at: "2026-11-21T23:00:00Z",
  };
  const failed = eventsOf(
    rules,
    amended(offered(3, 3_000), 1),
    received("sub-case.record-stay", lost),
    ...done("cancel-ride", "cancel-card"),
    answer("cancel-card", "done", { reference: "payment.1.1" }),
  );
  t.match(stateOf(failed), { status: "FAILED", card: { status: "CANCELLED" } });
  const again = eventsOf(
    rules,
    failed,
    received("sub-case.compensate", {}),
    answer("hold", "done", { round: 2 }),
    answer("issue-card", "done", { reference: "payment.2.1" }),
    answer("book", "done", { round: 2 }),
  );
  t.match(stateOf(again).call, {
    step: "card",
    request: { balance: { amountMinor: 3_000, currency: "USD" } },
  });
});
