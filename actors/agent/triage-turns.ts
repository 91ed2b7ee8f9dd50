/** Owns whose triage comes when: one of an item at a time, and few at once of those that nobody waits for. */
import pLimit, { type LimitFunction } from "p-limit";
import { NotYet } from "../runtime/decider.ts";
import { KeyedQueue } from "../runtime/serial.ts";

/** Triages at once, per airline and process, that no person waits for: a cancelled night's thousand items take turns. */
const unaskedMax = 8;
/** Of these, that may wait for somebody elsewhere: however slow that is, the others go on. */
const waitingMax = 4;

export class TriageTurns {
  readonly #items = new KeyedQueue();
  readonly #places = new Map<string, LimitFunction>();
  /** Under way, by airline, that were told that they may wait. */
  readonly #waiting = new Map<string, number>();
  #stopped = false;

  /** Runs the work after every earlier triage of the same item in this process. @param item unique over all airlines */
  ofItem<T>(item: string, work: () => Promise<T>): Promise<T> {
    return this.#items.run(item, work);
  }

  /**
   * Runs the work when one of the airline's places is free, and tells it whether it may wait for somebody elsewhere.
   * @throws NotYet once this process is about to end
   */
  unasked<T>(tenant: string, work: (mayWait: boolean) => Promise<T>): Promise<T> {
    const place = this.#places.get(tenant) ?? pLimit(unaskedMax);
    this.#places.set(tenant, place);
    return place(async () => {
      if (this.#stopped) throw new NotYet("Another process has to do it.");
      const waiting = this.#waiting.get(tenant) ?? 0;
      if (waiting >= waitingMax) return work(false);
      this.#waiting.set(tenant, waiting + 1);
      try {
        return await work(true);
      } finally {
        this.#waiting.set(tenant, (this.#waiting.get(tenant) ?? 1) - 1);
      }
    });
  }

  /** What still waits for a place is given back. */
  stop(): void {
    this.#stopped = true;
  }
}
