/** Owns one collection's documents and index entries: finding, inserting, updating, deleting, building indexes. */
import { type Document, ObjectId } from "bson";
import { CommandError } from "./errors.ts";
import { existingIndex, Index, type IndexRecord, type IndexSpecification } from "./indexes.ts";
import { compileFilter } from "./matcher.ts";
import { firstValueAt } from "./paths.ts";
import { type Plan, planQuery } from "./planner.ts";
import { parseSort, sortInMemory } from "./sorting.ts";
import { type KeyRange, rangeUnder, type Store } from "./store.ts";
import { checkSize, decode, encodeElement, joinElements, StoredDocument } from "./stored-document.ts";
import type { Update } from "./updater.ts";
import { checkStorable, encodeKey, RANK, rankOf } from "./values.ts";

export interface FindOptions {
  sort?: Document | undefined;
  skip?: number;
  /** 0 means no limit. */
  limit?: number;
  hint?: string | Document | undefined;
}

export interface Match {
  /** Under the collection's prefix: the encoded `_id`. */
  idKey: Buffer;
  document: StoredDocument;
}

/** What a find looked at, for explain. */
export interface Examined {
  keys: number;
  documents: number;
}

export interface UpdateOutcome {
  matched: number;
  modified: number;
  upsertedId?: unknown;
  before?: StoredDocument;
  after?: StoredDocument;
}

export interface CollectionRecord {
  id: number;
  namespace: string;
  nextIndexId: number;
  indexes: IndexRecord[];
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const ALL_FIELDS = { has: () => true } as unknown as ReadonlySet<string>;

export class Collection {
  readonly namespace: string;
  readonly #id: number;
  readonly #prefix: Buffer;
  readonly #store: Store;
  readonly #save: (collection: Collection) => void;
  #nextIndexId: number;
  #indexes: Index[];

  /** @param save records a change of the collection's indexes, in the transaction under way */
  constructor(store: Store, record: CollectionRecord, save: (collection: Collection) => void) {
    this.namespace = record.namespace;
    this.#store = store;
    this.#save = save;
    this.#id = record.id;
    this.#prefix = uint32(record.id);
    this.#nextIndexId = record.nextIndexId;
    this.#indexes = record.indexes.map((index) => new Index(index));
  }

