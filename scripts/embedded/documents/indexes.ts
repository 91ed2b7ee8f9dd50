/** Owns index definitions: which are accepted, and the entries that a document has in each. */
import type { Document } from "bson";
import { CommandError, notSupported } from "./errors.ts";
import { compileFilter, type DocumentPredicate, isOperatorDocument } from "./matcher.ts";
import { keyTuples, splitKeyPath } from "./paths.ts";
import type { FieldReader } from "./stored-document.ts";
import { encodeKey, equalValues, isDocument } from "./values.ts";

/** As `createIndexes` sends it and `listIndexes` shows it. */
export interface IndexSpecification {
  name: string;
  key: Record<string, 1 | -1>;
  unique?: boolean;
  sparse?: boolean;
  partialFilterExpression?: Document;
  expireAfterSeconds?: number;
}

/** What is kept of an index; `isMultikey` once any document had several entries or an array in it. */
export interface IndexRecord {
  id: number;
  specification: IndexSpecification;
  isMultikey: boolean;
}

const OPTIONS = new Set([
  "name",
  "key",
  "unique",
  "sparse",
  "partialFilterExpression",
  "expireAfterSeconds",
  "v",
  "background",
]);
const PARTIAL_OPERATORS = new Set(["$eq", "$exists", "$gt", "$gte", "$lt", "$lte", "$in"]);
const EXPIRE_AFTER_SECONDS_MAX = 2 ** 31 - 1;

/** Reads one entry of `createIndexes`; refuses options and kinds that are not promised. */
export function parseIndexSpecification(raw: unknown): IndexSpecification {
  if (!isDocument(raw) || !isDocument(raw.key) || typeof raw.name !== "string") {
    throw new CommandError(9, "An index needs a 'key' document and a 'name'");
  }
  for (const option of Object.keys(raw)) {
    if (!OPTIONS.has(option)) throw notSupported(`the index option '${option}'`, 197);
  }
  const fields = Object.entries(raw.key);
  if (fields.length === 0) throw new CommandError(67, "Index keys cannot be an empty object");
  for (const [path, direction] of fields) {
    if (path.includes("$**")) throw notSupported("wildcard indexes", 67);
    if (direction !== 1 && direction !== -1)
      throw notSupported(`the index type ${direction} ('${path}')`, 67);
    splitKeyPath(path);
  }
  if (raw.sparse && raw.partialFilterExpression) {
    throw new CommandError(67, "cannot mix 'partialFilterExpression' and 'sparse' options");
  }
  if (raw.partialFilterExpression !== undefined) checkPartialFilter(raw.partialFilterExpression);
  if (raw.expireAfterSeconds !== undefined) checkExpiry(raw.expireAfterSeconds, fields);
  const { key, name, unique, sparse, partialFilterExpression, expireAfterSeconds } = raw;
  return {
    name,
    key: key as IndexSpecification["key"],
    ...(unique ? { unique: true } : {}),
    ...(sparse ? { sparse: true } : {}),
    ...(partialFilterExpression === undefined ? {} : { partialFilterExpression }),
    ...(expireAfterSeconds === undefined ? {} : { expireAfterSeconds: Number(expireAfterSeconds) }),
  };
}

function checkExpiry(seconds: unknown, fields: readonly [string, unknown][]): void {
  if (fields.length > 1) {
    throw new CommandError(67, "TTL indexes are single-field indexes, compound indexes do not support TTL.");
  }
  if (fields[0]![0] === "_id")
    throw new CommandError(197, "The field 'expireAfterSeconds' is not valid for an _id index");
  const value = Number(seconds);
  if (!(value >= 0 && value <= EXPIRE_AFTER_SECONDS_MAX)) {
    throw new CommandError(
      67,
      `TTL index 'expireAfterSeconds' must be within 0 and ${EXPIRE_AFTER_SECONDS_MAX}`,
    );
  }
}

function checkPartialFilter(filter: unknown): void {
  if (!isDocument(filter)) throw new CommandError(14, "partialFilterExpression must be a document");
  compileFilter(filter);
  for (const [name, condition] of Object.entries(filter)) {
    if (name === "$and") for (const branch of condition) checkPartialFilter(branch);
    else if (name.startsWith("$")) throw notSupported(`${name} in a partial index's filter`, 67);
    if (!isOperatorDocument(condition)) continue;
    for (const [operator, operand] of Object.entries(condition)) {
      if (PARTIAL_OPERATORS.has(operator) && (operator !== "$exists" || operand)) continue;
      throw notSupported(`${operator}: ${operand} in a partial index's filter`, 67);
    }
  }
}

