/** Owns when the passengers of a kill soak decide, and who of them never could. What one of them does is decisions.ts's. */
import type { Decision } from "./decisions.ts";

/** Passengers decide in the second half of the kills, some after each; who finds no offer yet comes again later. */
export class Deciding {
  readonly answered: Decision[] = [];
  readonly faults: string[] = [];
  readonly drawn: number;
  readonly #waiting: Decision[];
  readonly #perKill: number;
  readonly #underWay: Promise<void>[] = [];
  readonly #decide: (decision: Decision) => Promise<boolean>;

  constructor(
    decisions: readonly Decision[],
    kills: number,
    decide: (decision: Decision) => Promise<boolean>,
  ) {
    this.drawn = decisions.length;
    this.#waiting = [...decisions];
    this.#perKill = Math.ceil((2 * decisions.length) / kills);
    this.#decide = decide;
  }

  some(): void {
    for (const decision of this.#waiting.splice(0, this.#perKill)) {
      const underWay = this.#decide(decision).then(
        (isDone) => void (isDone ? this.answered : this.#waiting).push(decision),
        (error: unknown) => void this.faults.push(String(error)),
      );
      this.#underWay.push(underWay);
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /**
   * Once nothing is under way any more: whoever still waits comes once more.
   * @param withOffer tells those with an offer to decide on
   * @returns a fault for each of them who could not decide on it, and one if nobody has ever been answered
   */
  async lastly(
    withOffer: (waiting: readonly Decision[]) => Promise<ReadonlySet<Decision>>,
  ): Promise<string[]> {
    const left = this.#waiting.splice(0);
    const ready = await withOffer(left);
    const faults: string[] = [];
    for (const decision of left) {
      const { pnr } = decision.traveller;
      try {
        if (await this.#decide(decision)) this.answered.push(decision);
        else if (ready.has(decision))
          faults.push(`${pnr} has an offer, and could never log in and decide on it`);
      } catch (error) {
        faults.push(String(error));
      }
    }
    return this.answered.length === 0 ? [...faults, "nobody's decision was answered"] : faults;
  }
}