  toRecord(): CollectionRecord {
    const indexes = this.#indexes.map((index) => index.toRecord());
    return { id: this.#id, namespace: this.namespace, nextIndexId: this.#nextIndexId, indexes };
  }

  get indexes(): readonly Index[] {
    return this.#indexes;
  }

  plan(filter: Document, options: FindOptions): Plan {
    return planQuery(this.#indexes, filter, parseSort(options.sort), options.hint);
  }

  /** Matching documents. Writes may happen between two of them; a document changed meanwhile is seen at most twice. */
  *find(
    filter: Document,
    options: FindOptions = {},
    examined: Examined = { keys: 0, documents: 0 },
  ): Generator<Match> {
    const matches = compileFilter(filter);
    const sort = parseSort(options.sort);
    const plan = planQuery(this.#indexes, filter, sort, options.hint);
    const { skip = 0, limit = 0 } = options;
    // In order, no more are read than are asked for; all of them count towards a sort.
    const wanted = plan.isSorted && limit > 0 ? skip + limit : 0;
    const found = this.#matching(plan, matches, examined, wanted);
    const ordered = plan.isSorted ? found : sortInMemory(found, sort, limit > 0 ? skip + limit : 0);
    let position = 0;
    for (const match of ordered) {
      if (position++ < skip) continue;
      yield match;
      if (limit > 0 && position - skip >= limit) return;
    }
  }

  *#matching(
    plan: Plan,
    matches: (document: StoredDocument) => boolean,
    examined: Examined,
    wanted: number,
  ): Generator<Match> {
    for (const match of this.#candidates(plan, examined, wanted)) {
      examined.documents++;
      if (matches(match.document)) yield match;
    }
  }

  /** @param rows about how many will be taken; 0: unknown */
  *#candidates({ stage, index, ranges, backward }: Plan, examined: Examined, rows: number): Generator<Match> {
    if (stage === "IDHACK") {
      for (const { from } of ranges) {
        const bytes = this.#store.get("documents", this.#documentKey(from));
        examined.keys++;
        if (bytes) yield { idKey: from, document: new StoredDocument(bytes) };
      }
      return;
    }
    const prefix = index ? this.#entryPrefix(index) : this.#prefix;
    const seen = index && (index.isMultikey || ranges.length > 1) ? new Set<string>() : undefined;
    for (const { from, to } of ranges) {
      const range = { from: Buffer.concat([prefix, from]), to: Buffer.concat([prefix, to]) };
      const found = index
        ? this.#store.scanIndexed(this.#prefix, range, { backward, rows })
        : this.#store.scan("documents", range, { backward, rows });
      for (const [key, value] of found) {
        if (stage === "IXSCAN") examined.keys++;
        const idKey = index ? key : key.subarray(prefix.length);
        const identity = seen && idKey.toString("latin1");
        if (identity !== undefined && seen?.has(identity)) continue;
        if (identity !== undefined) seen?.add(identity);
        yield { idKey, document: new StoredDocument(value) };
      }
    }
  }

  /** How many documents match; without a filter, counted by keys alone. */
  count(filter: Document, options: FindOptions): number {
    if (Object.keys(filter).length === 0 && !options.skip && !options.limit && options.hint === undefined) {
      return this.measure().count;
    }
    let count = 0;
    for (const _ of this.find(filter, options)) count++;
    return count;
  }

  measure(): { count: number; sizeBytes: number } {
    return this.#store.measure("documents", rangeUnder(this.#prefix));
  }

  /** Stores a document as it was sent, with `_id` (generated if missing) moved to the front. */
  insert(bytes: Buffer): void {
    const fields = decode(bytes);
    checkStorable(fields);
    let document = new StoredDocument(bytes);
    if (!document.beginsWith("_id")) {
      const { elements } = document;
      const id = elements.get("_id") ?? encodeElement("_id", new ObjectId());
      const others = [...elements].filter(([name]) => name !== "_id").map(([, element]) => element);
      document = new StoredDocument(joinElements([id, ...others]));
    }
    checkSize(document.bytes);
    checkId(document.field("_id"));
    const idKey = encodeKey([document.field("_id")]);
    if (this.#store.get("documents", this.#documentKey(idKey))) throw this.#duplicate(undefined, document);
    this.#write(idKey, undefined, document, ALL_FIELDS);
  }

  /** Applies an update to the first match, or to all; inserts if none matches and `upsert` is set. */
  update(
    filter: Document,
    update: Update,
    { multi = false, upsert = false, ...options }: { multi?: boolean; upsert?: boolean } & FindOptions,
  ): UpdateOutcome {
    const outcome: UpdateOutcome = { matched: 0, modified: 0 };
    for (const { idKey, document } of this.#findAllFirst(filter, { ...options, limit: multi ? 0 : 1 })) {
      const after = new StoredDocument(update.apply(document));
      outcome.matched++;
      outcome.before = document;
      outcome.after = after;
      if (after.bytes.equals(document.bytes)) continue;
      this.#write(idKey, document, after, update.changedFields ?? ALL_FIELDS);
      outcome.modified++;
    }
    if (outcome.matched > 0 || !upsert) return outcome;
    const inserted = new StoredDocument(update.insert(filter));
    this.insert(inserted.bytes);
    return { matched: 0, modified: 0, upsertedId: inserted.field("_id"), after: inserted };
  }

  /** Deletes the first match, or all with `limit` 0; returns how many, and the last as it was. */
  delete(filter: Document, options: FindOptions): { deleted: number; before?: StoredDocument } {
    let deleted = 0;
    let before: StoredDocument | undefined;
    for (const { idKey, document } of this.#findAllFirst(filter, options)) {
      this.#write(idKey, document, undefined, ALL_FIELDS);
      before = document;
      deleted++;
    }
    return { deleted, ...(before ? { before } : {}) };
  }

  /** Finds all before the first is given out, so that a change can't bring a document up again; holds only their ids. */
  *#findAllFirst(filter: Document, options: FindOptions): Generator<Match> {
    if (options.limit === 1) {
      yield* this.find(filter, options);
      return;
    }
    const idKeys: Buffer[] = [];
    for (const { idKey } of this.find(filter, options)) idKeys.push(idKey);
    for (const idKey of idKeys) {
      const bytes = this.#store.get("documents", this.#documentKey(idKey));
      if (bytes) yield { idKey, document: new StoredDocument(bytes) };
    }
  }

  /** One document's change with its index entries. Everything is checked before anything is written. */
  #write(
    idKey: Buffer,
    before: StoredDocument | undefined,
    after: StoredDocument | undefined,
    changedFields: ReadonlySet<string>,
  ): void {
    const added: Buffer[] = [];
    const removed: Buffer[] = [];
    const becameMultikey: Index[] = [];
    for (const index of this.#indexes) {
      if (!index.dependsOn(changedFields)) continue;
      const old = before ? index.entriesOf(before).keys : [];
      const fresh = after ? index.entriesOf(after) : { keys: [], isMultikey: false };
      const additions = fresh.keys.filter((key) => !old.some((other) => other.equals(key)));
      const prefix = this.#entryPrefix(index);
      for (const key of additions) {
        if (index.specification.unique) this.#checkUnique(index, key, idKey, after!);
        added.push(Buffer.concat([prefix, key, idKey]));
      }
      for (const key of old) {
        if (!fresh.keys.some((other) => other.equals(key))) removed.push(Buffer.concat([prefix, key, idKey]));
      }
      if (fresh.isMultikey && !index.isMultikey) becameMultikey.push(index);
    }
    for (const key of removed) this.#store.delete("entries", key);
    for (const key of added) this.#store.put("entries", key, idKey);
    if (after) this.#store.put("documents", this.#documentKey(idKey), after.bytes);
    else this.#store.delete("documents", this.#documentKey(idKey));
    for (const index of becameMultikey) index.isMultikey = true;
    if (becameMultikey.length > 0) this.#save(this);
  }

