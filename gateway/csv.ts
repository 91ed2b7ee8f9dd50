/** Owns how tables are written as text: quoted, and harmless to the spreadsheet that opens them. */
import { stringify } from "csv-stringify/sync";

/**
 * RFC 4180: lines end in CRLF, texts are quoted. A cell that begins with `=`, `+`, `-`, `@`, a tab or a line's end gets an
 * apostrophe before it: a spreadsheet would run it (CWE-1236).
 */
export const csvOf = (rows: readonly (readonly unknown[])[]): string =>
  stringify([...rows], { record_delimiter: "\r\n", quoted_string: true, escape_formulas: true });
