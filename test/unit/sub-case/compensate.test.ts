// Compensation as operators submit it, as tables: what it sets going in each state, where it begins, and how a repeat is told from a new one.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { submittedAs } from "../../../actors/sub-case/compensate.ts";
import { subCaseActor } from "../../../actors/sub-case/service.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { compensationView } from "../../../actors/sub-case/view.ts";
import { evening, eventsOf, givenOf, received, supervisor } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  assign,
  calls,
  completed,
  decline,
  done,
  doneIn,
  forward,
  opened,
  ready,
  refusedBy,
  review,
  rules,
  stage,
  standing,
  started,
  stateOf,
  stepDeadlineMs,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

let submitted = 0;
const compensate = (data: object = {}, more: Partial<Received> = {}): Received => {
  const n = ++submitted;
  return received("sub-case.compensate", data, {
    principal: supervisor,
    id: `api:${n}`,
    correlationUrn: `urn:correlation:${n}`,
    ...more,
  });
};

const waiting = eventsOf(rules, [opened()], assign({ book: false }));
const failed = story(...refusedBy(1, "SOLD_OUT", "SOLD_OUT", "INVALID_REQUEST"));
const returned = story(...refusedBy(1, "SOLD_OUT", "SOLD_OUT", "SOLD_OUT"));
const rolling = eventsOf(rules, ready, decline);
const stuck = eventsOf(
  rules,
  rolling,
  answer("cancel-ride", "refused"),
  answer("cancel-card"),
  answer("cancel", "refused"),
);
const begun = (reference: string, round: number) => [
  announced("subcase.processing", "PROCESSING"),
  stage("A", round),
  started,
  calls("stayhub", "hold", reference),
];

t.test("what it sets going in each state", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const rows: [SubCaseEvent[], number][] = [
    [waiting, 1],
    [failed, 2],
  ];
  for (const [events, round] of rows)
    given(...events)
      .when(compensate())
      .then(
        { type: "subcase.compensation-submitted" },
        { type: "subcase.processing", data: { candidate: 0 } },
        { type: "subcase.step-started", data: { record: { name: "hold" } } },
      )
      .leads({ status: "PROCESSING", round, candidate: 0, compensations: [{ round }] })
      .sends(...begun(`room.${round}.1`, round));
  given(...stuck)
    .when(compensate())
    .then(
      { type: "subcase.compensation-submitted" },
      { type: "subcase.processing", data: {} },
      { type: "subcase.step-started", data: { record: { name: "cancel-transport" }, call: { again: 1 } } },
    )
    .leads({ status: "ROLLING_BACK", round: 1, offer: { state: "DECLINED" } })
    .sends(announced("subcase.processing", "ROLLING_BACK"), started, {
      to: "command",
      name: "transport.cancel-ride",
      data: { again: 1, tries: 1, doubt: false, reference: `${subCaseId}.ride.1` } as never,
    });
  const refusing: [string, SubCaseEvent[], string][] = [
    ["nothing allocated", [opened()], "PENDING"],
    ["gone back for another wave", returned, "PENDING"],
    ["under way", story(), "PROCESSING"],
    ["an offer", ready, "OFFER_READY"],
    ["accepted", eventsOf(rules, ready, accept), "RESOLVED"],
    ["rolling back", rolling, "ROLLING_BACK"],
    ["declined", eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel")), "DECLINED"],
    ["no room needed", eventsOf(rules, [opened()], received("sub-case.mark-not-required")), "NOT_REQUIRED"],
  ];
  for (const [, events, state] of refusing)
    given(...events)
      .when(compensate())
      .refused("conflict/state", { state });
  given().when(compensate()).notYet();
  given(...failed)
    .when(compensate({}, { principal: { ...supervisor, airport: "LAX" } }))
    .refused("auth/foreign-airport");
  given(...eventsOf(rules, failed, standing("suspend", 10)))
    .when(compensate())
    .refused("conflict/state", { state: "CLOSED" });
});

