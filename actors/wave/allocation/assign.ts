/** Owns the choice of solver for the assignment: several starts, local search, and the exact search where the problem is small. */
import { branchAndBound } from "./branch-and-bound.ts";
import { improve, settle, shake } from "./improve.ts";
import {
  type Assign,
  type Assignment,
  type AssignmentProblem,
  isBetter,
  Packing,
  unplaced,
} from "./packing.ts";
import { fill, repair } from "./repair.ts";

export const exactItemsMax = 16;
/** Each node looks at every bin, so the bound on work is on both together. */
const exactStepsMax = 100_000;

/** Local search, then on small problems the exact search from its result. No clock and no randomness: a run repeats exactly. */
export const assign: Assign = (problem) => assignHere(problem).assignment;

/** The same, and whether no other assignment is better (to within rounding). */
export const assignHere = (problem: AssignmentProblem): { assignment: Assignment; proven: boolean } => {
  const assignment = assignByLocalSearch(problem);
  if (problem.items.length === 0 || problem.bins.length === 0) return { assignment, proven: true };
  if (problem.items.length > exactItemsMax) return { assignment, proven: false };
  return branchAndBound(problem, assignment, Math.floor(exactStepsMax / problem.bins.length));
};

/** For each start; a full flight over a hundred hotels needs some millions, which is a fraction of a second. */
const stepsMax = 20_000_000;

/** The best of several constructions after repair and improvement. */
export const assignByLocalSearch: Assign = (problem) => {
  let best: Packing | undefined;
  for (const construct of constructionsFor(problem)) {
    const packing = new Packing(problem);
    packing.stepsLeft = stepsMax;
    construct(packing);
    packing.stepsLeft = Number.POSITIVE_INFINITY;
    repair(packing);
    saveRooms(packing, problem);
    packing.stepsLeft = stepsMax;
    improve(packing);
    if (best === undefined || isBetter(packing, best)) best = packing;
  }
  if (optionsOf(problem) <= shakeOptionsMax) {
    best!.stepsLeft = stepsMax;
    shake(best!);
  }
  return [...best!.binOf];
};

const saveRoundsMax = 8;

/**
 * Where some item takes more rooms at one hotel than at another and not all are placed: the search for least cost,
 * run on the rooms wasted instead, frees rooms for those still waiting. From what is placed, and from nothing.
 */
const saveRooms = (packing: Packing, problem: AssignmentProblem): void => {
  if (packing.unplacedItems().length === 0 || !isWasteful(problem)) return;
  const waste = wasteAsCost(problem);
  for (const start of [[...packing.binOf], []]) {
    const thrifty = new Packing(waste);
    start.forEach((bin, item) => {
      thrifty.move(item, bin);
    });
    for (let round = 0, better = true; better && round < saveRoundsMax; round++) {
      const value = thrifty.value;
      repair(thrifty);
      better = settle(thrifty) || thrifty.value > value;
    }
    if (thrifty.value > packing.value)
      for (let item = 0; item < packing.itemCount; item++) packing.move(item, thrifty.binOf[item]!);
  }
};

const isWasteful = (problem: AssignmentProblem): boolean =>
  problem.items.some((item) => item.options.some((option) => option.rooms > item.value));

const wasteAsCost = (problem: AssignmentProblem): AssignmentProblem => ({
  bins: problem.bins,
  openingCost: problem.openingCost.map(() => 0),
  items: problem.items.map((item) => ({
    ...item,
    options: item.options.map((option) => ({ ...option, cost: option.rooms - item.value })),
  })),
});

/** Opens a site only when none that is open can take the next item. */
const reluctantly = (packing: Packing): void => fill(packing);

/** Each to its cheapest bin, whatever it costs to open; closing sites is left to the improvement. */
const eagerly = (packing: Packing): void => {
  for (const item of packing.unplacedByDifficulty()) {
    let best = unplaced;
    for (let bin = 0; bin < packing.binCount; bin++)
      if (
        packing.fits(item, bin) &&
        (best === unplaced || packing.costAt(item, bin) < packing.costAt(item, best))
      )
        best = bin;
    if (best !== unplaced) packing.move(item, best);
  }
};

/** Fills site after site, always the one with the least cost per unit of value including its opening. */
const siteBySite = (packing: Packing): void => {
  const closed = new Set(packing.openingCost.keys());
  for (;;) {
    const waiting = packing.unplacedByDifficulty();
    if (closed.size === 0 || waiting.length === 0) return;
    let best: { site: number; price: number } | undefined;
    for (const site of closed) {
      if (packing.isTired) return;
      packing.stepsLeft -= waiting.length;
      const mark = packing.mark();
      const before = { value: packing.value, cost: packing.cost };
      fillSite(packing, site, waiting);
      const placed = packing.value - before.value;
      const price = (packing.cost - before.cost) / placed;
      packing.undo(mark);
      packing.cost = before.cost;
      if (placed === 0) continue;
      if (best === undefined || price < best.price) best = { site, price };
    }
    if (best === undefined) return;
    fillSite(packing, best.site, waiting);
    closed.delete(best.site);
  }
};

/** @param waiting the unplaced, hardest first */
const fillSite = (packing: Packing, site: number, waiting: readonly number[]): void => {
  const bins = packing.binsOfSite[site]!;
  const hopeless = new Set<number>();
  for (const item of waiting) {
    if (hopeless.has(packing.kindOf[item]!)) continue;
    if (bins.every((bin) => packing.freeRooms[bin] === 0)) return;
    const bin = bins.find((one) => packing.fits(item, one));
    if (bin === undefined) hopeless.add(packing.kindOf[item]!);
    else packing.move(item, bin);
  }
};

/** Hardest first into the fullest bin that takes it: leaves the largest gaps for the repair. */
const tightly = (packing: Packing): void => {
  for (const item of packing.unplacedByDifficulty()) {
    let best = unplaced;
    for (let bin = 0; bin < packing.binCount; bin++)
      if (
        packing.fits(item, bin) &&
        (best === unplaced || packing.freeRooms[bin]! < packing.freeRooms[best]!)
      )
        best = bin;
    if (best !== unplaced) packing.move(item, best);
  }
};

/** Above so many options (items × bins) a stage costs more time than an answer at once may take. */
const allStartsOptionsMax = 8_000;
const shakeOptionsMax = 500;

const optionsOf = (problem: AssignmentProblem): number => problem.items.length * problem.bins.length;

const constructionsFor = (problem: AssignmentProblem): ((packing: Packing) => void)[] =>
  optionsOf(problem) > allStartsOptionsMax
    ? [siteBySite, eagerly]
    : [siteBySite, eagerly, reluctantly, tightly];
