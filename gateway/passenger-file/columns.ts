/** Owns finding the row of headers and what each of its columns is. How columns are called stands in `headers.ts`. */
import { type Field, fieldOf, isBareName } from "./headers.ts";
import { columnsMax, type Row, refusedFile } from "./table.ts";

export interface Column {
  index: number;
  /** As the file has it, cut to a length that can be told. */
  header: string;
  field: Field;
}

export interface Columns {
  headerRow: number;
  /** Cells of the row of headers; what stands further right has none. */
  width: number;
  named: Column[];
  ignored: string[];
}

/** Titles and dates may stand above the headers. */
export const headerRowsMax = 10;
const headerCharactersMax = 60;

/**
 * @param rows the first ones with anything in them, in their order
 * @throws Problem validation/body when a column that is needed is missing, or one is there twice
 */
export const findColumns = (rows: readonly Row[]): Columns => {
  const read = rows.slice(0, headerRowsMax).map(columnsOf);
  const found = read.find(isComplete) ?? read.toSorted((a, b) => b.named.length - a.named.length)[0];
  if (found === undefined) throw refusedFile("validation/body", "is empty");
  if (found.named.length === 0)
    throw refusedFile(
      "validation/body",
      "has no row of headers that is understood: name the columns as the template does",
    );
  const missing = missingIn(found);
  if (missing.length > 0)
    throw refusedFile("validation/body", `has no column for ${missing.join(" and none for ")}`);
  refuseTwice(found);
  return found;
};

const has = ({ named }: Columns, field: Field): boolean => named.some((column) => column.field === field);

const missingIn = (columns: Columns): string[] => [
  ...(has(columns, "pnr") ? [] : ["the booking reference (PNR, Localizador, Buchungsnummer …)"]),
  ...(has(columns, "lastName") || has(columns, "fullName")
    ? []
    : ["the last name (Last name, Apellidos, Nachname …)"]),
];

const isComplete = (columns: Columns): boolean => missingIn(columns).length === 0;

const columnsOf = ({ number, cells }: Row): Columns => {
  const headers = cells
    .slice(0, columnsMax)
    .flatMap((cell, index) =>
      cell === undefined ? [] : [{ index, header: cell.text.slice(0, headerCharactersMax) }],
    );
  const named = headers.flatMap(({ index, header }) => {
    const field = fieldOf(header);
    return field === undefined ? [] : [{ index, header, field }];
  });
  const columns: Columns = { headerRow: number, width: cells.length, named, ignored: [] };
  const bare = headers.filter(({ header }) => isBareName(header));
  for (const { index, header } of bare) {
    const field = bareNameIn(columns);
    if (field !== undefined) named.push({ index, header, field });
  }
  // A whole name beside its parts says nothing more.
  columns.named = has(columns, "lastName") ? named.filter(({ field }) => field !== "fullName") : named;
  const taken = new Set(columns.named.map(({ index }) => index));
  columns.ignored = headers.filter(({ index }) => !taken.has(index)).map(({ header }) => header);
  return columns;
};

/** `Name` beside `Vorname` is the last one, `Nombre` beside `Apellidos` the first, alone it is the whole. Undefined: both are there. */
const bareNameIn = (columns: Columns): Field | undefined => {
  const [last, first] = [has(columns, "lastName"), has(columns, "firstName")];
  if (last && first) return undefined;
  if (last) return "firstName";
  if (first) return "lastName";
  return has(columns, "fullName") ? undefined : "fullName";
};

/** Several may say what somebody needs; of anything else one would silently win. */
const refuseTwice = ({ named }: Columns): void => {
  for (const { field, header, index } of named) {
    const other = named.find((column) => column.field === field && column.index > index);
    if (field !== "specialRequirements" && other !== undefined)
      throw refusedFile("validation/body", `has two columns for the same: ${header} and ${other.header}`);
  }
};
