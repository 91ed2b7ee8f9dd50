// What passengers do themselves, as tables: the use of their card as the vendor tells it in any order, their own check-in, the problems
// that they report, and what an edge has to forget.
import fc from "fast-check";
import t from "tap";
import { type CardUse, figuresOf, inOrder, usesMax } from "../../../actors/sub-case/card-use.ts";
import { purges } from "../../../actors/sub-case/purges.ts";
import { reportView } from "../../../actors/sub-case/report-problem.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { offerView } from "../../../actors/sub-case/view.ts";
import { walletView } from "../../../actors/sub-case/wallet-view.ts";
import type { Principal } from "../../../schemas/command.ts";
import { markOfPassenger, sessionIdOf } from "../../../schemas/passenger-session.ts";
import type { CardTransaction } from "../../../schemas/wallet.ts";
import { eventFault } from "../../../scripts/soaking/described-events.ts";
import { evening, eventsOf, givenOf, received, secondsLater, trace } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  assign,
  caseId,
  decline,
  done,
  doneIn,
  forward,
  opened,
  ready,
  rules,
  stage,
  standing,
  stateOf,
  story,
  subCaseId,
} from "./group-story.ts";

const cardOf = (events: SubCaseEvent[]) => {
  const { card } = stateOf(events);
  if (card === undefined) throw new Error("there is no card");
  return card;
};
const { cardId, reference } = cardOf(ready);

let told = 0;
const use = (
  kind: CardTransaction["kind"],
  amountMinor: number,
  more: Partial<CardTransaction> = {},
): CardTransaction => ({
  ...{ eventId: `E${++told}`, reference, cardId, authorizationId: "A1", kind },
  ...{ amount: { amountMinor, currency: "USD" }, at: secondsLater(told).toISOString() },
  ...more,
});
const record = (transaction: CardTransaction) =>
  received("sub-case.record-card-transaction", transaction, { id: `record ${transaction.eventId}` });
const used = (...uses: CardTransaction[]) => eventsOf(rules, ready, ...uses.map(record));

t.test("what a card comes to", async (t) => {
  const partial = { isPartial: true } as const;
  const ofNone = { eventId: "T2", authorizationId: "T2" };
  const hold = () => use("AUTHORIZATION", 1200);
  const [less, refund] = [() => use("SETTLEMENT", 900), () => use("REVERSAL", 300)];
  const rows: [string, CardTransaction[], [balance: number, held: number, available: number]][] = [
    ["nothing", [], [5000, 0, 5000]],
    ["held", [hold()], [5000, 1200, 3800]],
    ["settled for what was held", [hold(), use("SETTLEMENT", 1200)], [3800, 0, 3800]],
    ["settled for less", [hold(), use("SETTLEMENT", 900)], [4100, 0, 4100]],
    ["settled for more", [hold(), use("SETTLEMENT", 1500)], [3500, 0, 3500]],
    ["a part of it", [hold(), use("SETTLEMENT", 500, partial)], [4500, 700, 3800]],
    ["in two parts", [hold(), use("SETTLEMENT", 500, partial), use("SETTLEMENT", 600)], [3900, 0, 3900]],
    ["given up", [hold(), use("REVERSAL", 1200)], [5000, 0, 5000]],
    ["given up in part", [hold(), use("REVERSAL", 200)], [5000, 1000, 4000]],
    ["refunded", [hold(), use("SETTLEMENT", 1200), use("REVERSAL", 1200)], [5000, 0, 5000]],
    ["refunded in part", [hold(), use("SETTLEMENT", 1200), use("REVERSAL", 300)], [4100, 0, 4100]],
    ["settled without a word before", [use("SETTLEMENT", 700)], [4300, 0, 4300]],
    ["refunded elsewhere", [use("SETTLEMENT", 700), use("REVERSAL", 300, ofNone)], [4600, 0, 4600]],
    ["less, and refunded", [hold(), less(), refund()], [4400, 0, 4400]],
    ["held after it was settled", [less(), hold(), refund()], [4400, 0, 4400]],
    [
      "two at once",
      [use("AUTHORIZATION", 1000), use("AUTHORIZATION", 2000, { authorizationId: "A2" })],
      [5000, 3000, 2000],
    ],
    ["raised", [use("AUTHORIZATION", 1000), use("AUTHORIZATION", 500)], [5000, 1500, 3500]],
    ["more than there is", [use("SETTLEMENT", 6000)], [-1000, 0, 0]],
  ];
  for (const [name, uses, [balanceMinor, heldMinor, availableMinor]] of rows) {
    const expected = { balanceMinor, heldMinor, availableMinor };
    t.strictSame(figuresOf(cardOf(used(...uses))), expected, name);
    t.strictSame(figuresOf(cardOf(used(...uses.toReversed()))), expected, `${name}, told backwards`);
    t.strictSame(figuresOf(cardOf(used(...uses, ...uses))), expected, `${name}, told twice`);
  }
});

t.test("the order of arrival makes no difference, whatever is told", async (t) => {
  const any = fc.record({
    eventId: fc.uuid(),
    authorizationId: fc.constantFrom("A", "B"),
    kind: fc.constantFrom("AUTHORIZATION", "SETTLEMENT", "REVERSAL"),
    amountMinor: fc.integer({ min: 1, max: 9_000 }),
    isPartial: fc.constantFrom(true as const, undefined),
    at: fc.integer({ min: 0, max: 5 }).map(secondsLater),
  });
  const property = fc.property(
    fc.uniqueArray(any, { selector: ({ eventId }) => eventId, maxLength: 12 }).chain((uses) => {
      return fc.tuple(fc.constant(uses), fc.shuffledSubarray(uses, { minLength: uses.length }));
    }),
    ([uses, shuffled]) => {
      const card = cardOf(ready);
      const figures = figuresOf({ ...card, uses: uses as CardUse[] });
      t.strictSame(inOrder(shuffled as CardUse[]), inOrder(uses as CardUse[]));
      t.strictSame(figuresOf({ ...card, uses: shuffled as CardUse[] }), figures);
      return figures.heldMinor >= 0 && figures.availableMinor >= 0 && figures.availableMinor <= 5000;
    },
  );
  fc.assert(property, { numRuns: 60 });
});

t.test("a use is recorded once, told to partners, and counts as no change of the group", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const held = use("AUTHORIZATION", 1200, { merchant: "JFK Diner" });
  const tx = (kind: string, amountMinor: number, balance: number) => ({
    to: "public" as const,
    type: "wallet.card-tx",
    caseId,
    data: {
      ...{ subCaseUrn: `urn:sub-case:${subCaseId}`, groupId: "K7QX2M", last4: cardOf(ready).last4, kind },
      amount: { amountMinor, currency: "USD" },
      balance: { amountMinor: balance, currency: "USD" },
    },
  });
  given(...ready)
    .when(record(held))
    .then({ type: "subcase.card-used", data: { reference } })
    .sends(tx("AUTHORIZATION", 1200, 5000));
  given(...used(held))
    .when(record({ ...held, at: secondsLater(500).toISOString() }))
    .nothing();
  given(...used(held))
    .when(record(use("SETTLEMENT", 1000)))
    .sends(tx("SETTLEMENT", 1000, 4000));
  const event = rules.outgoing(used(held).at(-1) as SubCaseEvent, stateOf(used(held)))[0];
  const data = event?.to === "public" ? event.data : {};
  const [urn, at] = ["urn:event:XN-01KAMVW9G0ABCDEFGHJKMNPQRS", evening.toISOString()];
  const about = { tenant: "urn:airline:XN", case_urn: `urn:case:${caseId}`, ...trace, data };
  const { correlationUrn: correlation_urn, ...rest } = about;
  t.equal(
    eventFault({ urn, type: "wallet.card-tx", occurred_at: at, correlation_urn, ...rest } as never),
    undefined,
    "as it is described to partners",
  );
  for (const [wrong, code] of [
    [{ amount: { amountMinor: 1, currency: "EUR" } }, "validation/body"],
    [{ amount: { amountMinor: 0, currency: "USD" } }, "validation/body"],
    [{ amount: { amountMinor: -5, currency: "USD" } }, "validation/body"],
    [{ amount: { amountMinor: 1.5, currency: "USD" } }, "validation/body"],
    [{ at: "never" }, "validation/body"],
    [{ reference: `${subCaseId}.card.9` }, "not-found/resource"],
    [{ cardId: "another" }, "not-found/resource"],
  ] as const)
    given(...ready)
      .when(record(use("AUTHORIZATION", 5, wrong)))
      .refused(code);
  const full = used(...Array.from({ length: usesMax }, () => use("AUTHORIZATION", 1)));
  given(...full)
    .when(record(use("AUTHORIZATION", 1)))
    .refused("conflict/state");
  given(...story(...done("hold", "book")))
    .when(record(held))
    .notYet();
});

