// What follows from what feeds tell of a flight, as tables: when a disruption is detected, when it opens a case, what the case hears,
// and that order, repeats and other vendors change nothing of it.
import t from "tap";
import { decide, flightIdOf } from "../../../actors/flight/decide.ts";
import { outgoing } from "../../../actors/flight/service.ts";
import { evolve, type FlightEvent, type FlightState } from "../../../actors/flight/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { type DetectionTerm, flightKeyOf, flightNumberOf, isFlownBy } from "../../../schemas/flight.ts";
import { eventsOf, folded, givenOf, received, secondsLater } from "../../harness/given.ts";

const rules = { decide, evolve, outgoing };
const flightId = "XN-FLIGHT";

const departure = "2026-11-22T21:30:00.000Z";
const flight = { number: "XN482", origin: "JFK", destination: "MAD", scheduledDeparture: departure };

const opening: DetectionTerm[] = [{ policyId: "P", version: 1, threshold: 0.7, opens: true }];
const telling: DetectionTerm[] = [{ policyId: "P", version: 1, threshold: 0.7, opens: false }];

let count = 0;
/** Told so many seconds after the first, unless said otherwise; each is an event of its own. */
const predicted = (probability: number, more: Record<string, unknown> = {}, seconds = ++count): Received => {
  const observedAt = secondsLater(seconds - 3600).toISOString();
  const said = { type: "CANCELLED", reason: "WEATHER", probability, state: "PREDICTED" };
  const named = { eventId: `e${seconds}`, sequence: seconds, observedAt, vendor: "skywatch", flight };
  return received("flight.note-prediction", { ...named, ...said, ...more });
};
const withdrawn = (more: Record<string, unknown> = {}) => predicted(0, { state: "WITHDRAWN", ...more });
const confirmed = (more: Record<string, unknown> = {}) => predicted(0.97, { state: "CONFIRMED", ...more });
const noted = (standing = "OPENED", crossing = 1, caseId = "XN-CASE") =>
  received("flight.note-case", { crossing, caseId, standing });
const after = (terms: DetectionTerm[], ...commands: Received[]): FlightEvent[] =>
  eventsOf(rules, [], ...commands.map((command): [Received, unknown] => [command, terms]));
const caseIdIn = (events: FlightEvent[]): string | undefined =>
  (folded(rules, events) as FlightState).opening?.caseId;

t.test("told of once, when it comes to exceed the threshold", async (t) => {
  const given = givenOf(t, rules, flightId);
  given().when(predicted(0.7), telling).then({ type: "flight.predicted" }).sends();
  given(...after(telling, predicted(0.5)))
    .when(predicted(0.71), telling)
    .then({ type: "flight.predicted" }, { type: "flight.detected", data: { threshold: 0.7, airport: "JFK" } })
    .sends({
      to: "public",
      type: "disruption.detected",
      data: {
        flight: { iataDesignator: "XN482", originAirport: "JFK", destinationAirport: "MAD" },
        disruption: { type: "CANCELLED", reason: "WEATHER" },
        probability: 0.71,
        threshold: 0.7,
        certainty: "PREDICTED",
      },
    });
  const told = after(telling, predicted(0.71));
  given(...told)
    .when(predicted(0.9), telling)
    .then({ type: "flight.predicted" })
    .sends();
  const fallen = after(telling, predicted(0.71), predicted(0.6));
  t.equal(fallen.at(-1)?.type, "flight.receded");
  given(...fallen)
    .when(predicted(0.8), telling)
    .then({ type: "flight.predicted" }, { type: "flight.detected" })
    .leads({ crossings: 2 });
});

t.test("whose threshold counts", async (t) => {
  const given = givenOf(t, rules, flightId);
  const term = (threshold: number, opens = false): DetectionTerm => ({
    policyId: `P${threshold}`,
    version: 1,
    threshold,
    opens,
  });
  const rows: [string, DetectionTerm[], Received, string[]][] = [
    ["no policy: 0.8", [], predicted(0.8), []],
    ["no policy: above 0.8 it is told of, and opens nothing", [], predicted(0.81), ["detected"]],
    ["the lowest of several", [term(0.9), term(0.5)], predicted(0.6), ["detected"]],
    ["one that opens is not exceeded yet", [term(0.9, true), term(0.5)], predicted(0.6), ["detected"]],
    ["one that opens", [term(0.9, true), term(0.5)], predicted(0.91), ["detected", "case-asked"]],
    ["a threshold of 1: not before it is certain", [term(1)], predicted(0.99), []],
    ["a threshold of 1: certain", [term(1)], confirmed(), ["detected"]],
  ];
  for (const [what, terms, command, types] of rows) {
    const events = eventsOf(rules, [] as FlightEvent[], [command, terms]);
    t.strictSame(
      events.slice(1).map(({ type }) => type.slice("flight.".length)),
      types,
      what,
    );
  }
  const later = after([term(0.5), term(0.9, true)], predicted(0.6));
  given(...later)
    .when(predicted(0.95), [term(0.5), term(0.9, true)])
    .then({ type: "flight.predicted" }, { type: "flight.case-asked" });
});

