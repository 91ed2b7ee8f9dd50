/** Owns the keyed queue: work on one entity is serial inside a process; across processes the compare-and-set decides. */

export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs the work after all earlier work with the same key, whether that succeeded or not. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const tail = this.#tails.get(key);
    const mine = tail === undefined ? work() : tail.then(work, work);
    this.#tails.set(key, mine);
    const forget = () => {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    };
    mine.then(forget, forget);
    return mine;
  }
}
