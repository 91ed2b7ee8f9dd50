/** Owns telling when nothing has been under way for a while. What may be under way is the asker's. */

/** Looks in a row that must find nothing: a message is in no stream while a process turns it into another. */
export const quietLooks = 5;
const tellEveryMs = 10_000;

export interface Waiting {
  timeoutMs: number;
  /** Monotonic. */
  nowMs(): number;
  /** Between two looks. */
  pause(): Promise<unknown>;
  say(line: string): void;
}

/**
 * There is no event for rest, so it is looked for.
 * @param look the first reason found why there is no rest; undefined: nothing is under way
 * @returns undefined at rest; else what was still under way at the end of the time
 */
export const waitForRest = async (
  look: () => Promise<string | undefined>,
  { timeoutMs, nowMs, pause, say }: Waiting,
): Promise<string | undefined> => {
  const deadline = nowMs() + timeoutMs;
  let told = nowMs();
  for (let quiet = 0; ; ) {
    const reason = await look();
    quiet = reason === undefined ? quiet + 1 : 0;
    if (quiet >= quietLooks) return undefined;
    if (nowMs() > deadline) return reason ?? "it came to rest and did not stay there";
    if (reason !== undefined && nowMs() - told > tellEveryMs) {
      told = nowMs();
      say(`waiting: ${reason}`);
    }
    await pause();
  }
};
