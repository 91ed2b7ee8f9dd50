// The passenger's decision as tables: what may be accepted and declined, and the rollback that follows a decline.
import t from "tap";
import type { Outgoing } from "../../../actors/runtime/decider.ts";
import { urn } from "../../../schemas/urn.ts";
import type { VendorVerb } from "../../../schemas/vendor-call.ts";
import { alike, evening, eventsOf, givenOf, type Like, received, secondsLater } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  calls,
  completed,
  decline,
  done,
  forward,
  opened,
  ready,
  reissue,
  review,
  rules,
  stage,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
} from "./group-story.ts";

t.test("the passenger's decision", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const rollingBack = eventsOf(rules, ready, decline);
  const declined = eventsOf(rules, rollingBack, ...done("cancel-ride", "cancel-card", "cancel"));
  given(...ready)
    .when(accept)
    .then({ type: "subcase.resolved", data: { at: evening } })
    .leads({ status: "RESOLVED", offer: { state: "ACCEPTED", decidedAt: evening } })
    .sends(announced("subcase.resolved", "RESOLVED"), stage("R"));
  given(...eventsOf(rules, ready, accept))
    .when(accept)
    .nothing();
  given(...eventsOf(rules, ready, accept))
    .when(decline)
    .refused("conflict/offer-decided", { state: "ACCEPTED" });
  for (const events of [[opened()], story(), story(answer("hold"))]) {
    given(...events)
      .when(accept)
      .refused("conflict/state", { state: "PENDING" });
    given(...events)
      .when(decline)
      .refused("conflict/state", { state: "PENDING" });
  }
  for (const events of [rollingBack, declined]) {
    given(...events)
      .when(accept)
      .refused("conflict/offer-decided", { state: "DECLINED" });
    given(...events)
      .when(decline)
      .refused("conflict/offer-decided", { state: "DECLINED" });
  }
  given(...ready)
    .when(decline)
    .then(
      { type: "subcase.declined", data: { reason: "I found a room" } },
      { type: "subcase.step-started", data: { record: { name: "cancel-transport" } } },
    )
    .leads({ status: "ROLLING_BACK", offer: { state: "DECLINED", reason: "I found a room" } })
    .sends(
      announced("subcase.declined", "ROLLING_BACK"),
      {
        to: "internal",
        type: "operator.alerted",
        data: { kind: "offer-declined", airport: "JFK", subCaseUrn: urn("sub-case", subCaseId) },
      },
      started,
      calls("ridefleet", "cancel-ride", "ride.1"),
    );
  given(...ready)
    .when(received("sub-case.decline-offer"))
    .then({ type: "subcase.declined" }, { type: "subcase.step-started" });
  t.strictSame(stepsOf(declined).slice(6), [
    "cancel-transport DONE",
    "cancel-card DONE",
    "void-voucher DONE",
    "cancel-room DONE",
  ]);
  t.match(stateOf(declined), {
    status: "DECLINED",
    reservation: { status: "CANCELLED" },
    voucher: { status: "VOID" },
    card: { status: "CANCELLED" },
    ride: { status: "cancelled" },
  });
  const ended = (result: Like<Outgoing>) => [completed("DONE"), started, completed("DONE"), result, started];
  const voided = {
    to: "public",
    type: "voucher.amended",
    data: { status: "VOID", groupId: "K7QX2M" },
  } as const;
  given(...eventsOf(rules, rollingBack, answer("cancel-ride")))
    .when(answer("cancel-card"))
    .sends(...ended(voided), calls("stayhub", "cancel", "room.1.1"));
  const spared = { type: "subcase.released", data: { at: evening, cause: "LOCAL_RESIDENT" } } as const;
  t.strictSame(rules.outgoing(spared, stateOf(declined)), [], "what is void already is not told again");
  given(...eventsOf(rules, rollingBack, ...done("cancel-ride", "cancel-card")))
    .when(answer("cancel"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.rolled-back" })
    .sends(completed("DONE"), stage("D"));
});

const undoes: Readonly<Record<string, string>> = {
  book: "cancel-room",
  voucher: "void-voucher",
  card: "cancel-card",
  transport: "cancel-transport",
};
const undoing: Readonly<Record<string, VendorVerb>> = {
  "cancel-room": "cancel",
  "cancel-card": "cancel-card",
  "cancel-transport": "cancel-ride",
};

t.test("a rollback is the exact reverse of what was gained", async (t) => {
  for (const without of [
    [],
    ["issue-card"],
    ["book-ride"],
    ["issue-card", "book-ride", "send"],
  ] as VendorVerb[][]) {
    const offered = story(
      ...forward.map((verb) => answer(verb, without.includes(verb) ? "refused" : "done")),
    );
    // The order of rides is given back whatever came of it: the way back may stand where the way there was refused.
    const gained = stateOf(offered).steps.flatMap(({ name, result }) =>
      result === "DONE" || name === "transport" ? (undoes[name] ?? []) : [],
    );
    let events = eventsOf(rules, offered, decline);
    for (let call = stateOf(events).call; call !== undefined; call = stateOf(events).call)
      events = eventsOf(rules, events, answer(undoing[call.step] as VendorVerb));
    const undone = stateOf(events)
      .steps.slice(stateOf(offered).steps.length)
      .map(({ name }) => name);
    t.strictSame(undone, gained.reverse(), `without ${without.join(", ") || "nothing"}`);
    t.equal(stateOf(events).status, "DECLINED");
  }
});

t.test("a rollback that is stuck is somebody's work", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const rolling = eventsOf(rules, ready, decline);
  const last = eventsOf(rules, rolling, answer("cancel-ride", "refused"), answer("cancel-card"));
  alike(t, stateOf(last).call?.verb, "cancel", "the rest is undone all the same");
  given(...last)
    .when(answer("cancel"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.compensation-failed", data: { step: "cancel-transport" } },
    )
    .leads({
      status: "COMPENSATION_FAILED",
      reservation: { status: "CANCELLED" },
      ride: { status: "booked" },
    })
    .sends(
      completed("DONE"),
      announced("subcase.compensation-failed", "COMPENSATION_FAILED"),
      stage("U"),
      review("BOOKING_FAILED", "rollback"),
    );
  const stuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"), answer("cancel", "refused"));
  t.match(stateOf(stuck), { status: "COMPENSATION_FAILED", reservation: { status: "CONFIRMED" } });
  t.notOk("call" in stateOf(stuck));
  const tried = (count: number) =>
    eventsOf(
      rules,
      rolling,
      ...Array.from({ length: count - 1 }, (_, i) => [
        answer("cancel-ride", "unavailable", { now: secondsLater(100 * i) }),
        reissue(100 * i + 90),
      ]).flat(),
      answer("cancel-ride", "unavailable", { now: secondsLater(100 * count) }),
    );
  t.equal(stateOf(tried(7)).call?.verb, "cancel-ride", "a rollback insists for longer");
  t.equal(stateOf(tried(8)).call?.verb, "cancel-card");
});
