// Waiting where there is no event to wait for, and more time for test files that start many processes.
import { setTimeout as delay } from "node:timers/promises";
import type { Test } from "tap";

const lookEveryMs = 50;

/**
 * A document's change tells nobody: it can only be looked at, again and again.
 * @param look undefined when all is as it should be, else what is wrong
 * @throws Error with what was wrong to the last
 */
export const eventually = async (
  what: string,
  look: () => Promise<unknown>,
  withinMs = 45_000,
): Promise<void> => {
  const until = performance.now() + withinMs;
  for (;;) {
    const wrong = await look();
    if (wrong === undefined) return;
    if (performance.now() > until)
      throw new Error(`${what}: not within ${withinMs} ms, but ${JSON.stringify(wrong)}`);
    await delay(lookEveryMs);
  }
};

/** The file may take four minutes, however short the runner's own limit: a busy machine is slow to start processes. */
export const takesLong = (t: Pick<Test, "setTimeout">): void => t.setTimeout(240_000);
