/** Owns going through many of them in parts, so that nothing else waits for all: everyone once in each round of so many steps. */
export class Rounds<One> {
  readonly #steps: number;
  #left: One[] = [];
  #step = 0;

  constructor(steps: number) {
    this.#steps = steps;
  }

  /** Whose turn it is. @param all asked as a round begins: who comes after that is of the next one */
  next(all: () => Iterable<One>): One[] {
    if (this.#step === 0) this.#left = [...all()];
    const some = Math.ceil(this.#left.length / (this.#steps - this.#step));
    this.#step = (this.#step + 1) % this.#steps;
    return this.#left.splice(0, some);
  }
}
