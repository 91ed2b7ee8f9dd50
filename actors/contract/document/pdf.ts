/**
 * Owns reading a PDF (pdf.js): its words in their places, and of pages without any the pictures that may hold some. Runs nothing
 * that a document brings along: what has scripts or files of its own in it is refused.
 */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { TextContent, TextItem } from "pdfjs-dist/types/src/display/api.js";
import {
  contractDocumentPagesMax,
  scanMegapixelsMax,
  scannedPagesMax,
} from "../../../schemas/contract-analysis.ts";
import { type Matrix, type Picture, picturesOf } from "./page-pictures.ts";
import type { PageText, Word } from "./page-text.ts";
import { DocumentRefused } from "./refused.ts";

/** Fewer are a stamp or a page number on a scan. */
const textCharactersMin = 25;
const wordsMax = 30_000;
const charactersMax = 400_000;

export interface PdfText {
  pages: PageText[];
  /** Of the pages that have no text. */
  pictures: Picture[];
}

/** @throws DocumentRefused */
export const readPdf = async (bytes: Uint8Array): Promise<PdfText> => {
  const library = await loaded();
  try {
    return await readPages(await opened(bytes, library), library);
  } catch (error) {
    const { name } = error as Error;
    if (name === "PasswordException")
      throw new DocumentRefused("ENCRYPTED", "The document is locked with a password: save it without one.");
    // The library's own word for whatever goes wrong in its parser.
    if (name.endsWith("Exception"))
      throw new DocumentRefused("BROKEN", "The document is broken: it cannot be read as a PDF.");
    throw error;
  }
};

const readPages = async (pdf: PDFDocumentProxy, { OPS }: Library): Promise<PdfText> => {
  if (pdf.numPages > contractDocumentPagesMax)
    throw new DocumentRefused(
      "TOO_LONG",
      `The document has ${pdf.numPages} pages; at most ${contractDocumentPagesMax} are read.`,
    );
  await refuseActive(pdf);
  const pages: PageText[] = [];
  const pictures: Picture[] = [];
  let words = 0;
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    if (await page.getJSActions()) throw active("scripts");
    const text = await textOf(page, number);
    const length = text.words.reduce((sum, word) => sum + word.text.trim().length, 0);
    words += text.words.length;
    characters += length;
    if (words > wordsMax || characters > charactersMax) throw tooManyWords();
    if (length >= textCharactersMin) pages.push(text);
    else pictures.push(...(await picturesOf(page, number, OPS)));
    if (new Set(pictures.map((picture) => picture.page)).size > scannedPagesMax)
      throw new DocumentRefused("TOO_LONG", `More than ${scannedPagesMax} of its pages are pictures.`);
    page.cleanup();
    // What a picture was unpacked to is many times what the heap says, and the next one comes at once.
    globalThis.gc?.();
  }
  return { pages, pictures };
};

type Library = typeof import("pdfjs-dist/legacy/build/pdf.mjs");

const opened = (bytes: Uint8Array, { getDocument }: Library): Promise<PDFDocumentProxy> =>
  getDocument({
    data: new Uint8Array(bytes),
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    useWorkerFetch: false,
    maxImageSize: scanMegapixelsMax * 1e6,
    cMapUrl: folderOf("cmaps"),
    standardFontDataUrl: folderOf("standard_fonts"),
    wasmUrl: folderOf("wasm"),
    iccUrl: folderOf("iccs"),
    verbosity: 0,
  }).promise;

const folderOf = (name: string): string =>
  fileURLToPath(new URL(`./${name}/`, import.meta.resolve("pdfjs-dist/package.json")));

/**
 * The library wants a canvas for showing pages, which nobody does here: without it no native code sees the document, and the
 * process needs a fifth less. One of its constants is a matrix of the browser's; it is made and never used.
 */
const loaded = async (): Promise<Library> => {
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === "@napi-rs/canvas") throw new Error("not wanted");
      return next(specifier, context);
    },
  });
  const global = globalThis as Record<string, unknown>;
  global.DOMMatrix ??= class {};
  // Its parser, which in a browser would be a thread; here it has the process to itself. The package has no types for it.
  const parser: string = "pdfjs-dist/legacy/build/pdf.worker.min.mjs";
  global.pdfjsWorker = await import(parser);
  return import("pdfjs-dist/legacy/build/pdf.mjs");
};

const refuseActive = async (pdf: PDFDocumentProxy): Promise<void> => {
  if ((await pdf.hasJSActions()) || (await pdf.getJSActions())) throw active("scripts");
  if (await pdf.getAttachments()) throw active("other files");
};

const active = (what: string): DocumentRefused =>
  new DocumentRefused("ACTIVE_CONTENT", `The document carries ${what}: print it to a new PDF and send that.`);

const textOf = async (page: PDFPageProxy, number: number): Promise<PageText> => {
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const words: Word[] = [];
  let characters = 0;
  // Piece by piece, so that no more is unpacked of a bomb than it takes to know it.
  for await (const { items } of page.streamTextContent() as ReadableStream<TextContent>)
    for (const item of items) {
      if (!("str" in item) || item.str.trim() === "") continue;
      const word = wordOf(item, transform as unknown as Matrix, width, height);
      if (word === undefined) continue;
      words.push(word);
      characters += word.text.length;
      if (words.length > wordsMax || characters > charactersMax) throw tooManyWords();
    }
  return { page: number, aspect: width / height, recognised: false, words };
};

/** Undefined: it runs down or up the page, in a margin, and belongs to no line; or it stands beside the page, where nobody sees it. */
const wordOf = (item: TextItem, view: Matrix, width: number, height: number): Word | undefined => {
  const [a = 0, b = 0, , , e = 0, f = 0] = item.transform as number[];
  const [ta, tb, tc, td, te, tf] = view;
  if (Math.abs(tb * a + td * b) > Math.abs(ta * a + tc * b)) return undefined;
  const [x, y] = [ta * e + tc * f + te, tb * e + td * f + tf];
  const box = {
    x: x / width,
    y: (y - item.height) / height,
    width: item.width / width,
    height: Math.max(item.height, 1) / height,
  };
  // Of a place that is no number neither holds.
  const isSeen = box.x < 1 && box.x + box.width > 0 && box.y < 1 && box.y + box.height > 0;
  return isSeen ? { text: item.str, box, confidence: 1 } : undefined;
};

const tooManyWords = (): DocumentRefused =>
  new DocumentRefused("TOO_LONG", "The document has more words than any contract.");
