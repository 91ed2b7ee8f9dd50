/** Owns the choice of an index: what a filter constrains, which key ranges that leaves, and whether they come sorted. */
import type { Document } from "bson";
import { CommandError } from "./errors.ts";
import type { Index } from "./indexes.ts";
import { compileFilter, isOperatorDocument } from "./matcher.ts";
import type { SortField } from "./sorting.ts";
import { type KeyRange, rangeUnder } from "./store.ts";
import { encodeKey, equalValues, isDocument, RANK, rankOf } from "./values.ts";

/** One condition that every matching document meets at a path. */
interface Constraint {
  path: string;
  operator: string;
  operand: unknown;
}

export interface Plan {
  stage: "IDHACK" | "IXSCAN" | "COLLSCAN";
  /** The secondary index of an IXSCAN; undefined means the collection itself, which is ordered by `_id`. */
  index: Index | undefined;
  /** Relative to the index or the collection, in the order in which they are to be read. */
  ranges: KeyRange[];
  backward: boolean;
  /** Whether documents come in the order asked for. */
  isSorted: boolean;
}

const RANGE_OPERATORS = new Set(["$gt", "$gte", "$lt", "$lte"]);
/** Ranks whose comparisons an index range can answer; null's also mean missing, objects and arrays are compared whole. */
const RANGE_RANKS: ReadonlySet<number> = new Set([
  RANK.number,
  RANK.string,
  RANK.binary,
  RANK.objectId,
  RANK.boolean,
  RANK.date,
]);
const POINTS_MAX = 1000;

/** The conditions joined by "and" at the top of a filter; `$or` and the like add none. */
function constraintsOf(filter: Document): Constraint[] {
  return Object.entries(filter).flatMap(([path, condition]) => {
    if (path === "$and") return (condition as Document[]).flatMap(constraintsOf);
    if (path.startsWith("$")) return [];
    if (!isOperatorDocument(condition)) return [{ path, operator: "$eq", operand: condition }];
    return Object.entries(condition).map(([operator, operand]) => ({ path, operator, operand }));
  });
}

/** The values of which a path must equal one, if a filter says so. Arrays match in more ways than one entry shows. */
function pointsOf(constraint: Constraint): unknown[] | undefined {
  const { operator, operand } = constraint;
  const points = operator === "$eq" ? [operand] : operator === "$in" ? (operand as unknown[]) : undefined;
  return points?.every((point) => rankOf(point) !== RANK.array) ? points : undefined;
}

const isRange = ({ operator, operand }: Constraint): boolean =>
  RANGE_OPERATORS.has(operator) && RANGE_RANKS.has(rankOf(operand));

/** Whether documents that meet `given` surely meet `wanted`, a condition of a partial index, at the same path. */
function implies(given: Constraint, wanted: Constraint): boolean {
  if (given.path !== wanted.path) return false;
  if (given.operator === wanted.operator && equalValues(given.operand, wanted.operand)) return true;
  const points = pointsOf(given);
  if (points) {
    const accepts = compileFilter({ value: { [wanted.operator]: wanted.operand } });
    // A point of null is also met by a missing field, which has no value to test.
    const field = (value: unknown) => () => (value === null ? undefined : value);
    return points.length > 0 && points.every((point) => accepts({ field: field(point) }));
  }
  if (!isRange(given)) return false;
  if (wanted.operator === "$exists") return true;
  if (!isRange(wanted) || rankOf(given.operand) !== rankOf(wanted.operand)) return false;
  if (given.operator.slice(0, 3) !== wanted.operator.slice(0, 3)) return false;
  const isEqual = equalValues(given.operand, wanted.operand);
  if (isEqual) return wanted.operator.endsWith("e") || !given.operator.endsWith("e");
  return compileFilter({ value: { [wanted.operator]: wanted.operand } })({ field: () => given.operand });
}

