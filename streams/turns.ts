/**
 * Owns how fast a process takes up messages: as many in each turn of its event loop as keep the turns short. What has been
 * taken up goes on; and whoever waits for an answer finds the loop free, however long the line of messages is.
 */
import { performance } from "node:perf_hooks";

/** A turn that takes longer than this admits half as many to the next one, a shorter one than `quickMs` one more. */
const slowMs = 10;
const quickMs = 5;
const admittedMax = 64;

class Turns {
  /** How many each turn may take up; and how many the present one still may. */
  #admitted = admittedMax;
  #left = admittedMax;
  #startedAt = 0;
  #ticking = false;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn: at once while the process keeps up. First come, first served. */
  take(): Promise<void> | undefined {
    this.#keepTicking();
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
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
    const isBusy = this.#left < this.#admitted || this.#waiting.length > 0;
    if (tookMs > slowMs) this.#admitted = Math.max(1, Math.floor(this.#admitted / 2));
    else if (tookMs < quickMs) this.#admitted = Math.min(admittedMax, this.#admitted + 1);
    this.#left = this.#admitted;
    for (const go of this.#waiting.splice(0, this.#left)) {
      this.#left -= 1;
      go();
    }
    this.#ticking = isBusy || this.#admitted < admittedMax;
    if (this.#ticking) setImmediate(() => this.#tick());
  }
}

const turns = new Turns();

/** Before a message is taken up; undefined: at once. One line for all consumers of the process. */
export const takeTurn = (): Promise<void> | undefined => turns.take();
