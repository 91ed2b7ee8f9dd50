/** Owns writing together what comes for one place while it is being written to: a line per key, a batch at a time. */

interface Waiting<Item> {
  item: Item;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Of one process; others may write to the same place. */
export class Batches<Item> {
  readonly #lines = new Map<string, Waiting<Item>[]>();
  readonly #batchMax: number;

  /** @param batchMax items that are written in one go */
  constructor(batchMax: number) {
    this.#batchMax = batchMax;
  }

  /**
   * Resolves once a write that held the item has; a failed write rejects for each of its items, and the line goes on.
   * @param write of the first who comes: it writes for all who join the line of that key
   */
  add(key: string, item: Item, write: (batch: readonly Item[]) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Item> = { item, resolve, reject };
      const line = this.#lines.get(key);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      const begun = [waiting];
      this.#lines.set(key, begun);
      void this.#work(key, begun, write);
    });
  }

  async #work(
    key: string,
    line: Waiting<Item>[],
    write: (batch: readonly Item[]) => Promise<void>,
  ): Promise<void> {
    while (line.length > 0) {
      const batch = line.splice(0, this.#batchMax);
      try {
        await write(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#lines.delete(key);
  }
}
