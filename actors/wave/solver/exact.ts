/** Owns asking the exact solver (HiGHS): within a time-box it proves an assignment, or finds a better one. */
import type { Highs } from "highs";
import { AssignmentMilp } from "../allocation/milp.ts";
import { evaluate, isBetter, type Prove } from "../allocation/packing.ts";

/** Of the objective; below it is rounding. */
const provenGap = 1e-6;

/** @param budgetMs for all problems that it is asked about, together; only its own time counts */
export const proveWith = (highs: Highs, budgetMs: number, elapsedMs: () => number): Prove => {
  let leftMs = budgetMs;
  return (problem, found) => {
    if (leftMs <= 0) return undefined;
    const sinceMs = elapsedMs();
    const program = new AssignmentMilp(problem);
    const { point, bound } = run(highs, program, program.pointOf(found), leftMs);
    leftMs -= elapsedMs() - sinceMs;
    const better = point === undefined ? undefined : program.assignmentOf(point);
    const isImproved = better !== undefined && isBetter(evaluate(problem, better), evaluate(problem, found));
    const assignment = isImproved ? better : found;
    if (bound === undefined) return undefined;
    const gap = Math.max(0, program.objectiveOf(assignment) - bound);
    return { assignment, gap: gap < provenGap ? 0 : gap };
  };
};

interface Found {
  point: Float64Array | undefined;
  /** No assignment's objective is lower. */
  bound: number | undefined;
}

const run = (highs: Highs, { milp }: AssignmentMilp, start: number[], leftMs: number): Found => {
  const { cost, upper, limit, rows } = milp;
  if (cost.length === 0) return { point: undefined, bound: 0 };
  const { integer } = highs.constants.variableType;
  const model = highs.createModel({
    numCols: cost.length,
    numRows: limit.length,
    colCost: cost,
    colLower: cost.map(() => 0),
    colUpper: upper,
    rowLower: limit.map(() => -highs.infinity),
    rowUpper: limit,
    matrix: {
      format: "csr",
      numRows: limit.length,
      numCols: cost.length,
      starts: rows.starts,
      indices: rows.columns,
      values: rows.values,
    },
    integrality: cost.map(() => integer),
  });
  try {
    model.options.set({ output_flag: false, time_limit: leftMs / 1000, mip_rel_gap: 0, mip_abs_gap: 1e-7 });
    model.setSolution({ colValue: start });
    model.run();
    const bound = Number(model.info.get("mip_dual_bound"));
    const { colValue } = model.getSolution();
    return { point: colValue, bound: Number.isFinite(bound) ? bound : undefined };
  } finally {
    model.dispose();
  }
};
