/** Owns the exact search for small problems, bounded in nodes; large ones are the local search's alone. */
import {
  type Assignment,
  type AssignmentProblem,
  costEpsilon,
  evaluate,
  isBetter,
  Packing,
} from "./packing.ts";
import { byDifficulty } from "./repair.ts";

/**
 * The best assignment found from `incumbent` on, and whether the search ended before `nodesMax` nodes, which proves
 * it optimal (to within rounding).
 */
export const branchAndBound = (
  problem: AssignmentProblem,
  incumbent: Assignment,
  nodesMax: number,
): { assignment: Assignment; proven: boolean } => {
  const packing = new Packing(problem);
  const order = byDifficulty(packing, [...packing.binOf.keys()]);
  const choices = order.map((item) =>
    [...packing.freeRooms.keys()]
      .filter((bin) => packing.allowed(item, bin))
      .sort((a, b) => packing.costAt(item, a) - packing.costAt(item, b) || a - b),
  );
  const least = order.map((item, at) =>
    choices[at]!.length === 0 ? 0 : packing.costAt(item, choices[at]![0]!),
  );
  // An item with no option is worth nothing to any bound.
  const worth = order.map((item, at) => (choices[at]!.length === 0 ? 0 : packing.values[item]!));
  const worthFrom = worth.map((_, at) => worth.slice(at).reduce((sum, value) => sum + value, 0));
  let best = { assignment: incumbent, ...evaluate(problem, incumbent) };
  let nodesLeft = nodesMax;

  /** Whether leaving out no more than `slack` of the value from here on can still cost less than the best. */
  const promising = (at: number): boolean => {
    const slack = packing.value + (worthFrom[at] ?? 0) - best.value;
    if (slack < 0) return false;
    if (slack > 0 && packing.value <= best.value && at < order.length) return true;
    let bound = packing.cost;
    for (let next = at; next < order.length; next++) if (worth[next]! > slack) bound += least[next]!;
    return packing.value > best.value || bound < best.cost - costEpsilon;
  };

  const visit = (at: number): void => {
    if (--nodesLeft < 0) return;
    if (at === order.length) {
      if (isBetter(packing, best))
        best = { assignment: [...packing.binOf], value: packing.value, cost: packing.cost };
      return;
    }
    const item = order[at]!;
    for (const bin of choices[at]!) {
      if (nodesLeft < 0) return;
      if (!packing.fits(item, bin)) continue;
      const mark = packing.mark();
      packing.move(item, bin);
      if (promising(at + 1)) visit(at + 1);
      packing.undo(mark);
    }
    if (promising(at + 1)) visit(at + 1);
  };

  visit(0);
  return { assignment: best.assignment, proven: nodesLeft >= 0 };
};
