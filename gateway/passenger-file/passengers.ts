/** Owns turning a table into a manifest's passengers, each wrong cell told, and nobody taken of a row that has one. */
import { cellErrorsMax, passengerRowsMax } from "../../schemas/manifest-rules.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";
import type { CellError, PassengerFileFormat } from "../../schemas/passenger-file.ts";
import type { AccessNeed } from "../../schemas/vocabulary.ts";
import { isNeeded, namesOf, needsIn, type Reading, readers, textOf } from "./cells.ts";
import { type Column, type Columns, findColumns, headerRowsMax } from "./columns.ts";
import { dayOf, typeAt } from "./dates.ts";
import type { Field } from "./headers.ts";
import { type Cell, type Row, refusedFile, type Table } from "./table.ts";

export interface PassengersRead {
  rows: number;
  passengers: PassengerInput[];
  rowsRefused: number;
  /** The first of them. */
  errors: CellError[];
  errorCount: number;
  columns: { column: string; field: string }[];
  columnsIgnored: string[];
}

export interface ReadTerms {
  format: PassengerFileFormat;
  /** Whose age counts on that day. */
  today: Date;
  /** A booking has no more. */
  bookingPassengersMax: number;
}

const needsMax = 20;
/** Of all cells that are looked at: a workbook may refer to one long text a million times. */
const charactersMax = 10_000_000;
const needColumns: Readonly<Partial<Record<Field, AccessNeed>>> = {
  wheelchair: "WHEELCHAIR",
  reducedMobility: "REDUCED_MOBILITY",
  visual: "VISUAL",
  hearing: "HEARING",
  serviceAnimal: "SERVICE_ANIMAL",
  infantCot: "INFANT_COT",
};

/** @throws Problem validation/body, validation/too-large for a file that is wrong as a whole */
export const readPassengers = async (
  { rows, from1904 }: Table,
  terms: ReadTerms,
): Promise<PassengersRead> => {
  const first: Row[] = [];
  let manifest: Manifest | undefined;
  for await (const row of rows) {
    if (row.cells.every((cell) => cell === undefined)) continue;
    if (manifest !== undefined) {
      manifest.take(row);
      continue;
    }
    first.push(row);
    // Headers stand above: what is not decided by then is the last word on them.
    if (first.length === headerRowsMax) manifest = begun(first, from1904, terms);
  }
  manifest ??= begun(first, from1904, terms);
  return manifest.told();
};

const begun = (first: readonly Row[], from1904: boolean, terms: ReadTerms): Manifest => {
  const columns = findColumns(first);
  const manifest = new Manifest(columns, from1904, terms);
  for (const row of first) if (row.number > columns.headerRow) manifest.take(row);
  return manifest;
};

/** One row while it is read. */
interface Entry {
  fields: Partial<Record<Field, string>>;
  needs: string[];
  errors: CellError[];
}

class Manifest {
  readonly #columns: Columns;
  readonly #from1904: boolean;
  readonly #terms: ReadTerms;
  readonly #passengers: PassengerInput[] = [];
  readonly #errors: CellError[] = [];
  readonly #rowOf = new Map<string, number>();
  readonly #ofBooking = new Map<string, number>();
  #rows = 0;
  #rowsRefused = 0;
  #errorCount = 0;
  #characters = 0;

  constructor(columns: Columns, from1904: boolean, terms: ReadTerms) {
    this.#columns = columns;
    this.#from1904 = from1904;
    this.#terms = terms;
  }

