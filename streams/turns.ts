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
/**
 * An answer that takes longer waits for something slow (a hotel search, a webhook's test), to which the messages' work
 * makes no difference: it holds back nobody any more.
 */
const answerMs = 50;

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
    const isAtOnce = this.#left > 0 && this.#waiting.length === 0 && this.#answering === 0;
    const turn = isAtOnce ? undefined : new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (isAtOnce) this.#left -= 1;
    this.#keepTicking();
    return turn;
  }

  async answer<T>(work: () => Promise<T>): Promise<T> {
    this.#answering += 1;
    let counts = true;
    const end = (): void => {
      if (!counts) return;
      counts = false;
      this.#answering -= 1;
      this.#keepTicking();
    };
    const longest = setTimeout(end, answerMs);
    try {
      return await work();
    } finally {
      clearTimeout(longest);
      end();
    }
  }

  /** While somebody is answered and nothing waits there is nothing to give out: the allowance is filled up afterwards. */
  #hasToTick(): boolean {
    return this.#waiting.length > 0 || (this.#answering === 0 && this.#left < admittedMax);
  }

  #keepTicking(): void {
    if (this.#ticking || !this.#hasToTick()) return;
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
    this.#ticking = this.#hasToTick();
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
