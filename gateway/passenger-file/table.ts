/** Owns what every kind of spreadsheet is read into, row by row, and the bounds that hold for all of them. */
import { Problem, type ProblemCode } from "../../schemas/problems.ts";

/** What a cell holds, as its file has it; formulas are never run, the result that was saved with them counts. */
export interface Cell {
  text: string;
  /** `fault`: it holds nothing that could be read, and `text` says why. */
  kind: "text" | "number" | "boolean" | "fault";
}

export interface Row {
  /** As a spreadsheet counts them, from 1. */
  number: number;
  /** By column; undefined: nothing stands there. */
  cells: (Cell | undefined)[];
}

export interface Table {
  rows: AsyncIterable<Row>;
  /** Days are counted from 1904 on, as old Macintoshes did. */
  from1904: boolean;
}

/** More have no meaning in a list of passengers. */
export const columnsMax = 256;
/** With the empty ones; a list that goes on below has been prepared to tire its reader. */
export const rowsScannedMax = 100_000;
export const cellCharactersMax = 1000;

/** A file that is not taken as a whole. @param detail completes "The file …" */
export const refusedFile = (
  code: Extract<ProblemCode, "validation/too-large" | "validation/media-type" | "validation/body">,
  detail: string,
): Problem =>
  new Problem(
    code,
    `The file ${detail}.`,
    code === "validation/body" ? { errors: [{ pointer: "/file", detail }] } : {},
  );

export const cellOf = (text: string, kind: Cell["kind"]): Cell | undefined => {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return trimmed.length > cellCharactersMax
    ? { text: `is longer than ${cellCharactersMax} characters`, kind: "fault" }
    : { text: trimmed, kind };
};