t.test("repeats, and what comes out of order, change nothing", async (t) => {
  const given = givenOf(t, rules, flightId);
  const high = predicted(0.9, {}, 500);
  const known = after(opening, high);
  given(...known)
    .when(high, opening)
    .nothing();
  given(...known)
    .when({ ...high, id: "again" }, opening)
    .nothing();
  given(...known)
    .when(withdrawn({ observedAt: secondsLater(-4000).toISOString() }), opening)
    .nothing();
  const sameMoment = { observedAt: secondsLater(500 - 3600).toISOString() };
  given(...known)
    .when(predicted(0.1, { ...sameMoment, sequence: 499 }, 601), opening)
    .nothing();
  given(...known)
    .when(predicted(0.1, { ...sameMoment, sequence: 501 }, 602), opening)
    .then({ type: "flight.predicted" }, { type: "flight.receded", data: { withdrawn: false } });
  const ahead = after(opening, predicted(0.9, { observedAt: "2999-01-01T00:00:00.000Z" }, 700));
  given(...ahead)
    .when(
      {
        ...withdrawn({ observedAt: secondsLater(600).toISOString() }),
        now: secondsLater(600),
      },
      opening,
    )
    .then({ type: "flight.predicted" }, { type: "flight.receded", data: { withdrawn: true } });
});

t.test("of two vendors the one that fears more is believed", async (t) => {
  const given = givenOf(t, rules, flightId);
  const two = after(opening, predicted(0.9), predicted(0.75, { vendor: "other" }), noted());
  given(...two)
    .when(withdrawn(), opening)
    .then({ type: "flight.predicted" })
    .leads({ detection: { threshold: 0.7 } });
  given(...after(opening, predicted(0.9), predicted(0.75, { vendor: "other" }), noted(), withdrawn()))
    .when(withdrawn({ vendor: "other" }), opening)
    .then(
      { type: "flight.predicted" },
      { type: "flight.receded", data: { withdrawn: true } },
      { type: "flight.case-told", data: { withdrawn: true } },
    );
});

t.test("a case is asked for once, and hears what has come since", async (t) => {
  const given = givenOf(t, rules, flightId);
  given()
    .when(predicted(0.9, {}, 1000), opening)
    .then({ type: "flight.predicted" }, { type: "flight.detected" }, { type: "flight.case-asked" })
    .sends(
      { to: "public", type: "disruption.detected" },
      {
        to: "command",
        name: "case.open-detected",
        data: {
          ...{ flightId, told: 1, crossing: 1, airport: "JFK", flight },
          prediction: { probability: 0.9, threshold: 0.7, state: "PREDICTED", vendor: "skywatch" },
        },
      },
    );
  const asked = after(opening, predicted(0.9));
  const sure = after(opening, predicted(0.9), confirmed());
  t.equal(sure.length, asked.length + 1, "while it is not known to be there it is told nothing");
  given(...sure)
    .when(noted())
    .then({ type: "flight.case-noted" }, { type: "flight.case-told", data: { withdrawn: false } })
    .sends({
      to: "command",
      name: "case.amend-detected",
      entity: "XN-CASE",
      data: { told: 2, prediction: { state: "CONFIRMED", probability: 1 } },
    });
  given(...asked)
    .when(noted())
    .then({ type: "flight.case-noted" })
    .sends();
  given(...asked)
    .when(noted("OPENED", 7))
    .nothing();
  const open = after(opening, predicted(0.9), noted());
  given(...open)
    .when(noted())
    .nothing();
  const rows: [string, Received, boolean][] = [
    ["less probable", predicted(0.85), false],
    ["as probable", predicted(0.9), false],
    ["more probable", predicted(0.95), true],
    ["certain", confirmed(), true],
    ["another kind", predicted(0.9, { type: "DELAYED" }), true],
    ["another reason", predicted(0.9, { reason: "CREW" }), true],
    [
      "another time",
      predicted(0.9, { flight: { ...flight, scheduledDeparture: "2026-11-22T22:30:00.000Z" } }),
      true,
    ],
    ["no more above the threshold", predicted(0.2), true],
  ];
  for (const [what, command, isTold] of rows) {
    const types = eventsOf(rules, open, [command, opening])
      .slice(open.length)
      .map(({ type }) => type);
    t.equal(types.includes("flight.case-told"), isTold, what);
  }
});

