/** Owns airport reference data as the service reads and shows it; `scripts/airports.ts` makes the file it reads. */
import { readFileSync } from "node:fs";
import Type, { type Static } from "typebox";
import { PageQuery } from "./page.ts";
import { Urn, urn } from "./urn.ts";
import { AirportCode } from "./vocabulary.ts";

export interface Airport {
  /** IATA, three capital letters. */
  code: string;
  name: string;
  /** The city served; for a small field the name of the place. */
  city: string;
  /** ISO 3166-1 alpha-2. */
  country: string;
  latitude: number;
  longitude: number;
  /** IANA name, as `Europe/Berlin`. */
  timeZone: string;
  /** Large, medium or small. Every small one has scheduled service; of the others some have none. */
  size: "L" | "M" | "S";
}

/**
 * The file stays bytes until a row is asked for: thousands of parsed objects would cost many times its 450 kB, and the
 * service has a memory budget. `starts[i]` is where line i begins; lines are sorted by code.
 */
interface Rows {
  bytes: Buffer;
  starts: Uint32Array;
}

const lineStarts = (bytes: Buffer): Uint32Array => {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at = bytes.indexOf(10, at) + 1) {
    if (bytes[at] !== 0x23) starts.push(at);
  }
  return Uint32Array.from(starts);
};

let rowsRead: Rows | undefined;

const rows = (): Rows => {
  if (rowsRead === undefined) {
    const bytes = readFileSync(new URL("./airports.tsv", import.meta.url));
    rowsRead = { bytes, starts: lineStarts(bytes) };
  }
  return rowsRead;
};

const codeAt = (row: number): string => {
  const { bytes, starts } = rows();
  return bytes.toString("latin1", starts[row]!, starts[row]! + 3);
};

const columnsAt = ({ bytes, starts }: Rows, row: number): string[] => {
  const start = starts[row]!;
  return bytes.toString("utf8", start, bytes.indexOf(10, start)).split("\t");
};

const airportAt = (row: number): Airport => {
  const [code, size, country, latitude, longitude, timeZone, city, name] = columnsAt(rows(), row);
  return {
    code: code!,
    name: name!,
    city: city!,
    country: country!,
    latitude: Number(latitude),
    longitude: Number(longitude),
    timeZone: timeZone!,
    size: size as Airport["size"],
  };
};

/** Undefined for a code that no airport with scheduled service, nor any medium or large one, has. */
export const airport = (code: string): Airport | undefined => {
  let low = 0;
  let high = rows().starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (codeAt(middle) < code) low = middle + 1;
    else high = middle;
  }
  return low < rows().starts.length && codeAt(low) === code ? airportAt(low) : undefined;
};

/** Letters with a stroke or of two in one: they are no letter with an accent, and people write them as these. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ð: "d",
  đ: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ł: "l",
};

/** Lower case, without accents, so that `sao paulo` finds São Paulo, and `tromso` Tromsø. */
const fold = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[ßæœøðđþħıł]/g, (letter) => plainLetters[letter] as string);

const sizeRank: Record<string, number> = { l: 0, m: 1, s: 2 };

/**
 * Lower is better; undefined: no match. Steps of ten leave room for the airport's size within one kind of match.
 * @param columns in folded letters
 */
const matchRank = (columns: string[], wanted: string): number | undefined => {
  const city = columns[6]!;
  const name = columns[7]!;
  const size = sizeRank[columns[1]!] ?? 2;
  const startsWord = (text: string, word = wanted): boolean =>
    text.startsWith(word) || text.includes(` ${word}`);
  if (columns[0] === wanted) return 0;
  if (city.startsWith(wanted)) return 10 + size;
  if (startsWord(city) || startsWord(name)) return 20 + size;
  if (wanted.length >= 3 && (city.includes(wanted) || name.includes(wanted))) return 30 + size;
  const words = wanted.split(" ");
  const names = (word: string): boolean =>
    columns[0] === word || startsWord(city, word) || startsWord(name, word);
  if (words.length > 1 && words.every(names)) return 40 + size;
  return undefined;
};

let foldedRows: Rows | undefined;

/** The same lines in folded letters, as bytes too. */
const folded = (): Rows => {
  if (foldedRows === undefined) {
    const bytes = Buffer.from(fold(rows().bytes.toString("utf8", rows().starts[0])));
    foldedRows = { bytes, starts: lineStarts(bytes) };
  }
  return foldedRows;
};

/** Rows of the lines that hold the text anywhere, in their order. */
const rowsWith = (wanted: string): number[] => {
  const { bytes, starts } = folded();
  const found: number[] = [];
  let row = 0;
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, starts[row])) {
    while (row < starts.length && (starts[row] as number) <= at) row++;
    found.push(row - 1);
    if (row === starts.length) break;
  }
  return found;
};

/**
 * Best matches first: the exact code, then cities and names that begin with the text, then those that have its words
 * anywhere; larger airports before smaller.
 * Letters' case and accents don't matter. A text of only blanks finds nothing.
 */
export const searchAirports = (text: string, limit: number): Airport[] => {
  const wanted = fold(text.trim().replace(/\s+/g, " "));
  if (wanted === "") return [];
  const [longest = wanted] = wanted.split(" ").sort((one, other) => other.length - one.length);
  return rowsWith(longest)
    .flatMap((row) => {
      const rank = matchRank(columnsAt(folded(), row), wanted);
      return rank === undefined ? [] : [{ row, rank }];
    })
    .sort((one, other) => one.rank - other.rank || one.row - other.row)
    .slice(0, limit)
    .map(({ row }) => airportAt(row));
};

export const AirportSearchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "\\S",
    examples: ["sao paulo"],
    description: "A code, or part of the name or the city; case and accents make no difference.",
  }),
  ...PageQuery,
});

export const AirportView = Type.Object(
  {
    airportUrn: Urn("airport"),
    code: AirportCode,
    name: Type.String(),
    city: Type.String({ description: "The city served; for a small field the name of the place." }),
    country: Type.String({ description: "ISO 3166-1 alpha-2" }),
    coordinates: Type.Object({ latitude: Type.Number(), longitude: Type.Number() }),
    timeZone: Type.String({ description: "IANA name", examples: ["America/New_York"] }),
  },
  { title: "Airport" },
);
export type AirportView = Static<typeof AirportView>;

export const airportView = ({ latitude, longitude, size: _, ...facts }: Airport): AirportView => ({
  airportUrn: urn("airport", facts.code),
  ...facts,
  coordinates: { latitude, longitude },
});
