/** Owns the layout of an encoded document (BSON): where its elements lie and what simple values they hold, with nothing copied. */

/** BSON's type byte, as far as this server reads values without bson's decoder. */
export const TYPE = {
  double: 1,
  string: 2,
  document: 3,
  array: 4,
  boolean: 8,
  date: 9,
  null: 10,
  int32: 16,
} as const;

/** How many numbers of a layout describe one element. */
export const LAYOUT_STEP = 3;

/**
 * Three numbers for each element of the document at `start`: where its type byte is, where the NUL behind its name is, and
 * where it ends. The bytes are a document that was accepted before, not a client's.
 */
export function layoutOf(bytes: Buffer, start = 0): number[] {
  const layout: number[] = [];
  for (let at = start + 4; bytes[at] !== 0; ) {
    let nameEnd = at + 1;
    while (bytes[nameEnd] !== 0) nameEnd++;
    const end = endOfValue(bytes, bytes[at]!, nameEnd + 1);
    layout.push(at, nameEnd, end);
    at = end;
  }
  return layout;
}

const cstringEnd = (bytes: Buffer, at: number): number => bytes.indexOf(0, at) + 1;

/** BSON specification 1.1, "element": what follows a name, by type. */
function endOfValue(bytes: Buffer, type: number, at: number): number {
  switch (type) {
    case 0x01:
    case 0x09:
    case 0x11:
    case 0x12:
      return at + 8;
    case 0x02:
    case 0x0d:
    case 0x0e:
      return at + 4 + bytes.readInt32LE(at);
    case 0x03:
    case 0x04:
    case 0x0f:
      return at + bytes.readInt32LE(at);
    case 0x05:
      return at + 5 + bytes.readInt32LE(at);
    case 0x06:
    case 0x0a:
    case 0x7f:
    case 0xff:
      return at;
    case 0x07:
      return at + 12;
    case 0x08:
      return at + 1;
    case 0x0b:
      return cstringEnd(bytes, cstringEnd(bytes, at));
    case 0x0c:
      return at + 16 + bytes.readInt32LE(at);
    case 0x10:
      return at + 4;
    case 0x13:
      return at + 16;
  }
  throw new Error(`an element of the unknown type ${type}`);
}

/** Whether the name that begins at `from` and ends before the NUL at `nul` is this one. */
export function isNamed(bytes: Buffer, from: number, nul: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code > 0x7f) return bytes.toString("utf8", from, nul) === name;
    if (bytes[from + i] !== code) return false;
  }
  return from + name.length === nul;
}

/** The value at `at`, or `undefined` when it is of a type that needs bson's decoder. */
export function simpleValue(bytes: Buffer, type: number, at: number, end: number): unknown {
  switch (type) {
    case TYPE.double:
      return bytes.readDoubleLE(at);
    case TYPE.string:
      return bytes.toString("utf8", at + 4, end - 1);
    case TYPE.boolean:
      return bytes[at] === 1;
    case TYPE.date:
      return new Date(bytes.readInt32LE(at + 4) * 0x1_0000_0000 + bytes.readUInt32LE(at));
    case TYPE.null:
      return null;
    case TYPE.int32:
      return bytes.readInt32LE(at);
  }
  return undefined;
}
