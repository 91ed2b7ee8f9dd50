/** Owns filters: the promised query operators, compiled into a predicate over a document; anything else is refused. */
import type { Document } from "bson";
import { CommandError } from "./errors.ts";
import { anyAtPath, splitPath } from "./paths.ts";
import { type FieldReader, readerOf } from "./stored-document.ts";
import { checkStorable, compareValues, equalValues, isDocument, RANK, rankOf } from "./values.ts";

export type DocumentPredicate = (document: FieldReader) => boolean;
type ValuePredicate = (value: unknown) => boolean;

const LOGICAL = new Set(["$and", "$or", "$nor"]);

/** Whether a field's condition is a document of operators, not a value to equal. */
export const isOperatorDocument = (condition: unknown): condition is Document =>
  isDocument(condition) && Object.keys(condition)[0]?.startsWith("$") === true;

/** Compiles a filter; an operator or shape that is not promised is refused (code 2), naming it. */
export function compileFilter(filter: unknown): DocumentPredicate {
  if (!isDocument(filter)) throw new CommandError(14, "A filter must be a document");
  const predicates = Object.entries(filter).map(([name, condition]) =>
    name.startsWith("$") ? compileLogical(name, condition) : compileField(name, condition),
  );
  return predicates.length === 1
    ? predicates[0]!
    : (document) => predicates.every((holds) => holds(document));
}

function compileLogical(operator: string, branches: unknown): DocumentPredicate {
  if (!LOGICAL.has(operator)) throw new CommandError(2, `unknown top level operator: ${operator}`);
  if (!Array.isArray(branches) || branches.length === 0 || !branches.every(isDocument)) {
    throw new CommandError(2, `${operator} must be a nonempty array of documents`);
  }
  const compiled = branches.map(compileFilter);
  if (operator === "$and") return (document) => compiled.every((holds) => holds(document));
  if (operator === "$or") return (document) => compiled.some((holds) => holds(document));
  return (document) => !compiled.some((holds) => holds(document));
}

function compileField(path: string, condition: unknown): DocumentPredicate {
  const parts = splitPath(path);
  if (!isOperatorDocument(condition)) return atPath(parts, orElement(equals(condition)));
  const predicates = Object.entries(condition).map(([operator, operand]): DocumentPredicate => {
    switch (operator) {
      case "$ne":
        return negate(atPath(parts, orElement(equals(operand))));
      case "$nin":
        return negate(atPath(parts, orElement(isIn(operand, "$nin"))));
      case "$not":
        if (!isOperatorDocument(operand)) throw new CommandError(2, "$not needs a document of operators");
        return negate(compileField(path, operand));
      case "$exists": {
        const exists = atPath(parts, (value) => value !== undefined);
        return operand === false || operand === 0 || operand === null ? negate(exists) : exists;
      }
      case "$size":
      case "$elemMatch":
        return atPath(parts, compileOperator(operator, operand));
      default:
        return atPath(parts, orElement(compileOperator(operator, operand)));
    }
  });
  return (document) => predicates.every((holds) => holds(document));
}

const negate =
  (predicate: DocumentPredicate): DocumentPredicate =>
  (document) =>
    !predicate(document);

const atPath =
  (parts: readonly string[], accepts: ValuePredicate): DocumentPredicate =>
  (document) =>
    anyAtPath(document, parts, accepts);

/** An array satisfies a comparison as a whole or by any of its elements. */
const orElement =
  (accepts: ValuePredicate): ValuePredicate =>
  (value) =>
    accepts(value) || (Array.isArray(value) && value.some(accepts));

/** Operators on one value, arrays not looked into. */
function compileOperator(operator: string, operand: unknown): ValuePredicate {
  switch (operator) {
    case "$eq":
      return equals(operand);
    case "$in":
      return isIn(operand, "$in");
    case "$gt":
      return compares(operand, (order) => order > 0);
    case "$gte":
      return compares(operand, (order) => order >= 0);
    case "$lt":
      return compares(operand, (order) => order < 0);
    case "$lte":
      return compares(operand, (order) => order <= 0);
    case "$size":
      return hasSize(operand);
    case "$elemMatch":
      return hasElement(operand);
  }
  throw new CommandError(2, `unknown operator: ${operator}`);
}

