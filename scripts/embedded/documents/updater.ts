/** Owns updates: what update operators, replacements and upserts make of a document; anything else is refused. */
import { type Document, Long, ObjectId } from "bson";
import { CommandError, notSupported } from "./errors.ts";
import { compileElementCondition, equalitiesOf, isOperatorDocument } from "./matcher.ts";
import { isArrayIndex, splitPath } from "./paths.ts";
import { checkSize, encodeDocument, type StoredDocument } from "./stored-document.ts";
import { checkStorable, compareValues, equalValues, isDocument, RANK, rankOf, typeNameOf } from "./values.ts";

/** What becomes of one value; `undefined` in means missing, `undefined` out removes it. */
type Modifier = (current: unknown, path: string) => unknown;

interface Modification {
  path: string;
  parts: string[];
  modify: Modifier;
  /** Whether a missing field is created; if not, an unreachable path is left alone. */
  creates: boolean;
  onInsertOnly: boolean;
}

export interface Update {
  /** The new bytes of a document that exists. */
  apply(document: StoredDocument): Buffer;
  /** The bytes of the document that an upsert by `filter` inserts, `_id` first. */
  insert(filter: Document): Buffer;
  readonly isReplacement: boolean;
  /** The top-level fields that `apply` can change; undefined means any. */
  readonly changedFields: ReadonlySet<string> | undefined;
}

/** Compiles an update statement's `u`; checks everything that doesn't depend on the document. */
export function compileUpdate(update: unknown): Update {
  if (Array.isArray(update)) throw notSupported("pipeline updates", 2);
  if (!isDocument(update)) throw new CommandError(9, "An update must be a document");
  return Object.keys(update)[0]?.startsWith("$") ? operatorUpdate(update) : replacement(update);
}

function replacement(update: Document): Update {
  checkStorable(update);
  const withId = (id: unknown): Buffer => {
    if (Object.hasOwn(update, "_id") && !equalValues(update._id, id)) throw immutableId();
    const { _id, ...others } = update;
    const bytes = encodeDocument({ _id: id, ...others });
    checkSize(bytes);
    return bytes;
  };
  return {
    isReplacement: true,
    changedFields: undefined,
    apply: (document) => withId(document.field("_id")),
    insert: (filter) => withId(equalitiesOf(filter).get("_id") ?? update._id ?? new ObjectId()),
  };
}

const immutableId = () =>
  new CommandError(66, "Performing an update on the path '_id' would modify the immutable field '_id'");

function operatorUpdate(update: Document): Update {
  const modifications = Object.entries(update).flatMap(([operator, fields]) =>
    parseModifier(operator, fields),
  );
  modifications.sort((a, b) => compareParts(a.parts, b.parts));
  checkConflicts(modifications);
  const names = new Set(modifications.filter((m) => !m.onInsertOnly).map(({ parts }) => parts[0]!));
  return {
    isReplacement: false,
    changedFields: names,
    apply(document) {
      const fields: Document = {};
      for (const name of names) {
        const value = document.decodeField(name);
        if (value !== undefined) fields[name] = value;
      }
      for (const modification of modifications)
        if (!modification.onInsertOnly) modifyAt(fields, modification);
      if (names.has("_id") && !equalValues(fields._id, document.field("_id"))) throw immutableId();
      const bytes = document.withFields(names, fields);
      checkSize(bytes);
      return bytes;
    },
    insert(filter) {
      const fields: Document = {};
      for (const [path, value] of equalitiesOf(filter)) {
        // A copy, because a modification may reach inside, and the filter is the caller's.
        modifyAt(fields, { ...SETTING, path, parts: splitPath(path), modify: () => copy(value) });
      }
      const id = fields._id;
      for (const modification of modifications) modifyAt(fields, modification);
      if (id !== undefined && !equalValues(fields._id, id)) throw immutableId();
      const { _id = new ObjectId(), ...others } = fields;
      const bytes = encodeDocument({ _id, ...others });
      checkSize(bytes);
      return bytes;
    },
  };
}

