// In a process of its own: the PDF's parser puts its own into what everybody shares.
// Documents that are refused on sight; real ones read in processes of their own, text, scans, both; bombs held to their time and
// memory; and processes that end with whoever asked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { PDFName, PDFString } from "@cantoo/pdf-lib";
import sharp from "sharp";
import t from "tap";
import { readPdf } from "../../../actors/contract/document/pdf.ts";
import { picturesOfFile } from "../../../actors/contract/document/picture-file.ts";
import { DocumentReader, readingLimits } from "../../../actors/contract/document/reader.ts";
import type {
  DocumentMediaType,
  DocumentRefusal,
  Extraction,
  ReadingOutcome,
  ReadingProgress,
} from "../../../schemas/contract-analysis.ts";
import { contractLines, newPdf, pdfOf, scannedPdf, scanOf } from "../../harness/contract-documents.ts";
import { eventually, takesLong } from "../../harness/patience.ts";
import { temporaryFolder } from "../../harness/processes.ts";

takesLong(t);
/** What stands in a document is the question here, not how busy the machine is. */
const reader = new DocumentReader({ ...readingLimits, documentMs: 60_000, pictureMs: 60_000 });
const hasty = new DocumentReader({ ...readingLimits, documentMs: 2000 });
t.teardown(() => reader.stop());

const read = async (
  bytes: Uint8Array,
  type: DocumentMediaType = "application/pdf",
): Promise<{ outcome: ReadingOutcome; told: ReadingProgress[] }> => {
  const told: ReadingProgress[] = [];
  const outcome = await reader.read(bytes, type, (progress) => told.push(progress));
  return { outcome, told };
};
const extractionOf = ({ outcome }: { outcome: ReadingOutcome }): Extraction => {
  if ("extraction" in outcome) return outcome.extraction;
  throw new Error(`it was refused: ${outcome.refusal.reason}, ${outcome.refusal.detail}`);
};

const draft: Extraction["draft"] = {
  hotel: { name: "Garden Court Lisboa", address: "Avenida da Liberdade 120, 1250-146 Lisboa" },
  airport: "LIS",
  validFrom: "2026-11-01",
  validUntil: "2027-04-01",
  rates: [{ from: "2026-11-01", until: "2027-04-01", nightlyRateMinor: 9550 }],
  currency: "EUR",
  maxOccupancy: 2,
  block: { roomsPerNight: 25 },
};

/** A PDF written by hand, for what no library would write. */
const rawPdf = (objects: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([
    Buffer.from("%PDF-1.7\n"),
    ...objects.flatMap((body, i) => [
      Buffer.from(`${i + 1} 0 obj\n`),
      Buffer.from(body as never),
      Buffer.from("\nendobj\n"),
    ]),
    Buffer.from("trailer\n<< /Root 1 0 R >>\n%%EOF"),
  ]);
const streamOf = (bytes: Buffer, entries: string): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${entries} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from("\nendstream"),
  ]);
