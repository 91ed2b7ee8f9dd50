/** The solver against brute force on small problems, and its invariants and speed on large ones. */
import fc from "fast-check";
import t from "tap";
import { assign, assignByLocalSearch } from "../../../actors/wave/allocation/assign.ts";
import { improve } from "../../../actors/wave/allocation/improve.ts";
import {
  type Assignment,
  type AssignmentProblem,
  evaluate,
  isBetter,
  Packing,
  unplaced,
} from "../../../actors/wave/allocation/packing.ts";

/** Every assignment, one by one. */
const bruteForce = (problem: AssignmentProblem): { value: number; cost: number } => {
  let best = { value: 0, cost: 0 };
  const assignment: Assignment = problem.items.map(() => unplaced);
  const visit = (at: number): void => {
    if (at === assignment.length) {
      if (!isFeasible(problem, assignment)) return;
      const result = evaluate(problem, assignment);
      if (isBetter(result, best)) best = result;
      return;
    }
    for (const bin of [unplaced, ...problem.items[at]!.options.map((option) => option.bin)]) {
      assignment[at] = bin;
      visit(at + 1);
    }
    assignment[at] = unplaced;
  };
  visit(0);
  return best;
};

const isFeasible = (problem: AssignmentProblem, assignment: Assignment): boolean => {
  const free = problem.bins.map(({ rooms, accessible }) => ({ rooms, accessible }));
  assignment.forEach((bin, index) => {
    if (bin === unplaced) return;
    const item = problem.items[index]!;
    free[bin]!.rooms -= item.options.find((option) => option.bin === bin)!.rooms;
    free[bin]!.accessible -= item.accessible;
  });
  return free.every(({ rooms, accessible }) => rooms >= 0 && accessible >= 0);
};

/** @param roomy some hotels' rooms hold fewer, so that groups take more of them there. */
const problems = (itemsMax: number, binsMax: number, roomy: boolean): fc.Arbitrary<AssignmentProblem> =>
  fc
    .record({
      bins: fc.array(
        fc.record({
          rooms: fc.integer({ min: 0, max: 8 }),
          accessible: fc.integer({ min: 0, max: 2 }),
          rate: fc.integer({ min: 0, max: 20 }),
          extra: roomy ? fc.integer({ min: 0, max: 1 }) : fc.constant(0),
        }),
        { minLength: 1, maxLength: binsMax },
      ),
      items: fc.array(
        fc.record({
          value: fc.integer({ min: 1, max: 4 }),
          accessible: fc.constantFrom(0, 0, 0, 1),
          barred: fc.integer({ min: -4, max: binsMax - 1 }),
        }),
        { minLength: 1, maxLength: itemsMax },
      ),
      fee: fc.integer({ min: 0, max: 30 }),
    })
    .map(({ bins, items, fee }) => ({
      bins: bins.map(({ rooms, accessible }, site) => ({
        site,
        rooms,
        accessible: Math.min(rooms, accessible),
      })),
      openingCost: bins.map(() => fee / 100),
      items: items.map(({ value, accessible, barred }) => ({
        value,
        accessible,
        options: bins.flatMap(({ rate, extra }, bin) =>
          bin === barred ? [] : [{ bin, rooms: value + (value > 1 ? extra : 0), cost: (rate * value) / 100 }],
        ),
      })),
    }));

const compare = (problem: AssignmentProblem, solve: typeof assign): { short: number; gap: number } => {
  const assignment = solve(problem);
  if (!isFeasible(problem, assignment)) throw new Error("over capacity");
  const found = evaluate(problem, assignment);
  const optimum = bruteForce(problem);
  return { short: optimum.value - found.value, gap: found.cost - optimum.cost };
};

for (const roomy of [false, true])
  t.test(`small problems are solved to the optimum${roomy ? ", rooms of several sizes" : ""}`, async () => {
    fc.assert(
      fc.property(problems(6, 4, roomy), (problem) => {
        const { short, gap } = compare(problem, assign);
        return short === 0 && gap < 1e-6;
      }),
      { seed: 7, numRuns: 300 },
    );
  });

t.test("the local search alone comes near, for it is all that large problems get", async (t) => {
  const sample = [false, true].flatMap((roomy) =>
    fc.sample(problems(6, 4, roomy), { seed: 11, numRuns: 300 }),
  );
  const results = sample.map((problem) => compare(problem, assignByLocalSearch));
  const short = results.filter((result) => result.short > 0).length;
  const gaps = results
    .filter((result) => result.short === 0)
    .map(({ gap }) => gap)
    .sort((a, b) => a - b);
  t.comment(
    `short of rooms ${short} of ${sample.length}; gap p95 ${gaps[Math.floor(gaps.length * 0.95)]}, max ${gaps.at(-1)}`,
  );
  t.ok(short <= sample.length * 0.01, "rooms placed");
  t.ok(gaps[Math.floor(gaps.length * 0.95)]! < 0.01, "95 of 100 at the optimum");
});

