/** Owns BSON values: which types are stored, their order, and a byte encoding that sorts as they do; paths are elsewhere. */
import { Binary, type Document, Long, ObjectId } from "bson";
import { CommandError, notSupported } from "./errors.ts";

/** An empty array inside an index or sort key: MongoDB sorts it below null. It is never stored. */
export const EMPTY_ARRAY = Symbol("empty array");

/** MongoDB's order between types. Comparison operators only compare values of one rank. */
export const RANK = {
  emptyArray: 5,
  null: 10,
  number: 20,
  string: 30,
  object: 40,
  array: 50,
  binary: 60,
  objectId: 70,
  boolean: 80,
  date: 90,
} as const;
export type Rank = (typeof RANK)[keyof typeof RANK];

const NAMES: Record<Rank, string> = {
  5: "array",
  10: "null",
  20: "number",
  30: "string",
  40: "object",
  50: "array",
  60: "binData",
  70: "objectId",
  80: "bool",
  90: "date",
};

/** The rank of a value; missing counts as null. Types that this server does not store are refused by name (code 2). */
export function rankOf(value: unknown): Rank {
  switch (typeof value) {
    case "undefined":
      return RANK.null;
    case "number":
      return RANK.number;
    case "string":
      return RANK.string;
    case "boolean":
      return RANK.boolean;
    case "symbol":
      return RANK.emptyArray;
  }
  if (value === null) return RANK.null;
  if (Array.isArray(value)) return RANK.array;
  if (value instanceof Date) return RANK.date;
  if (value instanceof ObjectId) return RANK.objectId;
  if (value instanceof Long) return value._bsontype === "Long" ? RANK.number : refuseType(value._bsontype);
  if (value instanceof Binary) return RANK.binary;
  const tag = (value as { _bsontype?: unknown })._bsontype;
  return typeof tag === "string" ? refuseType(tag) : RANK.object;
}

const refuseType = (type: string): never => {
  throw notSupported(`values of the BSON type ${type}`, 2);
};

/** MongoDB's name of the value's type, for messages. */
export const typeNameOf = (value: unknown): string => NAMES[rankOf(value)];

export const isDocument = (value: unknown): value is Document =>
  value !== null && typeof value === "object" && rankOf(value) === RANK.object;

const DEPTH_MAX = 100;

/** Refuses what must not be stored: unsupported types, field names with a leading `$`, nesting past 100 levels. */
export function checkStorable(value: unknown, depth = 0): void {
  if (depth > DEPTH_MAX)
    throw new CommandError(15, `Documents may be nested at most ${DEPTH_MAX} levels deep`);
  if (value === undefined) refuseType("undefined");
  const rank = rankOf(value);
  if (rank === RANK.array) for (const element of value as unknown[]) checkStorable(element, depth + 1);
  if (rank !== RANK.object) return;
  for (const [name, inner] of Object.entries(value as Document)) {
    if (name.startsWith("$")) {
      throw new CommandError(52, `The dollar ($) prefixed field '${name}' is not valid for storage.`);
    }
    if (name === "__proto__") throw notSupported("the field name __proto__", 2);
    checkStorable(inner, depth + 1);
  }
}

const toNumber = (value: unknown): number => (value instanceof Long ? value.toNumber() : (value as number));
const three = <T extends number | bigint | string | boolean>(a: T, b: T): number =>
  a < b ? -1 : a > b ? 1 : 0;

function compareNumbers(a: unknown, b: unknown): number {
  const x = toNumber(a);
  const y = toNumber(b);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
  if (x !== y || !(a instanceof Long || b instanceof Long)) return three(x, y);
  const exact = (value: unknown, rounded: number) =>
    value instanceof Long ? value.toBigInt() : BigInt(rounded);
  return three(exact(a, x), exact(b, y));
}

function compareBinaries(a: Binary, b: Binary): number {
  return a.length() - b.length() || a.sub_type - b.sub_type || Buffer.compare(a.value(), b.value());
}

