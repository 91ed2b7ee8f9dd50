/** Owns how many bytes of bodies a process keeps at once, of routes whose bodies are large or come before anybody knows from whom. */

export class BodyRoom {
  readonly #bytesMax: number;
  #keptBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False: there is no room for so many more, and none is taken. */
  take(bytes: number): boolean {
    if (this.#keptBytes + bytes > this.#bytesMax) return false;
    this.#keptBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#keptBytes -= bytes;
  }
}
