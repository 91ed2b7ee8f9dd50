/** Owns what a text is before it goes out on a channel: fixed words with values between them, so that each channel can make values safe its own way. */

/** What is put between the words of a template. */
export interface Value {
  text: string;
  /** An address to open; it is never cut. */
  isLink?: true;
}

/** A template's words and the values between them; a part may be a copy itself. */
export interface Copy {
  words: readonly string[];
  parts: readonly (Value | Copy)[];
}

const nothing: Value = { text: "" };

/** Undefined parts leave nothing behind: ``say`Room ${room}${page && say` at ${page}`}` ``. */
export const say = (words: TemplateStringsArray, ...parts: (Value | Copy | undefined)[]): Copy => ({
  words: [...words],
  parts: parts.map((part) => part ?? nothing),
});

/** Puts a copy together. @param safe makes a value what it may be on the channel @param word does so with the fixed words */
export const joined = (
  { words, parts }: Copy,
  safe: (value: Value) => string,
  word: (text: string) => string = (text) => text,
): string =>
  words
    .map((text, i) => {
      const part = parts[i];
      if (part === undefined) return word(text);
      return word(text) + ("words" in part ? joined(part, safe, word) : safe(part));
    })
    .join("");
