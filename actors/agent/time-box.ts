/** Owns the time that a triage has: parts that fail or come too late are named, and it goes on without them. */
import type { Logger } from "pino";
import { Problem } from "../../schemas/problems.ts";

export interface TimeBox {
  /** What has failed so far, each once. */
  readonly failures: { failedDomain: string; detail: string }[];
  /** What the triage is nothing without. @throws Problem upstream/unavailable when the time is up; what the work throws */
  whole<T>(failedDomain: string, work: () => Promise<T>): Promise<T>;
  /** @returns undefined when it has failed, or the time for parts is up */
  part<T>(failedDomain: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Ends the waiting. */
  close(): void;
}

/** So many milliseconds; what begins after them is not begun. */
class Deadline {
  readonly #ms: number;
  readonly #up: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #isUp = false;

  constructor(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ms = ms;
    this.#up = promise;
    this.#timer = setTimeout(() => {
      this.#isUp = true;
      resolve();
    }, ms);
  }

  /** @throws Problem upstream/unavailable when it passes first */
  async race<T>(failedDomain: string, work: () => Promise<T>): Promise<T> {
    if (this.#isUp) throw this.#late(failedDomain);
    const late = this.#up.then(() => {
      throw this.#late(failedDomain);
    });
    return Promise.race([work(), late]);
  }

  #late(failedDomain: string): Problem {
    const detail = `No answer from ${failedDomain} within ${this.#ms} ms.`;
    return new Problem("upstream/unavailable", detail, { failedDomain, retryAfterSeconds: 5 });
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * @param ms for all of it together
 * @param partsMs for its parts together: what is left is for making something of them
 */
export const openTimeBox = (ms: number, log: Pick<Logger, "warn">, partsMs = ms): TimeBox => {
  const failures: TimeBox["failures"] = [];
  const all = new Deadline(ms);
  const parts = new Deadline(partsMs);
  return {
    failures,
    whole: (failedDomain, work) => all.race(failedDomain, work),
    part: async (failedDomain, work) => {
      try {
        return await parts.race(failedDomain, work);
      } catch (error) {
        const detail = error instanceof Problem ? error.message : "It failed.";
        const isKnown = failures.some((one) => one.failedDomain === failedDomain && one.detail === detail);
        if (!isKnown) failures.push({ failedDomain, detail });
        log.warn({ failedDomain, error: String(error) }, "a part of a triage is missing");
        return undefined;
      }
    },
    close: () => {
      all.end();
      parts.end();
    },
  };
};