t.test("where it begins", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const [i, name] of ["astor", "biltmore", "carlton"].entries())
    given(...failed)
      .when(compensate({ hotelUrn: `urn:hotel:${name}` }))
      .leads({ candidate: i, call: { reference: `${subCaseId}.room.2.${i + 1}` } });
  given(...failed)
    .when(compensate({ hotelUrn: "urn:hotel:dorchester" }))
    .refused("validation/body", {
      errors: [
        { pointer: "/hotelUrn", detail: "one of urn:hotel:astor, urn:hotel:biltmore, urn:hotel:carlton" },
      ],
    });
  given(...stuck)
    .when(compensate({ hotelUrn: "urn:hotel:dorchester" }))
    .leads({ status: "ROLLING_BACK" });
  const from = eventsOf(rules, failed, compensate({ hotelUrn: "urn:hotel:carlton" }));
  const offered = eventsOf(
    rules,
    from,
    answer("hold", "done", { reference: "room.2.3" }),
    answer("book", "done", { reference: "room.2.3" }),
    ...doneIn(2, ...forward.slice(2)),
  );
  t.match(stateOf(offered), { status: "OFFER_READY", reservation: { hotelUrn: "urn:hotel:carlton" } });
  given(...from)
    .when(answer("hold", "refused", { reference: "room.2.3", code: "INVALID_REQUEST" }))
    .leads({ status: "FAILED" })
    .sends(
      completed("REFUSED"),
      announced("subcase.failed", "FAILED"),
      stage("F", 2),
      review("BOOKING_FAILED", "booking", { occurrence: "round 2" }),
    );
});