  take(row: Row): void {
    const { named, width } = this.#columns;
    const isWide = this.#terms.format === "csv" && row.cells.slice(width).some((cell) => cell !== undefined);
    if (!isWide && named.every(({ index }) => row.cells[index] === undefined)) return;
    this.#rows += 1;
    if (this.#rows > passengerRowsMax)
      throw refusedFile(
        "validation/too-large",
        `has more than ${passengerRowsMax} passengers: send it in parts`,
      );
    const entry: Entry = { fields: {}, needs: [], errors: [] };
    for (const column of named) this.#read(entry, row, column);
    if (isWide)
      entry.errors.push(
        errorAt(
          row,
          { header: String(width + 1), field: "row" },
          "stands beyond the last header: quote texts that hold a separator",
        ),
      );
    this.#requireIn(entry, row);
    if (entry.errors.length === 0) this.#keep(passengerOf(entry), entry, row);
    this.#note(entry.errors);
  }

  told(): PassengersRead {
    if (this.#rows === 0) throw refusedFile("validation/body", "has no passengers below its headers");
    return {
      rows: this.#rows,
      passengers: this.#passengers,
      rowsRefused: this.#rowsRefused,
      errors: this.#errors,
      errorCount: this.#errorCount,
      columns: this.#columns.named.map(({ header, field }) => ({ column: header, field })),
      columnsIgnored: this.#columns.ignored,
    };
  }

  #read(entry: Entry, row: Row, column: Column): void {
    const cell = row.cells[column.index];
    if (cell === undefined) return;
    this.#characters += cell.text.length;
    if (this.#characters > charactersMax)
      throw refusedFile("validation/too-large", "holds more text than any list of passengers");
    const text = textOf(cell);
    const read = "fault" in text ? text : this.#readField(entry, column.field, text.value, cell);
    if ("fault" in read) entry.errors.push(errorAt(row, column, read.fault));
  }

  #readField(entry: Entry, field: Field, text: string, cell: Cell): Reading<unknown> {
    const reader = readers[field];
    const need = needColumns[field];
    if (reader !== undefined)
      return into(reader(text), (value) => {
        entry.fields[field] = value;
      });
    if (need !== undefined)
      return into(isNeeded(text), (said) => {
        if (said !== false) entry.needs.push(said === true ? need : said);
      });
    if (field === "fullName") return into(namesOf(text), (names) => Object.assign(entry.fields, names));
    if (field === "specialRequirements") return into(needsIn(text), (needs) => entry.needs.push(...needs));
    return this.#readBirth(entry, cell);
  }

  /** The day itself is not kept: only what follows from it is needed. */
  #readBirth({ fields }: Entry, cell: Cell): Reading<unknown> {
    const { today } = this.#terms;
    const born = dayOf(cell, this.#from1904);
    if (born === undefined) return { fault: "is no day, or could be two: write it as 1990-12-31" };
    if (born > today || born.getUTCFullYear() < today.getUTCFullYear() - 130)
      return { fault: "is no day of anybody's birth" };
    fields.birthDate = typeAt(born, today);
    return { value: undefined };
  }

  #requireIn({ fields, needs, errors }: Entry, row: Row): void {
    const { named } = this.#columns;
    const missing = (field: Field, from: Field = field): void => {
      const column = named.find((each) => each.field === field) ?? named.find((each) => each.field === from);
      if (fields[field] === undefined && column !== undefined && row.cells[column.index] === undefined)
        errors.push(errorAt(row, column, "is required"));
    };
    missing("pnr");
    missing("lastName", "fullName");
    const needsColumn = named.find(({ field }) => field === "specialRequirements");
    if (needs.length > needsMax && needsColumn !== undefined)
      errors.push(errorAt(row, needsColumn, `names more than ${needsMax} needs`));
  }

  #keep(passenger: PassengerInput, { errors }: Entry, row: Row): void {
    const { named } = this.#columns;
    const column = named.find(({ field }) => field === "pnr") as Column;
    const key = JSON.stringify(passenger);
    const before = this.#rowOf.get(key);
    const pnr = passenger.pnr ?? "";
    const inBooking = (this.#ofBooking.get(pnr) ?? 0) + 1;
    // Two of one name in a booking are two when anything else tells them apart.
    if (before !== undefined) errors.push(errorAt(row, column, `is row ${before} again, in every column`));
    else if (inBooking > this.#terms.bookingPassengersMax)
      errors.push(errorAt(row, column, `is a booking of more than ${this.#terms.bookingPassengersMax}`));
    if (errors.length > 0) return;
    this.#rowOf.set(key, row.number);
    this.#ofBooking.set(pnr, inBooking);
    this.#passengers.push(passenger);
  }

  #note(errors: readonly CellError[]): void {
    if (errors.length === 0) return;
    this.#rowsRefused += 1;
    this.#errorCount += errors.length;
    this.#errors.push(...errors.slice(0, cellErrorsMax - this.#errors.length));
  }
}

const into = <Value>(reading: Reading<Value>, keep: (value: Value) => void): Reading<Value> => {
  if ("value" in reading) keep(reading.value);
  return reading;
};

const errorAt = (
  { number }: Row,
  { header, field }: { header: string; field: string },
  detail: string,
): CellError => ({ row: number, column: header, pointer: `/file/${number}/${field}`, detail });

const passengerOf = ({ fields, needs }: Entry): PassengerInput => {
  const { birthDate, email, phone, language, ...rest } = fields;
  const { pnr, lastName, firstName, cabinClass, loyaltyTier, passengerType = birthDate } = rest;
  const contact = said({ email, phone, language });
  return {
    ...said({ pnr, lastName, firstName, cabinClass, loyaltyTier, passengerType }),
    ...(needs.length > 0 ? { specialRequirements: [...new Set(needs)] } : {}),
    ...(Object.keys(contact).length > 0 ? { contact } : {}),
  };
};

/** Without what is undefined: a manifest's schema knows no such value. */
const said = <T extends Record<string, string | undefined>>(all: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;