export class Index {
  readonly id: number;
  readonly specification: IndexSpecification;
  readonly fields: readonly string[];
  readonly directions: readonly (1 | -1)[];
  isMultikey: boolean;
  readonly #paths: readonly string[][];
  readonly #includes: DocumentPredicate | undefined;
  /** The top-level fields that decide the entries. */
  readonly #roots: ReadonlySet<string>;

  constructor({ id, specification, isMultikey }: IndexRecord) {
    this.id = id;
    this.specification = specification;
    this.isMultikey = isMultikey;
    this.fields = Object.keys(specification.key);
    this.directions = Object.values(specification.key);
    this.#paths = this.fields.map(splitKeyPath);
    const partial = specification.partialFilterExpression;
    this.#includes = partial && compileFilter(partial);
    this.#roots = new Set([...this.fields, ...pathsOf(partial ?? {})].map((path) => path.split(".")[0]!));
  }

  get name(): string {
    return this.specification.name;
  }

  toRecord(): IndexRecord {
    return { id: this.id, specification: this.specification, isMultikey: this.isMultikey };
  }

  /** Whether a change of these top-level fields can change a document's entries. */
  dependsOn(changedFields: ReadonlySet<string>): boolean {
    for (const root of this.#roots) if (changedFields.has(root)) return true;
    return false;
  }

  /** A document's distinct entry keys; `isMultikey` when arrays lie on its paths. Code 171 for parallel arrays. */
  entriesOf(document: FieldReader): { keys: Buffer[]; isMultikey: boolean } {
    if (this.#includes && !this.#includes(document)) return { keys: [], isMultikey: false };
    const tuples = keyTuples(document, this.#paths);
    const isMultikey = tuples.length > 1 || this.#paths.some((path) => hasArrayOn(document, path));
    const indexed = this.specification.sparse
      ? tuples.filter((tuple) => tuple.some((v) => v !== undefined))
      : tuples;
    const keys = new Map(
      indexed.map((tuple) => {
        const key = encodeKey(tuple, this.directions);
        return [key.toString("latin1"), key];
      }),
    );
    return { keys: [...keys.values()], isMultikey };
  }
}

/** Whether the walk along a path meets an array; the index then can't promise order or combined bounds. */
function hasArrayOn(document: FieldReader, path: readonly string[]): boolean {
  let value = document.field(path[0]!);
  for (const part of path.slice(1)) {
    if (Array.isArray(value)) return true;
    if (!isDocument(value) || !Object.hasOwn(value, part)) return false;
    value = value[part];
  }
  return Array.isArray(value);
}

const pathsOf = (filter: Document): string[] =>
  Object.entries(filter).flatMap(([name, condition]) =>
    name === "$and" ? (condition as Document[]).flatMap(pathsOf) : [name],
  );

/** Whether two specifications index the same documents by the same key (MongoDB's index signature). */
const sameSignature = (a: IndexSpecification, b: IndexSpecification): boolean =>
  equalValues(
    [a.key, a.unique ?? false, a.sparse ?? false, a.partialFilterExpression ?? null],
    [b.key, b.unique ?? false, b.sparse ?? false, b.partialFilterExpression ?? null],
  );

/** The index that a specification asks for, if it is there; one that contradicts it is refused (codes 85, 86). */
export function existingIndex(indexes: readonly Index[], wanted: IndexSpecification): Index | undefined {
  const { name, expireAfterSeconds } = wanted;
  const sameName = indexes.find((index) => index.name === name);
  const same = indexes.find(({ specification }) => sameSignature(specification, wanted));
  if (sameName && sameName !== same) {
    throw new CommandError(86, `An existing index has the same name as the requested index: ${name}`);
  }
  if (same && same.name !== name) {
    throw new CommandError(85, `Index already exists with a different name: ${same.name}`);
  }
  if (same && same.specification.expireAfterSeconds !== expireAfterSeconds) {
    const message = "An equivalent index already exists with the same name but different options";
    throw new CommandError(85, `${message}: ${name}`);
  }
  return same;
}