t.test("a card of before keeps being heard of, and a closed case takes it down", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const closed = eventsOf(rules, ready, standing("suspend", 10));
  given(...closed)
    .when(record(use("AUTHORIZATION", 100)))
    .then({ type: "subcase.card-used" });
  const cancelled = eventsOf(rules, ready, decline, ...done("cancel-ride", "cancel-card", "cancel"));
  t.match(figuresOf(cardOf(eventsOf(rules, cancelled, record(use("SETTLEMENT", 700))))), {
    balanceMinor: 4300,
    availableMinor: 0,
  });
  const lost = eventsOf(
    rules,
    ready,
    received("sub-case.record-stay", {
      ...{ reference: `${subCaseId}.room.1.1`, bookingId: "B1", state: "CANCELLED" },
      at: evening.toISOString(),
    }),
    ...done("cancel-ride", "cancel-card"),
  );
  const second = eventsOf(rules, lost, assign({ waveId: "XN-WAVE2" }), ...doneIn(2, ...forward));
  t.equal(stateOf(second).formerCards?.length, 1);
  given(...second)
    .when(record(use("SETTLEMENT", 700)))
    .then({ type: "subcase.card-used", data: { reference } });
  t.match(walletView(stateOf(eventsOf(rules, second, record(use("SETTLEMENT", 700))))), {
    balance: { amountMinor: 5000 },
    transactions: [],
  });
});

t.test("the wallet", async (t) => {
  const uses = Array.from({ length: 60 }, (_, i) =>
    use("AUTHORIZATION", i + 1, { authorizationId: `A${i}` }),
  );
  const seen = walletView(stateOf(used(...uses)));
  t.equal(seen.transactions.length, 50);
  t.match(seen.transactions[0], { kind: "AUTHORIZATION", amount: { amountMinor: 60, currency: "USD" } });
  t.match(seen, { status: "ACTIVE", held: { amountMinor: 1830 }, available: { amountMinor: 3170 } });
  t.equal(seen.revealUrl, "/v1/me/wallet/reveal");
  t.notMatch(JSON.stringify(seen), new RegExp(`${cardId}|${reference}`));
  for (const events of [[opened()], story(...done("hold", "book", "issue-card"))])
    t.throws(() => walletView(stateOf(events)), { code: "not-found/resource" }, "nothing before the offer");
  const given = givenOf(t, rules, subCaseId);
  const reveal = received("sub-case.reveal-card");
  given(...ready)
    .when(reveal)
    .then({ type: "subcase.card-revealed" })
    .sends();
  given(opened()).when(reveal).refused("not-found/resource");
  given(...eventsOf(rules, ready, decline, ...done("cancel-ride", "cancel-card")))
    .when(reveal)
    .refused("conflict/state", { state: "CANCELLED" });
});