  #checkUnique(index: Index, key: Buffer, idKey: Buffer, document: StoredDocument): void {
    const range = rangeUnder(Buffer.concat([this.#entryPrefix(index), key]));
    for (const [, owner] of this.#store.scan("entries", range)) {
      if (!owner.equals(idKey)) throw this.#duplicate(index, document);
    }
  }

  #duplicate(index: Index | undefined, document: StoredDocument): CommandError {
    const keyPattern = index?.specification.key ?? { _id: 1 };
    const keyValue: Document = {};
    for (const path of Object.keys(keyPattern)) keyValue[path] = firstValueAt(document, path);
    const shown = Object.entries(keyValue)
      .map(([path, value]) => `${path}: ${JSON.stringify(value)}`)
      .join(", ");
    const name = index?.name ?? "_id_";
    const message = `E11000 duplicate key error collection: ${this.namespace} index: ${name} dup key: { ${shown} }`;
    return new CommandError(11000, message, { keyPattern, keyValue });
  }

  /** Builds an index over what is there; false if it exists. All of it or, on a refusal, nothing. */
  createIndex(specification: IndexSpecification): boolean {
    const { key } = specification;
    if (Object.keys(key).length === 1 && key._id !== undefined) return false;
    if (existingIndex(this.#indexes, specification)) return false;
    const index = new Index({ id: this.#nextIndexId++, specification, isMultikey: false });
    try {
      this.#fill(index);
    } catch (error) {
      this.#store.deleteRange("entries", rangeUnder(this.#entryPrefix(index)));
      throw error;
    }
    this.#indexes.push(index);
    this.#save(this);
    return true;
  }

  #fill(index: Index): void {
    const prefix = this.#entryPrefix(index);
    for (const { idKey, document } of this.find({})) {
      const { keys, isMultikey } = index.entriesOf(document);
      if (isMultikey) index.isMultikey = true;
      for (const key of keys) {
        if (index.specification.unique) this.#checkUnique(index, key, idKey, document);
        this.#store.put("entries", Buffer.concat([prefix, key, idKey]), idKey);
      }
    }
  }

  dropIndex(index: Index): void {
    this.#store.deleteRange("entries", rangeUnder(this.#entryPrefix(index)));
    this.#indexes = this.#indexes.filter((other) => other !== index);
    this.#save(this);
  }

  /** Deletes every document and entry. */
  clear(): void {
    const everything: KeyRange = rangeUnder(this.#prefix);
    this.#store.deleteRange("documents", everything);
    this.#store.deleteRange("entries", everything);
    this.#indexes = [];
  }

  #documentKey(idKey: Buffer): Buffer {
    return Buffer.concat([this.#prefix, idKey]);
  }

  #entryPrefix(index: Index): Buffer {
    return Buffer.concat([this.#prefix, uint32(index.id)]);
  }
}

function checkId(id: unknown): void {
  if (rankOf(id) === RANK.array) throw new CommandError(2, "The '_id' value cannot be of type array");
}
