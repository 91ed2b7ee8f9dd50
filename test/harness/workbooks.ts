// Workbooks made by hand, part by part: what spreadsheets write, and what none would.
import { constants, crc32, deflateRawSync } from "node:zlib";

const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packaged = "http://schemas.openxmlformats.org/package/2006";
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** One part of a package as it is stored; what it says of itself needn't be so. */
export interface Stored {
  name: string;
  deflated: Buffer;
  size: number;
  crc: number;
  flags?: number;
}

export const stored = (name: string, content: string | Buffer): Stored => {
  const bytes = Buffer.from(content);
  return { name, deflated: deflateRawSync(bytes), size: bytes.length, crc: crc32(bytes) };
};

/** A text, one repeated any number of times, a text; made without ever being there as a whole. */
export const repeated = (name: string, start: string, unit: string, times: number, end: string): Stored => {
  const perPiece = Math.max(1, Math.floor(1_000_000 / Buffer.byteLength(unit)));
  const flushed = (text: string): Buffer => deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH });
  const piece = flushed(unit.repeat(perPiece));
  const pieces = Math.floor(times / perPiece);
  const rest = unit.repeat(times % perPiece);
  const deflated = Buffer.concat([
    flushed(start),
    ...Array.from({ length: pieces }, () => piece),
    deflateRawSync(rest + end),
  ]);
  return { name, deflated, size: Buffer.byteLength(start + end) + times * Buffer.byteLength(unit), crc: 0 };
};

/** APPNOTE.TXT, 4.3.7 to 4.3.16. */
export const packageOf = (parts: readonly Stored[]): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, deflated, size, crc, flags = 0x0800 } of parts) {
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(flags, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc, 10);
    facts.writeUInt32LE(deflated.length, 14);
    facts.writeUInt32LE(size, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, Buffer.from(name), deflated]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000"), facts, place, Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length % 65_536, 4);
  end.writeUInt16LE(parts.length % 65_536, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, list, Buffer.from("PK\u0005\u0006"), end]);
};

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const letters = (column: number): string =>
  (column >= 26 ? letters(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + (column % 26));

/** With `xml` a cell's inside as it is, and its attributes. */
export type CellXml = string | number | { attributes: string; xml: string } | undefined;

const cellXml = (cell: CellXml, place: string): string => {
  if (cell === undefined) return "";
  if (typeof cell === "number") return `<c r="${place}"><v>${cell}</v></c>`;
  if (typeof cell === "string") return `<c r="${place}" t="inlineStr"><is><t>${escaped(cell)}</t></is></c>`;
  return `<c r="${place}" ${cell.attributes}>${cell.xml}</c>`;
};

export const sheetStart = `${head}<worksheet xmlns="${main}"><sheetData>`;
export const sheetEnd = "</sheetData></worksheet>";
export const rowsXml = (rows: readonly (readonly CellXml[])[]): string =>
  rows
    .map(
      (row, y) =>
        `<row r="${y + 1}">${row.map((cell, x) => cellXml(cell, letters(x) + (y + 1))).join("")}</row>`,
    )
    .join("");
export const sheetXml = (rows: readonly (readonly CellXml[])[]): string =>
  sheetStart + rowsXml(rows) + sheetEnd;

export const sharedXml = (texts: readonly string[]): string =>
  `${head}<sst xmlns="${main}">${texts.map((text) => `<si>${text}</si>`).join("")}</sst>`;

export interface WorkbookParts {
  /** Each sheet's XML, in their order; those numbered in `hidden` are not to be seen. */
  sheets: readonly string[];
  hidden?: readonly number[];
  sharedStrings?: string;
  workbookPr?: string;
  contentTypes?: string;
  /** Added, or in place of the one of that name. */
  more?: readonly Stored[];
}

export const workbook = (book: WorkbookParts): Buffer => {
  const { sheets, hidden = [], sharedStrings, workbookPr = "", contentTypes = "", more = [] } = book;
  const parts = [
    stored(
      "[Content_Types].xml",
      `${head}<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>${contentTypes}</Types>`,
    ),
    stored(
      "_rels/.rels",
      `${head}<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    stored(
      "xl/workbook.xml",
      `${head}<workbook xmlns="${main}" xmlns:r="${relation}">${workbookPr}<sheets>${sheets
        .map(
          (_, i) =>
            `<sheet name="S${i}" sheetId="${i + 1}" ${hidden.includes(i) ? 'state="hidden" ' : ""}r:id="s${i}"/>`,
        )
        .join("")}</sheets></workbook>`,
    ),
    stored(
      "xl/_rels/workbook.xml.rels",
      `${head}<Relationships xmlns="${packaged}/relationships">${sheets
        .map(
          (_, i) =>
            `<Relationship Id="s${i}" Type="${relation}/worksheet" Target="worksheets/sheet${i}.xml"/>`,
        )
        .join(
          "",
        )}<Relationship Id="t" Type="${relation}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    ),
    ...sheets.map((xml, i) => stored(`xl/worksheets/sheet${i}.xml`, xml)),
    ...(sharedStrings === undefined ? [] : [stored("xl/sharedStrings.xml", sharedStrings)]),
  ];
  const replaced = new Set(more.map(({ name }) => name));
  return packageOf([...parts.filter(({ name }) => !replaced.has(name)), ...more]);
};

export const workbookOf = (rows: readonly (readonly CellXml[])[]): Buffer =>
  workbook({ sheets: [sheetXml(rows)] });