const SETTING = { creates: true, onInsertOnly: false };

/** MongoDB applies fields, and so adds new ones, in the order of their paths; numeric parts in numeric order. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] === b[i]) continue;
    if (isArrayIndex(a[i]!) && isArrayIndex(b[i]!)) return Number(a[i]) - Number(b[i]);
    return a[i]! < b[i]! ? -1 : 1;
  }
  return a.length - b.length;
}

function checkConflicts(modifications: readonly Modification[]): void {
  for (const [i, { path, parts }] of modifications.entries()) {
    const next = modifications[i + 1];
    if (next && parts.every((part, at) => next.parts[at] === part)) {
      throw new CommandError(40, `Updating the path '${next.path}' would create a conflict at '${path}'`);
    }
  }
}

function parseModifier(operator: string, fields: unknown): Modification[] {
  const make = MODIFIERS[operator];
  if (!make) throw new CommandError(9, `Unknown modifier: ${operator}. Expected a supported update modifier`);
  if (!isDocument(fields)) {
    throw new CommandError(9, `Modifiers operate on fields but ${operator} has a ${typeNameOf(fields)}`);
  }
  return Object.entries(fields).map(([path, operand]) => ({
    path,
    parts: splitPath(path),
    modify: make(operand, path),
    creates: operator !== "$unset" && operator !== "$pull",
    onInsertOnly: operator === "$setOnInsert",
  }));
}

/** Walks to the value that a path names, creating documents on the way if the modification creates, and changes it. */
function modifyAt(document: Document, { path, parts, modify, creates }: Modification): void {
  let container: Document | unknown[] = document;
  for (const [i, part] of parts.entries()) {
    const isLast = i === parts.length - 1;
    if (Array.isArray(container) && !isArrayIndex(part)) {
      if (!creates) return;
      throw notViable(part, parts[i - 1]!, container);
    }
    const slots: Document = container;
    const current: unknown = Object.hasOwn(slots, part) ? slots[part] : undefined;
    if (isLast) {
      assign(container, part, modify(current, path), current !== undefined);
      return;
    }
    if (current === undefined) {
      if (!creates) return;
      assign(container, part, {}, false);
    } else if (!isDocument(current) && !Array.isArray(current)) {
      if (!creates) return;
      throw notViable(parts[i + 1]!, part, current);
    }
    container = slots[part];
  }
}

const notViable = (field: string, parent: string, value: unknown) =>
  new CommandError(
    28,
    `Cannot create field '${field}' in element '${parent}', which is of type ${typeNameOf(value)}`,
  );

/** How far past its end an array may grow by naming a position, as in MongoDB. */
const ARRAY_PADDING_MAX = 1_500_000;

function assign(container: Document | unknown[], part: string, value: unknown, existed: boolean): void {
  if (Array.isArray(container)) {
    if (value === undefined && !existed) return;
    const position = Number(part);
    if (position - container.length > ARRAY_PADDING_MAX) {
      throw new CommandError(2, `Cannot pad the array to position ${part}`);
    }
    while (container.length < position) container.push(null);
    container[position] = value ?? null;
  } else if (value === undefined) delete container[part];
  else container[part] = value;
}

