/** Owns a document in its stored form: reads and replaces single top-level fields without decoding the others. */
import { type Document, deserialize, serialize } from "bson";
import { isNamed, LAYOUT_STEP, layoutOf, simpleValue, TYPE } from "./encoded-fields.ts";
import { CommandError } from "./errors.ts";

export const DOCUMENT_SIZE_BYTES_MAX = 16 * 1024 * 1024;

/** 64-bit integers stay exact and binaries keep their subtype; doubles and 32-bit integers become plain numbers. */
const DECODING = { promoteLongs: false, promoteBuffers: false, bsonRegExp: true };

export const decode = (bytes: Uint8Array): Document => deserialize(bytes, DECODING);

/** Anything whose top-level fields can be read by name; `undefined` means missing. */
export interface FieldReader {
  field(name: string): unknown;
}

export const readerOf = (document: Document): FieldReader => ({
  field: (name) => (Object.hasOwn(document, name) ? document[name] : undefined),
});

/** A BSON document around encoded elements (type byte, name, value). */
export function joinElements(elements: readonly Uint8Array[]): Buffer {
  const sizeBytes = elements.reduce((sum, element) => sum + element.length, 5);
  const bytes = Buffer.allocUnsafe(sizeBytes);
  bytes.writeInt32LE(sizeBytes, 0);
  let offset = 4;
  for (const element of elements) {
    bytes.set(element, offset);
    offset += element.length;
  }
  bytes[offset] = 0;
  return bytes;
}

/** bson's own working space: past it, it throws a RangeError or, in a last string, leaves bytes unwritten. */
const ENCODED_BYTES_MAX = 17 * 1024 * 1024;

const tooLarge = (size: number | string) =>
  new CommandError(
    10334,
    `BSONObj size: ${size} is invalid. Size must be between 0 and ${DOCUMENT_SIZE_BYTES_MAX}`,
  );

/** Encodes a document; one far past the limit is refused here (code 10334), the exact limit is checkSize's. */
export function encodeDocument(document: Document): Buffer {
  try {
    const bytes = serialize(document, { ignoreUndefined: true });
    if (bytes.length > ENCODED_BYTES_MAX) throw tooLarge(bytes.length);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(`over ${ENCODED_BYTES_MAX}`) : error;
  }
}

export const encodeElement = (name: string, value: unknown): Uint8Array =>
  encodeDocument({ [name]: value }).subarray(4, -1);

/** Refuses a document over 16 MiB (code 10334). */
export function checkSize(bytes: Uint8Array): void {
  if (bytes.length > DOCUMENT_SIZE_BYTES_MAX) throw tooLarge(bytes.length);
}

export class StoredDocument implements FieldReader {
  readonly bytes: Buffer;
  readonly #decoded = new Map<string, unknown>();
  #layout: readonly number[] | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** See {@link layoutOf}. */
  get layout(): readonly number[] {
    this.#layout ??= layoutOf(this.bytes);
    return this.#layout;
  }

  /** Whether this is the name of its first field. */
  beginsWith(name: string): boolean {
    const [start, nul] = this.layout;
    return start !== undefined && nul !== undefined && isNamed(this.bytes, start + 1, nul, name);
  }

  /** Each field's encoded element, in stored order. */
  get elements(): ReadonlyMap<string, Buffer> {
    const { bytes, layout } = this;
    const elements = new Map<string, Buffer>();
    for (let i = 0; i < layout.length; i += LAYOUT_STEP) {
      const start = layout[i]!;
      elements.set(bytes.toString("utf8", start + 1, layout[i + 1]!), bytes.subarray(start, layout[i + 2]!));
    }
    return elements;
  }

  /** The same object on each call: not to be changed by the caller. */
  field(name: string): unknown {
    const known = this.#decoded.get(name);
    if (known !== undefined || this.#decoded.has(name)) return known;
    const value = this.decodeField(name);
    this.#decoded.set(name, value);
    return value;
  }

  /** A copy of its own, which the caller may change. */
  decodeField(name: string): unknown {
    const { bytes, layout } = this;
    // From the end: of a name that stands twice the last one counts, as for bson.
    for (let i = layout.length - LAYOUT_STEP; i >= 0; i -= LAYOUT_STEP) {
      const [start, nul, end] = [layout[i]!, layout[i + 1]!, layout[i + 2]!];
      if (!isNamed(bytes, start + 1, nul, name)) continue;
      const type = bytes[start]!;
      if (type === TYPE.document) return decode(bytes.subarray(nul + 1, end));
      const value = simpleValue(bytes, type, nul + 1, end);
      return value === undefined ? decode(joinElements([bytes.subarray(start, end)]))[name] : value;
    }
    return undefined;
  }

  /** This document with the named fields replaced, removed (absent from `fields`) or, if new, appended in order. */
  withFields(names: ReadonlySet<string>, fields: Document): Buffer {
    const stored = this.elements;
    const elements: Uint8Array[] = [];
    for (const [name, element] of stored) {
      if (!names.has(name)) elements.push(element);
      else if (fields[name] !== undefined) elements.push(encodeElement(name, fields[name]));
    }
    for (const name of Object.keys(fields)) {
      if (!stored.has(name) && fields[name] !== undefined) elements.push(encodeElement(name, fields[name]));
    }
    return joinElements(elements);
  }
}
