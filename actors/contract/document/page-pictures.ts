/** Owns finding the pictures that a page of a PDF shows, where they stand on it and which way up; what is on them is the recognition's. */
import type { OPS, PDFPageProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import type { Box } from "../../../schemas/contract-analysis.ts";
import { type Bitmap, grayOf, packed, turned } from "./gray-picture.ts";

export interface Picture {
  page: number;
  /** Width by height of its page. */
  aspect: number;
  /** Of the page, in shares of it. */
  box: Box;
  /** As `gray-picture.ts` packs it. */
  bytes: Uint8Array;
}

/** Scanners cut a page into a few strips at most; what is smaller is a logo. */
const picturesMax = 4;
const areaMin = 0.08;

/** [a b c d e f] of PDF 32000-1, section 8.3.3: x' = ax + cy + e, y' = bx + dy + f. */
export type Matrix = readonly [number, number, number, number, number, number];

const product = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5],
];

/** @param ops the operators' numbers, from the library once it is loaded */
export const picturesOf = async (page: PDFPageProxy, number: number, ops: typeof OPS): Promise<Picture[]> => {
  const painting = new Set<number>([
    ops.paintImageXObject,
    ops.paintInlineImageXObject,
    ops.paintImageMaskXObject,
  ]);
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const { fnArray, argsArray } = await page.getOperatorList();
  let matrix = transform as unknown as Matrix;
  const stack: Matrix[] = [];
  const pictures: Picture[] = [];
  for (const [i, operator] of fnArray.entries()) {
    const args = argsArray[i] as unknown[];
    if (operator === ops.save) stack.push(matrix);
    else if (operator === ops.restore || operator === ops.paintFormXObjectEnd) matrix = stack.pop() ?? matrix;
    else if (operator === ops.transform) matrix = product(matrix, args as unknown as Matrix);
    else if (operator === ops.paintFormXObjectBegin) {
      stack.push(matrix);
      if (args[0]) matrix = product(matrix, args[0] as Matrix);
    } else if (painting.has(operator)) {
      const box = boxOf(matrix, width, height);
      // A place that is no number is none.
      if (!(box.width * box.height >= areaMin) || pictures.length === picturesMax) continue;
      const bitmap = await bitmapOf(page, args[0]);
      const gray = bitmap && grayOf(bitmap);
      if (gray === undefined) continue;
      pictures.push({
        page: number,
        aspect: width / height,
        box,
        bytes: packed(turned(gray, turnsOf(matrix))),
      });
    }
  }
  return pictures;
};

/** Given as it is, or by the name under which the page, or the document, keeps it. */
const bitmapOf = async (page: PDFPageProxy, named: unknown): Promise<Bitmap | undefined> => {
  const { data } = (named ?? {}) as { data?: unknown };
  const name = typeof named === "string" ? named : typeof data === "string" ? data : undefined;
  const found = name === undefined ? named : await kept(page, name);
  const bitmap = found as Partial<Bitmap> | null | undefined;
  if (!(bitmap?.data instanceof Uint8Array || bitmap?.data instanceof Uint8ClampedArray)) return undefined;
  // Stencils say nothing of their kind: they are a bit a pixel.
  return { kind: 1, ...bitmap } as Bitmap;
};

const kept = (page: PDFPageProxy, name: string): Promise<unknown> =>
  new Promise((resolve) => (name.startsWith("g_") ? page.commonObjs : page.objs).get(name, resolve));

/** A picture fills the unit square. */
const boxOf = ([a, b, c, d, e, f]: Matrix, width: number, height: number): Box => {
  const xs = [e, e + a, e + c, e + a + c].map((x) => Math.min(1, Math.max(0, x / width)));
  const ys = [f, f + b, f + d, f + b + d].map((y) => Math.min(1, Math.max(0, y / height)));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
};

/** On the page, whose y runs down: where the picture's own right points to. */
const turnsOf = ([a, b]: Matrix): number => (Math.abs(a) >= Math.abs(b) ? (a >= 0 ? 0 : 2) : b >= 0 ? 1 : 3);
