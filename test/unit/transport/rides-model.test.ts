// Groups that share vehicles, move, leave and come back, against a vendor that answers late, loses answers, refuses, is busy and cancels by itself, with
// messages in any order and twice: no vehicle is ever over its seats, no stranger sits in a private one, and in the end everybody who
// has seats sits in a vehicle that the vendor has, once, and no vehicle goes empty that could be given back.
import fc from "fast-check";
import t from "tap";
import { type Turn, turns } from "../../harness/vendors-in-memory.ts";
import { Depot, idOfGroup, referenceOf } from "./depot.ts";

const groups = 6;
const group = fc.nat({ max: groups - 1 });
const direction = fc.constantFrom("AIRPORT_TO_HOTEL" as const, "HOTEL_TO_AIRPORT" as const);
const turn = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Turn>("done") },
  { weight: 2, arbitrary: fc.constantFrom(...turns) },
);
const deliver = fc.record({
  do: fc.constant("deliver" as const),
  which: fc.nat({ max: 40 }),
  turn,
  lookup: turn,
  again: fc.boolean(),
});
/** Few times, so that groups meet. */
const time = fc.constantFrom(
  "2026-11-21T22:30:00.000Z",
  "2026-11-21T23:00:00.000Z",
  "2026-11-22T11:00:00.000Z",
);
const vehicle = fc.constantFrom("SHUTTLE" as const, "PRIVATE_CAR" as const, "WHEELCHAIR_VAN" as const);
const event = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("retime" as const), group, direction, time }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("vehicle" as const), group, direction, vehicle }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), group, direction }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("give-back" as const), group, tries: fc.constantFrom(1, 2) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("again" as const), group }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("follow" as const),
      group,
      hour: fc.nat({ max: 3 }),
      shape: fc.constantFrom(1, 2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("order" as const), group, tries: fc.constantFrom(1, 2) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wake" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("recall" as const), which: fc.nat({ max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("pass" as const), minutes: fc.constantFrom(5, 40) }) },
);
const steps = fc.array(fc.oneof({ weight: 5, arbitrary: deliver }, { weight: 1, arbitrary: event }), {
  maxLength: 80,
  size: "max",
});
type Steps = typeof steps extends fc.Arbitrary<infer Each> ? Each : never;
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: groups, maxLength: groups });

t.test("whatever groups, people and the vendor do", async (t) => {
  let shared = 0;
  let stuck = 0;
  let declined = 0;
  let kept = 0;
  let moved = 0;
  let several = 0;
  let late = 0;
  let lost = 0;
  const happen = async (depot: Depot, step: Steps[number], people: number[]): Promise<void> => {
    switch (step.do) {
      case "deliver":
        return depot.deliver(step.which, step.turn, step.lookup, step.again);
      case "retime":
        return depot.retime(step.group, step.direction, step.time);
      case "vehicle":
        return depot.changeVehicle(step.group, step.direction, step.vehicle);
      case "cancel":
        return depot.cancel(step.group, step.direction);
      case "give-back":
        return depot.giveBack(step.group, { tries: step.tries });
      case "again":
        return depot.giveBack(step.group, { again: 1 });
      case "follow":
        return depot.follow(step.group, `2026-11-22T1${step.hour + 4}:00:00.000Z`, step.shape);
      case "order":
        return depot.order(step.group, { passengers: people[step.group] ?? 1 }, { tries: step.tries });
      case "wake":
        depot.wake();
        return;
      case "recall":
        depot.recall(step.which);
        return;
      case "pass":
        depot.now = new Date(depot.now.getTime() + step.minutes * 60_000);
        return;
      default:
        step satisfies never;
    }
  };
  const story = async (people: number[], before: Steps, after: Steps) => {
    const depot = new Depot();
    for (const [i, passengers] of people.entries()) depot.order(i, { passengers });
    const through = async (all: Steps): Promise<void> => {
      for (const step of all) {
        await happen(depot, step, people);
        depot.check();
      }
    };
    await through(before);
    await depot.settle();
    depot.checkEnd();
    await through(after);
    await depot.settle();
    depot.checkEnd();
    const vehicles = [...depot.runs.values()].flatMap((run) => run.vehicles);
    if (vehicles.some(({ riders }) => new Set(riders.map(({ transferId }) => transferId)).size > 1))
      shared += 1;
    if (vehicles.some(({ status }) => status === "STUCK")) stuck += 1;
    const segments = [...depot.transfers.values()].flatMap((transfer) => transfer.segments);
    if (segments.some(({ status }) => status === "declined")) declined += 1;
    if (segments.some(({ status, detail }) => status === "booked" && detail !== undefined)) kept += 1;
    if (segments.some(({ detail }) => /too late|have left/.test(detail ?? ""))) late += 1;
    if (segments.some(({ seat }) => (seat?.attempt ?? 0) > 1)) moved += 1;
    if (segments.some(({ losses = 0 }) => losses > 0)) lost += 1;
    if (segments.some(({ seat }) => (seat?.vehicles.length ?? 0) > 1)) several += 1;
    // Every order that stands has an answer to its newest question.
    for (const i of people.keys())
      if (!depot.answers.some(({ reference }) => reference === referenceOf(i)))
        throw new Error(`${idOfGroup(i)} was never answered`);
  };
  await fc.assert(fc.asyncProperty(sizes, steps, steps, story), { numRuns: 300, seed: 20_261_122 });
  for (const [what, count] of Object.entries({ shared, stuck, declined, kept, moved, several, late, lost }))
    t.ok(count > 5, `${what}: ${count}`);
});
