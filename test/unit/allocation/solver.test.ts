/** The exact solver against the search that proves small problems, its proofs on large ones, and the process that it runs in. */
import fc from "fast-check";
import highsLoader, { type Highs } from "highs";
import pino from "pino";
import t from "tap";
import { assignByLocalSearch, assignHere } from "../../../actors/wave/allocation/assign.ts";
import { AssignmentMilp } from "../../../actors/wave/allocation/milp.ts";
import { type AssignmentProblem, evaluate, unplaced } from "../../../actors/wave/allocation/packing.ts";
import { allocateStays } from "../../../actors/wave/allocation/stays.ts";
import type { WaveInput } from "../../../actors/wave/gather.ts";
import { proveWith } from "../../../actors/wave/solver/exact.ts";
import { SolverProcess } from "../../../actors/wave/solver/solver-process.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";
import { airport as jfk, north, offer as offerOf } from "./hotels-at-jfk.ts";

const highs = await (highsLoader as unknown as () => Promise<Highs>)();
const elapsedMs = () => performance.now();
const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;

const problem: fc.Arbitrary<AssignmentProblem> = fc
  .record({
    bins: fc.array(
      fc.record({
        rooms: fc.integer({ min: 0, max: 8 }),
        accessible: fc.integer({ min: 0, max: 2 }),
        rate: fc.integer({ min: 0, max: 20 }),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    items: fc.array(
      fc.record({ value: fc.integer({ min: 1, max: 4 }), accessible: fc.constantFrom(0, 0, 0, 1) }),
      { minLength: 1, maxLength: 9 },
    ),
    fee: fc.integer({ min: 0, max: 30 }),
  })
  .map(({ bins, items, fee }) => ({
    bins: bins.map(({ rooms, accessible }, site) => ({
      site,
      rooms,
      accessible: Math.min(accessible, rooms),
    })),
    openingCost: bins.map((_, site) => (site % 2 === 0 ? fee / 100 : 0)),
    items: items.map(({ value, accessible }) => ({
      value,
      accessible,
      options: bins.map(({ rate }, bin) => ({ bin, rooms: value, cost: (rate * value) / 100 })),
    })),
  }));

t.test("it agrees with the search that looks at everything, from whatever it starts", async (t) => {
  let compared = 0;
  let improved = 0;
  fc.assert(
    fc.property(problem, (small) => {
      const here = assignHere(small);
      fc.pre(here.proven);
      const best = evaluate(small, here.assignment);
      const nothing = small.items.map(() => unplaced);
      for (const start of [here.assignment, nothing]) {
        const proven = proveWith(highs, 5_000, elapsedMs)(small, start);
        if (proven === undefined) return false;
        const found = evaluate(small, proven.assignment);
        if (proven.gap !== 0 || found.value !== best.value || !near(found.cost, best.cost)) return false;
        if (start === nothing && best.value > 0) improved += 1;
      }
      compared += 1;
      return true;
    }),
    { numRuns: 60, seed: 20_261_121 },
  );
  t.ok(compared > 50 && improved > 40, "some starts had to be improved", { compared, improved });
});

/** Groups of one to three rooms over hotels that just hold them. */
const large: AssignmentProblem = {
  bins: Array.from({ length: 12 }, (_, site) => ({
    site,
    rooms: 6 + ((site * 7) % 11),
    accessible: site % 3,
  })),
  openingCost: Array.from({ length: 12 }, () => 0.0125),
  items: Array.from({ length: 60 }, (_, i) => ({
    value: 1 + (i % 3),
    accessible: i % 17 === 0 ? 1 : 0,
    options: Array.from({ length: 12 }, (_, bin) => ({
      bin,
      rooms: 1 + (i % 3),
      cost: ((1 + (i % 3)) / 120) * (0.6 * ((bin * 5) % 12) + 0.25 * ((bin * 3) % 7)) * 0.1,
    })),
  })),
};

t.test("a bound is a bound, and time is kept", async (t) => {
  const program = new AssignmentMilp(large);
  const found = assignByLocalSearch(large);
  const point = program.pointOf(found);
  const back = program.assignmentOf(point);
  const again = evaluate(large, back ?? []);
  const before = evaluate(large, found);
  t.ok(again.value === before.value && near(again.cost, before.cost), "there and back again");
  const prove = proveWith(highs, 400, elapsedMs);
  const since = performance.now();
  const proven = prove(large, found);
  const tookMs = performance.now() - since;
  t.ok(tookMs < 3_000, `${Math.round(tookMs)} ms`);
  t.ok(proven !== undefined && proven.gap >= 0 && proven.gap < program.milp.worth, `gap ${proven?.gap}`);
  const empty = prove(
    large,
    large.items.map(() => unplaced),
  );
  if (empty !== undefined) t.ok(empty.gap >= 0);
  t.equal(proveWith(highs, 0, elapsedMs)(large, found), undefined, "without time nothing is proven");
  const tooMuch = program.assignmentOf(program.milp.cost.map(() => 99));
  t.equal(tooMuch, undefined, "what breaks a capacity is no assignment");
});

const hotels = Array.from({ length: 10 }, (_, i) =>
  offerOf({
    providerHotelId: `h${i}`,
    coordinates: north(2 + ((i * 3) % 7)),
    nightlyRateMinor: 8_000 + ((i * 37) % 50) * 100,
    roomsLeft: 5 + ((i * 5) % 7),
  }),
);
const wave = (groups: number): WaveInput => ({
  airport: { code: "JFK", name: "John F Kennedy", ...jfk },
  airlineName: "Xenon",
  passengerHost: "",
  policies: { ECONOMY: policy() },
  vendors: {},
  stays: [
    {
      groups: Array.from({ length: groups }, (_, i) => group(`G${i}`, { rooms: 1 + (i % 2) })),
      search: { offers: hotels, partialFailures: [] },
    },
  ],
  again: [],
});

t.test("large waves are solved in a process, and in none where that fails", async (t) => {
  const log = pino({ enabled: false });
  const solver = new SolverProcess(1000, log);
  t.teardown(() => solver.stop());
  t.equal(await solver.solve(wave(16)), undefined, "a small one is solved at once");
  t.equal(await new SolverProcess(0, log).solve(wave(17)), undefined, "nor without time");
  const here = allocateStays({ ...wave(40), airport: jfk });
  const [first, second] = await Promise.all([solver.solve(wave(40)), solver.solve(wave(20))]);
  t.equal(first?.[0]?.allocations.length, here[0]?.allocations.length);
  t.ok((first?.[0]?.objective ?? 9) <= (here[0]?.objective ?? 0) + 1e-9, "never worse");
  t.ok((first?.[0]?.gap ?? -1) >= 0, `the proven gap is ${first?.[0]?.gap}`);
  t.notOk("gap" in (here[0] ?? {}), "which the search alone could not say");
  const [offer] = first?.[0]?.allocations ?? [];
  t.ok(
    first?.[0]?.rankingInputs.some((ranking) => ranking.offer === offer?.offer),
    "an offer is one thing in rankings and allocations, as the wave keeps it",
  );
  t.equal(second?.[0]?.allocations.length, 20, "waves take turns");
  const unsendable = { ...wave(20), policies: { ECONOMY: { ...policy(), name: (() => "x") as never } } };
  t.equal(await solver.solve(unsendable), undefined, "what fails there is worked out here");
  t.equal((await solver.solve(wave(20)))?.length, 1, "and the next has a process again");
});