/** A linear congruential sequence: the same large problem in each run. */
const large = (groups: number, hotels: number, load: number): AssignmentProblem => {
  let seed = 1;
  const next = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const values = Array.from({ length: groups }, () => 1 + Math.floor(next() * next() * 4));
  const total = values.reduce((sum, value) => sum + value, 0);
  const rooms = Math.ceil(total / load / hotels);
  const rates = Array.from({ length: hotels }, next);
  return {
    bins: rates.map((_, site) => ({ site, rooms, accessible: Math.ceil(groups / hotels / 10) })),
    openingCost: rates.map(() => 0.15 / hotels),
    items: values.map((value, index) => ({
      value,
      accessible: index % 20 === 0 ? 1 : 0,
      options: rates.map((rate, bin) => ({ bin, rooms: value, cost: (0.85 * rate * value) / total })),
    })),
  };
};

for (const { groups, hotels, load, msMax } of [
  { groups: 100, hotels: 50, load: 0.7, msMax: 1_000 },
  { groups: 100, hotels: 50, load: 1.2, msMax: 1_000 },
  { groups: 2_500, hotels: 60, load: 0.7, msMax: 10_000 },
  { groups: 2_500, hotels: 60, load: 1.2, msMax: 10_000 },
])
  t.test(`${groups} groups, ${hotels} hotels, load ${load}`, async (t) => {
    const problem = large(groups, hotels, load);
    const startedAt = performance.now();
    const assignment = assign(problem);
    const tookMs = performance.now() - startedAt;
    const capacity = problem.bins.reduce((sum, { rooms }) => sum + rooms, 0);
    const demand = problem.items.reduce((sum, { value }) => sum + value, 0);
    t.comment(`${tookMs.toFixed(0)} ms`);
    t.ok(isFeasible(problem, assignment));
    t.equal(evaluate(problem, assignment).value, Math.min(capacity, demand), "as many rooms as there are");
    t.ok(tookMs < msMax, "a wide margin, for a machine that others share");
    t.same(assign(problem), assignment, "the same answer again");
  });

t.test("a search stops where it is when its steps are used up, and never with less", async (t) => {
  const hotels = 40;
  const crowded: AssignmentProblem = {
    bins: Array.from({ length: hotels }, (_, site) => ({ site, rooms: 3, accessible: 0 })),
    openingCost: Array.from({ length: hotels }, () => 0.01),
    items: Array.from({ length: 60 }, (_, i) => ({
      value: 1 + (i % 2),
      accessible: 0,
      options: Array.from({ length: hotels }, (_, bin) => ({
        bin,
        rooms: 1 + (i % 2),
        cost: ((bin * 7 + i * 3) % 11) / 100,
      })),
    })),
  };
  const scattered = (): Packing => {
    const packing = new Packing(crowded);
    crowded.items.forEach((_, item) => {
      const bins = Array.from({ length: hotels }, (_, at) => (item + at) % hotels);
      packing.move(item, bins.find((bin) => packing.fits(item, bin)) ?? unplaced);
    });
    return packing;
  };
  const [rested, tired, short] = [scattered(), scattered(), scattered()];
  tired.stepsLeft = 0;
  short.stepsLeft = 5_000;
  for (const packing of [rested, tired, short]) improve(packing);
  t.same([...tired.binOf], [...scattered().binOf], "none left: nothing is moved");
  t.ok(rested.cost < tired.cost, "with time it is improved");
  t.ok(short.cost <= tired.cost && short.value === rested.value);
  t.ok(short.stepsLeft > -60 * hotels, `and ends soon after: ${short.stepsLeft}`);
  t.ok(isFeasible(crowded, [...short.binOf]));
});

t.test("a flight over hundreds of small hotels is worked out", async (t) => {
  const hotels = 600;
  const problem: AssignmentProblem = {
    bins: Array.from({ length: hotels }, (_, site) => ({ site, rooms: 2, accessible: 0 })),
    openingCost: Array.from({ length: hotels }, () => 0.0001),
    items: Array.from({ length: 700 }, (_, i) => ({
      value: 1 + (i % 2),
      accessible: 0,
      options: Array.from({ length: hotels }, (_, bin) => ({
        bin,
        rooms: 1 + (i % 2),
        cost: ((bin * 7919) % 997) / 1e6,
      })),
    })),
  };
  const assignment = assignByLocalSearch(problem);
  t.equal(evaluate(problem, assignment).value, 1050);
  t.ok(isFeasible(problem, assignment));
});
