/** Owns what waits to be sent on one stream: bounded in number and bytes, taken up in one piece whenever the client has room. */

/** Beyond this a reader is too slow: more than any group hears in a night, beside what the sockets hold. */
export const waitingMax = 500;
export const waitingBytesMax = 256 * 1024;

export class EventQueue implements AsyncIterable<string>, AsyncIterator<string> {
  #texts: string[] = [];
  #bytes = 0;
  #ended = false;
  #waiting: ((result: IteratorResult<string>) => void) | undefined;
  readonly #onEnd: () => void;

  /** @param onEnd called once, when nobody takes anything any more, or nothing comes any more */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Nothing waits: what is sent now is the newest word. */
  get idle(): boolean {
    return this.#texts.length === 0;
  }

  /** False: the reader is too slow, and the queue has ended; what waited is gone. */
  push(text: string): boolean {
    if (this.#ended) return true;
    if (this.#waiting !== undefined) {
      const take = this.#waiting;
      this.#waiting = undefined;
      take({ done: false, value: text });
      return true;
    }
    this.#texts.push(text);
    this.#bytes += Buffer.byteLength(text);
    if (this.#texts.length <= waitingMax && this.#bytes <= waitingBytesMax) return true;
    this.#texts = [];
    this.#bytes = 0;
    this.end();
    return false;
  }

  /** What waits is still taken. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = undefined;
    this.#onEnd();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<string>> {
    if (this.#texts.length > 0) {
      const value = this.#texts.join("");
      this.#texts = [];
      this.#bytes = 0;
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The client has gone. */
  return(): Promise<IteratorResult<string>> {
    this.#texts = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }
}
