/** Owns reading separated text (RFC 4180 and its looser relatives): which encoding, which separator, and its rows. */
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { cellOf, columnsMax, type Row, refusedFile, rowsScannedMax, type Table } from "./table.ts";

const separators = [",", ";", "\t", "|"] as const;
const recordCharactersMax = 64 * 1024;
/** In a line, with those in quotes, which part nothing. */
const separatorsMax = 10_000;
const chunkCharacters = 64 * 1024;
/** Texts have tabs, line ends and form feeds; anything else is no text. */
const binary = /[^\P{Cc}\t\n\v\f\r]/u;

/** @throws Problem validation/media-type for what is no text */
export const readCsv = (bytes: Buffer): Table => {
  const text = decoded(bytes);
  if (binary.test(text)) throw refusedFile("validation/media-type", "is neither text nor an .xlsx workbook");
  const [said, separator = "", lineEnd = ""] = /^sep=(.)(\r\n|\r|\n)/.exec(text) ?? [];
  const body = said === undefined ? text : text.slice(said.length);
  const delimiter = said === undefined ? separatorOf(text) : separator;
  requireNarrow(body, delimiter);
  return { rows: rowsOf(body, delimiter, lineEnd === "" ? 0 : 1), from1904: false };
};

/** A byte order mark decides; else UTF-16 shows in its zeros, and what is no UTF-8 is the usual code page of spreadsheets. */
const decoded = (bytes: Buffer): string => {
  for (const encoding of [unicodeOf(bytes), "windows-1252"]) {
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch (error) {
      if (encoding !== "utf-8")
        throw refusedFile("validation/body", `is broken ${encoding} (${String(error)})`);
    }
  }
  return "";
};

const unicodeOf = (bytes: Buffer): string => {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const start = bytes.subarray(0, 64);
  const zeros = (parity: number): number => start.filter((byte, i) => byte === 0 && i % 2 === parity).length;
  if (start.length >= 8 && zeros(1) > start.length / 4) return "utf-16le";
  if (start.length >= 8 && zeros(0) > start.length / 4) return "utf-16be";
  return "utf-8";
};

/** The one that parts the first line with anything in it most often, outside of quotes. */
const separatorOf = (text: string): string => {
  const start = text.slice(0, recordCharactersMax).replaceAll(/"[^"]*"/g, "");
  const line = start.split(/[\r\n]+/).find((each) => each.trim() !== "") ?? "";
  const counts = separators.map((separator) => line.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ",";
};

/** The parser bounds a row's characters, but counts no empty cells: a line of nothing but separators would become millions of them. */
const requireNarrow = (text: string, delimiter: string): void => {
  let cells = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "\n" || character === "\r") cells = 0;
    else if (character === delimiter) cells += 1;
    if (cells > separatorsMax)
      throw refusedFile("validation/too-large", `has more than ${columnsMax} columns`);
  }
};

function* chunksOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + chunkCharacters;
    // Broken in two by a chunk's end, a pair would become two unknown characters on its way through bytes.
    if ((text.codePointAt(to - 1) ?? 0) > 0xffff) to += 1;
    yield text.slice(from, to);
  }
}

interface Parsed {
  record: string[];
  info: { records: number; empty_lines: number };
}

/** @param before rows above the text */
async function* rowsOf(text: string, delimiter: string, before: number): AsyncGenerator<Row> {
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: recordCharactersMax,
    info: true,
  });
  const source = Readable.from(chunksOf(text), { objectMode: true });
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const number = before + info.records + info.empty_lines;
      if (number > rowsScannedMax)
        throw refusedFile("validation/too-large", `has more than ${rowsScannedMax} lines`);
      if (record.length > columnsMax)
        throw refusedFile("validation/too-large", `has more than ${columnsMax} columns`);
      yield { number, cells: record.map((cell) => cellOf(cell, "text")) };
    }
  } catch (error) {
    throw error instanceof CsvError ? refusalOf(error) : error;
  } finally {
    source.destroy();
    parser.destroy();
  }
}

const refusalOf = ({ code, lines }: CsvError): Error =>
  code === "CSV_MAX_RECORD_SIZE"
    ? refusedFile("validation/too-large", `has a row of more than ${recordCharactersMax} characters`)
    : refusedFile("validation/body", `cannot be read from line ${String(lines)} on: its quotes don't match`);
