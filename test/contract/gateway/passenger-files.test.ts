/** Owns the tests of passengers who come in a spreadsheet: the form, what reaches the case, what is told of wrong rows, and the empty table to fill in. */
import t from "tap";
import type { Command } from "../../../schemas/command.ts";
import type { ManifestAmended } from "../../../schemas/partner-manifest.ts";
import type { AddPassengers } from "../../../schemas/passenger-file.ts";
import { Problem } from "../../../schemas/problems.ts";
import { type Form, fileForm, formOf } from "../../harness/forms.ts";
import { repeated, rowsXml, sheetEnd, sheetStart, workbook, workbookOf } from "../../harness/workbooks.ts";
import { bearer, operatorToken, startTestGateway, ulid } from "./fixture.ts";

const MiB = 1024 * 1024;
const name = "case.add-passengers";
const caseUrn = `urn:case:XN-${ulid}`;
const path = `/cases/${caseUrn}/passengers:bulk`;
const staged: Command[] = [];
const gateway = await startTestGateway({}, [], {
  stage: async (command) => {
    staged.push(command);
    return { ...command, data: {}, staged: { stagedId: "s", pieces: 1 } };
  },
});
t.teardown(() => gateway.close());
const token = await operatorToken(gateway, "OPS_SUPERVISOR");

const amended = (passengersAdded: number): ManifestAmended => ({
  caseUrn,
  decidedAt: "2026-11-22T10:00:00Z",
  passengersAdded,
  passengersKnown: 0,
  groupsAdded: 1,
  groupsJoined: 0,
  subCaseCount: 2,
  correlationUrn: `urn:correlation:${ulid}`,
});
gateway.act(name, ({ data }) => ({
  ok: amended((data as Partial<AddPassengers>).passengers?.length ?? -1),
  version: 7,
}));

const send = ({ raw, headers }: Form, more: Record<string, string> = {}, at = `/v1${path}`) =>
  gateway.ask(at, { method: "POST", body: raw, headers: { ...bearer(token), ...headers, ...more } });
const refused = async (
  form: Form,
  code: string,
  more = {},
): Promise<{ detail: string; errors: object[] }> => {
  const answer = await send(form, more);
  t.match(answer.json, { type: `${gateway.config.ERRORS_BASE}/${code}` }, answer.text.slice(0, 300));
  return answer.json;
};
const last = (): Command<AddPassengers> => gateway.received.at(-1)?.envelope as Command<AddPassengers>;
const good = "PNR,Surname,Seat\nK7QX2M,Lovelace,3A\n";
const mixed = "PNR;Surname;E-mail\nK7QX2M;Lovelace;ada@example.com\nK7QX2N;Hopper;grace@\n";

t.test("what reaches the case", async (t) => {
  const book = workbookOf([
    ["PNR", "Surname", "Seat"],
    ["K7QX2M", "Lovelace", "3A"],
  ]);
  for (const [format, content, at, ifMatch] of [
    ["csv", Buffer.from(good), path],
    ["csv", Buffer.from(good), `/v1${path}`, '"6"'],
    ["xlsx", book, `/v1${path.replace("urn:", "urn:stopover:")}`],
  ] as const) {
    const form = fileForm(content, `C:\\list.${format}`);
    const answer = await send(form, ifMatch === undefined ? {} : { "If-Match": ifMatch }, at);
    t.equal(answer.status, 202, answer.text);
    t.equal(answer.headers.etag, '"7"');
    t.match(last(), { name, tenant: "XN", entity: `XN-${ulid}`, principal: { surface: "operator" } });
    t.equal(last().expectedVersion, ifMatch === undefined ? undefined : 6);
    t.strictSame(last().data.passengers, [{ pnr: "K7QX2M", lastName: "Lovelace" }]);
    t.match(last().data.file, {
      sha256: /^[0-9a-f]{64}$/,
      format,
      bytes: content.length,
      rows: 1,
      rowsRefused: 0,
    });
    t.match(answer.json, {
      caseUrn,
      format,
      rows: 1,
      passengersAdded: 1,
      columnsIgnored: ["Seat"],
      errors: [],
    });
    t.strictSame(answer.json.columns, [
      { column: "PNR", field: "pnr" },
      { column: "Surname", field: "lastName" },
    ]);
  }
  t.notMatch(JSON.stringify(gateway.logged), /Lovelace|K7QX2M/);
});

