// What a case that the flight feed has opened hears of otherwise than before, as tables: kind and place, passengers who don't come or
// come again, and its closing, which the flight hears of.
import t from "tap";
import { manifestTimers } from "../../../actors/case/detected-state.ts";
import { factsToldBy } from "../../../actors/case/intake.ts";
import { groupsNamed } from "../../../actors/case/partner-terms.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { OpenDetected } from "../../../schemas/flight.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import { eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import {
  amend,
  certain,
  detected,
  diverted,
  flight,
  namingOf,
  partner,
  patchOf,
  push,
  pushSaying,
  somebody,
  waiting,
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
  rules,
  stateOf,
  typesOf,
} from "./planned-case.ts";

t.test("what is told of the disruption after passengers have come", async (t) => {
  const given = givenOf(t, rules, caseId);
  const amended = eventsOf(rules, waiting, patchOf("amend-manifest", [somebody("P0")]));
  const planned = eventsOf(rules, amended, provisioned(1), [plan, economy]);
  const item = (detail: RegExp) => ({
    to: "command" as const,
    name: "review.open",
    data: { category: "DATA_INCOMPLETE", origin: "flight-feed", airport: "JFK", detail },
  });
  const told = (events: CaseEvent[], command: Received, gathered?: unknown) =>
    eventsOf(rules, events, [command, gathered]).slice(events.length);
  const delayed = { type: "DELAYED", reason: "CREW", decidedAt: "2026-11-21T20:30:00.000Z" } as const;
  const rows: [string, CaseEvent[], OpenDetected, string, object][] = [
    ["as before", amended, certain(2), "", { type: "CANCELLED" }],
    [
      "another kind",
      amended,
      detected(2, { disruption: delayed }),
      "facts-amended",
      { type: "DELAYED", decidedAt: new Date(delayed.decidedAt) },
    ],
    [
      "another kind, planned",
      planned,
      detected(2, { disruption: delayed }),
      "facts-amended",
      { type: "DELAYED", decidedAt: new Date("2026-11-21T20:00:00Z") },
    ],
    ["elsewhere", amended, diverted(2), "difference-noted", { type: "CANCELLED" }],
  ];
  for (const [what, events, data, type, disruption] of rows) {
    const [noted, ...others] = typesOf(told(events, amend(data)));
    t.equal(noted, "case.prediction-noted", what);
    t.strictSame(others, type === "" ? [] : [`case.${type}`], what);
    const state = stateOf(eventsOf(rules, events, amend(data)));
    t.match(state, { airport: "JFK", disruption }, what);
  }
  given(...amended)
    .when(amend(diverted(2)))
    .then({ type: "case.prediction-noted" }, { type: "case.difference-noted" });
  const [, difference] = told(amended, amend(diverted(2)));
  t.match(difference, {
    data: {
      says: "airport MAD instead of JFK, type DIVERTED instead of CANCELLED, reason VOLCANO instead of WEATHER",
      detail: /^The flight feed skywatch says airport MAD/,
    },
  });
  const outOf = (data: object) =>
    rules.outgoing({ type: "case.difference-noted", data } as CaseEvent, stateOf(amended), push(), caseId);
  t.match(outOf({ says: "x", detail: "Says x." }), [item(/^Says x/)]);

  const pushes: [string, Parameters<typeof pushSaying>[0], string[], string][] = [
    ["the same", {}, [], "JFK"],
    ["the same, written otherwise", { flight: { iataDesignator: "XN 0482" } }, [], "JFK"],
    ["another kind", { disruption: { type: "DELAYED" } }, ["case.facts-amended"], "JFK"],
    ["elsewhere", { disruption: { type: "DIVERTED" } }, ["case.difference-noted"], "JFK"],
    ["to elsewhere", { flight: { destinationAirport: "BCN" } }, ["case.difference-noted"], "JFK"],
  ];
  for (const [what, more, types, airport] of pushes) {
    const [command, gathered] = patchOf("take-push", [somebody("P0")], namingOf(pushSaying(more)));
    const events = told(amended, command, gathered);
    const own = typesOf(events).filter((type) => /^case\.(facts|difference)/.test(type));
    t.strictSame(own, types, what);
    const state = stateOf([...amended, ...events]);
    t.match(state, { airport, flight: { destination: "MAD" }, detection: { isPushed: true } }, what);
  }
  // Nobody is provided for yet: another process has put nobody into it meanwhile.
  const early = eventsOf(
    rules,
    waiting,
    patchOf("take-push", [somebody("P0")], namingOf(pushSaying({ disruption: { type: "DIVERTED" } }))),
  );
  t.match(stateOf(early), { airport: "MAD", disruption: { type: "DIVERTED" } });
  for (const wrong of [{ flight: { originAirport: "QQQ" } }, { disruption: { airport: "QQQ" } }])
    t.throws(() => factsToldBy(pushSaying(wrong)), { code: "validation/body" });
  const declared = received(
    "case.open-manually",
    { externalEventId: "E3", flight, passengerGroups: [] },
    { principal: { ...supervisor, airport: "LAX" } },
  );
  t.throws(() => factsToldBy(declared), { code: "auth/foreign-airport" });
  t.same(
    factsToldBy({ ...declared, principal: supervisor }),
    { flight },
    "it says nothing of the disruption",
  );
});

t.test("when nobody tells who is stranded somebody asks", async (t) => {
  const given = givenOf(t, rules, caseId);
  const miss = (now: Date) => received("case.miss-manifest", {}, { now });
  const dueIn = (events: CaseEvent[]) => manifestTimers(stateOf(events)).map(({ dueAt }) => dueAt);
  const departure = new Date(flight.scheduledDeparture);
  const sure = eventsOf(rules, waiting, { ...amend(certain(2)), now: secondsLater(60) });
  const patched = patchOf("amend-manifest", [somebody("P0")]);
  const rows: [string, CaseEvent[], Date[]][] = [
    ["predicted: once it should have left", waiting, [departure]],
    ["certain", sure, [secondsLater(60 + 1800)]],
    [
      "certain, told again",
      eventsOf(rules, sure, { ...amend(certain(3)), now: secondsLater(600) }),
      [secondsLater(60 + 1800)],
    ],
    [
      "certain at once",
      eventsOf(rules, [] as CaseEvent[], received("case.open-detected", certain(1))),
      [secondsLater(1800)],
    ],
    ["closed", eventsOf(rules, sure, close), []],
    ["with passengers", eventsOf(rules, sure, patched), []],
    ["a push of nobody", eventsOf(rules, sure, open([])), [secondsLater(60 + 1800)]],
  ];
  for (const [what, events, due] of rows) t.strictSame(dueIn(events), due, what);
  given(...sure)
    .when(miss(secondsLater(1859)))
    .nothing();
  given(...sure)
    .when(miss(secondsLater(1860)))
    .then({ type: "case.manifest-missed" })
    .sends({
      to: "command",
      name: "review.open",
      data: { category: "DATA_INCOMPLETE", origin: "flight-feed", affectedGroups: [] },
    });
  const missed = eventsOf(rules, sure, miss(secondsLater(1860)));
  t.strictSame(dueIn(missed), [], "once");
  const came = { to: "command" as const, name: "review.note-manifest", entity: caseId };
  given(...missed)
    .when(...patched)
    .sends({ to: "command", name: "sub-case.open-many" }, came);
  given(...missed)
    .when(push())
    .sends({ to: "public", type: "case.amended" }, came, { to: "command", name: "sub-case.open-many" });
  given(...missed)
    .when({ ...open([]), principal: partner })
    .sends({ to: "public", type: "case.amended" });
});

t.test("who has no booking reference is known again after the push has named the case", async (t) => {
  const nobody: PassengerInput = {
    lastName: "Byron",
    cabinClass: "ECONOMY",
    contact: { email: "b@b.example" },
  };
  const amended = eventsOf(rules, waiting, patchOf("amend-manifest", [nobody]));
  const named = async (events: CaseEvent[], command: Received) => ({
    ...{ members: [], policies: economy },
    named: await groupsNamed(command, stateOf(events)),
  });
  const [taking] = patchOf("take-push", [nobody], namingOf());
  const taken = eventsOf(rules, amended, [taking, await named(amended, taking)]);
  t.match(stateOf(taken), { externalEventId: "E1", progress: "W" });
  const [again] = patchOf("amend-manifest", [nobody], { decidedAt: "2026-11-21T20:55:00Z" });
  const repeated = eventsOf(rules, taken, [again, await named(taken, again)]);
  t.match(stateOf(repeated), { progress: "W", amendments: [{}, {}, { passengersAdded: 0 }] });
});

t.test("the flight hears that the feed's case is closed, and that it is open again", async (t) => {
  const noted = (standing: string) => [
    { to: "command", name: "flight.note-case", entity: "XN-FLIGHT", data: { crossing: 1, caseId, standing } },
  ];
  const outOf = (events: CaseEvent[], command: Received) => {
    const after = eventsOf(rules, events, command);
    const sent = after
      .slice(events.length)
      .flatMap((event) => rules.outgoing(event, stateOf(after), command, caseId));
    return sent.filter((message) => message.to === "command" && message.name === "flight.note-case");
  };
  t.strictSame(outOf(waiting, close), noted("ELSEWHERE"));
  t.strictSame(outOf(eventsOf(rules, waiting, close), reopen), noted("OPENED"));
  t.strictSame(outOf(eventsOf(rules, [] as CaseEvent[], open([pair])), close), [], "nobody else's");
});
