/** Owns airport reference data as the service reads it; `scripts/airports.ts` makes the file it reads. */
import { readFileSync } from "node:fs";

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

const columnsAt = (row: number): string[] => {
  const { bytes, starts } = rows();
  const start = starts[row]!;
  return bytes.toString("utf8", start, bytes.indexOf(10, start)).split("\t");
};

const airportAt = (row: number): Airport => {
  const [code, , country, latitude, longitude, timeZone, city, name] = columnsAt(row);
  return {
    code: code!,
    name: name!,
    city: city!,
    country: country!,
    latitude: Number(latitude),
    longitude: Number(longitude),
    timeZone: timeZone!,
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

/** Lower case, without accents, so that `sao paulo` finds São Paulo. */
const fold = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

const sizeRank: Record<string, number> = { L: 0, M: 1, S: 2 };

/** Lower is better; undefined: no match. Steps of ten leave room for the airport's size within one kind of match. */
const matchRank = (columns: string[], wanted: string): number | undefined => {
  const city = fold(columns[6]!);
  const name = fold(columns[7]!);
  const size = sizeRank[columns[1]!] ?? 2;
  const startsWord = (text: string): boolean => text.startsWith(wanted) || text.includes(` ${wanted}`);
  if (columns[0]!.toLowerCase() === wanted) return 0;
  if (city.startsWith(wanted)) return 10 + size;
  if (startsWord(city) || startsWord(name)) return 20 + size;
  if (wanted.length >= 3 && (city.includes(wanted) || name.includes(wanted))) return 30 + size;
  return undefined;
};

let foldedLines: string[] | undefined;

/**
 * Best matches first: the exact code, then cities and names that begin with the text, larger airports before smaller.
 * Letters' case and accents don't matter. A text of only blanks finds nothing.
 */
export const searchAirports = (text: string, limit: number): Airport[] => {
  const wanted = fold(text.trim());
  if (wanted === "") return [];
  foldedLines ??= fold(rows().bytes.toString("utf8", rows().starts[0])).split("\n");
  return foldedLines
    .flatMap((line, row) => {
      const rank = line.includes(wanted) ? matchRank(columnsAt(row), wanted) : undefined;
      return rank === undefined ? [] : [{ row, rank }];
    })
    .sort((one, other) => one.rank - other.rank || one.row - other.row)
    .slice(0, limit)
    .map(({ row }) => airportAt(row));
};