/** Each operator's modifier for an operand, which it checks first. */
const MODIFIERS: Record<string, (operand: unknown, path: string) => Modifier> = {
  $set: setTo,
  $setOnInsert: setTo,
  $unset: () => () => undefined,
  $inc: (operand, path) => {
    if (rankOf(operand) !== RANK.number) {
      throw new CommandError(14, `Cannot increment with non-numeric argument: '${path}'`);
    }
    return (current) => (current === undefined ? operand : add(current, operand, path));
  },
  $min: (operand) => keepExtreme(operand, (order) => order < 0),
  $max: (operand) => keepExtreme(operand, (order) => order > 0),
  $push: (operand) => {
    const { each, slice } = parsePush(operand);
    return (current, path) => sliceTo([...arrayAt(current, path, "$push"), ...each], slice);
  },
  $addToSet: (operand) => {
    const each = parseEach(operand, "$addToSet", []).each;
    return (current, path) => {
      const set = [...arrayAt(current, path, "$addToSet")];
      for (const value of each) if (!set.some((element) => equalValues(element, value))) set.push(value);
      return set;
    };
  },
  $pull: (operand) => {
    const removes = compileElementCondition(operand);
    return (current, path) =>
      current === undefined
        ? undefined
        : arrayAt(current, path, "$pull").filter((element) => !removes(element));
  },
};

function setTo(operand: unknown): Modifier {
  checkStorable(operand);
  return () => operand;
}

function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (!isDocument(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner)])) as T;
}

function keepExtreme(operand: unknown, wins: (order: number) => boolean): Modifier {
  checkStorable(operand);
  return (current) => (current === undefined || wins(compareValues(operand, current)) ? operand : current);
}

function arrayAt(current: unknown, path: string, operator: string): unknown[] {
  if (current === undefined) return [];
  if (Array.isArray(current)) return current;
  throw new CommandError(
    2,
    `The field '${path}' must be an array for ${operator} but is of type ${typeNameOf(current)}`,
  );
}

const isInt32 = (value: number): boolean => (value | 0) === value;

/** 64-bit integers are added exactly; a sum beyond them is refused (code 2). */
function add(current: unknown, increment: unknown, path: string): unknown {
  if (rankOf(current) !== RANK.number) {
    const type = typeNameOf(current);
    throw new CommandError(
      14,
      `Cannot apply $inc to a value of non-numeric type: '${path}' is of type ${type}`,
    );
  }
  const [a, b] = [current as number | Long, increment as number | Long];
  if (!(a instanceof Long) && !(b instanceof Long)) {
    // Two 32-bit integers add up to a 64-bit one, not to a double.
    return isInt32(a) && isInt32(b) && !isInt32(a + b) ? Long.fromNumber(a + b) : a + b;
  }
  const isFraction = (value: number | Long) => !(value instanceof Long) && !Number.isInteger(value);
  if (isFraction(a) || isFraction(b)) return Number(a) + Number(b);
  const exact = (value: number | Long) => (value instanceof Long ? value.toBigInt() : BigInt(value));
  const sum = exact(a) + exact(b);
  if (BigInt.asIntN(64, sum) !== sum)
    throw new CommandError(2, `$inc on '${path}' exceeds the 64-bit integers`);
  return Long.fromBigInt(sum);
}

function parsePush(operand: unknown): { each: unknown[]; slice: number | undefined } {
  const { each, clauses } = parseEach(operand, "$push", ["$slice"]);
  const slice = clauses.$slice;
  if (slice !== undefined && !Number.isInteger(slice)) {
    throw new CommandError(2, "The value for $slice must be an integer value");
  }
  return { each, slice };
}

/** A single value, or the values of `$each` with the clauses that may stand beside it. */
function parseEach(
  operand: unknown,
  operator: string,
  allowed: string[],
): { each: unknown[]; clauses: Document } {
  if (!isOperatorDocument(operand)) {
    checkStorable(operand);
    return { each: [operand], clauses: {} };
  }
  const { $each: each, ...clauses } = operand;
  for (const name of Object.keys(clauses)) {
    if (!allowed.includes(name)) throw notSupported(`the clause ${name} of ${operator}`, 2);
  }
  if (!Array.isArray(each)) throw new CommandError(2, `${operator} needs $each to be an array`);
  for (const value of each) checkStorable(value);
  return { each, clauses };
}

const sliceTo = (values: unknown[], count: number | undefined): unknown[] => {
  if (count === undefined) return values;
  if (count === 0) return [];
  return count < 0 ? values.slice(count) : values.slice(0, count);
};
