/** Owns what a benchmark is: it runs on its own and gives a text for people and figures for programs. */

export interface BenchmarkRun {
  /** One line for the person who waits. */
  say(line: string): void;
  signal: AbortSignal;
}

export interface BenchmarkResult {
  text: string;
  figures: Record<string, unknown>;
}

export interface Benchmark {
  summary: string;
  run(options: BenchmarkRun): Promise<BenchmarkResult>;
}

/** The middle one, or the mean of the two in the middle. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError("the median of nothing");
  return (low + high) / 2;
};

export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

export const megabytes = (bytes: number): number => rounded(bytes / 1024 / 1024, 1);
