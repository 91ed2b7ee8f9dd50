// How a disruption becomes a case, as tables: both surfaces' bodies, its airport, and its provisioning.
import t from "tap";
import { decide } from "../../../actors/case/decide.ts";
import { bodyHashOf, chunkSize } from "../../../actors/case/intake.ts";
import { groupByPnr } from "../../../actors/case/manifest.ts";
import { outgoing } from "../../../actors/case/reactions.ts";
import { type CaseEvent, type CaseState, evolve } from "../../../actors/case/state.ts";
import { problems } from "../../../schemas/problems.ts";
import type { DisruptionType } from "../../../schemas/vocabulary.ts";
import {
  evening,
  eventsOf,
  folded,
  givenOf,
  received,
  secondsLater,
  supervisor,
} from "../../harness/given.ts";
import { ada, charles, passenger } from "./passengers.ts";

const rules = { decide, evolve, outgoing };

const flight = {
  iataDesignator: "XN482",
  originAirport: "JFK",
  destinationAirport: "MAD",
  scheduledDeparture: "2026-11-21T21:30:00Z",
};
const disruption = {
  type: "CANCELLED" as DisruptionType,
  reason: "WEATHER",
  decidedAt: "2026-11-21T20:45:00Z",
};
const nextFlight = { iataDesignator: "XN484", scheduledDeparture: "2026-11-22T14:00:00Z" };
const pushBody = {
  externalEventId: "XN482-2026-11-21",
  airlineUrn: "urn:airline:XN",
  flight,
  disruption,
  nextFlight,
  passengers: [ada, charles],
};
const push = (more: object = {}) => received("case.open", { ...pushBody, ...more });

const declared = {
  externalEventId: "XN482-2026-11-21",
  flight: { number: "XN482", origin: "JFK", destination: "MAD", scheduledDeparture: "2026-11-21T21:30:00Z" },
  passengerGroups: [{ groupId: "tour", passengers: [ada, charles] }, { passengers: [ada, charles] }],
};
const declare = (more: object = {}) =>
  received("case.open-manually", { ...declared, ...more }, { principal: supervisor });

const provisioned = (from: number, count: number, now = evening) =>
  received("case.note-provisioned", { from, count }, { now });
const open = (...commands: Parameters<typeof eventsOf<CaseState, CaseEvent>>[2][]) =>
  eventsOf(rules, [] as CaseEvent[], ...commands);
const opened = (command = push()): CaseState => folded(rules, open(command)) as CaseState;

t.test("both surfaces' bodies become the same kind of case", async (t) => {
  const given = givenOf(t, rules, "XN-CASE");
  given()
    .when(push())
    .then({
      type: "case.registered",
      data: {
        externalEventId: "XN482-2026-11-21",
        status: "OPEN",
        source: "PARTNER",
        airport: "JFK",
        flight: {
          number: "XN482",
          origin: "JFK",
          destination: "MAD",
          scheduledDeparture: new Date("2026-11-21T21:30Z"),
        },
        nextFlight: { number: "XN484", scheduledDeparture: new Date("2026-11-22T14:00Z") },
        disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: new Date("2026-11-21T20:45Z") },
        createdAt: evening,
        progress: "WW",
        demands: [],
        awaiting: { step: "provisioning", dueAt: secondsLater(20) },
      },
    })
    .sends({
      to: "command",
      name: "sub-case.open-many",
      entity: "XN-CASE",
      data: { from: 0, airport: "JFK" },
    });
  given()
    .when(declare())
    .then({
      type: "case.registered",
      data: {
        source: "MANUAL",
        airport: "JFK",
        createdBy: supervisor.urn,
        disruption: { type: "CANCELLED", reason: "OTHER", decidedAt: evening },
        progress: "WWW",
      },
    });
  const manual = opened(
    declare({ disruption, nextFlight: { number: "XN1", scheduledDeparture: "2026-11-22T14:00:00Z" } }),
  );
  t.equal(manual.disruption.reason, "WEATHER", "a declaration may say why");
  t.equal(manual.nextFlight?.number, "XN1");
  t.equal(manual.groups[0]?.groupId, "tour", "a declared group keeps its id");
  t.equal(manual.groups[0]?.passengers, 2, "and its members, whatever their booking references");
  t.strictSame(
    manual.groups.slice(1).map(({ passengers }) => passengers),
    [1, 1],
    "one without an id is read by PNR",
  );
  const unknown = opened(push({ disruption: { ...disruption, reason: "VOLCANO" } })).disruption;
  t.match(unknown, { reason: "OTHER", reasonRaw: "VOLCANO" });
  t.notOk("nextFlight" in opened(push({ nextFlight: undefined })));
});

