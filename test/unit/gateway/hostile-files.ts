// The files themselves that are made to harm their reader: how each is made when it is its turn, and what it must be answered with.
import {
  type CellXml,
  packageOf,
  repeated,
  rowsXml,
  type Stored,
  sharedXml,
  sheetEnd,
  sheetStart,
  sheetXml,
  stored,
  workbook,
  workbookOf,
} from "../../harness/workbooks.ts";

const MiB = 1024 * 1024;
const good: CellXml[][] = [
  ["PNR", "Surname", "First name"],
  ["K7QX2M", "Lovelace", "Ada"],
];
export const goodText = "PNR,Surname\nK7QX2M,Lovelace\n";
const sheetName = "xl/worksheets/sheet0.xml";
const withSheet = (part: Stored): Buffer => workbook({ sheets: [""], more: [part] });
const headers = sheetStart + rowsXml(good);
/** Without an end, as far as a reader that keeps it all would tell. */
const nearly = 9 * MiB;
const empty = stored("", "");
const doctype = (entities: string, use: string): string =>
  sheetXml(good).replace("?>", `?><!DOCTYPE x [${entities}]>`).replace("Lovelace", use);

/** The last is what its sender calls it. */
export const files: readonly (readonly [
  what: string,
  make: () => Buffer | string,
  expected: RegExp,
  name?: string,
])[] = [
  [
    "a bomb that says what it is",
    () => withSheet(repeated(sheetName, headers, " ", 1024 * MiB, sheetEnd)),
    /^validation\/too-large .*unpacks/,
  ],
  [
    "a bomb that lies",
    () => withSheet({ ...repeated(sheetName, headers, " ", 1024 * MiB, sheetEnd), size: 1000 }),
    /^validation\/body .*broken/,
  ],
  [
    "blanks without an end",
    () => withSheet(repeated(sheetName, headers, " ", nearly, sheetEnd)),
    /^1 taken, nothing wrong/,
  ],
  [
    "one text without an end",
    () =>
      withSheet(
        repeated(
          sheetName,
          `${headers}<row r="3"><c r="A3" t="inlineStr"><is><t>`,
          "x",
          nearly,
          `</t></is></c></row>${sheetEnd}`,
        ),
      ),
    /^1 taken, is longer than 1000/,
  ],
  [
    "a value without an end",
    () =>
      withSheet(
        repeated(sheetName, `${headers}<row r="3"><c r="A3"><v>`, "1", nearly, `</v></c></row>${sheetEnd}`),
      ),
    /^1 taken, is longer than 1000/,
  ],
  [
    "one attribute without an end",
    () => withSheet(repeated(sheetName, `${headers}<row r="`, "1", nearly, `"/>${sheetEnd}`)),
    /^validation\/body .*broken/,
  ],
  [
    "one name without an end",
    () => withSheet(repeated(sheetName, `${headers}<`, "x", nearly, `/>${sheetEnd}`)),
    /^validation\/body .*broken/,
  ],
  [
    "one comment without an end",
    () => withSheet(repeated(sheetName, `${headers}<!--`, "x", nearly, `-->${sheetEnd}`)),
    /^validation\/body .*broken/,
  ],
  [
    "attributes without an end",
    () =>
      withSheet(
        stored(
          sheetName,
          `${headers}<row ${Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(" ")}/>${sheetEnd}`,
        ),
      ),
    /^validation\/body .*broken/,
  ],
  [
    "elements inside elements",
    () => withSheet(repeated(sheetName, headers, "<a>", nearly / 3, "")),
    /^validation\/body .*broken/,
  ],
  [
    "rows and cells of nothing without an end",
    () => withSheet(repeated(sheetName, headers, "<row><c/></row>", nearly / 15, sheetEnd)),
    /^validation\/too-large .*unpacks/,
  ],
  [
    "rows of wrong cells without an end",
    () => withSheet(repeated(sheetName, headers, "<row><c t='b'><v>1</v></c></row>", 1_000_000, sheetEnd)),
    /^validation\/too-large .*5000 passengers/,
  ],
  [
    "a million columns",
    () =>
      withSheet(repeated(sheetName, `${headers}<row>`, "<c><v>1</v></c>", 1_000_000, `</row>${sheetEnd}`)),
    /^validation\/too-large .*256 columns/,
  ],
  [
    "a cell far to the right",
    () => workbook({ sheets: [sheetXml(good).replace('r="C2"', 'r="ZZZZZZ2"')] }),
    /^validation\/too-large .*256 columns/,
  ],
  [
    "a row far below",
    () => workbook({ sheets: [sheetXml(good).replace('<row r="2"', '<row r="104857600"')] }),
    /^validation\/too-large .*rows/,
  ],
  [
    "a row nowhere",
    () => workbook({ sheets: [sheetXml(good).replace('<row r="2"', '<row r="-1"')] }),
    /^validation\/body .*broken/,
  ],
  [
    "a cell nowhere",
    () => workbook({ sheets: [sheetXml(good).replace('r="C2"', 'r="__proto__"')] }),
    /^validation\/body .*broken/,
  ],
  [
    "a text nowhere",
    () => workbookOf([...good, [{ attributes: 't="s"', xml: "<v>__proto__</v>" }]]),
    /^validation\/body .*broken/,
  ],
  [
    "shared texts without an end",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        more: [repeated("xl/sharedStrings.xml", "<sst>", "<si><t>x</t></si>", 2_000_000, "</sst>")],
      }),
    /^validation\/too-large .*texts/,
  ],
  [
    "long texts without an end",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        more: [
          repeated("xl/sharedStrings.xml", "<sst>", `<si><t>${"x".repeat(1000)}</t></si>`, 20_000, "</sst>"),
        ],
      }),
    /^validation\/too-large .*texts/,
  ],
  [
    "one shared text without an end",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        more: [repeated("xl/sharedStrings.xml", "<sst><si><t>", "x", nearly, "</t></si></sst>")],
      }),
    /^1 taken/,
  ],
  [
    "one long shared text in every cell",
    () =>
      workbook({
        sheets: [""],
        sharedStrings: sharedXml([`<t>${"a,".repeat(499)}</t>`]),
        more: [
          repeated(
            sheetName,
            `${sheetStart}${rowsXml([["PNR", "Surname", ...Array.from({ length: 90 }, () => "SSR")]])}`,
            `<row>${'<c t="s"><v>0</v></c>'.repeat(92)}</row>`,
            5000,
            sheetEnd,
          ),
        ],
      }),
    /^validation\/too-large .*more text/,
  ],
  [
    "an entity from a file",
    () => workbook({ sheets: [doctype('<!ENTITY e SYSTEM "file:///etc/passwd">', "&e;")] }),
    /^validation\/body .*document type/,
  ],
  [
    "an entity from elsewhere",
    () => workbook({ sheets: [doctype('<!ENTITY % e SYSTEM "http://127.0.0.1:1/x">%e;', "x")] }),
    /^validation\/body .*document type/,
  ],
  [
    "a billion laughs",
    () => workbook({ sheets: [doctype('<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">', "&b;")] }),
    /^validation\/body .*document type/,
  ],
  [
    "an entity of nobody",
    () => workbook({ sheets: [sheetXml(good).replace("Lovelace", "&e;")] }),
    /^validation\/body .*broken/,
  ],
  [
    "XML that ends early",
    () => workbook({ sheets: [sheetXml(good).slice(0, -30)] }),
    /^validation\/body .*broken/,
  ],
  [
    "XML of broken letters",
    () =>
      withSheet(
        stored(
          sheetName,
          Buffer.concat([Buffer.from(headers), Buffer.from([0xc3, 0x28]), Buffer.from(sheetEnd)]),
        ),
      ),
    /^validation\/body .*broken/,
  ],
  [
    "a sheet that is elsewhere",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        more: [
          stored(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="s0" Type="x/worksheet" Target="../../../../../../etc/passwd"/></Relationships>',
          ),
        ],
      }),
    /^validation\/body .*sheet is missing/,
  ],
  [
    "a sheet on another machine",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        more: [
          stored(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="s0" Type="x/worksheet" TargetMode="External" Target="http://127.0.0.1:1/"/></Relationships>',
          ),
        ],
      }),
    /^validation\/body .*no sheet/,
  ],
  [
    "sheets that are all hidden",
    () => workbook({ sheets: [sheetXml(good)], hidden: [0] }),
    /^validation\/body .*no sheet/,
  ],
  [
    "a workbook without its index",
    () => packageOf([stored("[Content_Types].xml", "<Types/>"), stored("xl/workbook.xml", "<workbook/>")]),
    /^validation\/body .*broken/,
  ],
  [
    "a part that is there twice",
    () => packageOf([stored("[Content_Types].xml", "<Types/>"), stored("[Content_Types].xml", "<Types/>")]),
    /^validation\/body .*broken/,
  ],
  [
    "parts without an end",
    () => packageOf(Array.from({ length: 60_000 }, (_, i) => ({ ...empty, name: `${i}` }))),
    /^validation\/too-large .*parts/,
  ],
  ["half a workbook", () => workbookOf(good).subarray(0, 900), /^validation\/body .*broken/],
  [
    "a workbook with a hole",
    () => {
      const book = workbookOf(good);
      book.fill(0x55, 40, 90);
      return book;
    },
    /^validation\/body .*(broken|unpacked)/,
  ],
  [
    "an encrypted part",
    () => packageOf([{ ...stored("[Content_Types].xml", "<Types/>"), flags: 0x0801 }]),
    /^validation\/media-type .*encrypted/,
  ],
  [
    "an encrypted workbook, or an old one",
    () => Buffer.from("d0cf11e0a1b11ae10000000000000000", "hex"),
    /^validation\/media-type .*encrypted/,
    "a.xlsx",
  ],
  [
    "macros by their kind",
    () =>
      workbook({
        sheets: [sheetXml(good)],
        contentTypes:
          '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.ms-excel.sheet.macroEnabled.main+xml"/>',
      }),
    /^validation\/media-type .*macros/,
    "a.xlsx",
  ],
  [
    "macros by their part",
    () => workbook({ sheets: [sheetXml(good)], more: [stored("xl/vbaProject.bin", "x")] }),
    /^validation\/media-type .*macros/,
    "a.xlsx",
  ],
  ["macros by the name", () => workbookOf(good), /^validation\/media-type .*ends in none/, "a.xlsm"],
  [
    "an OpenDocument table",
    () =>
      packageOf([
        stored("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        stored("content.xml", "<x/>"),
      ]),
    /^validation\/media-type .*no .xlsx/,
    "a.xlsx",
  ],
  [
    "a binary workbook",
    () => packageOf([stored("[Content_Types].xml", "<Types/>"), stored("xl/workbook.bin", "x")]),
    /^validation\/media-type .*no .xlsx/,
  ],
  ["text called a workbook", () => goodText, /^validation\/media-type .*called .xlsx/, "a.xlsx"],
  ["a workbook called text", () => workbookOf(good), /^validation\/media-type .*called .csv/, "a.CSV"],
  [
    "a workbook called anything else",
    () => workbookOf(good),
    /^validation\/media-type .*ends in none/,
    "a.xlsx.exe",
  ],
  ["a PDF", () => "%PDF-1.7\n", /^validation\/media-type .*PDF/, "a.csv"],
  ["an image", () => Buffer.from("89504e470d0a1a0a0000", "hex"), /^validation\/media-type .*image/, "a.csv"],
  [
    "something compressed",
    () => Buffer.from("1f8b0800000000000000", "hex"),
    /^validation\/media-type .*compressed/,
    "a.csv",
  ],
  [
    "a program",
    () => Buffer.from("7f454c46020101000000", "hex"),
    /^validation\/media-type .*neither/,
    "a.csv",
  ],
  ["nothing", () => "", /^validation\/body .*empty/],
  ["10 MiB of separators", () => ",".repeat(10 * MiB), /^validation\/too-large .*columns/],
  [
    "10 MiB of separators below headers",
    () => goodText + ",\n".repeat(5 * MiB - 100),
    /^validation\/too-large .*lines/,
  ],
  ["10 MiB of line ends", () => goodText + "\r\n".repeat(5 * MiB - 100), /^1 taken/],
  ["10 MiB of quotes", () => `PNR,Surname\n${'"'.repeat(10 * MiB - 100)}`, /^validation\/(body|too-large) /],
  [
    "10 MiB in one cell",
    () => `PNR,Surname\n"${"x".repeat(10 * MiB - 100)}`,
    /^validation\/too-large .*characters/,
  ],
  ["10 MiB without a line end", () => "x".repeat(10 * MiB), /^validation\/too-large .*characters/],
  [
    "10 MiB of two letters and zeros",
    () => Buffer.from("a,".repeat(2.5 * MiB), "utf16le"),
    /^validation\/too-large .*columns/,
  ],
  [
    "texts that tire patterns",
    () =>
      `PNR,Name,Cabin,E-mail,Phone,DOB,Language,SSR\n${["K7QX2M", `a/${" ".repeat(900)}b`, "(".repeat(900), `a@${"a.".repeat(449)}!`, `+${"1 ".repeat(400)}`, `1 ${" ".repeat(900)}x`, `a${"-aa".repeat(300)}!`, "[".repeat(900)].map((cell) => `"${cell}"`).join(",")}\n`.concat(
        `${["K7QX2M", `a/${" ".repeat(900)}b`, "(".repeat(900), `a@${"a.".repeat(449)}!`, `+${"1 ".repeat(400)}`, `1${" ".repeat(900)}x`, `a${"-aa".repeat(300)}!`, "[".repeat(900)].join(",")}\n`.repeat(
          1600,
        ),
      ),
    /^0 taken/,
  ],
];