const isUsable = (index: Index, constraints: readonly Constraint[]): boolean =>
  constraintsOf(index.specification.partialFilterExpression ?? {}).every((wanted) =>
    constraints.some((given) => implies(given, wanted)),
  );

const inverted = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff));
const past = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.from([0xff])]);

/** The part of an index field's keys that ranges leave; an array may meet two ranges by two elements, so it gets one. */
function boundsOf(ranges: readonly Constraint[], direction: 1 | -1, isMultikey: boolean): KeyRange {
  const first = ranges[0]!;
  const rank = rankOf(first.operand);
  const usable = isMultikey ? [first] : ranges.filter(({ operand }) => rankOf(operand) === rank);
  let from: Buffer = Buffer.from([rank]);
  let to: Buffer = Buffer.from([rank + 1]);
  let [fromIsPast, toIsPast] = [false, false];
  for (const { operator, operand } of usable) {
    const key = encodeKey([operand]);
    if (operator.startsWith("$g") && Buffer.compare(key, from) > 0) {
      from = key;
      fromIsPast = operator === "$gt";
    } else if (operator.startsWith("$l") && Buffer.compare(key, to) < 0) {
      to = key;
      toIsPast = operator === "$lte";
    }
  }
  if (direction > 0) return { from: fromIsPast ? past(from) : from, to: toIsPast ? past(to) : to };
  const isWhole = { from: from.length === 1, to: to.length === 1 };
  return {
    from: isWhole.to ? Buffer.from([0xff - rank]) : toIsPast ? inverted(to) : past(inverted(to)),
    to: isWhole.from ? Buffer.from([0x100 - rank]) : fromIsPast ? inverted(from) : past(inverted(from)),
  };
}

interface Candidate {
  plan: Plan;
  score: number;
}

/** How an index would serve: points on its leading fields, then ranges on the next, then an order. */
function candidateFor(
  index: Index,
  constraints: readonly Constraint[],
  sort: readonly SortField[],
): Candidate {
  let prefixes = [Buffer.alloc(0)];
  let equalities = 0;
  const bounded = new Set<string>();
  let ranges: Constraint[] = [];
  for (const [i, field] of index.fields.entries()) {
    const root = field.split(".")[0]!;
    // Fields of one array meet conditions by different elements, but share entries element by element.
    if (index.isMultikey && bounded.has(root)) break;
    const here = constraints.filter(({ path }) => path === field);
    const points = fewestPoints(here, index);
    if (points === undefined || prefixes.length * points.length > POINTS_MAX) {
      ranges = here.filter(isRange);
      break;
    }
    const direction = index.directions[i]!;
    prefixes = prefixes.flatMap((prefix) =>
      points.map((p) => Buffer.concat([prefix, encodeKey([p], [direction])])),
    );
    equalities++;
    bounded.add(root);
  }
  const bounds =
    ranges.length > 0 ? boundsOf(ranges, index.directions[equalities]!, index.isMultikey) : undefined;
  const order = prefixes.length === 1 ? orderOf(index, sort, equalities) : undefined;
  return {
    score: equalities * 4 + (bounds ? 2 : 0) + (sort.length > 0 && order ? 1.5 : 0),
    plan: {
      stage: "IXSCAN",
      index,
      ranges: prefixes.map((prefix) =>
        bounds
          ? { from: Buffer.concat([prefix, bounds.from]), to: Buffer.concat([prefix, bounds.to]) }
          : rangeUnder(prefix),
      ),
      backward: order === "backward",
      isSorted: sort.length === 0 || order !== undefined,
    },
  };
}

/** Distinct points of the tightest equality at a field. A sparse index knows nothing of null or missing. */
function fewestPoints(constraints: readonly Constraint[], index: Index | undefined): unknown[] | undefined {
  const usable = constraints
    .map(pointsOf)
    .filter((points) => points !== undefined)
    .filter((points) => !index?.specification.sparse || points.every((p) => rankOf(p) !== RANK.null))
    .sort((a, b) => a.length - b.length)[0];
  const distinct = new Map(usable?.map((point) => [encodeKey([point]).toString("latin1"), point]));
  return usable && [...distinct.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, point]) => point);
}

