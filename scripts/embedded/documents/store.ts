/** Owns the file: ordered byte keys in SQLite, its durability and the lock on the folder; what keys mean is elsewhere. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A sorted space of keys. `documents` holds large values, `entries` and `records` small ones. */
export type Space = "documents" | "entries" | "records";

/** Keys from `from` (inclusive) to `to` (exclusive). */
export interface KeyRange {
  from: Buffer;
  to: Buffer;
}

export type Row = readonly [key: Buffer, value: Buffer];

const ABOVE_ALL = Buffer.from([0xff]);

/** Every key that begins with `prefix`; keys have no part that begins with FF. */
export const rangeUnder = (prefix: Buffer): KeyRange => ({
  from: prefix,
  to: Buffer.concat([prefix, ABOVE_ALL]),
});

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS documents(k BLOB PRIMARY KEY, v BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS entries(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS records(k BLOB PRIMARY KEY, v BLOB NOT NULL);
`;

/** Scans fetch as many rows first as are expected to be wanted, few where nobody knows, then more. */
const SCAN_ROWS_FIRST = 8;
const SCAN_ROWS_MAX = 256;

export interface ScanOptions {
  /** Descending. */
  backward?: boolean;
  /** How many rows will do, as far as the reader can tell; 0: it can't. */
  rows?: number;
}

/** No chunk of a scan holds much more than this, however large the rows are. */
const SCAN_BYTES_MAX = 4 * 1024 * 1024;

type Direction = "forward" | "backward";

interface Statements {
  get: StatementSync;
  put: StatementSync;
  delete: StatementSync;
  deleteRange: StatementSync;
  scan: Record<Direction, StatementSync>;
  measure: StatementSync;
}

/** What a scan's statements answer: the key that the scan goes on from, then a row as it is given out. */
type Scanned = [at: Uint8Array, key: Uint8Array, value: Uint8Array];

const SCAN = "SELECT k, k, v FROM $space WHERE k >= ? AND k < ? ORDER BY k $order LIMIT ?";
/** The join's order is fixed: entries first. A concatenation of blobs is a text until it is cast back. */
const SCAN_INDEXED =
  "SELECT e.k, e.v, d.v FROM entries AS e CROSS JOIN documents AS d ON d.k = CAST(? || e.v AS BLOB) " +
  "WHERE e.k >= ? AND e.k < ? ORDER BY e.k $order LIMIT ?";

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export class Store {
  readonly #database: DatabaseSync;
  readonly #statements: Record<Space, Statements>;
  readonly #scanIndexed: Record<Direction, StatementSync>;

  /** Opens or creates the file in `dir` and locks it until `close`; throws if another server holds the lock. */
  constructor(dir: string) {
    mkdirSync(dir, { recursive: true });
    this.#database = new DatabaseSync(path.join(dir, "documents.sqlite"));
    try {
      // EXCLUSIVE keeps the file's lock from the first transaction on; the kernel frees it when the process dies.
      this.#database.exec(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; " +
          "PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=33554432; " +
          "BEGIN EXCLUSIVE; COMMIT;",
      );
      this.#database.exec(SCHEMA);
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#statements = {
      documents: this.#prepare("documents"),
      entries: this.#prepare("entries"),
      records: this.#prepare("records"),
    };
    this.#scanIndexed = this.#prepareScan(SCAN_INDEXED);
  }

  #prepareScan(sql: string): Record<Direction, StatementSync> {
    const prepare = (order: string): StatementSync => {
      const statement = this.#database.prepare(sql.replace("$order", order));
      statement.setReturnArrays(true);
      return statement;
    };
    return { forward: prepare("ASC"), backward: prepare("DESC") };
  }

  #prepare(space: Space): Statements {
    const prepare = (sql: string) => this.#database.prepare(sql.replace("$space", space));
    return {
      get: prepare("SELECT v FROM $space WHERE k = ?"),
      put: prepare("INSERT INTO $space(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v"),
      delete: prepare("DELETE FROM $space WHERE k = ?"),
      deleteRange: prepare("DELETE FROM $space WHERE k >= ? AND k < ?"),
      scan: this.#prepareScan(SCAN.replace("$space", space)),
      measure: prepare(
        "SELECT count(*) AS count, total(length(v)) AS sizeBytes FROM $space WHERE k >= ? AND k < ?",
      ),
    };
  }

  /** Runs `work` as one durable transaction: on return it is on disk; if it throws, nothing of it is. */
  commit<T>(work: () => T): T {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  get(space: Space, key: Buffer): Buffer | undefined {
    const row = this.#statements[space].get.get(key);
    return row && bufferOf(row.v as Uint8Array);
  }

  put(space: Space, key: Buffer, value: Uint8Array): void {
    this.#statements[space].put.run(key, value);
  }

  delete(space: Space, key: Buffer): void {
    this.#statements[space].delete.run(key);
  }

  deleteRange(space: Space, { from, to }: KeyRange): void {
    this.#statements[space].deleteRange.run(from, to);
  }

  measure(space: Space, { from, to }: KeyRange): { count: number; sizeBytes: number } {
    const row = this.#statements[space].measure.get(from, to)!;
    return { count: Number(row.count), sizeBytes: Number(row.sizeBytes) };
  }

  /** Rows in key order. Holds nothing open between rows, so writes may happen meanwhile; it sees those ahead of it. */
  scan(space: Space, range: KeyRange, options?: ScanOptions): Generator<Row> {
    return scanInChunks(this.#statements[space].scan, [], range, options);
  }

  /** As `scan`, over the documents (key without `prefix`, value) that entries in a range name, in the order of the entries. */
  scanIndexed(prefix: Buffer, range: KeyRange, options?: ScanOptions): Generator<Row> {
    return scanInChunks(this.#scanIndexed, [prefix], range, options);
  }

  close(): void {
    this.#database.close();
  }
}

/** @param fixed parameters that stand before the range's */
function* scanInChunks(
  statements: Record<Direction, StatementSync>,
  fixed: readonly Buffer[],
  range: KeyRange,
  { backward = false, rows: wanted = 0 }: ScanOptions = {},
): Generator<Row> {
  let { from, to } = range;
  const statement = statements[backward ? "backward" : "forward"];
  for (let rows = Math.min(wanted || SCAN_ROWS_FIRST, SCAN_ROWS_MAX); ; ) {
    const chunk = statement.all(...fixed, from, to, rows) as unknown as Scanned[];
    let sizeBytes = 0;
    for (const [, key, value] of chunk) {
      sizeBytes += value.length;
      yield [bufferOf(key), bufferOf(value)];
    }
    if (chunk.length < rows) return;
    const last = bufferOf(chunk.at(-1)![0]);
    if (backward) to = last;
    else from = Buffer.concat([last, Buffer.from([0])]);
    const rowsThatFit = Math.max(1, Math.floor((SCAN_BYTES_MAX * chunk.length) / (sizeBytes + 1)));
    rows = Math.min(SCAN_ROWS_MAX, rows * 4, rowsThatFit);
  }
}
