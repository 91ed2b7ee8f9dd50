// What a file of passengers is read as: headers in five languages, what cells may hold, and each wrong row told.
import t from "tap";
import type { CheckedRequest } from "../../../gateway/dispatch.ts";
import { showPassengerTemplate } from "../../../gateway/handlers/show-passenger-template.ts";
import { fieldOf, fields, templateColumns } from "../../../gateway/passenger-file/headers.ts";
import { readPassengerFile } from "../../../gateway/passenger-file/read.ts";
import { Problem } from "../../../schemas/problems.ts";
import { languages } from "../../../schemas/vocabulary.ts";

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

const minimal = (rest: string) => `PNR,Last name${rest === "" ? "" : ","}${rest}\n`;
const firstOf = async (header: string, cell: string) => {
  const file = await read(`PNR;Surname;${header}\nK7QX2M;Lovelace;"${cell.replaceAll('"', '""')}"\n`);
  return { passenger: file.passengers[0], fault: file.errors[0]?.detail };
};

t.test("every language's template is read back, empty and filled in", async (t) => {
  const template = async (produces: string, language: string) => {
    const request = { route: { produces, success: 200, headers: [] }, query: { language } };
    return showPassengerTemplate(request as unknown as CheckedRequest);
  };
  const sheet = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
  for (const language of languages) {
    const text = (await template("text/csv", language)).body as string;
    const book = Buffer.from((await template(sheet, language)).body as Buffer);
    t.match(await refusalOf(read(text)), { detail: /has no passengers/ }, language);
    t.match(await refusalOf(read(book, "x.xlsx")), { detail: /has no passengers/ }, language);
    const row = [
      "K7 QX-2M",
      "Núñez",
      "Ada",
      "business",
      "gold",
      "ADT",
      "WCHR/vgml",
      "ada@example.com",
      "+1 (202) 555-0143",
      "PT",
    ];
    const file = await read(`${text.trim()}\n${row.map((cell) => `"${cell}"`).join(",")}`);
    t.strictSame(file.columnsIgnored, []);
    t.strictSame(
      file.columns.map(({ field }) => field),
      templateColumns.map(({ field }) => field),
    );
    t.strictSame(file.passengers, [
      {
        pnr: "K7QX2M",
        lastName: "Núñez",
        firstName: "Ada",
        cabinClass: "BUSINESS",
        loyaltyTier: "GOLD",
        passengerType: "ADULT",
        specialRequirements: ["WCHR", "vgml"],
        contact: { email: "ada@example.com", phone: "+12025550143", language: "PT" },
      },
    ]);
  }
});

t.test("headers", async (t) => {
  for (const [header, field] of [
    ["pnr", "pnr"],
    ["Record-Locator", "pnr"],
    ["  RECORD  LOCATOR * ", "pnr"],
    ["Código de reserva", "pnr"],
    ["CODIGO_DE_RESERVA", "pnr"],
    ["Nº de réservation", undefined],
    ["Numéro de réservation", "pnr"],
    ["Buchungs-Nr.", undefined],
    ["Buchungscode (6-stellig)", "pnr"],
    ["Apellidos", "lastName"],
    ["Apellido 1", "lastName"],
    ["Apelido", "lastName"],
    ["Nom de famille", "lastName"],
    ["Familienname [Pflicht]", "lastName"],
    ["Prénom", "firstName"],
    ["Vorname", "firstName"],
    ["Clase", "cabinClass"],
    ["Beförderungsklasse", "cabinClass"],
    ["Fecha de nacimiento", "birthDate"],
    ["Rollstuhl", "wheelchair"],
    ["PRM", "reducedMobility"],
    ["Telemóvel", "phone"],
    ["Téléphone", "phone"],
    ["e_mail", "email"],
    ["Sprache", "language"],
    ["Seat", undefined],
    ["Status", undefined],
    ["", undefined],
  ] as const)
    t.equal(fieldOf(header), field, header);
  for (const field of fields) t.equal(fieldOf(field), field, "our own names are read, too");
});

t.test("one word for a name is what the columns beside it leave over", async (t) => {
  const one = async (header: string, row: string) =>
    (await read(`PNR;${header}\nK7QX2M;${row}\n`)).passengers[0];
  t.match(await one("Name;Vorname", "Lovelace;Ada"), { lastName: "Lovelace", firstName: "Ada" });
  t.match(await one("Nom;Prénom", "Lovelace;Ada"), { lastName: "Lovelace", firstName: "Ada" });
  t.match(await one("Nombre;Apellidos", "Ada;Lovelace"), { lastName: "Lovelace", firstName: "Ada" });
  t.match(await one("Nome;Sobrenome", "Ada;Lovelace"), { lastName: "Lovelace", firstName: "Ada" });
  t.match(await one("Name", "LOVELACE/ADA MRS"), { lastName: "LOVELACE", firstName: "ADA" });
  t.match(await one("Passenger name", "Lovelace, Ada"), { lastName: "Lovelace", firstName: "Ada" });
  t.match(await one("Full name;Last name;First name", "X;Lovelace;Ada"), {
    lastName: "Lovelace",
    firstName: "Ada",
  });
  const { errors } = await read("PNR;Name\nK7QX2M;Ada Lovelace\n");
  t.match(errors, [{ row: 2, column: "Name", pointer: "/file/2/fullName", detail: /LAST\/FIRST/ }]);
});

