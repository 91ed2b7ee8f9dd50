/**
 * Owns how fast a process takes up messages: few in each turn of its event loop, fewer when turns get long, and hardly any
 * while somebody waits for an answer. What has been taken up goes on.
 */
import { performance } from "node:perf_hooks";

/** A turn that takes longer than this admits half as many to the next one; a shorter one than `quickMs` one more. */
const slowMs = 3;
const quickMs = 1.5;
const admittedMax = 4;
/** While somebody waits for an answer one message is taken up in so many milliseconds, so that work goes on all the same. */
const yieldingMs = 4;

class Turns {
  #admitted = admittedMax;
  #left = admittedMax;
  #startedAt = 0;
  #lastGoAt = 0;
  #ticking = false;
  #answering = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn: at once while the process keeps up. First come, first served. */
  take(): Promise<void> | undefined {
    this.#keepTicking();
    if (this.#left > 0 && this.#waiting.length === 0 && this.#answering === 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async answer<T>(work: () => Promise<T>): Promise<T> {
    this.#answering += 1;
    try {
      return await work();
    } finally {
      this.#answering -= 1;
    }
  }

  #keepTicking(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#startedAt = performance.now();
    setImmediate(() => this.#tick());
  }

  #tick(): void {
    const now = performance.now();
    const tookMs = now - this.#startedAt;
    this.#startedAt = now;
    if (tookMs > slowMs) this.#admitted = Math.max(1, Math.floor(this.#admitted / 2));
    else if (tookMs < quickMs) this.#admitted = Math.min(admittedMax, this.#admitted + 1);
    const held = this.#answering > 0 && now - this.#lastGoAt < yieldingMs;
    this.#left = held ? 0 : this.#answering > 0 ? 1 : this.#admitted;
    for (const go of this.#waiting.splice(0, this.#left)) {
      this.#left -= 1;
      this.#lastGoAt = now;
      go();
    }
    this.#ticking = this.#waiting.length > 0 || this.#left < admittedMax;
    if (!this.#ticking) return;
    if (!held) setImmediate(() => this.#tick());
    else {
      setTimeout(() => {
        this.#startedAt = performance.now();
        setImmediate(() => this.#tick());
      }, 1);
    }
  }
}

const turns = new Turns();

/** Before a message is taken up; undefined: at once. One line for all consumers of the process. */
export const takeTurn = (): Promise<void> | undefined => turns.take();

/** Runs what somebody waits for: meanwhile messages are held back. */
export const answering = <T>(work: () => Promise<T>): Promise<T> => turns.answer(work);
