/** Owns trying again, until it has come about, what a process cannot do without. */
import { setTimeout as delay } from "node:timers/promises";

const againMs = 2000;

/** What `begin` gives, after as many failures as it takes, each of which is told; undefined once `stopping`. */
export const tryUntilDone = async <Begun>(
  begin: () => Promise<Begun>,
  stopping: () => boolean,
  onFailure: (error: unknown) => void,
): Promise<Begun | undefined> => {
  while (!stopping()) {
    try {
      return await begin();
    } catch (error) {
      onFailure(error);
      await delay(againMs);
    }
  }
  return undefined;
};
