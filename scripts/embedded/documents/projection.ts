/** Owns projections: which fields of a document a reply shows; computed fields are refused. */
import type { Document } from "bson";
import { CommandError, notSupported } from "./errors.ts";
import { splitPath } from "./paths.ts";
import { encodeElement, joinElements, StoredDocument } from "./stored-document.ts";
import { isDocument } from "./values.ts";

export type Projection = (bytes: Buffer) => Buffer;

/** Paths as a tree; a leaf (empty map) is a named path's end. */
type PathTree = Map<string, PathTree>;

/** Compiles a projection; an empty or missing one shows everything (undefined). */
export function compileProjection(specification: Document | undefined): Projection | undefined {
  const entries = Object.entries(specification ?? {});
  if (entries.length === 0) return undefined;
  for (const [path, shown] of entries) {
    if (typeof shown !== "number" && typeof shown !== "boolean") {
      throw notSupported(`computed fields in a projection ('${path}')`, 2);
    }
  }
  const others = entries.filter(([path]) => path !== "_id");
  const including = others.length > 0 ? Boolean(others[0]![1]) : Boolean(entries[0]![1]);
  for (const [path, shown] of others) {
    if (Boolean(shown) === including) continue;
    throw including
      ? new CommandError(31254, `Cannot do exclusion on field ${path} in inclusion projection`)
      : new CommandError(31253, `Cannot do inclusion on field ${path} in exclusion projection`);
  }
  const id = entries.find(([path]) => path === "_id");
  const showsId = id === undefined || Boolean(id[1]);
  const tree: PathTree = new Map();
  for (const [path] of others) addPath(tree, path);
  if (showsId === including) tree.set("_id", new Map());
  return (bytes) => project(new StoredDocument(bytes), tree, including);
}

function addPath(tree: PathTree, path: string): void {
  const parts = splitPath(path);
  let node = tree;
  for (const [i, part] of parts.entries()) {
    const next = node.get(part);
    // A leaf on the way, or a branch at the end: one path is the beginning of another.
    if (next && (next.size === 0 || i === parts.length - 1)) {
      throw new CommandError(31249, `Path collision at ${path}`);
    }
    const child: PathTree = next ?? new Map();
    node.set(part, child);
    node = child;
  }
}

function project(document: StoredDocument, tree: PathTree, including: boolean): Buffer {
  const elements: Uint8Array[] = [];
  for (const [name, element] of document.elements) {
    const branch = tree.get(name);
    if (branch === undefined || branch.size === 0) {
      if ((branch !== undefined) === including) elements.push(element);
      continue;
    }
    const pruned = prune(document.field(name), branch, including);
    if (pruned !== undefined) elements.push(encodeElement(name, pruned));
  }
  return joinElements(elements);
}

/** The shown part of a value under a path that goes on; undefined when nothing of it is shown. */
function prune(value: unknown, tree: PathTree, including: boolean): unknown {
  if (Array.isArray(value)) {
    return value.map((element) => prune(element, tree, including)).filter((element) => element !== undefined);
  }
  if (!isDocument(value)) return including ? undefined : value;
  const shown: Document = {};
  for (const [name, inner] of Object.entries(value)) {
    const branch = tree.get(name);
    if (branch === undefined || branch.size === 0) {
      if ((branch !== undefined) === including) shown[name] = inner;
      continue;
    }
    const pruned = prune(inner, branch, including);
    if (pruned !== undefined) shown[name] = pruned;
  }
  return shown;
}
