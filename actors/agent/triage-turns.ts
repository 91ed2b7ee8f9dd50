/** Owns whose triage comes when: one of an item at a time, and few at once of those that nobody waits for. */
import pLimit, { type LimitFunction } from "p-limit";
import { NotYet } from "../runtime/decider.ts";
import { KeyedQueue } from "../runtime/serial.ts";

/** Triages at once, per airline and process, that no person waits for: a cancelled night's thousand items take turns. */
const unaskedMax = 8;

export class TriageTurns {
  readonly #items = new KeyedQueue();
  readonly #places = new Map<string, LimitFunction>();
  #stopped = false;

  /** Runs the work after every earlier triage of the same item in this process. @param item unique over all airlines */
  ofItem<T>(item: string, work: () => Promise<T>): Promise<T> {
    return this.#items.run(item, work);
  }

  /** Runs the work when one of the airline's places is free. @throws NotYet once this process is about to end */
  unasked<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const place = this.#places.get(tenant) ?? pLimit(unaskedMax);
    this.#places.set(tenant, place);
    return place(async () => {
      if (this.#stopped) throw new NotYet("Another process has to do it.");
      return work();
    });
  }

  /** What still waits for a place is given back. */
  stop(): void {
    this.#stopped = true;
  }
}
