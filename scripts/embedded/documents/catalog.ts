/** Owns the list of collections, in memory and in the store; what is inside one is the collection's. */
import { serialize } from "bson";
import { Collection, type CollectionRecord } from "./collection.ts";
import { CommandError } from "./errors.ts";
import { rangeUnder, type Store } from "./store.ts";
import { decode } from "./stored-document.ts";

const RECORDS_PREFIX = Buffer.from("collection/");
const NAMESPACE_BYTES_MAX = 255;

const recordKey = (namespace: string): Buffer => Buffer.concat([RECORDS_PREFIX, Buffer.from(namespace)]);

export class Catalog {
  readonly #store: Store;
  readonly #collections = new Map<string, Collection>();
  #nextId = 1;

  constructor(store: Store) {
    this.#store = store;
    this.reload();
  }

  /** Reads the list again, after a transaction that changed it was rolled back. */
  reload(): void {
    this.#collections.clear();
    for (const [, bytes] of this.#store.scan("records", rangeUnder(RECORDS_PREFIX))) {
      const record = decode(bytes) as CollectionRecord;
      this.#nextId = Math.max(this.#nextId, record.id + 1);
      this.#collections.set(record.namespace, this.#open(record));
    }
  }

  #open(record: CollectionRecord): Collection {
    return new Collection(this.#store, record, (collection) => this.#save(collection));
  }

  #save(collection: Collection): void {
    this.#store.put("records", recordKey(collection.namespace), serialize(collection.toRecord()));
  }

  get(namespace: string): Collection | undefined {
    return this.#collections.get(namespace);
  }

  /** The collection, created if it is not there. */
  getOrCreate(namespace: string): Collection {
    const existing = this.#collections.get(namespace);
    if (existing) return existing;
    checkNamespace(namespace);
    const collection = this.#open({ id: this.#nextId++, namespace, nextIndexId: 1, indexes: [] });
    this.#collections.set(namespace, collection);
    this.#save(collection);
    return collection;
  }

  drop(collection: Collection): void {
    collection.clear();
    this.#store.delete("records", recordKey(collection.namespace));
    this.#collections.delete(collection.namespace);
  }

  /** The collections of one database, or of all. */
  list(database?: string): Collection[] {
    const all = [...this.#collections.values()];
    return database === undefined ? all : all.filter(({ namespace }) => databaseOf(namespace) === database);
  }
}

export const databaseOf = (namespace: string): string => namespace.slice(0, namespace.indexOf("."));
export const collectionNameOf = (namespace: string): string => namespace.slice(namespace.indexOf(".") + 1);

function checkNamespace(namespace: string): void {
  const database = databaseOf(namespace);
  const name = collectionNameOf(namespace);
  const isValid =
    /^[^/\\. "$*<>:|?\0]{1,63}$/.test(database) &&
    !/[$\0]/.test(name) &&
    !name.startsWith("system.") &&
    !name.startsWith(".") &&
    Buffer.byteLength(namespace) <= NAMESPACE_BYTES_MAX;
  if (!isValid) throw new CommandError(73, `Invalid namespace specified '${namespace}'`);
}