t.test("a stuck rollback, tried again", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const again = eventsOf(rules, stuck, compensate());
  given(...again)
    .when(answer("cancel-ride"))
    .then(
      { type: "subcase.step-completed" },
      { type: "subcase.step-started", data: { record: { name: "cancel-room" }, call: { again: 1 } } },
    );
  const undone = eventsOf(rules, again, answer("cancel-ride"));
  given(...undone)
    .when(answer("cancel"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.rolled-back" })
    .leads({
      status: "DECLINED",
      reservation: { status: "CANCELLED", cancellationFee: { amountMinor: 4_000, currency: "USD" } },
      ride: { status: "cancelled" },
    })
    .sends(completed("DONE"), stage("D"));
  const stillStuck = eventsOf(rules, undone, answer("cancel", "refused"));
  t.match(stateOf(stillStuck), { status: "COMPENSATION_FAILED", ride: { status: "cancelled" } });
  const items = [stuck, stillStuck].map((events) => {
    const last = rules.outgoing(events.at(-1) as SubCaseEvent, stateOf(events)).at(-1);
    return (last as { data: { occurrence: string } }).data.occurrence;
  });
  t.not(items[0], items[1], "each time it is stuck is an item of its own");
  for (const outcome of ["refused", "unavailable", "in-doubt"] as const)
    given(...again)
      .when(answer("cancel-ride", outcome, { tries: 1 }))
      .nothing();
  given(...again)
    .when(answer("cancel-ride", "refused", { tries: 1, again: 1 }))
    .leads({ call: { step: "cancel-room" } });
  given(...again)
    .when(answer("cancel-ride", "done", { tries: 1 }))
    .leads({ call: { step: "cancel-room" }, ride: { status: "cancelled" } });
  const third = stateOf(eventsOf(rules, stillStuck, compensate()));
  t.match(third.call, { step: "cancel-room", again: 2 }, "each time it is asked the vendor is told");
  const bare = stateOf(rolling).call;
  t.notOk(bare && "again" in bare, "the first time it isn't");
});

t.test("the same payload again is the same compensation", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const carlton = { hotelUrn: "urn:hotel:carlton", reason: "They have a room" };
  const first = compensate(carlton, { expectedVersion: 7 });
  const underWay = eventsOf(rules, failed, first);
  const offered = eventsOf(
    rules,
    underWay,
    answer("hold", "done", { reference: "room.2.3" }),
    answer("book", "done", { reference: "room.2.3" }),
    ...doneIn(2, ...forward.slice(2)),
  );
  const failedAgain = eventsOf(
    rules,
    underWay,
    answer("hold", "refused", { reference: "room.2.3", code: "INVALID_REQUEST" }),
  );
  const repeats: [string, SubCaseEvent[], Received][] = [
    ["under way", underWay, compensate(carlton, { expectedVersion: 7 })],
    [
      "with its members in another order",
      underWay,
      compensate({ reason: carlton.reason, hotelUrn: carlton.hotelUrn }, { expectedVersion: 7 }),
    ],
    ["when the offer stands", offered, compensate(carlton, { expectedVersion: 7 })],
    ["when it has failed", failedAgain, compensate(carlton, { expectedVersion: 7 })],
  ];
  for (const [what, events, repeat] of repeats) {
    given(...events)
      .when(repeat)
      .nothing();
    const known = submittedAs(stateOf(events), repeat);
    t.equal(known?.correlationUrn, first.correlationUrn, `${what}: the first one's correlation`);
  }
  const others: [string, Received][] = [
    ["another version", compensate(carlton, { expectedVersion: 8 })],
    ["no version", compensate(carlton)],
    ["another hotel", compensate({ ...carlton, hotelUrn: "urn:hotel:astor" }, { expectedVersion: 7 })],
    ["another reason", compensate({ ...carlton, reason: "Try" }, { expectedVersion: 7 })],
    ["no hotel", compensate({ reason: carlton.reason }, { expectedVersion: 7 })],
  ];
  for (const [what, other] of others) {
    t.equal(submittedAs(stateOf(underWay), other), undefined, what);
    given(...underWay)
      .when(other)
      .refused("conflict/state", { state: "PROCESSING" });
    t.ok(
      typesOf(eventsOf(rules, failedAgain, other)).length > failedAgain.length,
      `${what}: a new one once the first has failed`,
    );
  }

  const bare = compensate();
  const bareUnderWay = eventsOf(rules, failed, bare);
  given(...bareUnderWay)
    .when(compensate())
    .nothing();
  const bareFailed = eventsOf(
    rules,
    bareUnderWay,
    ...refusedBy(2, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"),
  );
  given(...bareFailed)
    .when(compensate())
    .leads({ status: "PROCESSING", round: 3, compensations: [{ round: 2 }, { round: 3 }] });

  const view = compensationView(stateOf(underWay), 9, first.correlationUrn);
  t.strictSame(view, {
    subCaseUrn: `urn:sub-case:${subCaseId}`,
    status: "PROCESSING",
    correlationUrn: first.correlationUrn,
    version: 9,
  });
  const [decider] =
    subCaseActor({
      config: { STEP_DEADLINE_MS: stepDeadlineMs },
      clock: { now: () => evening },
    } as ActorContext).deciders ?? [];
  const answered = (events: SubCaseEvent[], command: Received) =>
    decider?.view(stateOf(events), { id: subCaseId, version: 9, command });
  t.match(answered(underWay, first), {
    correlationUrn: first.correlationUrn,
    status: "PROCESSING",
    version: 9,
  });
  const repeat = compensate(carlton, { expectedVersion: 7 });
  t.match(answered(offered, repeat), { correlationUrn: first.correlationUrn, status: "OFFER_READY" });
  const fresh = compensate();
  t.match(
    answered(eventsOf(rules, bareFailed, fresh), fresh),
    { correlationUrn: fresh.correlationUrn },
    "a new one has its own",
  );
  t.match(answered(ready, accept), { state: "READY" }, "any other command is answered with the offer");
  let many = failed;
  for (let round = 2; round < 30; round++)
    many = eventsOf(
      rules,
      many,
      compensate(),
      ...refusedBy(round, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"),
    );
  t.equal(stateOf(many).compensations.length, 20, "so many are remembered");
  t.equal(stateOf(many).compensations.at(-1)?.round, 29);
});
