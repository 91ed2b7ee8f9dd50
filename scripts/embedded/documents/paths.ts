/** Owns dotted paths: how a filter, an index and a sort reach values through documents and arrays. */
import { CommandError, notSupported } from "./errors.ts";
import type { FieldReader } from "./stored-document.ts";
import { EMPTY_ARRAY, isDocument } from "./values.ts";

const ARRAY_INDEX = /^(0|[1-9]\d*)$/;

export const isArrayIndex = (part: string): boolean => ARRAY_INDEX.test(part);

/** Splits a path; empty parts are refused (code 56), as are positional `$` parts (code 2). */
export function splitPath(path: string): string[] {
  const parts = path.split(".");
  for (const part of parts) {
    if (part === "")
      throw new CommandError(56, `The path '${path}' contains an empty field name, which is not allowed.`);
    if (part === "__proto__") throw notSupported("the field name __proto__", 2);
    if (part.startsWith("$")) throw notSupported(`positional or $-prefixed path parts ('${path}')`, 2);
  }
  return parts;
}

/** Whether `accepts` holds for any value that the path reaches; missing is `undefined`, arrays fan out to documents. */
export function anyAtPath(
  document: FieldReader,
  parts: readonly string[],
  accepts: (value: unknown) => boolean,
): boolean {
  return descend(document.field(parts[0]!), parts, 1, accepts);
}

function descend(
  value: unknown,
  parts: readonly string[],
  at: number,
  accepts: (value: unknown) => boolean,
): boolean {
  const part = parts[at];
  if (part === undefined) return accepts(value);
  if (Array.isArray(value)) {
    if (isArrayIndex(part) && Number(part) < value.length) {
      if (descend(value[Number(part)], parts, at + 1, accepts)) return true;
    }
    return value.some((element) => isDocument(element) && descend(element, parts, at, accepts));
  }
  if (!isDocument(value) || !Object.hasOwn(value, part)) return accepts(undefined);
  return descend(value[part], parts, at + 1, accepts);
}

/** Splits a path of an index or a sort, which may not name array positions (code 2). */
export function splitKeyPath(path: string): string[] {
  const parts = splitPath(path);
  if (parts.slice(1).some(isArrayIndex))
    throw notSupported(`array positions in index and sort keys ('${path}')`, 2);
  return parts;
}

/** How far one path has come; a done one takes its value as the key, even if that is an array. */
interface Cursor {
  value: unknown;
  rest: readonly string[];
  done?: boolean;
}

/**
 * The keys of a document: one tuple of values, or one for each element of the array that its paths run through.
 * Missing is `undefined`, an empty array at a path's end EMPTY_ARRAY. Two different arrays are refused (code 171).
 */
export function keyTuples(document: FieldReader, paths: readonly (readonly string[])[]): unknown[][] {
  return expand(paths.map((parts) => ({ value: document.field(parts[0]!), rest: parts.slice(1) })));
}

function expand(cursors: readonly Cursor[]): unknown[][] {
  const reached = cursors.map(toArrayOrEnd);
  const arrays = new Set(
    reached.filter(({ value, done }) => !done && Array.isArray(value)).map((c) => c.value),
  );
  if (arrays.size === 0) return [reached.map(({ value }) => value)];
  if (arrays.size > 1) throw new CommandError(171, "cannot index or sort by parallel arrays");
  const [array] = arrays as Set<unknown[]>;
  if (array!.length === 0) {
    const empty = reached.map(({ value, rest, done }) =>
      value !== array || done
        ? { value, rest, done: true }
        : finish(rest.length === 0 ? EMPTY_ARRAY : undefined),
    );
    return expand(empty);
  }
  return array!.flatMap((element) =>
    expand(
      reached.map((cursor) => {
        if (cursor.value !== array || cursor.done) return cursor;
        if (cursor.rest.length === 0) return finish(element);
        return isDocument(element) ? { value: element, rest: cursor.rest } : finish(undefined);
      }),
    ),
  );
}

const finish = (value: unknown): Cursor => ({ value, rest: [], done: true });

function toArrayOrEnd(cursor: Cursor): Cursor {
  if (cursor.done) return cursor;
  let { value, rest } = cursor;
  while (rest.length > 0 && !Array.isArray(value)) {
    value = isDocument(value) && Object.hasOwn(value, rest[0]!) ? value[rest[0]!] : undefined;
    rest = rest.slice(1);
    if (value === undefined) return finish(undefined);
  }
  return { value, rest };
}

/** For a message: the value at a path, the first element of an array, null when there is none. */
export function firstValueAt(document: FieldReader, path: string): unknown {
  const [first, ...rest] = path.split(".");
  let value = document.field(first!);
  for (const part of [...rest, undefined]) {
    if (Array.isArray(value)) value = value[0];
    if (part !== undefined) value = isDocument(value) ? value[part] : undefined;
  }
  return value ?? null;
}
