/** Owns the cells of a sheet (ECMA-376 part 1, 18.3.1): texts put together, places read, rows kept until they are taken. */
import {
  type Cell,
  cellCharactersMax,
  cellOf,
  columnsMax,
  type Row,
  refusedFile,
  rowsScannedMax,
} from "./table.ts";
import type { XmlEvents } from "./xml.ts";

/** A text in one piece or several, wherever one may stand. No longer than what makes a cell too long. */
export class RichText {
  #text = "";
  #inText = false;
  #inReading = false;

  open(name: string): void {
    if (name === "rPh") this.#inReading = true;
    else if (name === "t") this.#inText = !this.#inReading;
  }

  add(text: string): void {
    if (this.#inText && this.#text.length <= cellCharactersMax)
      this.#text += text.slice(0, cellCharactersMax + 1);
  }

  close(name: string): void {
    if (name === "rPh") this.#inReading = false;
    else if (name === "t") this.#inText = false;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** Values of numbers and references are short; what is longer is cut and then no number. */
const valueCharactersMax = cellCharactersMax + 1;

/** A cell while it is read. */
interface Reading {
  column: number;
  type: string;
  hasFormula: boolean;
  value: string | undefined;
  inValue: boolean;
}

/** What a sheet's XML says, as rows in their order. */
export class SheetRows implements XmlEvents {
  readonly #shared: readonly string[];
  readonly #inline = new RichText();
  #rows: Row[] = [];
  #row: Row | undefined;
  #reading: Reading | undefined;
  #rowNumber = 0;
  #column = -1;

  constructor(shared: readonly string[]) {
    this.#shared = shared;
  }

  /** Those that have ended since. */
  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "row") this.#openRow(attributes.r);
    else if (name === "c") this.#openCell(attributes);
    else if (this.#reading !== undefined) this.#openInside(this.#reading, name);
  }

  text(text: string): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    if (!reading.inValue) this.#inline.add(text);
    else if ((reading.value?.length ?? 0) < valueCharactersMax)
      reading.value = (reading.value ?? "") + text.slice(0, valueCharactersMax);
  }

  close(name: string): void {
    if (name === "c") this.#closeCell();
    else if (name === "row") this.#closeRow();
    else if (name === "v" && this.#reading !== undefined) this.#reading.inValue = false;
    else this.#inline.close(name);
  }

  #openRow(place: string | undefined): void {
    this.#rowNumber = place === undefined ? this.#rowNumber + 1 : Number(place);
    if (!Number.isSafeInteger(this.#rowNumber) || this.#rowNumber < 1) throw broken();
    this.#row = { number: this.#rowNumber, cells: [] };
    this.#column = -1;
  }

  #openCell({ r, t = "n" }: Readonly<Record<string, string>>): void {
    this.#column = r === undefined ? this.#column + 1 : columnOf(r);
    this.#reading = { column: this.#column, type: t, hasFormula: false, value: undefined, inValue: false };
  }

  #openInside(reading: Reading, name: string): void {
    if (name === "v") reading.inValue = true;
    else if (name === "f") reading.hasFormula = true;
    else this.#inline.open(name);
  }

  #closeCell(): void {
    const reading = this.#reading;
    const inline = this.#inline.take();
    this.#reading = undefined;
    if (reading === undefined || this.#row === undefined) return;
    const cell = this.#cellOf(reading, inline);
    if (cell === undefined) return;
    // A cell that is only coloured counts for nothing, wherever it stands.
    if (reading.column >= columnsMax)
      throw refusedFile("validation/too-large", `has more than ${columnsMax} columns`);
    this.#row.cells[reading.column] = cell;
  }

  #closeRow(): void {
    if (this.#row === undefined) return;
    const { number, cells } = this.#row;
    this.#row = undefined;
    if (cells.length === 0) return;
    if (number > rowsScannedMax)
      throw refusedFile("validation/too-large", `has more than ${rowsScannedMax} rows`);
    this.#rows.push({ number, cells: Array.from(cells) });
  }

  #cellOf({ type, hasFormula, value }: Reading, inline: string): Cell | undefined {
    if (type === "inlineStr") return cellOf(inline, "text");
    if (value === undefined)
      return hasFormula ? { text: "holds a formula whose result was not saved", kind: "fault" } : undefined;
    if (type === "s") return this.#sharedCell(value);
    if (type === "e") return { text: "holds an error in place of a value", kind: "fault" };
    if (type === "b") return { text: value.trim() === "1" ? "1" : "0", kind: "boolean" };
    if (type === "n") return cellOf(numberText(value), "number");
    return cellOf(value, "text");
  }

  #sharedCell(value: string): Cell | undefined {
    const text = this.#shared[Number(value)];
    if (text === undefined) throw broken();
    return cellOf(text, "text");
  }
}

const broken = (): Error => refusedFile("validation/body", "is a broken workbook: a cell refers to nothing");

/** From 0; `AB12` is 27. @throws Problem validation/body, validation/too-large */
const columnOf = (reference: string): number => {
  const letters = /^[A-Z]{1,7}(?=\d)/.exec(reference)?.[0];
  if (letters === undefined) throw broken();
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
};

/** Long numbers stand there as 1.2025550143E10. */
const numberText = (value: string): string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? String(number) : value;
};
