/** Owns sorts: the specification and the byte key by which documents are ordered in memory. */
import type { Document } from "bson";
import { CommandError, notSupported } from "./errors.ts";
import { keyTuples, splitKeyPath } from "./paths.ts";
import type { FieldReader } from "./stored-document.ts";
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