t.test("wrong rows: nobody, or all others", async (t) => {
  const wrong = [{ row: 3, column: "E-mail", pointer: "/file/3/email", detail: "is no e-mail address" }];
  gateway.received.length = 0;
  for (const form of [fileForm(mixed), fileForm(mixed, "a.csv", { mode: "all" })]) {
    const problem = await refused(form, "validation/body");
    t.strictSame(problem.errors, wrong);
    t.match(problem.detail, /1 of 2 rows are wrong, in 1 cells; nobody was taken/);
  }
  t.strictSame(gateway.received, [], "the case hears nothing of it");
  const { json, status } = await send(fileForm(mixed, "a.csv", { mode: "report" }));
  t.equal(status, 202);
  t.match(json, { rows: 2, rowsRefused: 1, passengersAdded: 1, errorCount: 1, errors: wrong });
  t.match(last().data.file, { rows: 2, rowsRefused: 1 });
  await refused(fileForm(mixed.replace("ada@", "ada"), "a.csv", { mode: "report" }), "validation/body");
  await refused(fileForm(good, "a.csv", { mode: "some" }), "validation/body");
});

t.test("forms that are none", async (t) => {
  const json = { raw: Buffer.from("{}"), headers: { "Content-Type": "application/json" } };
  await refused(json, "validation/media-type");
  await refused({ ...json, headers: { "Content-Type": "" } }, "validation/media-type");
  await refused({ ...json, headers: { "Content-Type": "multipart/form-data" } }, "validation/media-type");
  await refused(
    { ...json, headers: { "Content-Type": "multipart/form-data; boundary=x" } },
    "validation/malformed",
  );
  await refused(fileForm(good), "validation/media-type", { "Content-Encoding": "gzip" });
  const whole = fileForm(good);
  await refused({ ...whole, raw: whole.raw.subarray(0, -20) }, "validation/malformed");
  await refused({ ...whole, raw: Buffer.alloc(0) }, "validation/malformed");
  for (const [what, form] of [
    ["no file", formOf([{ name: "mode", content: "all" }])],
    ["a file of another name", formOf([{ name: "files", content: good, fileName: "a.csv" }])],
    ["a text in its place", formOf([{ name: "file", content: good }])],
    ["several files", formOf([1, 2].map((i) => ({ name: "file", content: good, fileName: `${i}.csv` })))],
  ] as const)
    t.match((await refused(form, "validation/body")).errors, [{ pointer: "/file" }], what);
  const twice = formOf([
    { name: "mode", content: "all" },
    { name: "mode", content: "report" },
    { name: "file", content: good, fileName: "a.csv" },
  ]);
  t.match((await refused(twice, "validation/body")).errors, [{ pointer: "/mode", detail: "is given twice" }]);
  await refused(fileForm(good, "a.csv", { mode: "x".repeat(2000) }), "validation/body");
  await refused(
    formOf(Array.from({ length: 50 }, (_, i) => ({ name: `a${i}`, content: "" }))),
    "validation/too-large",
  );
  const unknown = fileForm(good, "a.csv", { __proto__x: "1", comment: "for the night shift" });
  t.equal((await send(unknown)).status, 202, "what is not known is left behind");
  await refused(fileForm(good, "a.xlsx"), "validation/media-type");
});

