/** Owns what a soak scenario is: a long run under load or faults, replayable from its seed, that ends in a list of faults. */

/** How much of what, by the name of its option: `kills`, `cases`, `groups`. */
export type Sizes = Readonly<Record<string, number>>;

export interface SoakRun<Of extends Sizes = Sizes> {
  seed: number;
  /** The scenario's own, or what was asked for instead. */
  sizes: Of;
  /** One line for the person who waits. */
  say(line: string): void;
  signal: AbortSignal;
}

export interface SoakResult {
  /** What was done, in a line: a run that did nothing proves nothing. */
  done: string;
  /** Empty: all as it should be. */
  faults: string[];
}

export interface Scenario<Of extends Sizes = Sizes> {
  summary: string;
  /** Full numbers; each can be changed by the option of its name. */
  sizes?: Of;
  run(options: SoakRun<Of>): Promise<SoakResult>;
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
