// One run's rules, case by case: how a vehicle is ordered, asked for again, given back, and who hears of it when.
import t from "tap";
import { retryDelayMs } from "../../../actors/runtime/vendor-call.ts";
import { runDecider } from "../../../actors/transport/run-decide.ts";
import { evolveRun, type RunEvent, type RunState } from "../../../actors/transport/run-state.ts";
import { runs } from "../../../actors/transport/runs.ts";
import type { RunFacts, TakeSeats } from "../../../schemas/transport.ts";
import type { VendorAnswer, VendorVerb } from "../../../schemas/vendor-call.ts";
import { eventsOf, folded, givenOf, received, secondsLater } from "../../harness/given.ts";

const settings = { stepDeadlineMs: 30_000 };
const decider = runs(settings);
const rules = {
  decide: runDecider(settings),
  evolve: evolveRun,
  outgoing: decider.outgoing as NonNullable<typeof decider.outgoing>,
};
const runId = "XN-01KAMVW9G0RVNRVNRVNRVNRVNR";
const facts: RunFacts = {
  vendor: "ridefleet",
  airport: "JFK",
  hotelUrn: "urn:hotel:astor",
  direction: "AIRPORT_TO_HOTEL",
  vehicleType: "SHUTTLE",
  pickupAt: "2026-11-21T21:45:00.000Z",
  from: { label: "JFK", coordinates: { latitude: 40.64, longitude: -73.78 } },
  to: { label: "Astor", coordinates: { latitude: 40.6, longitude: -73.8 } },
};
const holder = (name: string) => ({ transferId: `XN-${name}`, segmentId: `XN-${name}-OUT`, attempt: 1 });
const entity = { entity: runId };
const take = (name: string, more: Partial<TakeSeats> = {}, seconds = 0) =>
  received(
    "transport.take-seats",
    { ...holder(name), run: facts, passengers: 3, seats: 8, needs: [], ...more },
    { ...entity, now: secondsLater(seconds) },
  );
const leave = (name: string, again = 0, seconds = 0) =>
  received("transport.leave-seats", { ...holder(name), again }, { ...entity, now: secondsLater(seconds) });
const referenceOf = (first: string, number = 1) => `XN-${first}.ride.${runId}.${number}`;
let answers = 0;
const answer = (
  reference: string,
  verb: VendorVerb,
  outcome: VendorAnswer["outcome"] = "done",
  more: Partial<VendorAnswer> & { seconds?: number } = {},
) => {
  const { seconds = 0, ...rest } = more;
  const data: VendorAnswer = {
    verb,
    vendor: "ridefleet",
    reference,
    outcome,
    ...(outcome === "done"
      ? { result: { rideId: "R1", plate: "RF 123 AB" } }
      : { code: "SOLD_OUT", detail: "no" }),
    ...rest,
  };
  return {
    ...received("transport.record-answer", data, { ...entity, now: secondsLater(seconds) }),
    id: `answer ${++answers}`,
  };
};
const reissue = (seconds: number) =>
  received("transport.reissue-call", {}, { ...entity, now: secondsLater(seconds) });
const story = (...commands: ReturnType<typeof take>[]): RunEvent[] =>
  eventsOf<RunState, RunEvent>(rules, [], ...commands);
const vehicleOf = (events: RunEvent[], number = 1) =>
  (folded(rules, events) as RunState).vehicles.find((one) => one.number === number);
const told = (name: string, outcome: "booked" | "refused") => ({
  to: "command" as const,
  name: "transport.note-seats",
  entity: `XN-${name}`,
  data: { ...holder(name), outcome },
});
const left = (name: string, more: object = {}) => ({
  to: "command" as const,
  name: "transport.note-left",
  entity: `XN-${name}`,
  data: { ...holder(name), ...more },
});
const ordered = (name: string, verb: VendorVerb = "book-ride", more: object = {}) => ({
  to: "command" as const,
  name: `vendor-ridefleet.${verb}`,
  entity: runId,
  data: { reference: referenceOf(name), ...more },
});

