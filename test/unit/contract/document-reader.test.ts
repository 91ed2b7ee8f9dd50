// Real documents read in a process of their own: text, scans, both; and a table of hostile ones, each refused with its reason
// within its time and memory.
import { deflateSync } from "node:zlib";
import { PDFName, PDFString } from "@cantoo/pdf-lib";
import sharp from "sharp";
import t from "tap";
import { DocumentReader, readingLimits } from "../../../actors/contract/document/reader.ts";
import type {
  DocumentMediaType,
  Extraction,
  ReadingOutcome,
  ReadingProgress,
} from "../../../schemas/contract-analysis.ts";
import { contractLines, newPdf, pdfOf, scannedPdf, scanOf } from "../../harness/contract-documents.ts";
import { takesLong } from "../../harness/patience.ts";

takesLong(t);
/** What stands in a document is the question here, not how busy the machine is. */
const reader = new DocumentReader({ ...readingLimits, documentMs: 60_000, pictureMs: 60_000 });
const hasty = new DocumentReader({ ...readingLimits, documentMs: 3000 });
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

t.test("a PDF with text", async (t) => {
  const extraction = extractionOf(await read(await pdfOf()));
  t.strictSame(extraction.draft, draft);
  t.equal(extraction.conditions.releaseDays, 2);
  t.strictSame(extraction.pagesRecognised, []);
  const name = extraction.found.find(({ pointer }) => pointer === "/draft/hotel/name");
  t.equal(name?.page, 1);
  t.ok(name !== undefined && name.box.x > 0.12 && name.box.x < 0.18, "its place, beside the label");
  t.ok(name !== undefined && name.box.y > 0.08 && name.box.y < 0.1, "the second line");
});

t.test(
  "scans: pictures, one of them turned by its camera, and pages of a PDF, one of them turned",
  async (t) => {
    const photograph = await sharp(scanOf(contractLines, { upsideDown: true, dotsPerInch: 300 }))
      .withMetadata({ orientation: 3 })
      .jpeg()
      .toBuffer();
    t.strictSame(extractionOf(await read(photograph, "image/jpeg")).draft, draft);
    const scan = extractionOf(await read(await sharp(scanOf()).tiff().toBuffer(), "image/tiff"));
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
  },
);

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
const formBomb = (): Buffer => {
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
};
/** A picture of 2,000 million dots in 2 MB. */
const pictureBomb = (): Buffer =>
  rawPdf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
    streamOf(Buffer.from("595 0 0 842 0 0 cm /X Do"), ""),
    streamOf(
      deflateSync(Buffer.alloc(100_000_000)),
      "/Type /XObject /Subtype /Image /Width 40000 /Height 50000 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode",
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

interface Hostile {
  bytes: () => Buffer | Promise<Buffer>;
  type?: DocumentMediaType;
  reasons: string[];
  /** It would take all of its time: here it has less. */
  impatient?: true;
}

const hostile: Record<string, Hostile> = {
  "locked with a password": { bytes: locked, reasons: ["ENCRYPTED"] },
  "cut off in the middle": {
    bytes: async () => (await pdfOf()).subarray(0, 700),
    reasons: ["BROKEN", "NO_TEXT"],
  },
  "no PDF but for its first bytes": {
    bytes: () => Buffer.from(`%PDF-1.7\n${"x".repeat(9000)}`),
    reasons: ["BROKEN"],
  },
  "a tree of pages that is its own branch": {
    bytes: () => rawPdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 3 >>"]),
    reasons: ["BROKEN", "NO_TEXT"],
  },
  "a million pages, it says": {
    bytes: () => rawPdf(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 1000000 >>"]),
    reasons: ["TOO_LONG", "BROKEN", "NO_TEXT"],
  },
  "61 pages": { bytes: () => many(61), reasons: ["TOO_LONG"] },
  "11 scans": {
    bytes: () =>
      scannedPdf(Array.from({ length: 11 }, () => ({ bytes: scanOf(["x"], { dotsPerInch: 30 }) }))),
    reasons: ["TOO_LONG"],
  },
  "a script": { bytes: withScript, reasons: ["ACTIVE_CONTENT"] },
  "a script that runs when it is opened": { bytes: withOpenAction, reasons: ["ACTIVE_CONTENT"] },
  "a program attached": { bytes: withAttachment, reasons: ["ACTIVE_CONTENT"] },
  "more words than memory": { bytes: wordBomb, reasons: ["TOO_LONG", "TOO_SLOW", "TOO_MUCH_MEMORY"] },
  "forms in forms in forms": {
    bytes: formBomb,
    reasons: ["TOO_LONG", "TOO_SLOW", "TOO_MUCH_MEMORY"],
    impatient: true,
  },
  "a picture of 2,000 million dots": { bytes: pictureBomb, reasons: ["NO_TEXT", "TOO_MUCH_MEMORY"] },
  "nothing on it": { bytes: () => pdfOf([[]]), reasons: ["NO_TEXT"] },
  "a PNG of 10,000 million dots": {
    bytes: () => hugePng(100_000, 100_000),
    type: "image/png",
    reasons: ["TOO_LARGE"],
  },
  "a PNG that has less than it says": {
    bytes: () => hugePng(2500, 3000),
    type: "image/png",
    reasons: ["BROKEN", "NO_TEXT"],
  },
  "a PNG of no size": { bytes: () => hugePng(0, 0), type: "image/png", reasons: ["BROKEN"] },
  "a JPEG without a picture": {
    bytes: () => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
    type: "image/jpeg",
    reasons: ["BROKEN"],
  },
  "a TIFF whose directory is itself": {
    bytes: () => Buffer.from("49492a000800000001000001030001000000ffff000008000000", "hex"),
    type: "image/tiff",
    reasons: ["BROKEN"],
  },
};

const megabytes = 1024 * 1024;
for (const [what, { bytes, type = "application/pdf", reasons, impatient }] of Object.entries(hostile))
  t.test(`refused: ${what}`, async (t) => {
    const file = await bytes();
    const memory = process.memoryUsage.rss();
    const outcome = await (impatient ? hasty : reader).read(file, type, () => {});
    t.ok("refusal" in outcome, JSON.stringify(outcome).slice(0, 200));
    if (!("refusal" in outcome)) return;
    t.ok(reasons.includes(outcome.refusal.reason), outcome.refusal.reason);
    t.ok(outcome.refusal.detail.length > 20, outcome.refusal.detail);
    t.ok(process.memoryUsage.rss() - memory < 40 * megabytes, "nothing of it stays here");
  });

t.test("limits hold whatever a document does, and the next one is read as if nothing had been", async (t) => {
  const strict = new DocumentReader({ ...readingLimits, documentMs: 1 });
  const poor = new DocumentReader({ ...readingLimits, documentBytes: 10 * megabytes });
  const pdf = await pdfOf();
  const [slow, large] = await Promise.all(
    [strict, poor].map((each) => each.read(pdf, "application/pdf", () => {})),
  );
  t.match(slow, { refusal: { reason: "TOO_SLOW" } });
  t.match(large, { refusal: { reason: "TOO_MUCH_MEMORY" } });
  const [refused, fine] = await Promise.all([read(Buffer.from("%PDF-1.7")), read(pdf)]);
  t.match(refused.outcome, { refusal: { reason: "BROKEN" } });
  t.strictSame(extractionOf(fine).draft, draft);
  const ended = new DocumentReader();
  const reading = ended.read(pdf, "application/pdf", () => {});
  const failing = t.rejects(reading, "what is stopped has no outcome");
  await ended.stop();
  await failing;
});
