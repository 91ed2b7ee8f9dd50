/** Owns reading the XML inside workbooks as a stream of events: no document type, no entities of its own, bounded in depth and length. */
import type { Readable } from "node:stream";
import { TextDecoder } from "node:util";
import sax from "sax";
import { refusedFile } from "./table.ts";

export interface XmlEvents {
  /** @param name without its namespace's prefix; attributes have theirs */
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

const depthMax = 64;
const attributesMax = 64;
/** Of a part: 5,000 rows of 100 cells, each with its value. */
const elementsMax = 1_000_000;
const broken = (): Error => refusedFile("validation/body", "is a broken workbook: its XML cannot be read");

/** @throws Problem validation/body, validation/too-large */
export const readXml = async (source: Readable, bytesMax: number, events: XmlEvents): Promise<void> => {
  for await (const _ of readingXml(source, bytesMax, events));
};

/**
 * The same, a step for each piece that was unpacked and read; who takes no more of them ends it.
 * @throws Problem validation/body, validation/too-large
 */
export async function* readingXml(
  source: Readable,
  bytesMax: number,
  events: XmlEvents,
): AsyncGenerator<void> {
  const parser = parserOf(events);
  let decoder: TextDecoder | undefined;
  let bytes = 0;
  // What the unpacking says, in zlib's words or in the package reader's: its lengths and sums don't hold.
  let unpacking: unknown;
  source.once("error", (error) => {
    unpacking = error;
  });
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw refusedFile("validation/too-large", "unpacks to more than can be read");
      decoder ??= new TextDecoder(isUtf16(chunk) ? "utf-16le" : "utf-8", { fatal: true });
      parser.write(decodedBy(decoder, chunk));
      yield;
    }
  } catch (error) {
    throw error === unpacking ? broken() : error;
  }
  parser.write(decodedBy(decoder ?? new TextDecoder(), undefined)).close();
}

const isUtf16 = (chunk: Buffer): boolean => chunk[0] === 0xff && chunk[1] === 0xfe;

const decodedBy = (decoder: TextDecoder, chunk: Buffer | undefined): string => {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw broken();
  }
};

const parserOf = (events: XmlEvents): sax.SAXParser => {
  // It bounds what it keeps of one name, value or comment only while it counts where it is; its types know fewer options than it has.
  const options = { position: true, strictEntities: true } as sax.SAXOptions;
  const parser = sax.parser(true, options);
  let depth = 0;
  parser.onerror = () => {
    throw broken();
  };
  // What an entity of its own could do (fetch files, grow without an end) begins here.
  parser.ondoctype = () => {
    throw refusedFile("validation/body", "is no workbook of a spreadsheet: its XML declares a document type");
  };
  let attributes = 0;
  let elements = 0;
  parser.onopentagstart = () => {
    attributes = 0;
    elements += 1;
    if (elements > elementsMax) throw refusedFile("validation/too-large", "unpacks to more than can be read");
  };
  parser.onattribute = () => {
    attributes += 1;
    if (attributes > attributesMax) throw broken();
  };
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > depthMax) throw broken();
    events.open(localName(name), attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    events.close?.(localName(name));
  };
  parser.ontext = (text) => events.text?.(text);
  parser.oncdata = parser.ontext;
  return parser;
};

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);
