/** Owns counting the requests under way, so that a stop can wait for them. */

export class Load {
  /** Set for good once a stop has begun. */
  draining = false;
  #underWay = 0;
  #onIdle: (() => void) | undefined;

  begin(): void {
    this.#underWay += 1;
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#onIdle?.();
  }

  /** Resolves when nothing is under way any more, or after the grace. */
  drain(graceMs: number): Promise<void> {
    this.draining = true;
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const deadline = setTimeout(resolve, graceMs);
      this.#onIdle = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }
}
