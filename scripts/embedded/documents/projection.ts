/** Owns projections: which fields of a document a reply shows; computed fields are refused. */
import type { Document } from "bson";
import { DocumentWriter } from "./document-writer.ts";
import { isNamed, LAYOUT_STEP, layoutOf, TYPE } from "./encoded-fields.ts";
import { CommandError, notSupported } from "./errors.ts";
import { splitPath } from "./paths.ts";

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
  const branches = branchesOf(tree);
  return (bytes) => writer.build(() => writeShown(bytes, 0, branches, including));
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

/** A tree as it is walked: a branch without branches of its own is a named path's end. */
interface Branch {
  name: string;
  branches: readonly Branch[];
}

const branchesOf = (tree: PathTree): Branch[] =>
  [...tree].map(([name, inner]) => ({ name, branches: branchesOf(inner) }));

const writer = new DocumentWriter();

/** Writes what is shown of the elements of the document at `start`; neighbours go in one piece. */
function writeShown(bytes: Buffer, start: number, branches: readonly Branch[], including: boolean): void {
  const layout = layoutOf(bytes, start);
  let [from, to] = [0, 0];
  for (let i = 0; i < layout.length; i += LAYOUT_STEP) {
    const [at, nul, end] = [layout[i]!, layout[i + 1]!, layout[i + 2]!];
    const branch = branches.find(({ name }) => isNamed(bytes, at + 1, nul, name));
    if (branch === undefined || branch.branches.length === 0) {
      if ((branch !== undefined) !== including) continue;
      if (to !== at) {
        writer.copy(bytes, from, to);
        from = at;
      }
      to = end;
      continue;
    }
    writer.copy(bytes, from, to);
    [from, to] = [end, end];
    writePart(
      { bytes, type: bytes[at]!, from: nul + 1, to: end },
      bytes.toString("utf8", at + 1, nul),
      branch,
      including,
    );
  }
  writer.copy(bytes, from, to);
}

/** A value in encoded form. */
interface Encoded {
  bytes: Buffer;
  /** BSON's. */
  type: number;
  from: number;
  to: number;
}

/** Writes the shown part of a value under a path that goes on; false when nothing of it is shown. */
function writePart(value: Encoded, name: string, branch: Branch, including: boolean): boolean {
  const { bytes, type, from, to } = value;
  if (type === TYPE.document) {
    writer.nested("document", name, () => writeShown(bytes, from, branch.branches, including));
    return true;
  }
  if (type !== TYPE.array) {
    if (!including) writer.element(type, name, bytes, from, to);
    return !including;
  }
  writer.nested("array", name, () => {
    const layout = layoutOf(bytes, from);
    let position = 0;
    for (let i = 0; i < layout.length; i += LAYOUT_STEP) {
      const element = { bytes, type: bytes[layout[i]!]!, from: layout[i + 1]! + 1, to: layout[i + 2]! };
      if (writePart(element, String(position), branch, including)) position++;
    }
  });
  return true;
}
