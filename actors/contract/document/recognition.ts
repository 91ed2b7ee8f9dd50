/** Owns recognising text in pictures (Tesseract, compiled to WebAssembly), with language data from packages: nothing is fetched. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gunzipSync, inflateSync } from "node:zlib";
import type { Picture } from "./page-pictures.ts";
import type { PageText, Word } from "./page-text.ts";

/** What is used of the engine. */
interface Engine {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void };
  TessBaseAPI: new () => {
    /** 0: it is ready. */
    Init(folder: null, languages: string, mode: number): number;
    SetPageSegMode(mode: number): void;
    SetImageFile(exif: number, angle: number): number;
    Recognize(monitor: null): number;
    GetTSVText(page: number): string;
    Clear(): void;
  };
}

const require = createRequire(import.meta.url);
const languages = ["eng", "spa", "por"];
const neuralNetAlone = 1;
/** As much text as can be found, in no order: lines are put together by place, in tables too. */
const sparseText = 11;
/** Less is mostly dirt. */
const certaintyMin = 0.3;

export type RecognisePicture = (picture: Picture) => Word[];

/** Takes half a second and some 60 MB. */
export const createRecognition = async (): Promise<RecognisePicture> => {
  const load = require("tesseract.js-core/tesseract-core-simd-lstm") as (module: object) => Promise<Engine>;
  const quiet = (): void => {};
  const engine = await load({ print: quiet, printErr: quiet, TesseractProgress: quiet });
  for (const language of languages) {
    const packed = require.resolve(
      `@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`,
    );
    engine.FS.writeFile(`${language}.traineddata`, gunzipSync(readFileSync(packed)));
  }
  // What was unpacked for it, and came with the job, is many times what the heap says.
  globalThis.gc?.();
  const tesseract = new engine.TessBaseAPI();
  if (tesseract.Init(null, languages.join("+"), neuralNetAlone) !== 0)
    throw new Error("the recognition's language data cannot be read");
  for (const language of languages) engine.FS.unlink(`${language}.traineddata`);
  tesseract.SetPageSegMode(sparseText);
  return (picture) => {
    engine.FS.writeFile("/input", inflateSync(picture.bytes));
    if (tesseract.SetImageFile(1, 0) !== 0)
      throw new Error("the recognition cannot read its own kind of picture");
    engine.FS.unlink("/input");
    globalThis.gc?.();
    tesseract.Recognize(null);
    const words = wordsOf(tesseract.GetTSVText(0), picture);
    tesseract.Clear();
    return words;
  };
};

/** Tesseract's table: level, page, block, paragraph, line, word, left, top, width, height, confidence, text. */
const wordsOf = (table: string, { box: place }: Picture): Word[] => {
  const rows = table.split("\n").map((row) => row.split("\t"));
  const page = rows.find(([level]) => level === "1");
  const [fullWidth, fullHeight] = [Number(page?.[8]), Number(page?.[9])];
  return rows.flatMap((row): Word[] => {
    const [level, , , , , , left, top, width, height, confidence, text = ""] = row;
    const certainty = Number(confidence) / 100;
    if (level !== "5" || text.trim() === "" || certainty < certaintyMin) return [];
    const box = {
      x: place.x + (Number(left) / fullWidth) * place.width,
      y: place.y + (Number(top) / fullHeight) * place.height,
      width: (Number(width) / fullWidth) * place.width,
      height: (Number(height) / fullHeight) * place.height,
    };
    return [{ text, box, confidence: Math.min(1, certainty) }];
  });
};

/** Pictures in the order of their pages, page by page. */
export const recognisedPages = (
  pictures: readonly Picture[],
  recognise: RecognisePicture,
  onPicture: () => void,
): PageText[] => {
  const pages = new Map<number, PageText>();
  for (const picture of pictures) {
    const { page, aspect } = picture;
    const text = pages.get(page) ?? { page, aspect, recognised: true, words: [] };
    text.words.push(...recognise(picture));
    pages.set(page, text);
    onPicture();
  }
  return [...pages.values()];
};
