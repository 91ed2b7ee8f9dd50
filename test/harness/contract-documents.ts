// Contract documents as airlines get them: a PDF of lines, and the same drawn and scanned.
import { fileURLToPath } from "node:url";
import { PDFDocument, StandardFonts } from "@cantoo/pdf-lib";
import { createCanvas, GlobalFonts } from "@napi-rs/canvas";

const a4 = { width: 595, height: 842 };
const margin = 50;
const lineHeight = 24;
const fontSize = 12;

export const contractLines = [
  "ROOM ALLOTMENT AGREEMENT",
  "Hotel: Garden Court Lisboa",
  "Address: Avenida da Liberdade 120, 1250-146 Lisboa",
  "Airport: Lisbon Airport (LIS)",
  "Validity: from 1 November 2026 to 31 March 2027",
  "Rate: EUR 95.50 per double room and night",
  "Allotment: 25 rooms per night",
  "Release period: 2 days before arrival",
  "Cancellation: free of charge until 18:00 on the day of arrival.",
];

export const newPdf = async (pages: readonly (readonly string[])[]): Promise<PDFDocument> => {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const lines of pages) {
    const page = pdf.addPage([a4.width, a4.height]);
    for (const [i, text] of lines.entries())
      page.drawText(text, { x: margin, y: a4.height - 60 - i * lineHeight, size: fontSize, font });
  }
  return pdf;
};

export const pdfOf = async (pages: readonly (readonly string[])[] = [contractLines]): Promise<Buffer> =>
  Buffer.from(await (await newPdf(pages)).save());

const typeface = "Liberation Sans";
GlobalFonts.registerFromPath(
  fileURLToPath(
    new URL("./standard_fonts/LiberationSans-Regular.ttf", import.meta.resolve("pdfjs-dist/package.json")),
  ),
  typeface,
);

/** A sheet of A4. @param dotsPerInch of the scanner */
export const scanOf = (
  lines: readonly string[] = contractLines,
  { type = "image/png" as "image/png" | "image/jpeg", dotsPerInch = 150, upsideDown = false } = {},
): Buffer => {
  const scale = dotsPerInch / 72;
  const canvas = createCanvas(Math.round(a4.width * scale), Math.round(a4.height * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = "#f4f2ee";
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (upsideDown) {
    context.translate(canvas.width, canvas.height);
    context.rotate(Math.PI);
  }
  context.fillStyle = "#222";
  context.font = `${fontSize * scale}px "${typeface}"`;
  for (const [i, text] of lines.entries())
    context.fillText(text, margin * scale, (60 + i * lineHeight) * scale);
  return type === "image/png" ? canvas.toBuffer("image/png") : canvas.toBuffer("image/jpeg");
};

/** A PDF whose pages are scans; those upside down are shown the right way up by the page's own turn. */
export const scannedPdf = async (scans: readonly { bytes: Buffer; turned?: boolean }[]): Promise<Buffer> => {
  const pdf = await PDFDocument.create();
  for (const { bytes, turned = false } of scans) {
    const page = pdf.addPage([a4.width, a4.height]);
    const isPng = bytes[0] === 0x89;
    page.drawImage(isPng ? await pdf.embedPng(bytes) : await pdf.embedJpg(bytes), { x: 0, y: 0, ...a4 });
    if (turned) page.setRotation({ type: "degrees", angle: 180 } as never);
  }
  return Buffer.from(await pdf.save());
};
