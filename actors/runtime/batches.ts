/** Owns handling together what comes for one place while something is under way there: a line per key, a batch at a time. */
import { setTimeout as delay } from "node:timers/promises";

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * What has come of the first of a batch, at least of one; those beyond wait for the next batch. A throw is the failure of
 * all.
 */
type Work<Item, Result> = (batch: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>;

/** Work that comes to the same for each of its batch, and to nothing but having been done. */
export const doneTogether =
  <Item>(work: (batch: readonly Item[]) => Promise<void>): Work<Item, void> =>
  async (batch) => {
    await work(batch);
    return batch.map(() => ({ status: "fulfilled", value: undefined }));
  };

/** Of one process; others may work at the same place. */
export class Batches<Item, Result = void> {
  readonly #lines = new Map<string, Waiting<Item, Result>[]>();
  readonly #batchMax: number;
  readonly #gatherMs: number;

  /**
   * @param batchMax items that are handled in one go
   * @param gatherMs what nobody waits for gathers for so long before it is. Default: the first goes at once
   */
  constructor(batchMax: number, gatherMs = 0) {
    this.#batchMax = batchMax;
    this.#gatherMs = gatherMs;
  }

  /**
   * What has come of the item; whatever comes of it, the line goes on.
   * @param work of the first who comes: it works for all who join the line of that key
   */
  add(key: string, item: Item, work: Work<Item, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Item, Result> = { item, resolve, reject };
      const line = this.#lines.get(key);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      const begun = [waiting];
      this.#lines.set(key, begun);
      void this.#work(key, begun, work);
    });
  }

  async #work(key: string, line: Waiting<Item, Result>[], work: Work<Item, Result>): Promise<void> {
    while (line.length > 0) {
      if (this.#gatherMs > 0) await delay(this.#gatherMs);
      const batch = line.slice(0, this.#batchMax);
      try {
        const results = await work(batch.map(({ item }) => item));
        if (results.length === 0) throw new Error("nothing has come of a batch");
        for (const [i, { resolve, reject }] of line.splice(0, results.length).entries()) {
          const result = results[i] as PromiseSettledResult<Result>;
          if (result.status === "fulfilled") resolve(result.value);
          else reject(result.reason);
        }
      } catch (error) {
        for (const { reject } of line.splice(0, batch.length)) reject(error);
      }
    }
    this.#lines.delete(key);
  }
}
