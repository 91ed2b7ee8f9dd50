/** Owns what the text of a page is to those who look for terms in it: words in their places, put together to lines. */
import type { Box } from "../../../schemas/contract-analysis.ts";

/** A word or a run of words. */
export interface Word {
  text: string;
  /** In shares of the page's width and height, from its upper left corner. */
  box: Box;
  /** 1 where the document says it itself; less where it was recognised. */
  confidence: number;
}

export interface PageText {
  /** From 1. */
  page: number;
  /** Width by height: lengths across and down are compared by it. */
  aspect: number;
  /** Its text was recognised in a picture. */
  recognised: boolean;
  words: Word[];
}

export interface Line {
  page: number;
  /** Its words; those far from each other, as in a table, are parted by two blanks. */
  text: string;
  /** The same, position by position, in small letters and without accents. */
  folded: string;
  words: { start: number; end: number; word: Word }[];
}

/** Letter by letter, so that positions stay. */
export const fold = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => text[i]!.normalize("NFD")[0]!.toLowerCase()[0]!).join("");

/** A page's lines from top to bottom, each from left to right. */
export const linesOf = ({ page, words, aspect }: PageText): Line[] => {
  const rows: { middle: number; height: number; words: Word[] }[] = [];
  const inOrder = words
    .filter(({ text }) => printable(text) !== "")
    .sort((a, b) => middleOf(a) - middleOf(b));
  for (const word of inOrder) {
    const row = rows.at(-1);
    const middle = middleOf(word);
    if (row !== undefined && middle - row.middle < 0.5 * Math.min(row.height, word.box.height))
      row.words.push(word);
    else rows.push({ middle, height: word.box.height, words: [word] });
  }
  return rows.map((row) => lineOf(page, row.words, aspect));
};

/** Without what no page shows: marks that turn or part its letters, control characters, halves of letters. */
const printable = (text: string): string =>
  text
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[\s\p{C}]+/gu, " ")
    .trim();

const middleOf = ({ box }: Word): number => box.y + box.height / 2;

const lineOf = (page: number, words: Word[], aspect: number): Line => {
  words.sort((a, b) => a.box.x - b.box.x);
  let text = "";
  let end = 0;
  const placed: Line["words"] = [];
  for (const word of words) {
    const gap = ((word.box.x - end) * aspect) / word.box.height;
    if (text !== "") text += gap > 1.2 ? "  " : gap > 0.08 ? " " : "";
    const trimmed = printable(word.text);
    placed.push({ start: text.length, end: text.length + trimmed.length, word });
    text += trimmed;
    end = word.box.x + word.box.width;
  }
  return { page, text, folded: fold(text), words: placed };
};

const charactersShown = 300;

/** Where a part of a line stands, and how certain its words are. */
export const placeOf = (
  line: Line,
  start = 0,
  end = line.text.length,
): { page: number; box: Box; text: string; certainty: number } => {
  const touched = line.words.filter((each) => each.start < end && each.end > start);
  const boxes = touched.map((each) => partOf(each, start, end));
  const x = Math.max(0, Math.min(...boxes.map((box) => box.x)));
  const y = Math.max(0, Math.min(...boxes.map((box) => box.y)));
  const right = Math.min(1, Math.max(...boxes.map((box) => box.x + box.width)));
  const bottom = Math.min(1, Math.max(...boxes.map((box) => box.y + box.height)));
  const exact = (share: number): number => Math.round(Math.max(0, share) * 10_000) / 10_000;
  return {
    page: line.page,
    box: { x: exact(x), y: exact(y), width: exact(right - x), height: exact(bottom - y) },
    text: line.text.slice(0, charactersShown),
    certainty: Math.min(...touched.map(({ word }) => word.confidence)),
  };
};

/** Of a run of words; as if all letters were of one width. */
const partOf = ({ start, end, word }: Line["words"][number], from: number, to: number): Box => {
  const share = word.box.width / (end - start);
  const x = word.box.x + Math.max(0, from - start) * share;
  return { ...word.box, x, width: word.box.x + (Math.min(to, end) - start) * share - x };
};
