/**
 * Owns how many connections of one address may stand that have not shown who they are: each could keep a place for as long as it may
 * take to say so, and one address all of them.
 */
import { addressBlock } from "../http/address.ts";

/** A tenth of a process's places. */
const perAddressMax = 2000;

export class Newcomers {
  readonly #max: number;
  readonly #byBlock = new Map<string, number>();

  constructor(max = perAddressMax) {
    this.#max = max;
  }

  /** @param address as `clientAddress` gives it: many may share one, behind a proxy that is not known as ours */
  admits(address: string): boolean {
    return (this.#byBlock.get(addressBlock(address)) ?? 0) < this.#max;
  }

  /** @returns what to do once it has shown who it is, and once it is gone: the first counts */
  enter(address: string): () => void {
    const block = addressBlock(address);
    this.#byBlock.set(block, (this.#byBlock.get(block) ?? 0) + 1);
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      const left = (this.#byBlock.get(block) ?? 1) - 1;
      if (left > 0) this.#byBlock.set(block, left);
      else this.#byBlock.delete(block);
    };
  }
}