t.test("files whose headers leave something open", async (t) => {
  for (const [text, detail] of [
    ["", /is empty/],
    ["\n \n;;\n", /is empty/],
    ["Ada;Lovelace\nGrace;Hopper\n", /no row of headers/],
    ["PNR,First name\nK7QX2M,Ada\n", /no column for the last name/],
    ["Surname\nLovelace\n", /no column for the booking reference/],
    ["Cabin\nY\n", /booking reference.*and none for the last name/],
    ["PNR,Locator,Surname\na,b,c\n", /two columns for the same: PNR and Locator/],
    ["PNR,Surname,Phone,Mobile\na,b,c,d\n", /two columns for the same: Phone and Mobile/],
    [minimal(""), /no passengers below/],
  ] as const)
    t.match(await refusalOf(read(text)), { code: "validation/body", detail }, JSON.stringify(text));
  const titled = await read(
    "Manifest of XN123;;\n;;\nDate;22.11.2026;\nPNR;Surname;Seat\nK7QX2M;Lovelace;3A\n",
  );
  t.match(titled, { rows: 1, columnsIgnored: ["Seat"], errorCount: 0 });
  t.same(titled.passengers, [{ pnr: "K7QX2M", lastName: "Lovelace" }], "titles above, and columns of no use");
  const needs = await read("PNR;Surname;SSR;Assistance\nK7QX2M;Lovelace;WCHR;DEAF\n");
  t.same(needs.passengers[0]?.specialRequirements, ["WCHR", "HEARING"], "needs may stand in several");
});

t.test("cells", async (t) => {
  for (const [header, cell, expected] of [
    ["Cabin", "Y", { cabinClass: "ECONOMY" }],
    ["Cabin", "premium economy", { cabinClass: "PREMIUM_ECONOMY" }],
    ["Cabin", "PREMIUM-ECONOMY", { cabinClass: "PREMIUM_ECONOMY" }],
    ["Cabin", "Première", { cabinClass: "FIRST" }],
    ["Cabin", "Ejecutiva", { cabinClass: "BUSINESS" }],
    ["Cabin", "econômica", { cabinClass: "ECONOMY" }],
    ["Cabin", "Geschäftsklasse", { cabinClass: "BUSINESS" }],
    ["Cabin", "Rear", /is no cabin/],
    ["Tier", "oro", { loyaltyTier: "GOLD" }],
    ["Tier", "Senator", { loyaltyTier: "SENATOR" }],
    ["Type", "CHD", { passengerType: "CHILD" }],
    ["Type", "bebé", { passengerType: "INFANT" }],
    ["Type", "dog", /is no type/],
    ["First name", "Jean-Luc d’Arc", { firstName: "Jean-Luc d’Arc" }],
    ["First name", "  Ada \t Augusta ", { firstName: "Ada Augusta" }],
    ["First name", "Nun\u0303ez", { firstName: "Nu\u00f1ez" }],
    ["First name", "محمد", { firstName: "محمد" }],
    ["First name", "=HYPERLINK(1)", /is no name/],
    ["First name", "+1", /is no name/],
    ["First name", "A".repeat(101), /longer than 100/],
    ["Phone", "+12025550143", { contact: { phone: "+12025550143" } }],
    ["Phone", "'+49 (0)30 901820", { contact: { phone: "+4930901820" } }],
    ["Phone", "00351 21 123 4567", { contact: { phone: "+351211234567" } }],
    ["Phone", "2025550143", /names no country/],
    ["Phone", "+1", /is no telephone/],
    ["Phone", "+12025550143999999", /is no telephone/],
    ["E-mail", "Ada.L+x@Example.com", { contact: { email: "Ada.L+x@Example.com" } }],
    ["E-mail", "mailto:ada@example.com", { contact: { email: "ada@example.com" } }],
    ["E-mail", "ada@example", /is no e-mail/],
    ["E-mail", "a@b.com, c@d.com", /is no e-mail/],
    ["Language", "Deutsch", { contact: { language: "de" } }],
    ["Language", "pt_BR", { contact: { language: "pt-BR" } }],
    ["Language", "the one we speak", /is no language/],
    ["Wheelchair", "x", { specialRequirements: ["WHEELCHAIR"] }],
    ["Wheelchair", "WCHC", { specialRequirements: ["WCHC"] }],
    ["Wheelchair", "nein", { specialRequirements: undefined }],
    ["Wheelchair", "perhaps", /neither yes nor no/],
    ["Babybett", "ja", { specialRequirements: ["INFANT_COT"] }],
    ["SSR", "silla de ruedas; WCHR, VGML", { specialRequirements: ["WHEELCHAIR", "WCHR", "VGML"] }],
    ["SSR", "none", { specialRequirements: undefined }],
    ["SSR", "A".repeat(41), /more than 40/],
    ["SSR", "A,".repeat(41), /more than 40 needs/],
    ["SSR", Array.from({ length: 21 }, (_, i) => `N${i}`).join(), /more than 20 needs/],
    ["DOB", "1990-12-31", { passengerType: "ADULT" }],
    ["DOB", "19901231", { passengerType: "ADULT" }],
    ["DOB", "31.12.2018", { passengerType: "CHILD" }],
    ["DOB", "22/11/2014", { passengerType: "ADULT" }],
    ["DOB", "11/23/2014", { passengerType: "CHILD" }],
    ["DOB", "05/05/2025", { passengerType: "INFANT" }],
    ["DOB", "3 août 2025", { passengerType: "INFANT" }],
    ["DOB", "14 de marzo de 1980", { passengerType: "ADULT" }],
    ["DOB", "12NOV1990", { passengerType: "ADULT" }],
    ["DOB", "Dec. 31st, 2018", { passengerType: "CHILD" }],
    ["DOB", "February 30, 1990", /is no day/],
    ["DOB", "03/04/1990", /could be two/],
    ["DOB", "31.02.1990", /is no day/],
    ["DOB", "01/02/90", /is no day/],
    ["DOB", "2027-01-01", /anybody/],
    ["DOB", "1850-01-01", /anybody/],
  ] as const) {
    const { passenger, fault } = await firstOf(header, cell);
    if (expected instanceof RegExp) t.match(fault, expected, `${header}: ${cell}`);
    else t.match(passenger, expected, `${header}: ${cell} (${fault})`);
  }
  const typed = await read("PNR;Surname;Type;DOB\nK7QX2M;Lovelace;INF;1990-12-31\n");
  t.equal(
    typed.passengers[0]?.passengerType,
    "INFANT",
    "what is said counts more than what follows from a day",
  );
});