t.test("a vehicle is ordered whole, by its first riders; others get in without a call", async (t) => {
  const given = givenOf(t, rules, runId);
  given()
    .when(take("ADA", { needs: ["VISUAL"] }))
    .then({ type: "run.begun" }, { type: "run.vehicle-ordered" }, { type: "run.seats-taken" })
    .sends(
      ordered("ADA", "book-ride", {
        tries: 1,
        doubt: false,
        request: { passengers: 8, pickupAt: facts.pickupAt, specialRequirements: ["VISUAL"] },
        replyTo: { name: "transport.record-answer", entity: runId },
      }),
    );
  const one = story(take("ADA"));
  given(...one)
    .when(take("BOB"))
    .then({ type: "run.seats-taken" })
    .sends();
  given(...one)
    .when(take("ADA"))
    .nothing();
  const two = story(take("ADA"), take("BOB"));
  given(...two)
    .when(answer(referenceOf("ADA"), "book-ride"))
    .sends(told("ADA", "booked"), told("BOB", "booked"));
  given(...two)
    .when(answer(referenceOf("ADA"), "book-ride", "refused"))
    .sends(told("ADA", "refused"), told("BOB", "refused"));
  const booked = eventsOf(rules, two, answer(referenceOf("ADA"), "book-ride"));
  given(...booked)
    .when(take("CY", { passengers: 2 }))
    .sends(told("CY", "booked"));
  given(...booked)
    .when(take("CY"))
    .then({ type: "run.vehicle-ordered" }, { type: "run.seats-taken" });
  given(...booked)
    .when(take("ADA", {}, 60))
    .sends(told("ADA", "booked"));
  const refused = eventsOf(rules, two, answer(referenceOf("ADA"), "book-ride", "refused"));
  t.equal(
    vehicleOf(eventsOf(rules, refused, take("CY")), 2)?.riders.length,
    1,
    "not into one that won't come",
  );
  given()
    .when(take("LATE", {}, 45 * 60))
    .sends(told("LATE", "refused"));
  const drill = { ...facts, kind: "DRILL" as const };
  given()
    .when(take("ADA", { run: drill }))
    .sends({ to: "command", name: "vendor-drill.book-ride" });
  const family = story(
    take("BIG", { passengers: 11, run: { ...facts, vehicleType: "WHEELCHAIR_VAN" }, seats: 6 }),
  );
  t.strictSame(
    (folded(rules, family) as RunState).vehicles.map(({ seats, riders }) => [seats, riders[0]?.passengers]),
    [
      [6, 6],
      [5, 5],
    ],
    "vehicles of one's own are ordered for who rides in them",
  );
});

t.test("a call is sent again, looked up in doubt, and given up as a saga's is", async (t) => {
  const one = story(take("ADA"));
  const call = (events: RunEvent[]) => vehicleOf(events)?.call;
  const ref = referenceOf("ADA");
  const busy = eventsOf(rules, one, answer(ref, "book-ride", "unavailable"));
  const waitMs = retryDelayMs(ref, 1);
  t.match(call(busy), { tries: 1, postponed: true, doubt: false, dueAt: secondsLater(waitMs / 1000) });
  const second = eventsOf(rules, busy, reissue(waitMs / 1000));
  t.match(call(second), { tries: 2, postponed: false, doubt: false });
  const third = eventsOf(rules, second, answer(ref, "book-ride", "unavailable", { seconds: 1 }), reissue(3));
  const given = givenOf(t, rules, runId);
  given(...third)
    .when(answer(ref, "book-ride", "unavailable", { seconds: 3 }))
    .sends(told("ADA", "refused"));
  const silent = eventsOf(rules, one, reissue(30));
  t.match(call(silent), { tries: 2, doubt: true, dueAt: secondsLater(90) }, "no answer: in doubt");
  given(...silent)
    .when(answer(ref, "book-ride", "refused", { tries: 1, seconds: 31 }))
    .nothing();
  given(...silent)
    .when(answer(ref, "book-ride", "done", { tries: 1, seconds: 31 }))
    .sends(told("ADA", "booked"));
  const doubtful = eventsOf(rules, one, answer(ref, "book-ride", "in-doubt"));
  t.match(call(doubtful), { doubt: true, postponed: true });
  const unsure = eventsOf(
    rules,
    doubtful,
    reissue(1),
    answer(ref, "book-ride", "unavailable", { seconds: 1 }),
  );
  t.match(call(unsure), { doubt: true, postponed: true }, "never given up while it is in doubt");
  given(...one)
    .when(reissue(10))
    .nothing();
  given(...one)
    .when(answer("XN-OTHER.ride.1", "book-ride"))
    .nothing();
  given(...one)
    .when(answer(ref, "cancel-ride"))
    .nothing();
});

