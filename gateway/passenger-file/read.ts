/** Owns reading a file of passengers from its bytes: what it is, whatever it is called, and then what is in it. */
import type { PassengerFileFormat } from "../../schemas/passenger-file.ts";
import { type PassengersRead, type ReadTerms, readPassengers } from "./passengers.ts";
import { refusedFile, type Table } from "./table.ts";

export interface PassengerFile extends PassengersRead {
  format: PassengerFileFormat;
}

/** Names that may end a file of each kind; no ending at all says nothing. */
const endings: Readonly<Record<PassengerFileFormat, readonly string[]>> = {
  xlsx: ["xlsx"],
  csv: ["csv", "tsv", "txt"],
};

const magics: readonly (readonly [bytes: string, detail: string])[] = [
  ["d0cf11e0", "is an old .xls workbook or an encrypted one: save it as .xlsx without a password"],
  ["25504446", "is a PDF"],
  ["1f8b", "is compressed: send it as it is"],
  ["89504e47", "is an image"],
  ["ffd8ff", "is an image"],
  ["504b0506", "is an empty package"],
];

/**
 * @param name as its sender calls it; only what it ends in counts
 * @throws Problem validation/media-type, validation/body, validation/too-large
 */
export const readPassengerFile = async (
  bytes: Buffer,
  name: string,
  terms: Omit<ReadTerms, "format">,
): Promise<PassengerFile> => {
  if (bytes.length === 0) throw refusedFile("validation/body", "is empty");
  const format = formatOf(bytes);
  requireEnding(name, format);
  return { format, ...(await readPassengers(await tableOf(bytes, format), { ...terms, format })) };
};

const formatOf = (bytes: Buffer): PassengerFileFormat => {
  const start = bytes.toString("hex", 0, 4);
  const other = magics.find(([magic]) => start.startsWith(magic));
  if (other !== undefined) throw refusedFile("validation/media-type", other[1]);
  return start === "504b0304" ? "xlsx" : "csv";
};

const requireEnding = (name: string, format: PassengerFileFormat): void => {
  const ending = /\.([^./\\]*)$/.exec(name)?.[1]?.toLowerCase();
  if (ending === undefined || endings[format].includes(ending)) return;
  const known = Object.values(endings).flat().includes(ending);
  throw refusedFile(
    "validation/media-type",
    known
      ? `is called .${ending}, and is ${format === "xlsx" ? "a packed workbook" : "text"}`
      : `ends in none of ${Object.values(endings)
          .flat()
          .map((each) => `.${each}`)
          .join(", ")}`,
  );
};

/** Each reader's libraries are loaded when they are needed. */
const tableOf = async (bytes: Buffer, format: PassengerFileFormat): Promise<Table> =>
  format === "xlsx" ? (await import("./xlsx.ts")).readXlsx(bytes) : (await import("./csv.ts")).readCsv(bytes);
