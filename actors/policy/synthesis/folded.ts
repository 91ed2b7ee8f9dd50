/** Owns a prompt as the rules read it: in plain small letters at the same places as in the original, and what of it has been understood. */

/** Where in the prompt something stands: from the first character to before `to`. */
export interface Span {
  from: number;
  to: number;
}

/** In place of what has been understood: no pattern matches across it, and no prompt holds it (it is of private use). */
const taken = "\uE000";

/** Punctuation that people's keyboards write differently. */
const plainSigns: Readonly<Record<string, string>> = {
  "’": "'",
  "‘": "'",
  "“": '"',
  "”": '"',
  "«": '"',
  "»": '"',
  "–": "-",
  "—": "-",
  "−": "-",
};

/** One character for one character, so that places stay what they are. */
const folded = (character: string): string => {
  const sign = plainSigns[character];
  if (sign !== undefined) return sign;
  const plain = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.length === character.length ? plain : character;
};

/** Ends a sentence; a point between digits doesn't, nor one that shortens a word. */
const sentenceEnd = /[;!?\n]|(?<!\b(?:max|min|aprox|approx|hab|st))\.(?!\d)/g;
/** Ends a part of a sentence; a comma between digits doesn't. */
const clauseEnd = /[;!?\n:()]|\.(?!\d)|,(?!\d)|\s(?:and|but|y|pero|e)\s/g;

/** A prompt that is being read: readers take out of it what they understand, the narrower before the wider. */
export class Prompt {
  /** As it was written, in composed letters (NFC), without what is not seen. */
  readonly original: string;
  readonly #all: string;
  #open: string;

  constructor(text: string) {
    this.original = text
      .normalize("NFC")
      .replace(/[^\n]*/g, (line) => line.replace(/[\s\p{C}]+/gu, " ").trim())
      .replace(/\n+/g, "\n")
      .trim();
    this.#all = Array.from(this.original, folded).join("");
    this.#open = this.#all;
  }

  /** What nobody has taken yet, in plain letters; a sign that is no letter stands for what has been. */
  get open(): string {
    return this.#open;
  }

  /** All of it in plain letters, taken or not. */
  get plain(): string {
    return this.#all;
  }

  /** All in capitals: then they tell nothing. */
  get isShouted(): boolean {
    return !/\p{Ll}/u.test(this.original);
  }

  /** The words there, as they were written. */
  wordsAt({ from, to }: Span): string {
    return this.original.slice(from, to).trim().replace(/\s+/g, " ");
  }

  /** As it was written, from there up to what has been taken. */
  untakenFrom(at: number): string {
    const end = this.#open.indexOf(taken, at);
    return this.original.slice(at, end < 0 ? undefined : end);
  }

  take({ from, to }: Span): void {
    this.#open = this.#open.slice(0, from) + taken.repeat(to - from) + this.#open.slice(to);
  }

  isTaken({ from, to }: Span): boolean {
    return this.#open.slice(from, to).includes(taken);
  }

  /** Matches in what is open, from the first on; each is looked at once. @param pattern with the flag `g` */
  *matches(pattern: RegExp): Generator<{ match: RegExpExecArray; span: Span }> {
    const again = new RegExp(pattern.source, pattern.flags);
    for (let match = again.exec(this.#open); match !== null; match = again.exec(this.#open)) {
      if (match[0] === "") again.lastIndex += 1;
      else yield { match, span: { from: match.index, to: match.index + match[0].length } };
    }
  }

  /** The sentence around a place. */
  sentenceAt(at: number): Span {
    return this.#between(sentenceEnd, at);
  }

  /** The part of a sentence around a place. */
  clauseAt(at: number): Span {
    return this.#between(clauseEnd, at);
  }

  #between(end: RegExp, at: number): Span {
    let from = 0;
    for (const match of this.#all.matchAll(end)) {
      if (match.index >= at) return { from, to: match.index };
      from = match.index + match[0].length;
    }
    return { from, to: this.#all.length };
  }
}