t.test("who leaves has left at once; an empty vehicle goes back before it has left", async (t) => {
  const given = givenOf(t, rules, runId);
  const ref = referenceOf("ADA");
  const booked = story(take("ADA"), take("BOB"), answer(ref, "book-ride"));
  given(...booked)
    .when(leave("ADA"))
    .sends(left("ADA", { refusal: undefined }));
  const alone = eventsOf(rules, booked, leave("ADA"));
  given(...alone)
    .when(leave("BOB"))
    .sends(ordered("ADA", "cancel-ride", { request: { rideId: "R1" } }));
  given(...alone)
    .when(leave("BOB", 0, 46 * 60))
    .sends(left("BOB", { refusal: undefined }));
  given(...alone)
    .when(take("ADA"))
    .nothing();
  const empty = eventsOf(rules, alone, leave("BOB"));
  given(...empty)
    .when(answer(ref, "cancel-ride"))
    .sends(left("BOB", { refusal: undefined }));
  given(...empty)
    .when(leave("BOB"))
    .nothing();
  const stuck = eventsOf(rules, empty, answer(ref, "cancel-ride", "refused"));
  t.match(vehicleOf(stuck), { status: "STUCK" });
  given(...empty)
    .when(answer(ref, "cancel-ride", "refused"))
    .sends(left("BOB", { again: 0, refusal: { code: "SOLD_OUT" } }));
  given(...stuck)
    .when(leave("BOB", 1))
    .sends(ordered("ADA", "cancel-ride", { again: 1, tries: 1 }));
  const anew = eventsOf(rules, stuck, leave("BOB", 1));
  given(...anew)
    .when(answer(ref, "cancel-ride", "refused", { tries: 1 }))
    .nothing();
  given(...anew)
    .when(answer(ref, "cancel-ride", "done", { again: 1 }))
    .sends(left("BOB", { again: 1, refusal: undefined }));
  t.equal(
    vehicleOf(eventsOf(rules, stuck, take("CY", { passengers: 1 })), 2)?.riders.length,
    1,
    "nobody gets into one that is being given back",
  );
});

t.test("who leaves while it is ordered waits for it, unless somebody gets in", async (t) => {
  const given = givenOf(t, rules, runId);
  const ref = referenceOf("ADA");
  const one = story(take("ADA"), leave("ADA"));
  givenOf(
    t,
    rules,
    runId,
  )(...story(take("ADA")))
    .when(leave("ADA"))
    .sends();
  given(...one)
    .when(answer(ref, "book-ride"))
    .sends(ordered("ADA", "cancel-ride"));
  given(...one)
    .when(answer(ref, "book-ride", "refused"))
    .sends(left("ADA", { refusal: undefined }));
  given(...one)
    .when(take("BOB"))
    .sends(left("ADA", { refusal: undefined }));
  const other = eventsOf(rules, one, take("BOB"));
  given(...other)
    .when(answer(ref, "book-ride"))
    .sends(told("BOB", "booked"));
  given().when(leave("ADA")).notYet();
});

t.test("past its own pickup a vehicle is nobody's, and nobody's fault", async (t) => {
  const given = givenOf(t, rules, runId);
  const ref = referenceOf("ADA");
  const late = 46 * 60;
  const tooLate = {
    ...told("ADA", "refused"),
    data: { ...told("ADA", "refused").data, code: "TOO_LATE", vehicles: [] },
  };
  const one = story(take("ADA"));
  given(...one)
    .when(answer(ref, "book-ride", "done", { seconds: late }))
    .sends(ordered("ADA", "cancel-ride"), tooLate);
  const returned = eventsOf(rules, one, answer(ref, "book-ride", "done", { seconds: late }));
  given(...returned)
    .when(take("ADA", {}, late))
    .sends(tooLate);
  given(...returned)
    .when(leave("ADA", 0, late))
    .sends(left("ADA", { refusal: undefined }));
  const busy = eventsOf(rules, one, answer(ref, "book-ride", "unavailable"));
  given(...busy)
    .when(reissue(late))
    .sends(tooLate);
  given(...one)
    .when(answer(ref, "book-ride", "unavailable", { seconds: late }))
    .sends(tooLate);
  given(...one)
    .when(reissue(late))
    .sends(ordered("ADA", "book-ride", { doubt: true }));
  const empty = eventsOf(rules, story(take("ADA"), answer(ref, "book-ride")), leave("ADA"));
  given(...empty)
    .when(answer(ref, "cancel-ride", "refused", { seconds: late }))
    .sends(left("ADA", { refusal: undefined }));
  const stuck = eventsOf(rules, empty, answer(ref, "cancel-ride", "refused"));
  given(...stuck)
    .when(leave("ADA", 1, late))
    .sends(left("ADA", { again: 1, refusal: undefined }));
});

