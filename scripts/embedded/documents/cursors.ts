/** Owns open cursors: results that a client fetches batch by batch. */
import { randomInt } from "node:crypto";
import { Long } from "bson";
import { CommandError } from "./errors.ts";
import { DOCUMENT_SIZE_BYTES_MAX } from "./stored-document.ts";
import { EncodedArray, type Reply } from "./wire.ts";

const IDLE_MS_MAX = 10 * 60_000;
const FIRST_BATCH_DOCUMENTS = 101;

interface Cursor {
  namespace: string;
  results: Iterator<Uint8Array>;
  /** Fetched, but not sent: it didn't fit, or it was looked at to learn whether there is more. */
  ahead: Uint8Array | undefined;
  usedAtMs: number;
}

export class Cursors {
  readonly #open = new Map<string, Cursor>();
  #lastId = BigInt(randomInt(2 ** 40)) + 1n;

  /**
   * The reply to a command that opens a cursor; what doesn't fit the first batch stays open.
   * @param batchSize documents in the first batch; MongoDB's default of 101 when undefined
   */
  open(
    namespace: string,
    results: Iterable<Uint8Array>,
    nowMs: number,
    {
      batchSize = FIRST_BATCH_DOCUMENTS,
      isSingleBatch = false,
    }: { batchSize?: number; isSingleBatch?: boolean } = {},
  ): Reply {
    const cursor: Cursor = {
      namespace,
      results: results[Symbol.iterator](),
      ahead: undefined,
      usedAtMs: nowMs,
    };
    const { documents, isDone } = fill(cursor, batchSize);
    let id = 0n;
    if (!isDone && !isSingleBatch) {
      id = ++this.#lastId;
      this.#open.set(String(id), cursor);
    }
    return {
      cursor: { firstBatch: new EncodedArray(documents), id: Long.fromBigInt(id), ns: namespace },
      ok: 1,
    };
  }

  /** The reply to getMore; an unknown or expired id is refused (code 43). */
  next(id: Long, namespace: string, nowMs: number, batchSize = Number.POSITIVE_INFINITY): Reply {
    const cursor = this.#open.get(id.toString());
    if (!cursor || cursor.namespace !== namespace) throw new CommandError(43, `cursor id ${id} not found`);
    cursor.usedAtMs = nowMs;
    const { documents, isDone } = fill(cursor, batchSize);
    if (isDone) this.#open.delete(id.toString());
    return {
      cursor: { nextBatch: new EncodedArray(documents), id: isDone ? Long.ZERO : id, ns: cursor.namespace },
      ok: 1,
    };
  }

  /** Whether there was such a cursor. */
  kill(id: Long): boolean {
    return this.#open.delete(id.toString());
  }

  /** Drops cursors that nobody has fetched from for ten minutes. */
  expire(nowMs: number): void {
    for (const [id, { usedAtMs }] of this.#open) if (nowMs - usedAtMs > IDLE_MS_MAX) this.#open.delete(id);
  }
}

/** Takes a batch of at most `count` documents and 16 MiB, but at least one document if any is asked for. */
function fill(cursor: Cursor, count: number): { documents: Uint8Array[]; isDone: boolean } {
  const documents: Uint8Array[] = [];
  let sizeBytes = 0;
  for (;;) {
    if (cursor.ahead === undefined) {
      const result = cursor.results.next();
      if (result.done) return { documents, isDone: true };
      cursor.ahead = result.value;
    }
    sizeBytes += cursor.ahead.length;
    const fits = documents.length === 0 || sizeBytes <= DOCUMENT_SIZE_BYTES_MAX;
    if (documents.length >= count || !fits) return { documents, isDone: false };
    documents.push(cursor.ahead);
    cursor.ahead = undefined;
  }
}
