/** Owns the commands that write documents: insert, update, delete, findAndModify. */
import type { Document } from "bson";
import type { FindOptions, UpdateOutcome } from "./collection.ts";
import {
  type Command,
  type CommandContext,
  checkWriteConcern,
  collectionOf,
  countOf,
  documentOf,
  hintOf,
  namespaceOf,
  refuseOtherFields,
} from "./command-context.ts";
import { CommandError } from "./errors.ts";
import { compileFilter } from "./matcher.ts";
import { compileProjection } from "./projection.ts";
import { parseSort } from "./sorting.ts";
import { decode, encodeDocument, type StoredDocument } from "./stored-document.ts";
import { compileUpdate, type Update } from "./updater.ts";
import { EncodedDocument, type Reply } from "./wire.ts";

const BATCH_FIELDS = ["ordered", "bypassDocumentValidation"];
const UPDATE_FIELDS = new Set(["q", "u", "multi", "upsert", "hint"]);
const DELETE_FIELDS = new Set(["q", "limit", "hint"]);

/** The raw statements of a batch, whether they came as a document sequence or inside the body. */
function statementsOf({ body, sequences }: CommandContext, field: string): Buffer[] {
  const statements =
    sequences.get(field) ?? (Array.isArray(body[field]) ? body[field].map(encodeDocument) : []);
  if (statements.length === 0 || statements.length > 100_000) {
    throw new CommandError(2, "Write batch sizes must be between 1 and 100000");
  }
  return statements;
}

/** Runs each statement; a refused one becomes an entry of `writeErrors` and, in an ordered batch, ends it. */
function runBatch<S>(
  statements: readonly S[],
  ordered: boolean,
  run: (statement: S, index: number) => void,
): Reply {
  const writeErrors: Document[] = [];
  for (const [index, statement] of statements.entries()) {
    try {
      run(statement, index);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      writeErrors.push(error.toWriteError(index));
      if (ordered) break;
    }
  }
  return { ...(writeErrors.length > 0 ? { writeErrors } : {}), ok: 1 };
}

const isOrdered = ({ body }: CommandContext): boolean => body.ordered !== false;

function insert(context: CommandContext): Reply {
  const documents = statementsOf(context, "documents");
  const collection = context.catalog.getOrCreate(namespaceOf(context));
  let n = 0;
  const outcome = runBatch(documents, isOrdered(context), (bytes) => {
    collection.insert(bytes);
    n++;
  });
  return { n, ...outcome };
}

function update(context: CommandContext): Reply {
  const statements = statementsOf(context, "updates").map(decode);
  for (const statement of statements) refuseOtherFields(statement, UPDATE_FIELDS, "update");
  const totals = { n: 0, nModified: 0 };
  const upserted: Document[] = [];
  const outcome = runBatch(statements, isOrdered(context), (statement, index) => {
    const change = compileUpdate(statement.u);
    if (statement.multi && change.isReplacement) {
      throw new CommandError(9, "multi update is not supported for replacement-style update");
    }
    const result = updateMatches(context, documentOf(statement.q, "q") ?? {}, change, {
      multi: Boolean(statement.multi),
      upsert: Boolean(statement.upsert),
      hint: hintOf(statement.hint),
    });
    const isUpsert = result.upsertedId !== undefined;
    totals.n += isUpsert ? 1 : result.matched;
    totals.nModified += result.modified;
    if (isUpsert) upserted.push({ index, _id: result.upsertedId });
  });
  return { ...totals, ...(upserted.length > 0 ? { upserted } : {}), ...outcome };
}

function updateMatches(
  context: CommandContext,
  filter: Document,
  change: Update,
  options: { multi?: boolean; upsert: boolean } & FindOptions,
): UpdateOutcome {
  compileFilter(filter);
  const collection = options.upsert
    ? context.catalog.getOrCreate(namespaceOf(context))
    : collectionOf(context);
  return collection?.update(filter, change, options) ?? { matched: 0, modified: 0 };
}

function deleteMatches(context: CommandContext): Reply {
  const statements = statementsOf(context, "deletes").map(decode);
  for (const statement of statements) refuseOtherFields(statement, DELETE_FIELDS, "delete");
  let n = 0;
  const outcome = runBatch(statements, isOrdered(context), (statement) => {
    const limit = countOf(statement.limit, "limit");
    if (limit !== 0 && limit !== 1)
      throw new CommandError(9, "The limit field in delete objects must be 0 or 1");
    const filter = documentOf(statement.q, "q") ?? {};
    compileFilter(filter);
    n += collectionOf(context)?.delete(filter, { limit, hint: hintOf(statement.hint) }).deleted ?? 0;
  });
  return { n, ...outcome };
}

function findAndModify(context: CommandContext): Reply {
  const { body } = context;
  const filter = documentOf(body.query, "query") ?? {};
  const project = compileProjection(documentOf(body.fields, "fields"));
  const options = { sort: documentOf(body.sort, "sort"), hint: hintOf(body.hint) };
  const shown = (document: StoredDocument | undefined) =>
    document ? new EncodedDocument(project ? project(document.bytes) : document.bytes) : null;
  compileFilter(filter);
  parseSort(options.sort);
  if (body.remove) {
    if (body.update !== undefined || body.new || body.upsert) {
      throw new CommandError(9, "Cannot specify update, new or upsert with remove=true");
    }
    const result = collectionOf(context)?.delete(filter, { ...options, limit: 1 });
    return { lastErrorObject: { n: result?.deleted ?? 0 }, value: shown(result?.before), ok: 1 };
  }
  if (body.update === undefined)
    throw new CommandError(9, "Either an update or remove=true must be specified");
  const result = updateMatches(context, filter, compileUpdate(body.update), {
    ...options,
    upsert: Boolean(body.upsert),
  });
  const isUpsert = result.upsertedId !== undefined;
  const lastErrorObject = {
    n: isUpsert ? 1 : result.matched,
    updatedExisting: result.matched > 0,
    ...(isUpsert ? { upserted: result.upsertedId } : {}),
  };
  return { lastErrorObject, value: shown(body.new ? result.after : result.before), ok: 1 };
}

/** A command that a driver may send again, with its write concern checked before anything is written. */
const retryable = (fields: readonly string[], run: Command["run"]): Command => ({
  fields,
  writes: true,
  retryable: true,
  run: (context) => {
    checkWriteConcern(context.body);
    return run(context);
  },
});

const FIND_AND_MODIFY = retryable(
  ["query", "update", "remove", "new", "upsert", "fields", "sort", "hint", "bypassDocumentValidation"],
  findAndModify,
);

export const writeCommands: Record<string, Command> = {
  insert: retryable(["documents", ...BATCH_FIELDS], insert),
  update: retryable(["updates", ...BATCH_FIELDS], update),
  delete: retryable(["deletes", ...BATCH_FIELDS], deleteMatches),
  findAndModify: FIND_AND_MODIFY,
  findandmodify: FIND_AND_MODIFY,
};