function compareDocuments(a: Document, b: Document): number {
  const left = Object.entries(a);
  const right = Object.entries(b);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [leftName, leftValue] = left[i]!;
    const [rightName, rightValue] = right[i]!;
    const order =
      rankOf(leftValue) - rankOf(rightValue) ||
      Buffer.compare(Buffer.from(leftName), Buffer.from(rightName)) ||
      compareValues(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** BSON order: negative, 0 or positive. Missing equals null; strings by their UTF-8 bytes; NaN is the least number. */
export function compareValues(a: unknown, b: unknown): number {
  const rank = rankOf(a);
  if (rank !== rankOf(b)) return rank - rankOf(b);
  switch (rank) {
    case RANK.emptyArray:
    case RANK.null:
      return 0;
    case RANK.number:
      return compareNumbers(a, b);
    case RANK.string:
      return a === b ? 0 : Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
    case RANK.boolean:
      return three(a as boolean, b as boolean);
    case RANK.date:
      return three((a as Date).getTime(), (b as Date).getTime());
    case RANK.objectId:
      return Buffer.compare((a as ObjectId).id, (b as ObjectId).id);
    case RANK.binary:
      return compareBinaries(a as Binary, b as Binary);
    case RANK.object:
      return compareDocuments(a as Document, b as Document);
    case RANK.array: {
      const [left, right] = [a as unknown[], b as unknown[]];
      for (let i = 0; i < Math.min(left.length, right.length); i++) {
        const order = compareValues(left[i], right[i]);
        if (order !== 0) return order;
      }
      return left.length - right.length;
    }
  }
}

export const equalValues = (a: unknown, b: unknown): boolean => compareValues(a, b) === 0;

/** Grows as needed; the encoder is synchronous, so one buffer serves every call. */
let scratch = Buffer.allocUnsafe(4096);
let used = 0;

function reserve(sizeBytes: number): void {
  if (used + sizeBytes <= scratch.length) return;
  const grown = Buffer.allocUnsafe(Math.max(scratch.length * 2, used + sizeBytes));
  scratch.copy(grown, 0, 0, used);
  scratch = grown;
}

/** Ended by 00 00; a NUL inside is written 00 FF, so that no string is a prefix of another's encoding. */
function encodeString(text: string): void {
  reserve(Buffer.byteLength(text) * 2 + 2);
  if (text.includes("\0")) {
    for (const byte of Buffer.from(text)) {
      scratch[used++] = byte;
      if (byte === 0) scratch[used++] = 0xff;
    }
  } else used += scratch.write(text, used);
  scratch[used++] = 0;
  scratch[used++] = 0;
}

/** The nearest double in sortable form, then how far a 64-bit integer lies from it (at most 512 either way). */
function encodeNumber(value: unknown): void {
  const rounded = toNumber(value) || 0;
  if (Number.isNaN(toNumber(value))) {
    scratch.fill(0, used, used + 10);
  } else {
    scratch.writeDoubleBE(rounded, used);
    if (scratch[used]! & 0x80) for (let i = 0; i < 8; i++) scratch[used + i]! ^= 0xff;
    else scratch[used]! ^= 0x80;
    const rest = value instanceof Long ? Number(value.toBigInt() - BigInt(rounded)) : 0;
    scratch.writeUInt16BE(rest + 0x8000, used + 8);
  }
  used += 10;
}

function encodeValue(value: unknown): void {
  const rank = rankOf(value);
  reserve(32);
  scratch[used++] = rank;
  switch (rank) {
    case RANK.emptyArray:
    case RANK.null:
      return;
    case RANK.number:
      encodeNumber(value);
      return;
    case RANK.string:
      encodeString(value as string);
      return;
    case RANK.boolean:
      scratch[used++] = value ? 1 : 0;
      return;
    case RANK.date:
      scratch.writeBigInt64BE(BigInt((value as Date).getTime()), used);
      scratch[used]! ^= 0x80;
      used += 8;
      return;
    case RANK.objectId:
      scratch.set((value as ObjectId).id, used);
      used += 12;
      return;
    case RANK.binary: {
      const binary = value as Binary;
      reserve(binary.length() + 5);
      scratch.writeUInt32BE(binary.length(), used);
      scratch[used + 4] = binary.sub_type;
      scratch.set(binary.value(), used + 5);
      used += binary.length() + 5;
      return;
    }
    case RANK.array:
      for (const element of value as unknown[]) encodeValue(element);
      reserve(1);
      scratch[used++] = 0;
      return;
    case RANK.object:
      for (const [name, inner] of Object.entries(value as Document)) {
        reserve(1);
        scratch[used++] = rankOf(inner);
        encodeString(name);
        encodeValue(inner);
      }
      reserve(1);
      scratch[used++] = 0;
      return;
  }
}

/**
 * Bytes whose order is the values' order, field after field. No encoding is a prefix of another with as many values.
 * @param directions 1 or -1 for each value (a descending one is bit-inverted); all ascending when left out
 */
export function encodeKey(values: readonly unknown[], directions?: readonly number[]): Buffer {
  used = 0;
  for (const [i, value] of values.entries()) {
    const start = used;
    encodeValue(value);
    if ((directions?.[i] ?? 1) < 0) for (let j = start; j < used; j++) scratch[j]! ^= 0xff;
  }
  return Buffer.from(scratch.subarray(0, used));
}
