/** Owns the time that a triage has: parts that fail or come too late are named, and it goes on without them. */
import type { Logger } from "pino";
import { Problem } from "../../schemas/problems.ts";

export interface TimeBox {
  /** What has failed so far. */
  readonly failures: { failedDomain: string; detail: string }[];
  /** What the triage is nothing without. @throws Problem upstream/unavailable when the time is up; what the work throws */
  whole<T>(failedDomain: string, work: () => Promise<T>): Promise<T>;
  /** @returns undefined when it has failed, or the time is up */
  part<T>(failedDomain: string, work: () => Promise<T>): Promise<T | undefined>;
  /** Ends the waiting. */
  close(): void;
}

/** @param ms for all its parts together */
export const openTimeBox = (ms: number, log: Pick<Logger, "warn">): TimeBox => {
  const failures: TimeBox["failures"] = [];
  let end: () => void = () => undefined;
  const up = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, ms);
  const whole: TimeBox["whole"] = (failedDomain, work) => {
    const late = up.then(() => {
      const detail = `No answer from ${failedDomain} within ${ms} ms.`;
      throw new Problem("upstream/unavailable", detail, { failedDomain, retryAfterSeconds: 5 });
    });
    return Promise.race([work(), late]);
  };
  return {
    failures,
    whole,
    part: async (failedDomain, work) => {
      try {
        return await whole(failedDomain, work);
      } catch (error) {
        const detail = error instanceof Problem ? error.message : "It failed.";
        failures.push({ failedDomain, detail });
        log.warn({ failedDomain, error: String(error) }, "a part of a triage is missing");
        return undefined;
      }
    },
    close: () => clearTimeout(timer),
  };
};