t.test("sizes", async (t) => {
  const filled = (bytes: number): string => good + "\n".repeat(bytes - good.length);
  t.equal((await send(fileForm(filled(10 * MiB)))).status, 202);
  await refused(fileForm(filled(10 * MiB + 1)), "validation/too-large");
  await refused(fileForm(filled(11 * MiB)), "validation/too-large");
  const { raw, headers } = fileForm(filled(10 * MiB + 1));
  await refused({ raw, headers }, "validation/too-large", { "Transfer-Encoding": "chunked" });
  const rows = (count: number): string =>
    `PNR,Surname,E-mail\n${Array.from({ length: count }, (_, i) => `P${String(i).padStart(5, "0")},Lovelace,a${i}@example.com`).join("\n")}`;
  staged.length = 0;
  const begun = performance.now();
  t.equal((await send(fileForm(rows(5000)))).status, 202);
  t.comment(`5,000 rows: ${Math.round(performance.now() - begun)} ms`);
  t.equal(
    (staged.at(0)?.data as AddPassengers | undefined)?.passengers.length,
    5000,
    "too many for a message",
  );
});

t.test("a key names a file, whatever parts it from the rest of the form", async (t) => {
  const key = { "Idempotency-Key": "night of the snow" };
  const boundary = (name: string, content = good, mode = "all") =>
    formOf(
      [
        { name: "mode", content: mode },
        { name: "file", content, fileName: "a.csv" },
      ],
      name,
    );
  gateway.received.length = 0;
  const first = await send(boundary("one"), key);
  const again = await send(boundary("two"), key);
  t.equal(again.headers["idempotency-replayed"], "true");
  t.strictSame(again.json, first.json);
  t.equal(gateway.received.length, 1);
  for (const other of [boundary("one", `${good}K7QX2N,Hopper,\n`), boundary("one", good, "report")])
    await refused(other, "idempotency/payload-differs", key);
});

t.test("who may, and what the case refuses", async (t) => {
  const form = fileForm(good);
  const as = async (role: "AIRPORT_OPERATOR" | "FINANCE_AUDIT") =>
    (await send(form, bearer(await operatorToken(gateway, role)))).json.type;
  t.match(await as("AIRPORT_OPERATOR"), /auth\/insufficient-role$/);
  t.match(await as("FINANCE_AUDIT"), /auth\/insufficient-role$/);
  const foreign = await send(form, {}, path.replace("XN-", "YB-"));
  t.match(foreign.json.type, /auth\/foreign-tenant$/);
  gateway.act(name, () => ({ problem: new Problem("auth/foreign-airport", "No.").record() }));
  await refused(form, "auth/foreign-airport");
  gateway.act(name, () => ({ ok: amended(1), version: 7 }));
});

t.test("others are served while a hostile file is read", async (t) => {
  const sheet = repeated(
    "xl/worksheets/sheet0.xml",
    sheetStart + rowsXml([["PNR", "Surname"]]),
    "<row><c t='inlineStr'><is><t>x</t></is></c></row>",
    200_000,
    sheetEnd,
  );
  const form = fileForm(workbook({ sheets: [""], more: [sheet] }), "a.xlsx");
  let isRead = false;
  const reading = send(form).then((answer) => {
    isRead = true;
    return answer;
  });
  const took: number[] = [];
  while (!isRead) {
    const begun = performance.now();
    t.equal((await gateway.ask("/v1/cases", { headers: bearer(token) })).status, 200);
    took.push(performance.now() - begun);
  }
  t.equal((await reading).status, 413);
  t.ok(took.length > 5, `${took.length} other requests`);
  const median = took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? 0;
  t.ok(median < 100, `half of them within ${median.toFixed(1)} ms`);
});

t.test("the empty table", async (t) => {
  const get = (ending: string) =>
    gateway.ask(`/v1/cases/passengers:bulk-template.${ending}`, { headers: bearer(token) });
  const text = await get("csv?language=fr");
  t.equal(text.status, 200);
  t.match(text.headers, {
    "content-type": /^text\/csv/,
    "content-disposition": 'attachment; filename="passengers-fr.csv"',
  });
  t.match(text.text, /^\ufeff"Référence de réservation","Nom de famille","Prénom",/);
  const book = await get("xlsx");
  t.equal(book.headers["content-type"], "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
  t.match(book.text, /^PK/);
  t.match((await get("csv?language=xx")).json.type, /validation\/query$/);
});
