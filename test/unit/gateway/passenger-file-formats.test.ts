// How files of passengers are written: encodings, separators and quotes, every kind of cell of a workbook, and what we write ourselves.
import t from "tap";
import { csvOf } from "../../../gateway/csv.ts";
import { readPassengerFile } from "../../../gateway/passenger-file/read.ts";
import { Problem } from "../../../schemas/problems.ts";
import { type CellXml, sharedXml, sheetXml, stored, workbook, workbookOf } from "../../harness/workbooks.ts";

const terms = { today: new Date("2026-11-22T10:00:00Z"), bookingPassengersMax: 150 };
const read = (bytes: Buffer | string, name = "") => readPassengerFile(Buffer.from(bytes), name, terms);
const refusalOf = async (reading: Promise<unknown>): Promise<{ code: string; detail: string }> => {
  const error = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof Problem) return { code: error.code, detail: error.message };
  throw error ?? new Error("it was taken");
};

const encoded = (text: string, encoding: string): Buffer => {
  if (encoding === "utf-8") return Buffer.from(text);
  if (encoding === "utf-8 with its mark") return Buffer.from(`\ufeff${text}`);
  if (encoding === "windows-1252") return Buffer.from(text, "latin1");
  const little = Buffer.from(encoding.includes("mark") ? `\ufeff${text}` : text, "utf16le");
  return encoding.startsWith("utf-16be") ? little.swap16() : little;
};

t.test("texts: encodings, separators, line ends, quotes", async (t) => {
  for (const encoding of [
    "utf-8",
    "utf-8 with its mark",
    "utf-16le with its mark",
    "utf-16be with its mark",
    "utf-16le",
    "utf-16be",
    "windows-1252",
  ])
    for (const separator of [",", ";", "\t", "|"])
      for (const end of ["\n", "\r\n", "\r"]) {
        const rows = [
          ["Buchungsnummer", "Nachname", "Prénom", "SSR"],
          ["K7QX2M", '"Müller, Núñez"', "Žoë".replace("Ž", "J"), `"WCHR${end}VGML"`],
          ["ABCDEF", `"O'Neil"`, "Ada", '""'],
        ];
        const bytes = encoded(rows.map((row) => row.join(separator)).join(end), encoding);
        const file = await read(bytes, "list.CSV");
        const what = `${encoding} ${JSON.stringify(separator)} ${JSON.stringify(end)}`;
        t.strictSame(
          file.passengers,
          [
            {
              pnr: "K7QX2M",
              lastName: "Müller, Núñez",
              firstName: "Joë",
              specialRequirements: ["WCHR", "VGML"],
            },
            { pnr: "ABCDEF", lastName: "O'Neil", firstName: "Ada" },
          ],
          what,
        );
      }
  const said = await read('sep=;\r\nPNR;Surname\r\n\r\nK7QX2M;"a ""b"" c"\r\n', "x.tsv");
  t.match(
    said.errors,
    [{ row: 4, detail: "is no name" }],
    "a spreadsheet's own word for its separator, and quotes in quotes",
  );
  // One of the two has a pair where pieces of the text end.
  for (const surname of ["Surname", "Last name"]) {
    const rows = Array.from({ length: 800 }, (_, i) => `P${String(i).padStart(5, "0")},${"𠮷".repeat(45)}\n`);
    t.equal((await read(`PNR,${surname}\n${rows.join("")}`)).errorCount, 0, "letters of two halves");
  }
  for (const [text, code, detail] of [
    ['PNR,Surname\nK7QX2M,"open\n', "validation/body", /quotes/],
    ['PNR,Surname\nK7QX2M,"a"b\n', "validation/body", /quotes/],
    ['PNR,Surname\nK7QX2M,Robert "Bob" B\n', "validation/body", /line 2 on: its quotes/],
    ['sep="\nPNR"Surname\n', "validation/body", /quotes/],
    [`PNR,Surname\nK7QX2M,${"x".repeat(70_000)}\n`, "validation/too-large", /characters/],
    [`PNR,Surname${",".repeat(1_000_000)}\n`, "validation/too-large", /256 columns/],
    [`PNR,Surname${",x".repeat(300)}\n`, "validation/too-large", /256 columns/],
    ["PNR,Surname\nK7QX2M,a\0b\n", "validation/media-type", /neither text/],
    [Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00]), "validation/body", /broken utf-16le/],
  ] as const)
    t.match(await refusalOf(read(text)), { code, detail }, String(detail));
});

t.test("workbooks: every kind of cell", async (t) => {
  const shared = sharedXml([
    "<t>PNR</t>",
    "<t>Surname</t>",
    "<r><t>First</t></r><r><t xml:space='preserve'> name</t></r><rPh sb='0'><t>reading</t></rPh>",
    "<t><![CDATA[Cabin]]></t>",
    "<t>DOB</t>",
    "<t>Phone</t>",
    "<t>PRM</t>",
  ]);
  const ref = (index: number): CellXml => ({ attributes: 't="s"', xml: `<v>${index}</v>` });
  const formula = (value: string): CellXml => ({ attributes: 't="str"', xml: `<f>CONCAT("x")</f>${value}` });
  const header = [0, 1, 2, 3, 4, 5, 6].map(ref);
  const rows: CellXml[][] = [
    header,
    [
      "K7QX2M",
      formula("<v>Lovelace</v>"),
      "Ada &amp; Co".replace("&amp; Co", ""),
      "Y",
      41_000,
      "+12025550143",
      { attributes: 't="b"', xml: "<v>1</v>" },
    ],
    [123456, "Hopper", formula(""), "Y", 45_900.75],
    ["ABCDEF", { attributes: 't="e"', xml: "<v>#REF!</v>" }, "Emmy", "Y"],
    [
      { attributes: "", xml: "<v>1.23456E5</v>" },
      "Turing",
      "Alan",
      "Y",
      undefined,
      { attributes: "", xml: "<v>1.2025550143E10</v>" },
    ],
    ["K7QX2P", { attributes: 't="inlineStr"', xml: "<is><t>Love&#x81;lace</t></is>" }, "Ada", "Y"],
  ];
  const styled = sheetXml(rows).replace("</sheetData>", '<row r="9"><c r="XFD9" s="1"/></row></sheetData>');
  const file = await read(
    workbook({ sheets: [sheetXml([["no"]]), styled], hidden: [0], sharedStrings: shared }),
    "a.xlsx",
  );
  t.strictSame(
    file.columns.map(({ column }) => column),
    ["PNR", "Surname", "First name", "Cabin", "DOB", "Phone", "PRM"],
  );
  t.strictSame(
    file.passengers,
    [
      {
        pnr: "K7QX2M",
        lastName: "Lovelace",
        firstName: "Ada",
        cabinClass: "ECONOMY",
        passengerType: "ADULT",
        specialRequirements: ["REDUCED_MOBILITY"],
        contact: { phone: "+12025550143" },
      },
    ],
    "the first sheet to be seen; results of formulas count",
  );
  t.match(file.errors, [
    { row: 3, column: "First name", detail: /formula whose result/ },
    { row: 4, column: "Surname", detail: /error in place/ },
    { row: 5, column: "Phone", detail: /names no country/ },
    { row: 6, column: "Surname", detail: /control characters/ },
  ]);
  const old = workbook({
    sheets: [
      sheetXml([
        ["PNR", "Surname", "DOB"],
        ["K7QX2M", "L", 41_000],
      ]),
    ],
    workbookPr: '<workbookPr date1904="1"/>',
  });
  t.equal(
    (await read(old)).passengers[0]?.passengerType,
    "CHILD",
    "days that count from 1904: 2016, not 2012",
  );
  const bare = workbook({
    sheets: [
      "<worksheet><sheetData><row><c t='inlineStr'><is><t>PNR</t></is></c><c t='inlineStr'><is><t>Surname</t></is></c></row><row><c t='inlineStr'><is><t>K7QX2M</t></is></c><c t='inlineStr'><is><t>L</t></is></c></row></sheetData></worksheet>",
    ],
  });
  t.equal((await read(bare)).passengers.length, 1, "places may be left out");
  const sheet = sheetXml([
    ["PNR", "Surname"],
    ["K7QX2M", "Núñez"],
  ]);
  const wide = stored(
    "xl/worksheets/sheet0.xml",
    encoded(sheet.replace("UTF-8", "UTF-16"), "utf-16le with its mark"),
  );
  t.match((await read(workbook({ sheets: [""], more: [wide] }))).passengers, [{ lastName: "Núñez" }]);
  const prefixed = sheetXml([
    ["PNR", "Surname"],
    ["K7QX2M", "L"],
  ])
    .replaceAll(/<(\/?)(?=[a-z])/g, "<$1x:")
    .replace("xmlns=", "xmlns:x=");
  t.equal((await read(workbook({ sheets: [prefixed] }))).passengers.length, 1, "and names may have a prefix");
  t.equal(
    (
      await read(
        workbookOf([
          ["PNR", "Surname"],
          ["K7QX2M", "'+Lovelace"],
        ]),
      )
    ).errorCount,
    1,
  );
});

t.test("what we write as text no spreadsheet runs", async (t) => {
  for (const start of ["=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
    t.match(csvOf([[`${start}cmd|' /C calc'!A1`]]), /^"'/, JSON.stringify(start));
  t.equal(csvOf([["Ada", "a=b", 'say "hi"', -3]]), '"Ada","a=b","say ""hi""",-3\r\n');
});
