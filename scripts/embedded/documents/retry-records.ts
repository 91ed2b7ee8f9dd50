/** Owns what is kept of retryable writes: each session's last number and reply, in the same commit as the write. */
import { Binary, type Document, Long } from "bson";
import { CommandError } from "./errors.ts";
import { rangeUnder, type Store } from "./store.ts";
import { decode, encodeDocument } from "./stored-document.ts";

const PREFIX = Buffer.from("retry/");
/** As long as the session time-out that `hello` announces: a driver never retries later. */
const KEPT_MS = 30 * 60_000;

/** A write that its session may send again under the same number. */
export interface RetryableWrite {
  sessionId: Buffer;
  number: Long;
}

/** The retryable write that a command's body declares, if it does. */
export function retryableWriteOf(body: Document): RetryableWrite | undefined {
  const id = body.lsid?.id;
  if (body.txnNumber === undefined || !(id instanceof Binary)) return undefined;
  return { sessionId: Buffer.from(id.value()), number: Long.fromValue(body.txnNumber) };
}

export class RetryRecords {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The reply to a write that was already applied; an older number than the last is refused (code 225). */
  find({ sessionId, number }: RetryableWrite): Buffer | undefined {
    const bytes = this.#store.get("records", Buffer.concat([PREFIX, sessionId]));
    if (!bytes) return undefined;
    const record = decode(bytes);
    const last = Long.fromValue(record.number);
    if (number.lessThan(last))
      throw new CommandError(225, `txnNumber ${number} is older than the session's last, ${last}`);
    return number.equals(last) ? Buffer.from(record.reply.value()) : undefined;
  }

  keep({ sessionId, number }: RetryableWrite, reply: Buffer, nowMs: number): void {
    const record = { number, reply: new Binary(reply), at: new Date(nowMs) };
    this.#store.put("records", Buffer.concat([PREFIX, sessionId]), encodeDocument(record));
  }

  /** Deletes records that no driver asks for any more. */
  expire(nowMs: number): void {
    for (const [key, bytes] of this.#store.scan("records", rangeUnder(PREFIX))) {
      if (nowMs - decode(bytes).at.getTime() > KEPT_MS) this.#store.delete("records", key);
    }
  }
}
