/** Owns MongoDB's wire protocol: frames, OP_MSG with document sequences, the OP_QUERY handshake, replies. */
import type { Document } from "bson";
import { DocumentWriter } from "./document-writer.ts";
import { decode, encodeElement } from "./stored-document.ts";

export const MESSAGE_SIZE_BYTES_MAX = 48_000_000;

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;
const REQUIRED_FLAGS = 0xffff;

export interface Request {
  id: number;
  isQuery: boolean;
  body: Document;
  /** The raw documents of each sequence section, by name. */
  sequences: ReadonlyMap<string, Buffer[]>;
  /** The client doesn't wait for a reply (write concern 0). */
  isUnacknowledged: boolean;
}

/** A message that breaks the protocol; its connection is closed. */
export class ProtocolError extends Error {}

/** Cuts a byte stream into frames. */
export class Framer {
  #chunks: Buffer[] = [];
  #held = 0;

  /** The complete frames, now that `chunk` has arrived. */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= HEADER_BYTES) {
      if (this.#chunks[0]!.length < 4) this.#merge();
      const sizeBytes = this.#chunks[0]!.readInt32LE(0);
      if (sizeBytes < HEADER_BYTES || sizeBytes > MESSAGE_SIZE_BYTES_MAX) {
        throw new ProtocolError(
          `message length ${sizeBytes} is not within ${HEADER_BYTES} and ${MESSAGE_SIZE_BYTES_MAX}`,
        );
      }
      if (this.#held < sizeBytes) return;
      if (this.#chunks[0]!.length < sizeBytes) this.#merge();
      const [first, ...others] = this.#chunks;
      const rest = first!.subarray(sizeBytes);
      this.#chunks = rest.length > 0 ? [rest, ...others] : others;
      this.#held -= sizeBytes;
      yield first!.subarray(0, sizeBytes);
    }
  }

  #merge(): void {
    this.#chunks = [Buffer.concat(this.#chunks)];
  }
}

/** Reads a frame; throws a ProtocolError, or bson's own, on bytes that make no sense. */
export function parseRequest(frame: Buffer): Request {
  const id = frame.readInt32LE(4);
  const operation = frame.readInt32LE(12);
  if (operation === OP_QUERY) return parseQuery(frame, id);
  if (operation !== OP_MSG) throw new ProtocolError(`unsupported operation ${operation}`);
  const flags = frame.readUInt32LE(HEADER_BYTES);
  if (flags & REQUIRED_FLAGS & ~(CHECKSUM_PRESENT | MORE_TO_COME))
    throw new ProtocolError(`unknown flags ${flags}`);
  // The checksum is optional protection against damage on the way, which loopback has not: skipped, not verified.
  const end = frame.length - (flags & CHECKSUM_PRESENT ? 4 : 0);
  let body: Document | undefined;
  const sequences = new Map<string, Buffer[]>();
  for (let at = HEADER_BYTES + 4; at < end; ) {
    const kind = frame[at++];
    const stop = at + frame.readInt32LE(at);
    if (stop < at + 5 || stop > end) throw new ProtocolError("a section's size is wrong");
    if (kind === 0) body = decode(frame.subarray(at, stop));
    else if (kind === 1) {
      const [name, documents] = parseSequence(frame.subarray(at, stop));
      sequences.set(name, documents);
    } else throw new ProtocolError(`unknown section kind ${kind}`);
    at = stop;
  }
  if (!body) throw new ProtocolError("a message without a body");
  return { id, isQuery: false, body, sequences, isUnacknowledged: (flags & MORE_TO_COME) !== 0 };
}

function parseSequence(section: Buffer): [name: string, documents: Buffer[]] {
  const nameEnd = section.indexOf(0, 4);
  const documents: Buffer[] = [];
  for (let at = nameEnd + 1; at < section.length; ) {
    const sizeBytes = section.readInt32LE(at);
    if (sizeBytes < 5 || at + sizeBytes > section.length)
      throw new ProtocolError("a sequence's document has a wrong size");
    documents.push(section.subarray(at, at + sizeBytes));
    at += sizeBytes;
  }
  return [section.toString("utf8", 4, nameEnd), documents];
}

/** Drivers still send their first hello as OP_QUERY on `<database>.$cmd`. */
function parseQuery(frame: Buffer, id: number): Request {
  const nameStart = HEADER_BYTES + 4;
  const nameEnd = frame.indexOf(0, nameStart);
  const database = frame.toString("utf8", nameStart, nameEnd).split(".")[0];
  const at = nameEnd + 9;
  const body = decode(frame.subarray(at, at + frame.readInt32LE(at)));
  return {
    id,
    isQuery: true,
    body: { ...body, $db: database },
    sequences: new Map(),
    isUnacknowledged: false,
  };
}

/** Documents that are already encoded, as an array inside a reply; they are copied, not decoded. */
export class EncodedArray {
  readonly documents: readonly Uint8Array[];

  constructor(documents: readonly Uint8Array[]) {
    this.documents = documents;
  }
}

/** A document that is already encoded, inside a reply. */
export class EncodedDocument {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export interface Reply {
  [field: string]: unknown;
}

const writer = new DocumentWriter();

/** Encodes a reply whose fields, or `cursor`'s fields, may be encoded already. */
export const encodeReply = (reply: Reply): Buffer => writer.build(() => writeFields(reply));

function writeFields(fields: Reply): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (value instanceof EncodedDocument) writer.document(name, value.bytes);
    else if (value instanceof EncodedArray) {
      writer.nested("array", name, () => {
        for (const [i, document] of value.documents.entries()) writer.document(String(i), document);
      });
    } else if (name === "cursor") writer.nested("document", name, () => writeFields(value as Reply));
    else writer.copy(encodeElement(name, value));
  }
}

let lastReplyId = 0;

/** The message that answers a request with an encoded reply. */
export function frameReply(request: Request, reply: Buffer): Buffer[] {
  const header = Buffer.alloc(request.isQuery ? 36 : 21);
  lastReplyId = (lastReplyId + 1) & 0x7fffffff;
  header.writeInt32LE(header.length + reply.length, 0);
  header.writeInt32LE(lastReplyId, 4);
  header.writeInt32LE(request.id, 8);
  header.writeInt32LE(request.isQuery ? OP_REPLY : OP_MSG, 12);
  // OP_REPLY: flag AwaitCapable, and one document returned.
  if (request.isQuery) {
    header.writeInt32LE(8, 16);
    header.writeInt32LE(1, 32);
  }
  return [header, reply];
}
