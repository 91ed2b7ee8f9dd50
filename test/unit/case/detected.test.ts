// A case that the flight feed has opened, as tables: without passengers at first, the airline's own push or amendment makes it a case
// like any other, and what the feed takes back closes only what nobody has touched.
import t from "tap";
import { openDetected } from "../../../actors/case/first-case.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import { evening, eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import {
  amend,
  amendAnew,
  certain,
  detected,
  diverted,
  flight,
  namingOf,
  openedByFeed,
  partner,
  patchOf,
  push,
  somebody,
  waiting,
  withdraw,
} from "./detected-case.ts";
import {
  caseId,
  close,
  economy,
  open,
  pair,
  plan,
  provisioned,
  reopen,
  requestDemand,
  rules,
  stateOf,
  typesOf,
} from "./planned-case.ts";

t.test("a case without passengers is there, told of, and waits for them", async (t) => {
  const given = givenOf(t, rules, caseId);
  given()
    .when(openedByFeed)
    .then({
      type: "case.registered",
      data: {
        externalEventId: "FEED:XN482/JFK/2026-11-21:1",
        flightClaim: "XN482/JFK/2026-11-21",
        source: "FEED",
        status: "OPEN",
        airport: "JFK",
        groups: [],
        disruption: { type: "CANCELLED", reason: "WEATHER" },
      },
    })
    .sends(
      { to: "public", type: "case.opened", caseId, data: { subCaseCount: 0, airport: "JFK" } },
      {
        to: "command",
        name: "flight.note-case",
        entity: "XN-FLIGHT",
        data: { crossing: 1, caseId, standing: "OPENED" },
      },
    );
  t.equal(stateOf(waiting).awaiting, undefined, "nothing is under way");
  given(...waiting)
    .when(openedByFeed)
    .nothing();
  given(...waiting)
    .when(plan)
    .nothing();
  given(...waiting)
    .when(requestDemand(3, "INITIAL"))
    .refused("conflict/state", { state: "AWAITING_MANIFEST" });
  given()
    .when(amend(detected(2)))
    .notYet();
});

t.test("what the feed learns amends it, the newest word counting", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...waiting)
    .when(amend(certain(2)))
    .then({ type: "case.prediction-amended", data: { told: 2 } })
    .leads({ detection: { prediction: { state: "CONFIRMED", probability: 1 } } })
    .sends({
      to: "public",
      type: "case.amended",
      data: { change: "DISRUPTION", probability: 1, certainty: "CONFIRMED", groups: [] },
    });
  given(...waiting)
    .when(amend(diverted(3)))
    .leads({ airport: "MAD", disruption: { type: "DIVERTED", reason: "OTHER", reasonRaw: "VOLCANO" } });
  given(...eventsOf(rules, waiting, amend(diverted(3))))
    .when(amend(certain(2)))
    .nothing();
});

t.test(
  "at another detection it is that one's, and its flight hears in order what becomes of it",
  async (t) => {
    const given = givenOf(t, rules, caseId);
    const note = (crossing: number, standing: string) => ({
      to: "command" as const,
      name: "flight.note-case",
      entity: "XN-FLIGHT",
      data: { crossing, caseId, standing },
    });
    const again = amendAnew(2, 2);
    given(...waiting)
      .when(again)
      .leads({ detection: { crossing: 2, told: 2 } })
      .sends({ to: "public", type: "case.amended" }, note(2, "OPENED"));
    for (const before of [waiting, eventsOf(rules, waiting, push())]) {
      const ours = eventsOf(rules, before, again);
      given(...ours)
        .when(again)
        .nothing();
      t.match(
        rules.outgoing(ours.at(-1) as CaseEvent, stateOf(ours), again, caseId).at(-1),
        note(2, "OPENED"),
      );
      const closed = eventsOf(rules, ours, close);
      const closing = closed.find(({ type }) => type === "case.closed") as CaseEvent;
      t.match(rules.outgoing(closing, stateOf(closed), close, caseId).at(-1), note(2, "ELSEWHERE"));
    }
    given(...eventsOf(rules, waiting, close))
      .when(again)
      .nothing();
  },
);

t.test("a case that is closed in the moment of the next detection gives way to another one", async (t) => {
  const dispatched: string[] = [];
  const holders = [{ _id: caseId, detection: { flightId: "XN-FLIGHT" } }];
  const collection = {
    findOne: async (filter: object) => ("_id" in filter ? null : (holders.shift() ?? null)),
    find: () => ({ sort: () => ({ toArray: async () => [] }) }),
  };
  const context = { documents: { tenant: () => ({ collection: () => collection }) } };
  const { now: _, ...command } = received(
    "case.open-detected",
    { ...detected(2), crossing: 2 },
    { entity: "XN-NEW" },
  );
  await openDetected(context as never)(command, async (verb, { entity }) => {
    dispatched.push(`${verb} ${entity}`);
    return { ok: { status: verb === "amend-detected" ? "CLOSED" : "OPEN" } };
  });
  t.strictSame(dispatched, [`amend-detected ${caseId}`, "open-detected XN-NEW"]);
});

