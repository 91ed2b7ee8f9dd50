/** Owns those who wait for a while until something holds, such as that all up to a place of the log has been heard. */
export class Waiters {
  readonly #looks = new Set<() => void>();

  /** Whether it holds at once, or comes to within the time. */
  until(holds: () => boolean, withinMs: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    return new Promise((settle) => {
      const look = (): void => {
        if (holds()) done(true);
      };
      const done = (held: boolean): void => {
        clearTimeout(timer);
        this.#looks.delete(look);
        settle(held);
      };
      const timer = setTimeout(done, withinMs, false);
      this.#looks.add(look);
    });
  }

  /** It may hold by now. */
  look(): void {
    for (const look of this.#looks) look();
  }
}
