/** Owns a vendor's durable state in one SQLite file: what was sold, under which reference and key, and every request. */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

/** One thing the vendor sold or did: a hold, a booking, a card, a message, a ride. */
export interface Entry<Details = Record<string, unknown>> {
  /** `hold`, `booking`, `card`, `message`, `ride`. */
  kind: string;
  id: string;
  reference: string;
  idempotencyKey: string;
  state: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  changedAt: string;
  details: Details;
}

export interface RequestRecord {
  at: string;
  operation: string;
  idempotencyKey: string | null;
  fault: string | null;
  /** Null: not answered (yet), or the answer was lost on purpose. */
  status: number | null;
  /** True when the answer was a kept one: nothing was done again. */
  repeated: boolean;
}

export interface KeptAnswer {
  fingerprint: string;
  status: number;
  body: string;
}

const schema = `
CREATE TABLE IF NOT EXISTS entries (
  kind TEXT NOT NULL, id TEXT NOT NULL, reference TEXT NOT NULL, idempotency_key TEXT NOT NULL,
  state TEXT NOT NULL, created_at TEXT NOT NULL, changed_at TEXT NOT NULL, details TEXT NOT NULL,
  PRIMARY KEY (kind, id));
CREATE INDEX IF NOT EXISTS entries_reference ON entries (reference);
CREATE TABLE IF NOT EXISTS changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (kind, id));
CREATE TABLE IF NOT EXISTS nights (
  kind TEXT NOT NULL, id TEXT NOT NULL, room TEXT NOT NULL, night TEXT NOT NULL,
  rooms INTEGER NOT NULL, accessible INTEGER NOT NULL, live_until INTEGER);
CREATE INDEX IF NOT EXISTS nights_room ON nights (room, night);
CREATE INDEX IF NOT EXISTS nights_entry ON nights (kind, id);
CREATE TABLE IF NOT EXISTS answers (
  operation TEXT NOT NULL, idempotency_key TEXT NOT NULL, fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (operation, idempotency_key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (
  at TEXT NOT NULL, operation TEXT NOT NULL, request_key TEXT NOT NULL, idempotency_key TEXT,
  fault TEXT, status INTEGER, repeated INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS requests_key ON requests (operation, request_key);
CREATE TABLE IF NOT EXISTS tellings (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, event TEXT NOT NULL, target TEXT NOT NULL,
  due_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0, status INTEGER);
CREATE INDEX IF NOT EXISTS tellings_due ON tellings (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** Of a ledger from before changes were numbered. */
const numberOldEntries = `
INSERT INTO changes (kind, id) SELECT kind, id FROM entries
WHERE NOT EXISTS (SELECT 1 FROM changes WHERE changes.kind = entries.kind AND changes.id = entries.id)
ORDER BY changed_at, rowid`;

const entryOf = (row: Record<string, SQLOutputValue>): Entry => ({
  kind: String(row.kind),
  id: String(row.id),
  reference: String(row.reference),
  idempotencyKey: String(row.idempotency_key),
  state: String(row.state),
  createdAt: String(row.created_at),
  changedAt: String(row.changed_at),
  details: JSON.parse(String(row.details)) as Record<string, unknown>,
});

/** Rooms of one kind in one night. */
export interface NightUse {
  room: string;
  night: string;
  rooms: number;
  accessible: number;
}

/** Something that the vendor tells a client by itself. */
export interface Telling {
  sequence: number;
  id: string;
  event: unknown;
  target: unknown;
  /** Epoch milliseconds; not sent before. */
  dueMs: number;
  /** So far. */
  attempts: number;
}

export class Ledger {
  readonly #db: DatabaseSync;

  /** @param file created when absent. What was answered survives a kill of the process (not of the machine). */
  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;");
    this.#db.exec(schema);
    this.#db.exec(numberOldEntries);
  }

  /** All or nothing; nothing else runs meanwhile, as the work is synchronous. */
  transaction<Result>(work: () => Result): Result {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  /** Adds the entry, or changes its state and details when kind and id exist. */
  put({ kind, id, reference, idempotencyKey, state, createdAt, changedAt, details }: Entry): void {
    this.#db
      .prepare(
        `INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (kind, id) DO UPDATE SET
           state = excluded.state, changed_at = excluded.changed_at, details = excluded.details`,
      )
      .run(kind, id, reference, idempotencyKey, state, createdAt, changedAt, JSON.stringify(details));
    // Replacing gives the next number: what changes goes to the end.
    this.#db.prepare("INSERT OR REPLACE INTO changes (kind, id) VALUES (?, ?)").run(kind, id);
  }

  /**
   * Of one kind in the order of their last change, each once. An entry that changes while pages are read comes again at
   * the end, and none is passed over.
   * @param from `since`: ISO 8601 UTC, inclusive; `after`: the `last` of the page before
   * @returns `last` is undefined when there is no more
   */
  changes(
    kind: string,
    from: { since?: string; after?: number },
    limit: number,
  ): { entries: Entry[]; last: number | undefined } {
    const rows = this.#db
      .prepare(
        `SELECT entries.*, changes.sequence FROM changes JOIN entries USING (kind, id)
         WHERE kind = ? AND sequence > ? AND changed_at >= ? ORDER BY sequence LIMIT ?`,
      )
      .all(kind, from.after ?? 0, from.since ?? "", limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? Number(page.at(-1)?.sequence) : undefined;
    return { entries: page.map(entryOf), last };
  }

  /** Of one kind in the order of their last change, those after a place, each with its own. */
  placesAfter(kind: string, after: number, limit: number): { entry: Entry; place: number }[] {
    return this.#db
      .prepare(
        `SELECT entries.*, changes.sequence FROM changes JOIN entries USING (kind, id)
         WHERE kind = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
      )
      .all(kind, after, limit)
      .map((row) => ({ entry: entryOf(row), place: Number(row.sequence) }));
  }

  /** The place after which the newest so many of one kind come; of 0 the last one's. 0: it has no more than these. */
  placeBefore(kind: string, newest: number): number {
    const row = this.#db
      .prepare("SELECT sequence FROM changes WHERE kind = ? ORDER BY sequence DESC LIMIT 1 OFFSET ?")
      .get(kind, newest);
    return row === undefined ? 0 : Number(row.sequence);
  }

  /** Of one kind, those whose reference begins so, in the order in which they were made. */
  byReferencePrefix(kind: string, prefix: string): Entry[] {
    const query = "SELECT * FROM entries WHERE kind = ? AND substr(reference, 1, ?) = ? ORDER BY rowid";
    return this.#db.prepare(query).all(kind, prefix.length, prefix).map(entryOf);
  }

  entry(kind: string, id: string): Entry | undefined {
    const row = this.#db.prepare("SELECT * FROM entries WHERE kind = ? AND id = ?").get(kind, id);
    return row && entryOf(row);
  }

  /** Newest first. */
  byReference(kind: string, reference: string): Entry[] {
    const query = "SELECT * FROM entries WHERE reference = ? AND kind = ? ORDER BY rowid DESC";
    return this.#db.prepare(query).all(reference, kind).map(entryOf);
  }

  /** For vendors that know a booking by a reference shorter than ours, which stands in the place of the key. Oldest first. */
  byKey(kind: string, idempotencyKey: string): Entry[] {
    const query = "SELECT * FROM entries WHERE kind = ? AND idempotency_key = ? ORDER BY rowid";
    return this.#db.prepare(query).all(kind, idempotencyKey).map(entryOf);
  }

  /** In the order in which they were made. */
  ofKind(kind: string): Entry[] {
    return this.#db.prepare("SELECT * FROM entries WHERE kind = ? ORDER BY rowid").all(kind).map(entryOf);
  }

  entries(): Entry[] {
    return this.#db.prepare("SELECT * FROM entries ORDER BY rowid").all().map(entryOf);
  }

  /** @param liveUntilMs epoch milliseconds after which the rooms are free again; null: kept until released. */
  takeNights(owner: Entry, nights: NightUse[], liveUntilMs: number | null): void {
    const insert = this.#db.prepare("INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (const { room, night, rooms, accessible } of nights) {
      insert.run(owner.kind, owner.id, room, night, rooms, accessible, liveUntilMs);
    }
  }

  releaseNights(kind: string, id: string): void {
    this.#db.prepare("DELETE FROM nights WHERE kind = ? AND id = ?").run(kind, id);
  }

  /** What is taken in these rooms from `from` (included) to `until` (excluded). */
  nightsTaken(rooms: string[], from: string, until: string, nowMs: number): NightUse[] {
    const marks = rooms.map(() => "?").join(",");
    return this.#db
      .prepare(
        `SELECT room, night, SUM(rooms) AS rooms, SUM(accessible) AS accessible FROM nights
         WHERE room IN (${marks}) AND night >= ? AND night < ? AND (live_until IS NULL OR live_until > ?)
         GROUP BY room, night`,
      )
      .all(...rooms, from, until, nowMs)
      .map((row) => ({
        room: String(row.room),
        night: String(row.night),
        rooms: Number(row.rooms),
        accessible: Number(row.accessible),
      }));
  }

  keptAnswer(operation: string, key: string): KeptAnswer | undefined {
    const row = this.#db
      .prepare("SELECT fingerprint, status, body FROM answers WHERE operation = ? AND idempotency_key = ?")
      .get(operation, key);
    return (
      row && {
        fingerprint: String(row.fingerprint),
        status: Number(row.status),
        body: String(row.body),
      }
    );
  }

  keepAnswer(operation: string, key: string, { fingerprint, status, body }: KeptAnswer): void {
    this.#db
      .prepare("INSERT INTO answers VALUES (?, ?, ?, ?, ?)")
      .run(operation, key, fingerprint, status, body);
  }

  /** Notes an arriving request; `attempt` counts the requests of this operation with this key, from 1. */
  openRequest(
    at: string,
    operation: string,
    requestKey: string,
    idempotencyKey: string | null,
  ): { request: number; attempt: number } {
    const { lastInsertRowid } = this.#db
      .prepare("INSERT INTO requests (at, operation, request_key, idempotency_key) VALUES (?, ?, ?, ?)")
      .run(at, operation, requestKey, idempotencyKey);
    const row = this.#db
      .prepare("SELECT COUNT(*) AS n FROM requests WHERE operation = ? AND request_key = ?")
      .get(operation, requestKey);
    return { request: Number(lastInsertRowid), attempt: Number(row?.n) };
  }

  closeRequest(
    request: number,
    { fault, status, repeated }: Pick<RequestRecord, "fault" | "status" | "repeated">,
  ): void {
    this.#db
      .prepare("UPDATE requests SET fault = ?, status = ?, repeated = ? WHERE rowid = ?")
      .run(fault, status, repeated ? 1 : 0, request);
  }

  /** Requests per operation, repeats included, as `{ search: 12, book: 3 }`. */
  requestCounts(): Record<string, number> {
    const rows = this.#db.prepare("SELECT operation, COUNT(*) AS n FROM requests GROUP BY operation").all();
    return Object.fromEntries(rows.map((row) => [String(row.operation), Number(row.n)]));
  }

  /** The newest first, at most `limit`. */
  requests(limit: number): RequestRecord[] {
    return this.#db
      .prepare("SELECT * FROM requests ORDER BY rowid DESC LIMIT ?")
      .all(limit)
      .map((row) => ({
        at: String(row.at),
        operation: String(row.operation),
        idempotencyKey: row.idempotency_key === null ? null : String(row.idempotency_key),
        fault: row.fault === null ? null : String(row.fault),
        status: row.status === null ? null : Number(row.status),
        repeated: row.repeated === 1,
      }));
  }

  /** Notes what is to be told. */
  tell({ id, event, target, dueMs }: Pick<Telling, "id" | "event" | "target" | "dueMs">): void {
    this.#db
      .prepare("INSERT INTO tellings (id, event, target, due_at) VALUES (?, ?, ?, ?)")
      .run(id, JSON.stringify(event), JSON.stringify(target), Math.round(dueMs));
  }

  /** Those that nobody has taken yet, by when they are due. */
  untold(limit: number): Telling[] {
    return this.#db
      .prepare("SELECT * FROM tellings WHERE due_at IS NOT NULL ORDER BY due_at, sequence LIMIT ?")
      .all(limit)
      .map((row) => ({
        sequence: Number(row.sequence),
        id: String(row.id),
        event: JSON.parse(String(row.event)) as unknown,
        target: JSON.parse(String(row.target)) as unknown,
        dueMs: Number(row.due_at),
        attempts: Number(row.attempts),
      }));
  }

  /** @param dueMs when it is tried again; undefined: never, it was taken. @param status 0: no answer */
  noteTelling(sequence: number, { status, dueMs }: { status: number; dueMs?: number }): void {
    this.#db
      .prepare("UPDATE tellings SET attempts = attempts + 1, status = ?, due_at = ? WHERE sequence = ?")
      .run(status, dueMs ?? null, sequence);
  }

  /** In the order in which they were announced, the newest `limit`: with the last answer to each, null before there is one. */
  tellings(
    limit: number,
  ): { id: string; event: unknown; attempts: number; status: number | null; isTaken: boolean }[] {
    return this.#db
      .prepare("SELECT * FROM tellings ORDER BY sequence DESC LIMIT ?")
      .all(limit)
      .map((row) => ({
        id: String(row.id),
        event: JSON.parse(String(row.event)) as unknown,
        attempts: Number(row.attempts),
        status: row.status === null ? null : Number(row.status),
        isTaken: row.due_at === null,
      }))
      .reverse();
  }

  /** A small named value that outlives restarts and resets. */
  note(name: string): string | undefined {
    const row = this.#db.prepare("SELECT value FROM notes WHERE name = ?").get(name);
    return row && String(row.value);
  }

  setNote(name: string, value: string): void {
    this.#db.prepare("INSERT OR REPLACE INTO notes VALUES (?, ?)").run(name, value);
  }

  /** Forgets everything but the notes. */
  reset(): void {
    this.transaction(() => {
      for (const table of ["entries", "changes", "nights", "answers", "requests", "tellings"])
        this.#db.exec(`DELETE FROM ${table}`);
    });
  }

  close(): void {
    this.#db.close();
  }
}
