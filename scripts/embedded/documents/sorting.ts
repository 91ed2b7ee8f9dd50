/** Owns sorts: the specification, the byte key of a document, and the sort in memory. */
import type { Document } from "bson";
import { CommandError, notSupported } from "./errors.ts";
import { keyTuples, splitKeyPath } from "./paths.ts";
import { type FieldReader, StoredDocument } from "./stored-document.ts";
import { encodeKey } from "./values.ts";

export interface SortField {
  path: string;
  direction: 1 | -1;
}

/** Reads a sort specification; empty when there is none. */
export function parseSort(specification: Document | undefined): SortField[] {
  return Object.entries(specification ?? {}).map(([path, direction]) => {
    if (typeof direction === "object") throw notSupported(`$meta sorts ('${path}')`, 2);
    if (direction !== 1 && direction !== -1) {
      throw new CommandError(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
    }
    splitKeyPath(path);
    return { path, direction };
  });
}

/** A document's place in the order: the least of its keys, as arrays give one for each element. */
export function sortKeyOf(sort: readonly SortField[]): (document: FieldReader) => Buffer {
  const paths = sort.map(({ path }) => splitKeyPath(path));
  const directions = sort.map(({ direction }) => direction);
  return (document) =>
    keyTuples(document, paths)
      .map((tuple) => encodeKey(tuple, directions))
      .reduce((least, key) => (Buffer.compare(key, least) < 0 ? key : least));
}

/** Sorts what holds documents; with `keep` above 0 not many more are held at a time than are wanted in the end. */
export function sortInMemory<T extends { document: StoredDocument }>(
  items: Iterable<T>,
  sort: readonly SortField[],
  keep: number,
): T[] {
  const keyOf = sortKeyOf(sort);
  let rows: { key: Buffer; item: T }[] = [];
  const order = () => rows.sort((a, b) => Buffer.compare(a.key, b.key));
  for (const item of items) {
    // A fresh reader, so that what was decoded for the filter and the key isn't held until the end.
    rows.push({
      key: keyOf(item.document),
      item: { ...item, document: new StoredDocument(item.document.bytes) },
    });
    if (keep > 0 && rows.length >= keep * 2 + 100) rows = order().slice(0, keep);
  }
  return order().map(({ item }) => item);
}