t.test("where the passengers are stranded, and bodies that are refused", async (t) => {
  const table: [DisruptionType, string | undefined, string][] = [
    ["CANCELLED", undefined, "JFK"],
    ["DELAYED", undefined, "JFK"],
    ["DENIED_BOARDING", undefined, "JFK"],
    ["DIVERTED", undefined, "MAD"],
    ["MISSED_CONNECTION", undefined, "MAD"],
    ["DIVERTED", "BOS", "BOS"],
    ["CANCELLED", "BOS", "BOS"],
  ];
  for (const [type, airport, where] of table)
    t.equal(
      opened(push({ disruption: { ...disruption, type, airport } })).airport,
      where,
      `${type} ${airport}`,
    );

  const given = givenOf(t, rules);
  const errorsAt = (...pointers: string[]) => ({
    errors: pointers.map((pointer) => ({ pointer })) as { pointer: string; detail: string }[],
  });
  given()
    .when(push({ flight: { ...flight, destinationAirport: "QQQ" } }))
    .refused("validation/body", errorsAt("/flight/destinationAirport"));
  given()
    .when(push({ disruption: { ...disruption, airport: "QQQ" } }))
    .refused("validation/body", errorsAt("/disruption/airport"));
  given()
    .when(declare({ flight: { ...declared.flight, destination: "QQQ" } }))
    .refused("validation/body", errorsAt("/flight/destination"));
  const twice = { groupId: "tour", passengers: [ada] };
  given()
    .when(declare({ passengerGroups: [twice, { groupId: "crew", passengers: [charles] }, twice] }))
    .refused("validation/body", errorsAt("/passengerGroups/2/groupId"));

  const party = (size: number) => Array.from({ length: size }, (_, i) => passenger({ firstName: `N${i}` }));
  given()
    .when(push({ passengers: party(151) }))
    .refused("validation/body", errorsAt("/passengers"));
  given()
    .when(declare({ passengerGroups: [{ groupId: "tour", passengers: party(151) }] }))
    .refused("validation/body", errorsAt("/passengerGroups"));
  t.equal(problems["validation/body"].status, 422);
  t.equal(opened(push({ passengers: party(150) })).groups[0]?.passengers, 150, "a coach party is a booking");
});

