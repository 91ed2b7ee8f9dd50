/** Owns the commands that read documents: find and its cursors, count, distinct, explain. */
import { type Document, Long, serialize } from "bson";
import type { FindOptions } from "./collection.ts";
import {
  type Command,
  type CommandContext,
  collectionOf,
  countOf,
  documentOf,
  hintOf,
  namespaceOf,
  refuseOtherFields,
} from "./command-context.ts";
import { CommandError, notSupported } from "./errors.ts";
import { compileFilter } from "./matcher.ts";
import { keyTuples, splitPath } from "./paths.ts";
import type { Plan } from "./planner.ts";
import { compileProjection } from "./projection.ts";
import { parseSort } from "./sorting.ts";
import { encodeKey } from "./values.ts";
import type { Reply } from "./wire.ts";

const FIND_FIELDS = [
  "filter",
  "projection",
  "sort",
  "hint",
  "skip",
  "limit",
  "batchSize",
  "singleBatch",
  "allowDiskUse",
];

function findOptionsOf(body: Document): FindOptions {
  return {
    sort: documentOf(body.sort, "sort"),
    hint: hintOf(body.hint),
    skip: countOf(body.skip, "skip") ?? 0,
    limit: countOf(body.limit, "limit") ?? 0,
  };
}

function find(context: CommandContext): Reply {
  const { body, cursors, nowMs } = context;
  const batchSize = countOf(body.batchSize, "batchSize");
  return cursors.open(namespaceOf(context), foundBytes(context), nowMs, {
    ...(batchSize === undefined ? {} : { batchSize }),
    isSingleBatch: Boolean(body.singleBatch),
  });
}

/** The results of a find as they are sent. Everything is checked now, although documents are read only when asked for. */
function foundBytes(context: CommandContext): Iterable<Uint8Array> {
  const { body } = context;
  const filter = documentOf(body.filter, "filter") ?? {};
  const options = findOptionsOf(body);
  const project = compileProjection(documentOf(body.projection, "projection"));
  compileFilter(filter);
  parseSort(options.sort);
  const collection = collectionOf(context);
  collection?.plan(filter, options);
  return (function* () {
    for (const { document } of collection?.find(filter, options) ?? []) {
      yield project ? project(document.bytes) : document.bytes;
    }
  })();
}

function getMore({ body, database, cursors, nowMs }: CommandContext): Reply {
  const id = Long.fromValue(body.getMore);
  const batchSize = countOf(body.batchSize, "batchSize") || undefined;
  return cursors.next(id, `${database}.${body.collection}`, nowMs, batchSize);
}

function killCursors({ body, cursors }: CommandContext): Reply {
  const ids = (body.cursors as unknown[]).map((id) => Long.fromValue(id as Long));
  const cursorsKilled = ids.filter((id) => cursors.kill(id));
  const cursorsNotFound = ids.filter((id) => !cursorsKilled.includes(id));
  return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [], ok: 1 };
}

function count(context: CommandContext): Reply {
  const { body } = context;
  const query = documentOf(body.query, "query") ?? {};
  compileFilter(query);
  const { skip, limit, hint } = findOptionsOf(body);
  return { n: collectionOf(context)?.count(query, { skip: skip ?? 0, limit: limit ?? 0, hint }) ?? 0, ok: 1 };
}

/** The one pipeline that is understood: what the driver's countDocuments sends. */
function aggregate(context: CommandContext): Reply {
  const { body, cursors, nowMs } = context;
  const stages: Document[] = Array.isArray(body.pipeline) ? [...body.pipeline] : [];
  const take = (name: string) => (stages[0] && name in stages[0] ? stages.shift()![name] : undefined);
  const query = take("$match");
  const skip = countOf(take("$skip"), "$skip") ?? 0;
  const limit = countOf(take("$limit"), "$limit", 1) ?? 0;
  const group = take("$group");
  const isCount = query && stages.length === 0 && group && group._id === 1 && group.n?.$sum === 1;
  if (!isCount || Object.keys(group).length !== 2) throw notSupported("aggregation, except countDocuments");
  compileFilter(query);
  const n = collectionOf(context)?.count(query, { skip, limit, hint: hintOf(body.hint) }) ?? 0;
  const results = n > 0 ? [serialize({ _id: 1, n })] : [];
  return cursors.open(namespaceOf(context), results, nowMs);
}