t.test("a run keeps what it needs: living vehicles, and the last that each rider has left", async (t) => {
  const ref = referenceOf("ADA");
  const empty = eventsOf(rules, story(take("ADA"), answer(ref, "book-ride")), leave("ADA"));
  const over = eventsOf(rules, empty, answer(ref, "cancel-ride"));
  t.match(folded(rules, over), { vehicles: [], ordered: 1, gone: ["XN-ADA-OUT.1"] });
  const given = givenOf(t, rules, runId);
  given(...over)
    .when(leave("ADA", 2))
    .sends(left("ADA", { again: 2, refusal: undefined }));
  given(...over)
    .when(answer(ref, "cancel-ride"))
    .nothing();
  const next = eventsOf(rules, over, take("ADA", { attempt: 3 }));
  t.equal(vehicleOf(next, 2)?.reference, referenceOf("ADA", 2), "numbers are never given twice");
  const gone = eventsOf(
    rules,
    next,
    received("transport.leave-seats", { ...holder("ADA"), attempt: 3, again: 0 }, entity),
  );
  t.strictSame((folded(rules, gone) as RunState).gone, ["XN-ADA-OUT.3"]);
  given(...gone)
    .when(take("ADA", { attempt: 2 }))
    .nothing();
});

const recalled = (more: object = {}, seconds = 60) => {
  const data = { reference: referenceOf("ADA"), rideId: "R1", state: "CANCELLED", ...more };
  const at = secondsLater(60).toISOString();
  return received("transport.record-ride", { at, ...data }, { ...entity, now: secondsLater(seconds) });
};

t.test("a vehicle that its vendor cancels by itself drives nobody", async (t) => {
  const given = givenOf(t, rules, runId);
  const ref = referenceOf("ADA");
  const late = 46 * 60;
  const lost = (name: string) => ({
    ...told(name, "refused"),
    data: { ...holder(name), outcome: "lost", vehicles: [], code: "CANCELLED" },
  });
  const both = story(take("ADA"), take("BOB"));
  const booked = eventsOf(rules, both, answer(ref, "book-ride"));
  given(...both)
    .when(recalled())
    .notYet();
  for (const seconds of [60, late])
    given(...booked)
      .when(recalled({}, seconds))
      .sends(lost("ADA"), lost("BOB"));
  const gone = eventsOf(rules, booked, recalled());
  t.match(vehicleOf(gone), { status: "LOST" });
  const forgotten = eventsOf(rules, gone, leave("ADA"), leave("BOB"));
  t.strictSame((folded(rules, forgotten) as RunState).vehicles, []);
  const alone = eventsOf(rules, story(take("ADA"), answer(ref, "book-ride")), leave("ADA"));
  const stuck = eventsOf(rules, alone, answer(ref, "cancel-ride", "refused"));
  const table: [string, RunEvent[], ReturnType<typeof recalled>][] = [
    ["told twice", gone, recalled()],
    ["forgotten", forgotten, recalled()],
    ["it had left by then", booked, recalled({ at: facts.pickupAt }, late)],
    ["another ride under the same reference", booked, recalled({ rideId: "R2" })],
    ["a vehicle that nobody knows", booked, recalled({ reference: referenceOf("ADA", 7) })],
    ["given back", eventsOf(rules, alone, answer(ref, "cancel-ride")), recalled()],
    ["refused", eventsOf(rules, both, answer(ref, "book-ride", "refused")), recalled()],
    ["no run", [], recalled()],
    ["an answer that comes late", gone, answer(ref, "book-ride", "done", { tries: 1 })],
  ];
  for (const [what, before, command] of table)
    t.strictSame(rules.decide(folded(rules, before), command), [], what);
  for (const before of [alone, stuck])
    given(...before)
      .when(recalled())
      .then({ type: "run.vehicle-cancelled" }, { type: "run.left-told" }, { type: "run.vehicles-forgotten" })
      .sends(left("ADA", { refusal: undefined }));
  given(...gone)
    .when(take("ADA", {}, 61))
    .sends(lost("ADA"));
  const again = eventsOf(rules, gone, take("ADA", { attempt: 2 }), take("BOB", { attempt: 2 }));
  t.match(vehicleOf(again, 2), { status: "ORDERED", riders: [{ attempt: 2 }, { attempt: 2 }] });
});
