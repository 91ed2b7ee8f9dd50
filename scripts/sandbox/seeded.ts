/** Owns the sandbox's randomness: every draw is a pure function of the seed and of what it is drawn for. */
import { createHash } from "node:crypto";

/** A sequence of draws that is the same for the same words, whatever else was drawn before or meanwhile. */
export interface Draw {
  /** In [0, 1). */
  unit(): number;
  /** Whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** Throws a RangeError on an empty list. */
  pick<Item>(items: readonly Item[]): Item;
  chance(probability: number): boolean;
}

/** Draws for these words (seed first). SHA-256 in counter mode: slow enough not to matter, good enough to trust. */
export const drawFor = (...words: (string | number)[]): Draw => {
  const name = words.join("\u0000");
  let block: Buffer = Buffer.alloc(0);
  let at = 0;
  let counter = 0;
  const unit = (): number => {
    if (at + 4 > block.length) {
      block = createHash("sha256").update(`${name}\u0000${counter}`).digest();
      counter += 1;
      at = 0;
    }
    const value = block.readUInt32BE(at) / 2 ** 32;
    at += 4;
    return value;
  };
  return {
    unit,
    between: (low, high) => low + Math.floor(unit() * (high - low + 1)),
    pick: (items) => {
      if (items.length === 0) throw new RangeError("nothing to pick from");
      return items[Math.floor(unit() * items.length)]!;
    },
    chance: (probability) => unit() < probability,
  };
};
