/** Owns pictures in shades of gray: made of a page's own, smaller where they are larger than recognition gains from, and turned upright. */

import { deflateSync } from "node:zlib";

/** As a PDF's parser hands them on. `kind` 1: a bit a pixel, 1 is white; 2: three bytes; 3: four. */
export interface Bitmap {
  width: number;
  height: number;
  kind: number;
  data: Uint8Array | Uint8ClampedArray;
}

export interface GrayPicture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** A sheet of A4 at 200 dots per inch has 3.9 million. */
export const pixelsEnough = 4_200_000;

/** Undefined: of no kind that is known, or with less in it than it says. */
export const grayOf = ({ width, height, kind, data }: Bitmap): GrayPicture | undefined => {
  const bytes = kind === 2 ? 3 : kind === 3 ? 4 : 0;
  const rowBytes = kind === 1 ? (width + 7) >> 3 : width * bytes;
  if (rowBytes === 0 || data.length < rowBytes * height) return undefined;
  const shade = (x: number, y: number): number => {
    if (kind === 1) return (data[y * rowBytes + (x >> 3)]! >> (7 - (x & 7))) & 1 ? 255 : 0;
    const at = y * rowBytes + x * bytes;
    return (data[at]! * 77 + data[at + 1]! * 150 + data[at + 2]! * 29) >> 8;
  };
  const step = Math.max(1, Math.ceil(Math.sqrt((width * height) / pixelsEnough)));
  const small = { width: Math.floor(width / step), height: Math.floor(height / step) };
  if (small.width === 0 || small.height === 0) return undefined;
  const pixels = new Uint8Array(small.width * small.height);
  for (let y = 0; y < small.height; y++)
    for (let x = 0; x < small.width; x++) {
      let sum = 0;
      for (let dy = 0; dy < step; dy++)
        for (let dx = 0; dx < step; dx++) sum += shade(x * step + dx, y * step + dy);
      pixels[y * small.width + x] = sum / (step * step);
    }
  return { ...small, pixels };
};

/** @param turns quarters of a turn, clockwise: 0 to 3 */
export const turned = (picture: GrayPicture, turns: number): GrayPicture => {
  if (turns === 0) return picture;
  const { width, height, pixels } = picture;
  const result = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) result[(x + 1) * height - 1 - y] = pixels[y * width + x]!;
  return turned({ width: height, height: width, pixels: result }, turns - 1);
};

/** A portable gray map, packed: a page of text becomes a tenth of it, so that a document's pages can wait for their turn. */
export const packed = ({ width, height, pixels }: GrayPicture): Uint8Array =>
  deflateSync(Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]), { level: 1 });