const checkIn = (seconds = 0) => received("sub-case.check-in", {}, { now: secondsLater(seconds) });
const report = (state: string) =>
  received("sub-case.record-stay", {
    ...{ reference: `${subCaseId}.room.1.1`, bookingId: "B1", state, at: evening.toISOString() },
  });

t.test("check-in by the passengers", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const { checkIn: from = "", checkOut: until = "" } = stateOf(ready).assignment?.stay ?? {};
  t.strictSame([from, until], ["2026-11-21", "2026-11-22"]);
  given(...ready)
    .when(checkIn())
    .then(
      { type: "subcase.stay-noted", data: { status: "CHECKED_IN", bySelf: true } },
      { type: "subcase.resolved" },
    )
    .leads({ status: "RESOLVED", offer: { state: "ACCEPTED" }, reservation: { status: "CHECKED_IN" } })
    .sends(announced("subcase.resolved", "RESOLVED"), stage("R"));
  const there = eventsOf(rules, ready, checkIn());
  t.equal(offerView(stateOf(there), 1, undefined).stayStatus, "CHECKED_IN");
  given(...there)
    .when(checkIn(60))
    .nothing();
  given(...eventsOf(rules, ready, accept))
    .when(checkIn())
    .then({ type: "subcase.stay-noted" })
    .sends();
  // 05:00 in UTC is midnight in New York.
  const midnight = Date.parse("2026-11-22T05:00:00.000Z");
  const at = (iso: string) => (Date.parse(iso) - evening.getTime()) / 1000;
  const tomorrow = eventsOf(
    rules,
    [opened()],
    assign({ stay: { checkIn: "2026-11-22", checkOut: "2026-11-23", nights: 1 } }),
    ...done(...forward),
  );
  given(...tomorrow)
    .when(checkIn((midnight - 1000 - evening.getTime()) / 1000))
    .refused("conflict/state", { state: "CONFIRMED" });
  given(...tomorrow)
    .when(checkIn((midnight - evening.getTime()) / 1000))
    .then({ type: "subcase.stay-noted" }, { type: "subcase.resolved" });
  given(...ready)
    .when(checkIn(at("2026-11-23T04:59:59.000Z")))
    .then({ type: "subcase.stay-noted" }, { type: "subcase.resolved" });
  given(...ready)
    .when(checkIn(at("2026-11-23T05:00:00.000Z")))
    .refused("conflict/state");
  const rolling = eventsOf(rules, ready, decline);
  for (const [events, state] of [
    [[opened()], "PENDING"],
    [story(answer("hold")), "PENDING"],
    [story(...done("hold", "book")), "PENDING"],
    [rolling, "CONFIRMED"],
    [eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel")), "CANCELLED"],
    [eventsOf(rules, ready, report("CHECKED_OUT")), "CHECKED_OUT"],
    [eventsOf(rules, ready, report("NO_SHOW")), "NO_SHOW"],
    [eventsOf(rules, ready, report("CANCELLED")), "CANCELLED"],
  ] as const)
    given(...events)
      .when(checkIn())
      .refused("conflict/state", { state });
  const mine: Principal = { surface: "passenger", tenant: "XN", urn: "urn:passenger-session:x" };
  given(...eventsOf(rules, ready, standing("suspend", 10)))
    .when({ ...checkIn(20), principal: mine })
    .refused("conflict/state", { state: "CLOSED" });
});

t.test("the hotel knows better", async (t) => {
  const there = eventsOf(rules, ready, checkIn());
  const given = givenOf(t, rules, subCaseId);
  given(...there)
    .when(report("NO_SHOW"))
    .then({ type: "subcase.stay-noted", data: { status: "NO_SHOW" } })
    .sends(stage("O"));
  given(...there)
    .when(report("CHECKED_OUT"))
    .sends(stage("C"));
  const confirmed = eventsOf(rules, there, report("CHECKED_IN"));
  t.strictSame(stateOf(confirmed).reservation?.selfCheckIn, undefined);
  for (const state of ["NO_SHOW", "CANCELLED", "CHECKED_IN"])
    given(...confirmed)
      .when(report(state))
      .nothing();
  t.match(stateOf(eventsOf(rules, there, report("CANCELLED"))), { status: "ROLLING_BACK", roomLost: true });
});