t.test("the same event again", async (t) => {
  const given = givenOf(t, rules);
  const first = open(push());
  const other = push({ passengers: [ada] });
  given(...first)
    .when(push())
    .nothing();
  given(...first)
    .when({ ...push(), id: "another request", now: secondsLater(60) })
    .nothing();
  given(...first)
    .when(other)
    .then({ type: "case.repeated-differently", data: { bodyHash: bodyHashOf(other.data) } })
    .leads({ progress: "WW", otherBodies: [bodyHashOf(other.data)] })
    .sends();
  given(...eventsOf(rules, first, other))
    .when(other)
    .nothing();
  const many = Array.from({ length: 25 }, (_, i) => push({ passengers: [passenger({ pnr: `PNR${i}` })] }));
  t.equal(
    folded(rules, eventsOf(rules, first, ...many))?.otherBodies.length,
    20,
    "what is remembered is bounded",
  );

  const hashes: [string, unknown, unknown, boolean][] = [
    ["members in another order", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
    ["items in another order", { a: [1, 2] }, { a: [2, 1] }, false],
    ["another value", { a: 1 }, { a: "1" }, false],
    ["a member of null", { a: null }, {}, false],
    ["objects in arrays", [{ a: 1, b: 2 }], [{ b: 2, a: 1 }], true],
  ];
  for (const [what, one, two, same] of hashes) t.equal(bodyHashOf(one) === bodyHashOf(two), same, what);
});

t.test("provisioning: a chunk counts once, by where it begins", async (t) => {
  const given = givenOf(t, rules, "XN-CASE");
  const groups = Array.from({ length: 250 }, (_, i) => passenger({ pnr: `P${i}` }));
  const registered = open(push({ passengers: groups }));
  const first = eventsOf(rules, registered, provisioned(0, 100));
  given(...registered)
    .when(provisioned(0, 100, secondsLater(3)))
    .then({ type: "case.chunk-provisioned", data: { count: 100, dueAt: secondsLater(23) } })
    .sends({ to: "command", name: "sub-case.open-many", data: { from: 100 } as never });
  given(...registered)
    .when(provisioned(100, 100))
    .nothing();
  given(...first)
    .when(provisioned(0, 100))
    .nothing();
  given(...first)
    .when(provisioned(200, 50))
    .nothing();
  const last = eventsOf(rules, first, provisioned(100, 100));
  given(...last)
    .when(provisioned(200, 50))
    .then({ type: "case.opened", data: { at: evening, dueAt: secondsLater(20) } })
    .leads({
      manifest: [],
      provisionedAt: evening,
      awaiting: { step: "planning", dueAt: secondsLater(20) },
    })
    .sends(
      { to: "public", type: "case.opened", caseId: "XN-CASE", data: { subCaseCount: 250, airport: "JFK" } },
      { to: "command", name: "case.plan", entity: "XN-CASE" },
    );
  given(...eventsOf(rules, last, provisioned(200, 50)))
    .when(provisioned(200, 50))
    .nothing();
  given().when(provisioned(0, 1)).notYet();
  given(...open(push({ passengers: [] })))
    .when(provisioned(0, 0))
    .then({ type: "case.opened" });

  const sent = outgoing(
    registered[0] as CaseEvent,
    folded(rules, registered) as CaseState,
    push(),
    "XN-CASE",
  )[0];
  const named = (sent as { data: { groups: { groupId: string; subCaseId: string }[] } }).data.groups;
  t.strictSame(
    named.map(({ groupId, subCaseId }) => [groupId, subCaseId]),
    folded(rules, registered)
      ?.groups.slice(0, 100)
      .map(({ groupId, subCaseId }) => [groupId, subCaseId]),
    "each group goes under the id that the case has chosen",
  );
  const big = groupByPnr(
    "XN",
    "s",
    [...Array(40)].map(() => passenger({ firstName: "a".repeat(5000) })),
  );
  const separate = groupByPnr(
    "XN",
    "s",
    [...Array(40)].map((_, i) => passenger({ pnr: `P${i}`, firstName: "a".repeat(9000) })),
  );
  t.equal(chunkSize(big), 1, "one that is too big goes alone");
  t.equal(chunkSize(separate), 19, "others as far as a message holds them");
  t.equal(chunkSize([]), 0);
});

t.test("what a manifest leaves out is somebody's work, and nobody's hindrance", async (t) => {
  const given = givenOf(t, rules, "XN-CASE");
  const incomplete = (origin: string, detail: string) => ({
    to: "command" as const,
    name: "review.open",
    data: { caseId: "XN-CASE", category: "DATA_INCOMPLETE", origin, detail },
  });
  const sent = (more: object, count: number) => given(...open(push(more))).when(provisioned(0, count));
  sent({ passengers: [ada, passenger({ pnr: undefined })], nextFlight: undefined }, 2).sends(
    { to: "public" },
    { to: "command", name: "case.plan" },
    incomplete("manifest", "The manifest leaves out: pnr."),
    incomplete("next-flight", "No next flight is known; one night was assumed for everybody."),
  );
  sent({ passengers: [], nextFlight: undefined }, 0).sends(
    { to: "public" },
    { to: "command", name: "case.plan" },
  );
});

t.test("drills and shadow cases: an administrator's, named apart, marked", async (t) => {
  const given = givenOf(t, rules, "XN-CASE");
  given()
    .when(declare({ kind: "DRILL" }))
    .refused("auth/insufficient-role");
  for (const kind of ["DRILL", "SHADOW"] as const) {
    const drill = { ...declare({ kind }), principal: { ...supervisor, role: "ADMIN" as const } };
    given()
      .when(drill)
      .then({ type: "case.registered" })
      .leads({ kind, externalEventId: `${kind}:${declared.externalEventId}` })
      .sends({ name: "sub-case.open-many", data: { kind } as never });
  }
  given()
    .when(declare({}))
    .leads({ externalEventId: declared.externalEventId, kind: undefined as never });
});
