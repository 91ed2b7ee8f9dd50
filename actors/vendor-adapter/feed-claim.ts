/** Owns how far a flight-data vendor's stream has been heard: durable, claimed by one process at a time, moved by compare-and-set. */
import type { Collection } from "mongodb";
import type { Clock } from "../runtime/clock.ts";
import { type ClaimedDocument, documentOf, rewritten } from "./claimed-document.ts";

/** A document in the airline's `flightFeeds`. */
export interface HeardFeed extends ClaimedDocument {
  /** All before it has been published. Absent: nothing has, or the vendor knows the last one no more. */
  cursor?: string;
  /** When something was last published of it. */
  heardAt?: Date;
}

export class FeedClaim {
  readonly #collection: Collection<HeardFeed>;
  readonly #clock: Clock;
  readonly #claimMs: number;
  #held: HeardFeed;
  /** Renewals and moves go one after the other: each counts on the one before. */
  #line: Promise<unknown> = Promise.resolve();

  private constructor(collection: Collection<HeardFeed>, clock: Clock, claimMs: number, held: HeardFeed) {
    this.#collection = collection;
    this.#clock = clock;
    this.#claimMs = claimMs;
    this.#held = held;
  }

  /** @returns undefined: another process listens */
  static async take(
    collection: Collection<HeardFeed>,
    vendor: string,
    { clock, claimMs }: { clock: Clock; claimMs: number },
  ): Promise<FeedClaim | undefined> {
    const held = await documentOf(collection, { _id: vendor, revision: 0 });
    if (held.claimedUntil !== undefined && held.claimedUntil > clock.now()) return undefined;
    const claim = new FeedClaim(collection, clock, claimMs, held);
    return (await claim.renew()) ? claim : undefined;
  }

  get cursor(): string | undefined {
    return this.#held.cursor;
  }

  /** False once nobody has renewed it in time, so that another process may listen by now. */
  get isLive(): boolean {
    const { claimedUntil } = this.#held;
    return claimedUntil !== undefined && claimedUntil > this.#clock.now();
  }

  /** @returns false: another process has taken it over */
  renew(): Promise<boolean> {
    return this.#write((held) => ({ ...held, claimedUntil: this.#until() }));
  }

  /**
   * All before the cursor is published. @param cursor undefined: the vendor knows it no more
   * @returns false: another process has taken it over, and goes on from before
   */
  move(cursor: string | undefined): Promise<boolean> {
    return this.#write(({ cursor: _, ...held }) => ({
      ...held,
      ...(cursor === undefined ? {} : { cursor, heardAt: this.#clock.now() }),
      claimedUntil: this.#until(),
    }));
  }

  /** Any process may listen from now on. */
  async release(): Promise<void> {
    await this.#write(({ claimedUntil: _, ...held }) => held);
  }

  #until(): Date {
    return new Date(this.#clock.now().getTime() + this.#claimMs);
  }

  #write(change: (held: HeardFeed) => HeardFeed): Promise<boolean> {
    const written = this.#line.then(async () => {
      const next = await rewritten(this.#collection, this.#held, change(this.#held));
      this.#held = next ?? this.#held;
      return next !== undefined;
    });
    // A write that fails is its caller's; the next one tries for itself.
    this.#line = written.then(
      () => undefined,
      () => undefined,
    );
    return written;
  }
}
