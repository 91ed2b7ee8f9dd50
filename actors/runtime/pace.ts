/** Owns how fast this process may go at something: a steady rate, with a second's worth at once. */
import { setTimeout as delay } from "node:timers/promises";

const secondMs = 1000;

/** A leaky bucket (the generic cell rate algorithm): each turn that is taken puts the next one off. */
export class Pace {
  readonly #everyMs: number;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** @param perSecond more than 0 */
  constructor(perSecond: number) {
    this.#everyMs = secondMs / perSecond;
  }

  /** Takes the next turn. @returns milliseconds until it comes; 0: now @param nowMs of a clock that never goes back */
  take(nowMs: number): number {
    const turnMs = Math.max(this.#dueMs, nowMs - secondMs + this.#everyMs);
    this.#dueMs = turnMs + this.#everyMs;
    return Math.max(0, turnMs - nowMs);
  }

  /**
   * Resolves when its turn has come.
   * @param patienceMs a turn that is further away is not taken. @returns false: it is
   */
  async turn(patienceMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const nowMs = performance.now();
    if (this.#dueMs - nowMs > patienceMs) return false;
    const waitMs = this.take(nowMs);
    if (waitMs > 0) await delay(waitMs);
    return true;
  }
}