const onePage = (content: Buffer, entries: string, resources = ""): Buffer =>
  rawPdf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << ${resources} >> >>`,
    streamOf(content, entries),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ]);
const font = "/Font << /F1 5 0 R >>";

const withScript = async (): Promise<Buffer> => {
  const pdf = await newPdf([contractLines]);
  pdf.addJavaScript("greet", "app.alert('hello')");
  return Buffer.from(await pdf.save());
};
const withOpenAction = async (): Promise<Buffer> => {
  const pdf = await newPdf([contractLines]);
  const action = { Type: "Action", S: "JavaScript", JS: PDFString.of("app.alert('hello')") };
  pdf.catalog.set(PDFName.of("OpenAction"), pdf.context.obj(action));
  return Buffer.from(await pdf.save());
};
const withAttachment = async (): Promise<Buffer> => {
  const pdf = await newPdf([contractLines]);
  await pdf.attach(Buffer.from("MZ"), "setup.exe", { mimeType: "application/octet-stream" });
  return Buffer.from(await pdf.save());
};
const locked = async (): Promise<Buffer> => {
  const pdf = await newPdf([contractLines]);
  pdf.encrypt({ userPassword: "open sesame", ownerPassword: "owner" });
  return Buffer.from(await pdf.save());
};
/** Two million words, one on the other, packed into 200 kB. */
const wordBomb = (): Buffer => {
  const text = Buffer.from(`BT /F1 12 Tf ${"1 0 0 1 50 400 Tm (room) Tj ".repeat(2_000_000)} ET`);
  return onePage(deflateSync(text), "/Filter /FlateDecode", font);
};
/** Each form shows the next one ten times: ten thousand million times the last. */
const formBomb = ((): Buffer => {
  const forms = Array.from({ length: 10 }, (_, i) => {
    const next = i === 9 ? "BT /F1 12 Tf (room) Tj ET" : "/X Do ".repeat(10);
    const resources = i === 9 ? "/Font << /F1 5 0 R >>" : `/XObject << /X ${i + 7} 0 R >>`;
    return streamOf(
      Buffer.from(next),
      `/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << ${resources} >>`,
    );
  });
  return rawPdf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>",
    streamOf(Buffer.from("/X Do"), ""),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...forms,
  ]);
})();
const endless = "9".repeat(400);
/** A picture of 25 million dots in three colours, in 70 kB. */
const pictureBomb = (): Buffer =>
  rawPdf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
    streamOf(Buffer.from("595 0 0 842 0 0 cm /X Do"), ""),
    streamOf(
      deflateSync(Buffer.alloc(75_000_000)),
      "/Type /XObject /Subtype /Image /Width 5000 /Height 5000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode",
    ),
  ]);
const hugePng = (width: number, height: number): Buffer => {
  const png = Buffer.from(scanOf(["x"], { dotsPerInch: 20 }));
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
};
const many = (pages: number): Promise<Buffer> =>
  pdfOf(Array.from({ length: pages }, (_, i) => [`Page ${i}, and some words on it`]));
const tiffOf = (pages: readonly Buffer[]): Promise<Buffer> =>
  sharp([...pages], { join: { animated: true } })
    .tiff()
    .toBuffer();
const tinyPages = (count: number): Buffer[] =>
  Array.from({ length: count }, () => scanOf(["x"], { dotsPerInch: 20 }));
/** @param place the matrix that puts a line of text somewhere */
const beside = (place: string): Buffer =>
  onePage(Buffer.from(`BT /F1 12 Tf ${place} (Hotel: Garden Court, where nobody sees it) Tj ET`), "", font);

type OnSight = [what: string, bytes: () => Buffer | Promise<Buffer>, reason: DocumentRefusal | "EMPTY"];

const pdfs: OnSight[] = [
  ["locked with a password", locked, "ENCRYPTED"],
  ["cut off in the middle", async () => (await pdfOf()).subarray(0, 700), "BROKEN"],
  ["no PDF but for its first bytes", () => Buffer.from(`%PDF-1.7\n${"x".repeat(9000)}`), "BROKEN"],
  [
    "a tree of pages that is its own branch",
    () => rawPdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 3 >>"]),
    "EMPTY",
  ],
  [
    "a million pages, it says",
    () => rawPdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 1000000 >>"]),
    "EMPTY",
  ],
  ["61 pages", () => many(61), "TOO_LONG"],
  [
    "11 scans",
    () => scannedPdf(Array.from({ length: 11 }, () => ({ bytes: scanOf(["x"], { dotsPerInch: 30 }) }))),
    "TOO_LONG",
  ],
  ["a script", withScript, "ACTIVE_CONTENT"],
  ["a script that runs when it is opened", withOpenAction, "ACTIVE_CONTENT"],
  ["a program attached", withAttachment, "ACTIVE_CONTENT"],
  ["nothing on it", () => pdfOf([[]]), "EMPTY"],
  ["words beside the page", () => beside("1 0 0 1 9000 400 Tm"), "EMPTY"],
  ["words at a place without an end", () => beside(`${endless} 0 0 1 50 400 Tm`), "EMPTY"],
];
const pictures: OnSight[] = [
  ["a PNG of 10,000 million dots", () => hugePng(100_000, 100_000), "TOO_LARGE"],
  ["a PNG that has less than it says", () => hugePng(2500, 3000), "BROKEN"],
  ["a PNG of no size", () => hugePng(0, 0), "BROKEN"],
  ["a JPEG without a picture", () => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), "BROKEN"],
  [
    "a TIFF whose directory is itself",
    () => Buffer.from("49492a000800000001000001030001000000ffff000008000000", "hex"),
    "BROKEN",
  ],
  ["a TIFF of 11 pages", () => tiffOf(tinyPages(11)), "TOO_LONG"],
];

t.test("refused on sight", async (t) => {
  // The library tells of the canvas that it isn't given.
  t.capture(console, "warn");
  const seen = async (work: Promise<{ pages: unknown[]; pictures: unknown[] }>): Promise<string> => {
    try {
      const { pages, pictures } = await work;
      return pages.length + pictures.length === 0 ? "EMPTY" : "READ";
    } catch (error) {
      const { reason, message } = error as { reason?: string; message: string };
      t.ok(message.length > 20, message);
      return String(reason);
    }
  };
  for (const [what, bytes, reason] of pdfs) t.equal(await seen(readPdf(await bytes())), reason, what);
  const opened = async (bytes: Buffer) => ({ pages: [], pictures: await picturesOfFile(bytes) });
  for (const [what, bytes, reason] of pictures) t.equal(await seen(opened(await bytes())), reason, what);
});

t.test("every page of a TIFF, no larger than recognition gains from", async (t) => {
  const found = await picturesOfFile(await tiffOf(tinyPages(3)));
  t.strictSame(
    found.map(({ page }) => page),
    [1, 2, 3],
  );
  const large = scanOf(["x"], { dotsPerInch: 300 });
  const [picture] = await picturesOfFile(large);
  const [, width, height] = /^P5\n(\d+) (\d+)\n/.exec(inflateSync(picture!.bytes).toString("latin1", 0, 20))!;
  const dots = Number(width) * Number(height);
  t.ok(dots > 4_000_000 && dots < 4_300_000, `${dots} of 8.7 million dots`);
});

t.test("scans: a picture turned by its camera, and pages of a PDF, one of them turned", async (t) => {
  const photograph = await sharp(scanOf(contractLines, { upsideDown: true }))
    .withMetadata({ orientation: 3 })
    .jpeg()
    .toBuffer();
  const scan = extractionOf(await read(photograph, "image/jpeg"));
  t.strictSame(scan.draft, draft);
  t.strictSame(scan.pagesRecognised, [1]);
  t.ok(scan.found.every(({ confidence }) => confidence < 0.98));

  const lines = [contractLines.slice(0, 4), contractLines.slice(4)] as const;
  const pages = await scannedPdf([
    { bytes: scanOf(lines[0], { type: "image/jpeg" }) },
    { bytes: scanOf(lines[1], { upsideDown: true }), turned: true },
  ]);
  const { outcome, told } = await read(pages);
  const both = extractionOf({ outcome });
  t.strictSame(both.draft, draft);
  t.strictSame(both.pagesRecognised, [1, 2]);
  t.strictSame(told, [
    { pages: 2, pagesRead: 1 },
    { pages: 2, pagesRead: 2 },
  ]);
  t.equal(both.found.find(({ pointer }) => pointer === "/draft/block/roomsPerNight")?.page, 2);
});

const megabytes = 1024 * 1024;

t.test("bombs are held to their limits, and a PDF with text is read as if nothing had been", async (t) => {
  const bombs: [what: string, bytes: Buffer, by: DocumentReader, reason: RegExp][] = [
    ["more words than memory", wordBomb(), reader, /^(TOO_LONG|TOO_MUCH_MEMORY)$/],
    ["forms in forms in forms", formBomb, hasty, /^TOO_SLOW$/],
    ["a picture of more dots than memory", pictureBomb(), reader, /^NO_TEXT$/],
  ];
  const reading = bombs.map(async ([what, bytes, by, reason]) => {
    t.match(
      await by.read(bytes, "application/pdf", () => {}),
      { refusal: { reason, detail: /.{20}/ } },
      what,
    );
  });
  const memory = process.memoryUsage.rss();
  const extraction = extractionOf(await read(await pdfOf()));
  await Promise.all(reading);
  t.ok(process.memoryUsage.rss() - memory < 40 * megabytes, "nothing of it stays here");
  t.strictSame(extraction.draft, draft);
  t.equal(extraction.conditions.releaseDays, 2);
  t.strictSame(extraction.pagesRecognised, []);
  const name = extraction.found.find(({ pointer }) => pointer === "/draft/hotel/name");
  t.equal(name?.page, 1);
  t.ok(name !== undefined && name.box.x > 0.12 && name.box.x < 0.18, "its place, beside the label");
  t.ok(name !== undefined && name.box.y > 0.08 && name.box.y < 0.1, "the second line");
});

t.test("limits hold whatever a document does; what is stopped has no outcome", async (t) => {
  const strict = new DocumentReader({ ...readingLimits, documentMs: 1 });
  const poor = new DocumentReader({ ...readingLimits, documentBytes: 10 * megabytes });
  const ended = new DocumentReader();
  const pdf = await pdfOf();
  const reading = (by: DocumentReader) => by.read(pdf, "application/pdf", () => {});
  const [slow, large] = [reading(strict), reading(poor)];
  const failing = t.rejects(reading(ended), /SIGKILL/);
  await ended.stop();
  await failing;
  t.match(await slow, { refusal: { reason: "TOO_SLOW" } });
  t.match(await large, { refusal: { reason: "TOO_MUCH_MEMORY" } });
});

/** Processes that read documents for another one, by what they were started with. */
const readersFor = (asker: number | undefined): string[] =>
  readdirSync("/proc").filter((entry) => {
    try {
      const line = readFileSync(`/proc/${entry}/cmdline`, "utf8");
      return line.endsWith(`/actors/contract/document/main.ts\0${asker}\0`);
    } catch {
      // No process, or one that has just ended.
      return false;
    }
  });

t.test("whoever asked dies: so does the process, however deep in a document it is", async (t) => {
  // Recognition comes up for air after each picture; these take it many seconds.
  const dense = scanOf(Array.from({ length: 30 }, () => contractLines.join(" ").slice(0, 90)));
  const pages = [scanOf(["Hotel: Garden Court"]), ...Array.from({ length: 6 }, () => dense)];
  const file = join(temporaryFolder(t), "scans.tiff");
  writeFileSync(file, await tiffOf(pages));
  const asking = `
    import { readFileSync } from "node:fs";
    const { DocumentReader } = await import(${JSON.stringify(import.meta.resolve("../../../actors/contract/document/reader.ts"))});
    const bytes = readFileSync(${JSON.stringify(file)});
    await new DocumentReader().read(bytes, "image/tiff", () => process.stdout.write("a page"));`;
  const args = ["--input-type=module", "-e", asking];
  const asker = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => {
    for (const left of readersFor(asker.pid)) process.kill(Number(left), "SIGKILL");
  });
  const died = once(asker, "exit");
  await once(asker.stdout, "data");
  t.equal(readersFor(asker.pid).length, 1);
  asker.kill("SIGKILL");
  await died;
  await eventually("it has ended", async () => readersFor(asker.pid).at(0), 6000);
});

t.test(
  "airlines take turns: who hands in many keeps nobody waiting; a failure passes the turn on",
  async (t) => {
    const taken: string[] = [];
    const take = (tenant: string, name: string) =>
      reader.inTurn(tenant, async () => {
        taken.push(name);
        if (name === "XN 2") throw new Error("its process has ended");
      });
    const ends = await Promise.allSettled([
      ...["XN 1", "XN 2", "XN 3", "XN 4"].map((name) => take("XN", name)),
      ...["QZ 1", "QZ 2"].map((name) => take("QZ", name)),
      take("YY", "YY 1"),
    ]);
    t.strictSame(taken, ["XN 1", "XN 2", "QZ 1", "YY 1", "XN 3", "QZ 2", "XN 4"]);
    t.equal(ends.filter(({ status }) => status === "rejected").length, 1);
  },
);
