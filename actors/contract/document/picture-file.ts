/** Owns pictures that are handed in as files: unpacked strip by strip (libvips), upright, in gray, no larger than recognition gains from. */
import sharp from "sharp";
import { pictureMegapixelsMax, scannedPagesMax } from "../../../schemas/contract-analysis.ts";
import { type GrayPicture, packed, pixelsEnough } from "./gray-picture.ts";
import type { Picture } from "./page-pictures.ts";
import { DocumentRefused } from "./refused.ts";

const dotsMax = pictureMegapixelsMax * 1e6;

/** A TIFF may have several pages. @throws DocumentRefused, by what it says of its size before anything is unpacked */
export const picturesOfFile = async (bytes: Uint8Array): Promise<Picture[]> => {
  sharp.cache(false);
  sharp.concurrency(1);
  try {
    const { width, height, pages = 1 } = await sharp(bytes, { limitInputPixels: false }).metadata();
    if (width * height > dotsMax)
      throw new DocumentRefused(
        "TOO_LARGE",
        `The picture has ${width} × ${height} dots; at most ${pictureMegapixelsMax} million are read. Save it smaller.`,
      );
    if (pages > scannedPagesMax)
      throw new DocumentRefused(
        "TOO_LONG",
        `The file has ${pages} pages; at most ${scannedPagesMax} are read.`,
      );
    const pictures: Picture[] = [];
    for (let page = 0; page < pages; page++) pictures.push(pictureOf(page + 1, await grayPage(bytes, page)));
    return pictures;
  } catch (error) {
    if (error instanceof DocumentRefused) throw error;
    throw new DocumentRefused("BROKEN", "The picture is broken: it cannot be unpacked.");
  }
};

const pictureOf = (page: number, gray: GrayPicture): Picture => ({
  page,
  aspect: gray.width / gray.height,
  box: { x: 0, y: 0, width: 1, height: 1 },
  bytes: packed(gray),
});

const grayPage = async (bytes: Uint8Array, page: number): Promise<GrayPicture> => {
  const options = { page, limitInputPixels: dotsMax, sequentialRead: true, failOn: "error" } as const;
  const { width, height } = await sharp(bytes, options).metadata();
  const scale = Math.min(1, Math.sqrt(pixelsEnough / (width * height)));
  const { data, info } = await sharp(bytes, options)
    .autoOrient()
    .flatten({ background: "#fff" })
    .grayscale()
    // Which of the two is the longer side may change with the turn.
    .resize({
      width: Math.ceil(Math.max(width, height) * scale),
      height: Math.ceil(Math.max(width, height) * scale),
      fit: "inside",
      withoutEnlargement: true,
    })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, pixels: data };
};
