/** Owns how a view that several actors hold parts of is put together: all at once, each in its time, with what failed named. */

export interface PartialFailure {
  failedDomain: string;
  detail: string;
}

/** A composition waits this long for each part (contract, "Composition sub-call timeout"). */
const partTimeoutMs = 3000;

/** @param failures takes what has failed. The answer: what a part answered, `undefined` when it has failed or came too late */
export const gatherParts =
  (failures: PartialFailure[]) =>
  async <T>(failedDomain: string, part: Promise<T>): Promise<T | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${partTimeoutMs} ms`)), partTimeoutMs);
    });
    try {
      return await Promise.race([part, late]);
    } catch (error) {
      failures.push({ failedDomain, detail: error instanceof Error ? error.message : "failed" });
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };
