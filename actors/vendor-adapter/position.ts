/** Owns how far reconciliation with one vendor has come: durable, claimed by one process at a time, moved by compare-and-set. */
import type { Collection } from "mongodb";
import type { Clock } from "../runtime/clock.ts";
import { type ClaimedDocument, documentOf, rewritten } from "./claimed-document.ts";
import type { LedgerRequest } from "./ports.ts";

/** A document in the airline's `reconciliations`. */
export interface Reconciliation extends ClaimedDocument {
  /** Of the page that comes next, while a poll is under way or was broken off. */
  cursor?: string;
  /** All that changed before it has been told; by the vendor's clock, but never ahead of ours. */
  since?: Date;
  /** The newest change seen by the poll under way; becomes `since` at its end. */
  newest?: Date;
  /** What was told of the last minute before `since` (or `newest`): it is listed again, and not to be told again. */
  told: { id: string; at: Date }[];
  /** When a poll last began, however it ended. */
  askedAt?: Date;
  /** When a poll last came to the end of what there was. */
  polledAt?: Date;
}

/** A vendor may list a change behind a later one: what is asked for by a time is asked for from earlier on. */
const overlapMs = 60_000;

/** What of a page its position goes by. */
interface Told {
  entries: readonly { changedAt: string }[];
  nextCursor?: string;
}

const later = (one: Date | undefined, other: Date): Date => (one === undefined || one < other ? other : one);

export class Position {
  readonly #collection: Collection<Reconciliation>;
  readonly #clock: Clock;
  readonly #claimMs: number;
  #held: Reconciliation;

  private constructor(
    collection: Collection<Reconciliation>,
    clock: Clock,
    claimMs: number,
    held: Reconciliation,
  ) {
    this.#collection = collection;
    this.#clock = clock;
    this.#claimMs = claimMs;
    this.#held = held;
  }

  /**
   * @param claimMs the claim's length, renewed by each move: longer than a page takes
   * @returns undefined: not due, or another process is at it
   */
  static async claim(
    collection: Collection<Reconciliation>,
    vendor: string,
    options: { clock: Clock; intervalMs: number; claimMs: number },
  ): Promise<Position | undefined> {
    const { clock, intervalMs, claimMs } = options;
    const held = await documentOf(collection, { _id: vendor, revision: 0, told: [] });
    const now = clock.now().getTime();
    const { askedAt, claimedUntil } = held;
    // A claim that has run out was a dead process's: its poll goes on at once.
    const dueMs = claimedUntil?.getTime() ?? (askedAt === undefined ? 0 : askedAt.getTime() + intervalMs);
    if (dueMs > now) return undefined;
    const position = new Position(collection, clock, claimMs, held);
    const isClaimed = await position.#write({
      ...held,
      askedAt: clock.now(),
      claimedUntil: position.#claim(),
    });
    return isClaimed ? position : undefined;
  }

  get request(): LedgerRequest {
    const { cursor, since } = this.#held;
    if (cursor !== undefined) return { cursor };
    return since === undefined ? {} : { since: new Date(since.getTime() - overlapMs).toISOString() };
  }

  isTold(id: string): boolean {
    return this.#held.told.some((one) => one.id === id);
  }

  /**
   * All of the page is told; without a next one the poll is at its end.
   * @param told ids of what was told of it, with the times of the changes
   * @returns false: the claim was lost meanwhile, and another process has gone on from before this page
   */
  async move(page: Told, told: readonly { id: string; at: Date }[]): Promise<boolean> {
    const { cursor: _cursor, newest: _newest, claimedUntil: _claimed, ...held } = this.#held;
    const now = this.#clock.now();
    // A vendor's clock may be years ahead; a position there would pass over all that comes until then.
    const changes = page.entries.map(
      ({ changedAt }) => new Date(Math.min(Date.parse(changedAt), now.getTime())),
    );
    const newest = changes.reduce<Date | undefined>(later, this.#held.newest ?? held.since);
    const from = (newest?.getTime() ?? 0) - overlapMs;
    const kept = [...held.told, ...told].filter(({ at }) => at.getTime() >= from);
    const { nextCursor: cursor } = page;
    const at = newest === undefined ? {} : cursor === undefined ? { since: newest } : { newest };
    const under = cursor === undefined ? { polledAt: now } : { cursor, claimedUntil: this.#claim() };
    return this.#write({ ...held, ...at, ...under, told: kept });
  }

  /** @param options `forgetCursor`: the next poll begins at the time before the pages of this one */
  async release({ forgetCursor }: { forgetCursor: boolean }): Promise<void> {
    const { claimedUntil: _claimed, cursor, ...held } = this.#held;
    await this.#write(forgetCursor || cursor === undefined ? held : { ...held, cursor });
  }

  #claim(): Date {
    return new Date(this.#clock.now().getTime() + this.#claimMs);
  }

  async #write(next: Reconciliation): Promise<boolean> {
    const written = await rewritten(this.#collection, this.#held, next);
    this.#held = written ?? this.#held;
    return written !== undefined;
  }
}