/** A literal to compare with: of a type that can be stored, so that no misplaced operator passes for a value. */
function checkLiteral(operand: unknown): void {
  try {
    checkStorable(operand);
  } catch (error) {
    if (error instanceof CommandError && error.code === 52) {
      throw new CommandError(2, `${error.message} Operators may not stand inside a value to compare with.`);
    }
    throw error;
  }
}

function equals(operand: unknown): ValuePredicate {
  checkLiteral(operand);
  if (typeof operand === "string" || typeof operand === "boolean") return (value) => value === operand;
  return (value) => equalValues(value, operand);
}

/** Comparisons hold only between values of one rank; NaN only compares with NaN, missing counts as null. */
function compares(operand: unknown, accepts: (order: number) => boolean): ValuePredicate {
  checkLiteral(operand);
  const rank = rankOf(operand);
  const isNaNOperand = Number.isNaN(operand);
  return (value) =>
    rankOf(value) === rank && Number.isNaN(value) === isNaNOperand && accepts(compareValues(value, operand));
}

function isIn(operand: unknown, operator: string): ValuePredicate {
  if (!Array.isArray(operand)) throw new CommandError(2, `${operator} needs an array`);
  const accepted = operand.map(equals);
  return (value) => accepted.some((accepts) => accepts(value));
}

function hasSize(operand: unknown): ValuePredicate {
  if (!Number.isInteger(operand) || (operand as number) < 0) {
    throw new CommandError(2, "Failed to parse $size. Expected a non-negative integer");
  }
  return (value) => Array.isArray(value) && value.length === operand;
}

function hasElement(operand: unknown): ValuePredicate {
  if (!isDocument(operand)) throw new CommandError(2, "$elemMatch needs an Object");
  const accepts = compileElement(operand);
  return (value) => Array.isArray(value) && value.some(accepts);
}

/** The condition of `$elemMatch`: operators on the element itself, or a filter on an element that is a document. */
function compileElement(condition: Document): ValuePredicate {
  if (isOperatorDocument(condition) && !LOGICAL.has(Object.keys(condition)[0]!)) {
    const predicates = Object.entries(condition).map(([operator, operand]) =>
      compileElementOperator(operator, operand),
    );
    return (element) => predicates.every((holds) => holds(element));
  }
  const matches = compileFilter(condition);
  return (element) => rankOf(element) === RANK.object && matches(readerOf(element as Document));
}

function compileElementOperator(operator: string, operand: unknown): ValuePredicate {
  if (operator === "$ne") return complement(equals(operand));
  if (operator === "$nin") return complement(isIn(operand, operator));
  if (operator === "$exists") return operand === false || operand === 0 ? () => false : () => true;
  if (operator !== "$not") return compileOperator(operator, operand);
  if (!isOperatorDocument(operand)) throw new CommandError(2, "$not needs a document of operators");
  return complement(compileElement(operand));
}

const complement =
  (accepts: ValuePredicate): ValuePredicate =>
  (value) =>
    !accepts(value);

/** What `$pull` removes: elements equal to a value, satisfying operators, or documents that match a filter. */
export function compileElementCondition(condition: unknown): ValuePredicate {
  if (isOperatorDocument(condition)) {
    const matches = compileFilter({ element: condition });
    return (element) => matches(readerOf({ element }));
  }
  return isDocument(condition) ? compileElement(condition) : equals(condition);
}

/** The values that a filter's equalities fix, by path: what an upsert starts from. Two on a path are refused (code 54). */
export function equalitiesOf(filter: Document, found = new Map<string, unknown>()): Map<string, unknown> {
  for (const [path, condition] of Object.entries(filter)) {
    if (path === "$and") for (const branch of condition) equalitiesOf(branch, found);
    if (path.startsWith("$")) continue;
    const value = equalityOf(condition);
    if (value === undefined) continue;
    if (found.has(path)) {
      throw new CommandError(54, `cannot infer query fields to set, path '${path}' is matched twice`);
    }
    found.set(path, value);
  }
  return found;
}

function equalityOf(condition: unknown): unknown {
  if (!isOperatorDocument(condition)) return condition;
  if (condition.$eq !== undefined) return condition.$eq;
  return Array.isArray(condition.$in) && condition.$in.length === 1 ? condition.$in[0] : undefined;
}