t.test("a problem that they report", async (t) => {
  const passengerUrn = "urn:passenger:XN-ADA";
  const urn = `urn:passenger-session:${sessionIdOf(passengerUrn, "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001")}`;
  const principal: Principal = { surface: "passenger", tenant: "XN", urn };
  const says = (text: string, { category = "ROOM", seconds = 0 } = {}) =>
    received("sub-case.report-problem", { category, text }, { principal, now: secondsLater(seconds) });
  const given = givenOf(t, rules, subCaseId);
  given(...ready)
    .when(says("  No room \u202eunder our name.\u200b "))
    .then({ type: "subcase.problem-reported" })
    .sends({
      to: "command",
      name: "review.report-problem",
      entity: "",
      data: {
        ...{ caseId, airport: "JFK", groupId: "K7QX2M", category: "ROOM", passengerUrn },
        ...{ text: "No room under our name.", at: evening.toISOString() },
      },
    });
  const once = eventsOf(rules, ready, says("No room."));
  t.notMatch(JSON.stringify(stateOf(once)), "No room.", "their words are not kept here");
  given(...once)
    .when(says("No room.", { seconds: 3600 }))
    .nothing();
  t.strictSame(reportView(stateOf(once), says("No room."), secondsLater(99)), {
    category: "ROOM",
    reportedAt: evening.toISOString(),
  });
  given(...once)
    .when(says("No room.", { category: "TRANSPORT" }))
    .then({ type: "subcase.problem-reported" });
  given(...once)
    .when(says("No room.", { seconds: 86_401 }))
    .then({ type: "subcase.problem-reported" });
  given(...ready)
    .when(says("\u200b \ufeff"))
    .refused("validation/body");
  const ten = eventsOf(rules, ready, ...Array.from({ length: 10 }, (_, i) => says(`No. ${i}`)));
  given(...ten)
    .when(says("And another", { seconds: 60 }))
    .refused("rate/exceeded", { retryAfterSeconds: 86_340 });
  given(opened()).when(says("Where do I go?")).then({ type: "subcase.problem-reported" });
});

t.test("what an edge has to forget", async (t) => {
  const keysAfter = (events: SubCaseEvent[], ...commands: Parameters<typeof eventsOf>[2][]) => {
    const after = eventsOf(rules, events, ...(commands as never[]));
    const [purged] = purges({
      id: subCaseId,
      command: received("x"),
      before: stateOf(events),
      after: stateOf(after),
      events: after.slice(events.length),
    });
    return purged?.to === "internal" ? purged.data.surrogateKeys : undefined;
  };
  const all = [
    `group/${caseId}/K7QX2M`,
    ...["ADA", "BYRON"].map((name) => `passenger/${markOfPassenger(`urn:passenger:XN-${name}`)}`),
  ];
  for (const [name, events, command] of [
    ["ready", story(...done("hold", "book", "issue-card", "book-ride")), answer("send")],
    ["accepted", ready, accept],
    ["declined", ready, decline],
    ["the card is used", ready, record(use("SETTLEMENT", 5))],
    ["they have checked in", ready, checkIn()],
    ["the hotel has taken the room back", ready, report("CANCELLED")],
    ["the case is closed", ready, standing("suspend", 5)],
  ] as const)
    t.strictSame(keysAfter([...events], command as never), all, name);
  for (const [name, events, command] of [
    ["a step on the way", story(answer("hold")), answer("book")],
    [
      "a lock",
      ready,
      received("sub-case.lock", {}, { principal: { ...trace, surface: "operator" } as never }),
    ],
    ["the card is shown", ready, received("sub-case.reveal-card")],
  ] as const)
    t.strictSame(keysAfter([...events], command as never), undefined, name);
});