t.test("the airline's push makes it a case like any other, under the name that it gives", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...waiting)
    .when(push())
    .then({ type: "case.manifest-received" }, { type: "case.taken-in-hand", data: { by: partner.urn } })
    .leads({
      externalEventId: "E1",
      source: "FEED",
      flightClaim: "XN482/JFK/2026-11-21",
      progress: "WW",
      createdAt: evening,
      detection: { isPushed: true, prediction: { probability: 0.9 } },
      awaiting: { step: "provisioning", dueAt: secondsLater(20) },
    })
    .sends(
      { to: "public", type: "case.amended", data: { externalEventId: "E1", change: "DISRUPTION" } },
      { to: "command", name: "sub-case.open-many", data: { from: 0 } },
    );
  const pushed = eventsOf(rules, waiting, push());
  given(...pushed)
    .when(push())
    .nothing();
  given(...pushed)
    .when({ ...open([pair]), principal: partner })
    .then({ type: "case.repeated-differently" });
  given(...pushed)
    .when(received("case.open", { ...(push().data as object), externalEventId: "E2" }))
    .refused("conflict/concurrent-write");
  given(...pushed)
    .when(provisioned(2))
    .then({ type: "case.opened" })
    .sends(
      { to: "public", type: "case.amended", data: { change: "PASSENGERS", groups: [{}, {}] } },
      { to: "command", name: "case.plan" },
    );
  given(...eventsOf(rules, pushed, provisioned(2)))
    .when(plan, economy)
    .then(
      { type: "case.planned" },
      { type: "demand.requested" },
      { type: "demand.approved" },
      { type: "case.wave-requested" },
    );
  given(...pushed)
    .when(amend(certain(2)))
    .then({ type: "case.prediction-noted" })
    .sends();
});

t.test("a push of nobody names it, and it waits on", async (t) => {
  const given = givenOf(t, rules, caseId);
  const empty = eventsOf(rules, waiting, { ...open([]), principal: partner });
  t.equal(stateOf(empty).awaiting, undefined);
  given(...empty)
    .when(...patchOf("amend-manifest", [somebody("P0")]))
    .then({ type: "case.manifest-amended" })
    .leads({ awaiting: { step: "provisioning" } });
});

t.test("passengers may come by an amendment first, and the push then names the event", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...waiting)
    .when(...patchOf("amend-manifest", [somebody("P0"), somebody("P1")]))
    .then({ type: "case.manifest-amended" }, { type: "case.taken-in-hand" })
    .leads({ progress: "WW", awaiting: { step: "provisioning" } })
    .sends({ to: "command", name: "sub-case.open-many", data: { from: 0 } });
  const amended = eventsOf(rules, waiting, patchOf("amend-manifest", [somebody("P0")]));
  t.equal(typesOf(eventsOf(rules, amended, provisioned(1))).at(-1), "case.opened");
  given(...amended)
    .when(push())
    .refused("conflict/concurrent-write");
  const taken = eventsOf(rules, amended, patchOf("take-push", [somebody("P0"), somebody("P9")], namingOf()));
  t.match(stateOf(taken), { externalEventId: "E1", progress: "WW", detection: { isPushed: true } });
  t.match(stateOf(taken).amendments?.at(-1), { passengersAdded: 1, passengersKnown: 1 });
  given(...taken)
    .when(push())
    .nothing();
  given(...taken)
    .when(...patchOf("take-push", [somebody("P8")], namingOf(push(), "E2")))
    .refused("conflict/concurrent-write");
});

t.test("what is withdrawn is closed untouched, and else a person's", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...waiting)
    .when(withdraw())
    .then({ type: "case.prediction-noted" }, { type: "case.closed", data: { by: "urn:user:system-test" } });
  const closed = eventsOf(rules, waiting, withdraw());
  t.match(stateOf(closed), { status: "CLOSED", flightClaim: undefined });
  t.match(closed.at(-1), { data: { reason: /feed skywatch has withdrawn/ } });
  given(...closed)
    .when(amend(certain(3)))
    .nothing();
  const item = {
    to: "command" as const,
    name: "review.open",
    data: { caseId, category: "PARTIAL_FULFILLMENT", origin: "flight-feed" },
  };
  const touched: [string, CaseEvent[]][] = [
    ["pushed", eventsOf(rules, waiting, push())],
    ["amended", eventsOf(rules, waiting, patchOf("amend-manifest", [somebody("P0")]))],
    ["reopened by hand", eventsOf(rules, waiting, close, reopen)],
  ];
  for (const [what, events] of touched) {
    given(...events)
      .when(withdraw())
      .then({ type: "case.withdrawal-noted" })
      .sends(item);
    const told = eventsOf(rules, events, withdraw());
    t.equal(stateOf(told).status, "OPEN", what);
    given(...told)
      .when(withdraw())
      .nothing();
  }
  given(...eventsOf(rules, waiting, close))
    .when(withdraw())
    .nothing();
});

t.test("who comes first holds the flight while its case is open", async (t) => {
  const first = eventsOf(rules, [] as CaseEvent[], { ...open([pair]), name: "case.open-first" });
  t.equal(stateOf(first).flightClaim, "XN482/JFK/2026-11-21");
  t.equal(stateOf(eventsOf(rules, [] as CaseEvent[], open([pair]))).flightClaim, undefined);
  const declared = received(
    "case.open-manually-first",
    { externalEventId: "E3", flight, passengerGroups: [] },
    { principal: supervisor },
  );
  t.equal(stateOf(eventsOf(rules, [] as CaseEvent[], declared)).flightClaim, "XN482/JFK/2026-11-21");
  t.equal(stateOf(eventsOf(rules, first, close)).flightClaim, undefined);
});
