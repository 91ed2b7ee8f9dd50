/** Owns following a small file while the service runs: a key that is added or taken away counts without a restart. */
import { readFile } from "node:fs/promises";

/** A key is used some minutes after it was published (the key set may be kept for five), so seconds are soon enough. */
const lookEveryMs = 1000;

export interface FollowedFile {
  close(): void;
}

/**
 * Calls back with the file's text whenever it is another one. What is read is compared, and no time stamp: a mounted secret is
 * replaced by a link, within the grain of its file system's clock.
 * @param known the text that the caller has read already
 * @param tell what it throws goes to `fail`, and the text counts as told
 * @param fail of a file that cannot be read, or whose text was refused; once until it changes
 */
export const followFile = (
  file: string,
  known: string,
  tell: (text: string) => void,
  fail: (error: unknown) => void,
): FollowedFile => {
  let last = known;
  let failure = "";
  let looking = false;
  const look = async (): Promise<void> => {
    try {
      const text = await readFile(file, "utf8");
      failure = "";
      if (text === last) return;
      last = text;
      tell(text);
    } catch (error) {
      if (String(error) !== failure) fail(error);
      failure = String(error);
    }
  };
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, lookEveryMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
};