t.test("rows", async (t) => {
  const text = [
    "PNR;Surname;First name;E-mail;Cabin",
    "K7QX2M;Lovelace;Ada;ada@example.com;Y",
    "",
    ";Hopper;Grace;;Y",
    "K7QX2M;;Grace;grace@;Z",
    "!;Turing;Alan;;Y",
    "K7QX2M;Lovelace;Ada;ada@example.com;Y",
    "k7-qx 2m;Lovelace;Ada;other@example.com;Y",
    "ABCDEF;Noether;Emmy;;Y;beyond",
    ";;;;",
  ].join("\n");
  const file = await read(text);
  t.match(file, { rows: 7, rowsRefused: 5, errorCount: 7 });
  t.strictSame(file.errors, [
    { row: 4, column: "PNR", pointer: "/file/4/pnr", detail: "is required" },
    { row: 5, column: "E-mail", pointer: "/file/5/email", detail: "is no e-mail address" },
    {
      row: 5,
      column: "Cabin",
      pointer: "/file/5/cabinClass",
      detail: "is no cabin: write ECONOMY, PREMIUM_ECONOMY, BUSINESS, FIRST or CREW",
    },
    { row: 5, column: "Surname", pointer: "/file/5/lastName", detail: "is required" },
    { row: 6, column: "PNR", pointer: "/file/6/pnr", detail: "is no booking reference" },
    { row: 7, column: "PNR", pointer: "/file/7/pnr", detail: "is row 2 again, in every column" },
    {
      row: 9,
      column: "6",
      pointer: "/file/9/row",
      detail: "stands beyond the last header: quote texts that hold a separator",
    },
  ]);
  t.strictSame(
    file.passengers.map(({ pnr, contact }) => [pnr, contact?.email]),
    [
      ["K7QX2M", "ada@example.com"],
      ["K7QX2M", "other@example.com"],
    ],
    "two of one name are two when anything tells them apart",
  );
  const crowd = Array.from(
    { length: 151 },
    (_, i) => `K7QX2M;L;A${"x".repeat(1 + (i % 90))};a${i}@example.com;Y`,
  );
  const booking = await read([text.split("\n")[0], ...crowd].join("\n"));
  t.match(booking, {
    rows: 151,
    errorCount: 1,
    errors: [{ row: 152, detail: "is a booking of more than 150" }],
  });
  const many = await read(`PNR;Surname\n${"!;?\n".repeat(300)}`);
  t.match(many, { rows: 300, rowsRefused: 300, errorCount: 600 });
  t.equal(many.errors.length, 100, "so many are told");
  const row = (i: number) => `P${i.toString().padStart(5, "0")};Lovelace\n`;
  const rows = Array.from({ length: 5000 }, (_, i) => row(i)).join("");
  t.equal((await read(`PNR;Surname\n${rows}`)).passengers.length, 5000);
  t.match(await refusalOf(read(`PNR;Surname\n${rows}${row(5000)}`)), {
    code: "validation/too-large",
    detail: /5000/,
  });
});