function distinct(context: CommandContext): Reply {
  const { body } = context;
  if (typeof body.key !== "string") throw new CommandError(14, "The field 'key' must be a string");
  const path = splitPath(body.key);
  const query = documentOf(body.query, "query") ?? {};
  compileFilter(query);
  const values = new Map<string, unknown>();
  for (const { document } of collectionOf(context)?.find(query, { hint: hintOf(body.hint) }) ?? []) {
    for (const [value] of keyTuples(document, [path])) {
      if (value === undefined || typeof value === "symbol") continue;
      values.set(encodeKey([value]).toString("latin1"), value);
    }
  }
  return { values: [...values.values()], ok: 1 };
}

/** The plan of a find in MongoDB's terms, and what running it looked at unless verbosity is queryPlanner. */
function explain(context: CommandContext): Reply {
  const explained = documentOf(context.body.explain, "explain") ?? {};
  if (Object.keys(explained)[0] !== "find") throw notSupported(`explain of '${Object.keys(explained)[0]}'`);
  const inner = { ...context, body: explained };
  refuseOtherFields(explained, new Set(["find", ...FIND_FIELDS, "$db", "comment", "maxTimeMS"]), "find");
  const filter = documentOf(explained.filter, "filter") ?? {};
  const options = findOptionsOf(explained);
  compileFilter(filter);
  const collection = collectionOf(inner);
  const winningPlan = collection ? describePlan(collection.plan(filter, options)) : { stage: "EOF" };
  const queryPlanner = { namespace: namespaceOf(inner), parsedQuery: filter, winningPlan, rejectedPlans: [] };
  if (context.body.verbosity === "queryPlanner") return { queryPlanner: queryPlanner, ok: 1 };
  const examined = { keys: 0, documents: 0 };
  let nReturned = 0;
  for (const _ of collection?.find(filter, options, examined) ?? []) nReturned++;
  const executionStats = {
    executionSuccess: true,
    nReturned,
    totalKeysExamined: examined.keys,
    totalDocsExamined: examined.documents,
  };
  return { queryPlanner: queryPlanner, executionStats, ok: 1 };
}

function describePlan(plan: Plan): Document {
  const access = describeAccess(plan);
  return plan.isSorted ? access : { stage: "SORT", inputStage: access };
}

function describeAccess({ stage, index, backward }: Plan): Document {
  const direction = backward ? "backward" : "forward";
  if (stage === "COLLSCAN") return { stage, direction };
  if (stage === "IDHACK") return { stage, indexName: "_id_" };
  const inputStage = {
    stage,
    indexName: index?.name ?? "_id_",
    keyPattern: index?.specification.key ?? { _id: 1 },
    isMultiKey: index?.isMultikey ?? false,
    isSparse: index?.specification.sparse ?? false,
    isPartial: index?.specification.partialFilterExpression !== undefined,
    direction,
  };
  return { stage: "FETCH", inputStage };
}

export const readCommands: Record<string, Command> = {
  find: { fields: FIND_FIELDS, run: find },
  getMore: { fields: ["collection", "batchSize"], run: getMore },
  killCursors: { fields: ["cursors"], run: killCursors },
  count: { fields: ["query", "skip", "limit", "hint"], run: count },
  aggregate: { fields: ["pipeline", "cursor", "hint"], run: aggregate },
  distinct: { fields: ["key", "query", "hint"], run: distinct },
  explain: { fields: ["verbosity"], run: explain },
};