/** The direction in which the index after `equalities` fixed fields yields the sort, if it does. */
function orderOf(
  index: Index,
  sort: readonly SortField[],
  equalities: number,
): "forward" | "backward" | undefined {
  // An array can equal a value and still sort by another element: no field drops out of the sort, none comes sorted.
  if (index.isMultikey) return undefined;
  const fixed = new Set(index.fields.slice(0, equalities));
  const open = sort.filter(({ path }) => !fixed.has(path));
  let order: "forward" | "backward" | undefined;
  for (const [i, { path, direction }] of open.entries()) {
    if (index.fields[equalities + i] !== path) return undefined;
    const here = index.directions[equalities + i] === direction ? "forward" : "backward";
    if (order !== undefined && order !== here) return undefined;
    order = here;
  }
  return order ?? "forward";
}

/** Reads the collection itself, by `_id` where the filter or the sort names it. */
function planById(constraints: readonly Constraint[], sort: readonly SortField[]): Plan {
  const here = constraints.filter(({ path }) => path === "_id");
  const points = fewestPoints(here, undefined);
  const ranges = here.filter(isRange);
  const byId = sort[0]?.path === "_id";
  const backward = byId && sort[0]!.direction < 0;
  const pointRanges = points?.map((point) => rangeUnder(encodeKey([point])));
  if (backward) pointRanges?.reverse();
  return {
    stage: points ? "IDHACK" : ranges.length > 0 || byId ? "IXSCAN" : "COLLSCAN",
    index: undefined,
    ranges: pointRanges ?? [ranges.length > 0 ? boundsOf(ranges, 1, false) : rangeUnder(Buffer.alloc(0))],
    backward,
    isSorted: sort.length === 0 || byId || points?.length === 1,
  };
}

/**
 * Chooses how to read. A partial index is used only when the filter implies its own, a sparse one never for null.
 * @param hint an index's name or key; `{ $natural: 1 }` reads the whole collection. Unknown or unusable: code 2
 */
export function planQuery(
  indexes: readonly Index[],
  filter: Document,
  sort: readonly SortField[],
  hint?: string | Document,
): Plan {
  const constraints = constraintsOf(filter);
  if (hint !== undefined) return planHinted(indexes, constraints, sort, hint);
  const byId = planById(constraints, sort);
  if (byId.stage === "IDHACK") return byId;
  let best: Candidate | undefined;
  for (const index of indexes) {
    if (!isUsable(index, constraints)) continue;
    const candidate = candidateFor(index, constraints, sort);
    const boundsNothing = candidate.score < 2;
    if (candidate.score === 0 || (index.specification.sparse && boundsNothing)) continue;
    if (best === undefined || candidate.score > best.score) best = candidate;
  }
  if (best === undefined) return byId;
  return byId.stage === "IXSCAN" && best.score < 2 ? byId : best.plan;
}

function planHinted(
  indexes: readonly Index[],
  constraints: readonly Constraint[],
  sort: readonly SortField[],
  hint: string | Document,
): Plan {
  if (hint === "_id_" || equalValues(hint, { _id: 1 })) return planById(constraints, sort);
  if (isDocument(hint) && Object.keys(hint)[0] === "$natural") {
    return { ...planById([], []), backward: hint.$natural === -1, isSorted: sort.length === 0 };
  }
  const index = indexes.find(
    ({ name, specification }) => name === hint || equalValues(specification.key, hint),
  );
  if (index === undefined || !isUsable(index, constraints)) {
    throw new CommandError(
      2,
      "planner returned error :: caused by :: hint provided does not correspond to an existing index that can answer",
    );
  }
  return candidateFor(index, constraints, sort).plan;
}