t.test("a withdrawn one ends its case, and another detection asks for another", async (t) => {
  const given = givenOf(t, rules, flightId);
  const open = after(opening, predicted(0.9), noted());
  given(...open)
    .when(withdrawn(), opening)
    .then(
      { type: "flight.predicted" },
      { type: "flight.receded", data: { withdrawn: true } },
      { type: "flight.case-told", data: { withdrawn: true } },
    )
    .sends({ to: "command", name: "case.withdraw-detected", entity: "XN-CASE" });
  const receded = after(opening, predicted(0.9), noted(), predicted(0.2));
  given(...receded)
    .when(withdrawn(), opening)
    .then({ type: "flight.predicted" }, { type: "flight.case-told", data: { withdrawn: true } });
  const early = after(opening, predicted(0.9), withdrawn());
  given(...early)
    .when(noted())
    .then({ type: "flight.case-noted" }, { type: "flight.case-told", data: { withdrawn: true } })
    .sends({ name: "case.withdraw-detected" });
  const over = after(opening, predicted(0.9), noted(), withdrawn());
  const anew = eventsOf(rules, over, [predicted(0.9), opening]);
  t.equal(anew.at(-1)?.type, "flight.case-asked");
  t.not(caseIdIn(anew), "XN-CASE");
  given(...anew)
    .when(noted("OPENED", 1))
    .nothing();
});

t.test("a flight whose case is somebody else's", async (t) => {
  const given = givenOf(t, rules, flightId);
  const elsewhere = after(opening, predicted(0.9), noted("ELSEWHERE"));
  given(...elsewhere)
    .when(confirmed(), opening)
    .then({ type: "flight.predicted" })
    .sends();
  given(...elsewhere)
    .when(withdrawn(), opening)
    .then({ type: "flight.predicted" }, { type: "flight.receded" });
  given(...elsewhere)
    .when(noted("OPENED"))
    .then({ type: "flight.case-noted" });
  const again = after(opening, predicted(0.9), noted("ELSEWHERE"), predicted(0.2), predicted(0.9));
  t.equal(again.at(-1)?.type, "flight.case-asked", "asked for at the next detection");
});

t.test(
  "a case of its own that a person has closed hears nothing more, and blocks no later one",
  async (t) => {
    const given = givenOf(t, rules, flightId);
    const closed = after(opening, predicted(0.9), noted(), noted("ELSEWHERE"));
    t.match(folded(rules, closed), { opening: { state: "ELSEWHERE", caseId: "XN-CASE" } });
    given(...closed)
      .when(confirmed(), opening)
      .then({ type: "flight.predicted" });
    given(...after(opening, predicted(0.9), noted(), noted("ELSEWHERE"), predicted(0.2)))
      .when(predicted(0.9), opening)
      .then({ type: "flight.predicted" }, { type: "flight.detected" }, { type: "flight.case-asked" });
    // It stands since the first detection, and is the second one's from its word on.
    const kept = [predicted(0.9), noted("ELSEWHERE", 1, "XN-OLD"), predicted(0.2), predicted(0.9)];
    const ours = after(opening, ...kept, noted("OPENED", 2, "XN-OLD"));
    given(...ours)
      .when(noted("ELSEWHERE", 1, "XN-OLD"))
      .nothing();
    given(...ours)
      .when(noted("ELSEWHERE", 2, "XN-OLD"))
      .leads({ opening: { crossing: 2, state: "ELSEWHERE" } });
    given(...after(opening, predicted(0.9), noted(), noted("ELSEWHERE", 1, "XN-OTHER")))
      .when(confirmed(), opening)
      .then({ type: "flight.predicted" }, { type: "flight.case-told" });
    given(...after(opening, predicted(0.9), noted(), noted("ELSEWHERE"), confirmed()))
      .when(noted("OPENED"))
      .then({ type: "flight.case-noted" }, { type: "flight.case-told", data: { withdrawn: false } });
    given(...after(opening, predicted(0.9), noted(), withdrawn()))
      .when(noted("ELSEWHERE"))
      .nothing();
  },
);

t.test("what a flight is known by", async (t) => {
  const numbers: [string, string][] = [
    ["XN482", "XN482"],
    ["XN 0482", "XN482"],
    ["xn482", "XN482"],
    ["9W012A", "9W12A"],
    ["XNA0012", "XNA12"],
    ["tour 7", "tour 7"],
  ];
  for (const [text, number] of numbers) t.equal(flightNumberOf(text), number, text);
  const owners: [string, string, boolean][] = [
    ["XN", "XN482", true],
    ["XN", "XN482A", true],
    ["XN", "XNA12", false],
    ["XNA", "XNA12", true],
    ["QZ", "XN482", false],
    ["U2", "U2123", true],
    ["XN", "XN", false],
  ];
  for (const [code, number, isOwn] of owners) t.equal(isFlownBy(code, number), isOwn, `${number} of ${code}`);
  const key = (number: string, origin: string, time: string) =>
    flightKeyOf({ number, origin, scheduledDeparture: new Date(time) });
  t.equal(key("XN 0482", "JFK", "2026-11-23T02:30:00Z"), "XN482/JFK/2026-11-22", "by the local date");
  t.equal(key("XN482", "MAD", "2026-11-23T02:30:00Z"), "XN482/MAD/2026-11-23");
  const id = flightIdOf("XN", { flight });
  t.equal(flightIdOf("XN", { flight: { ...flight, scheduledDeparture: "2026-11-22T19:00:00Z" } }), id);
  t.not(flightIdOf("XN", { flight: { ...flight, origin: "BOS" } }), id);
  t.match(id, /^XN-[0-9A-HJKMNP-TV-Z]{26}$/);
});
