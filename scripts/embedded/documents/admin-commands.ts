/** Owns the commands about the server, its databases, collections and indexes. */
import { type Document, ObjectId, serialize } from "bson";
import { collectionNameOf, databaseOf } from "./catalog.ts";
import { type Command, type CommandContext, collectionOf, namespaceOf } from "./command-context.ts";
import { CommandError } from "./errors.ts";
import { parseIndexSpecification } from "./indexes.ts";
import { compileFilter } from "./matcher.ts";
import { DOCUMENT_SIZE_BYTES_MAX, readerOf } from "./stored-document.ts";
import { equalValues, isDocument } from "./values.ts";
import { MESSAGE_SIZE_BYTES_MAX, type Reply } from "./wire.ts";

/** The version whose behaviour is followed, and its wire version. */
const VERSION = [7, 0, 0, 0];
const WIRE_VERSION = 21;
const REPLICA_SET = "stopover";
const ID_INDEX = { v: 2, key: { _id: 1 }, name: "_id_" };
/** One election that never changes: there is one member. */
const ELECTION_ID = new ObjectId("7fffffff0000000000000001");

/** A replica set of one primary, because drivers retry writes only there. */
function hello({ body, address, connectionId, nowMs }: CommandContext): Reply {
  return {
    ...(body.hello === undefined ? { ismaster: true } : {}),
    isWritablePrimary: true,
    helloOk: true,
    setName: REPLICA_SET,
    setVersion: 1,
    hosts: [address],
    primary: address,
    me: address,
    secondary: false,
    electionId: ELECTION_ID,
    maxBsonObjectSize: DOCUMENT_SIZE_BYTES_MAX,
    maxMessageSizeBytes: MESSAGE_SIZE_BYTES_MAX,
    maxWriteBatchSize: 100_000,
    localTime: new Date(nowMs),
    logicalSessionTimeoutMinutes: 30,
    connectionId,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
    ok: 1,
  };
}

/** Succeeds if the collection is there, as MongoDB does since 7.0. */
function create(context: CommandContext): Reply {
  context.catalog.getOrCreate(namespaceOf(context));
  return { ok: 1 };
}

function drop(context: CommandContext): Reply {
  const collection = collectionOf(context);
  if (!collection) throw new CommandError(26, "ns not found");
  const nIndexesWas = collection.indexes.length + 1;
  context.catalog.drop(collection);
  return { nIndexesWas, ns: collection.namespace, ok: 1 };
}

function dropDatabase({ catalog, database }: CommandContext): Reply {
  for (const collection of catalog.list(database)) catalog.drop(collection);
  return { dropped: database, ok: 1 };
}

function createIndexes(context: CommandContext): Reply {
  const { catalog, body } = context;
  const namespace = namespaceOf(context);
  if (!Array.isArray(body.indexes) || body.indexes.length === 0) {
    throw new CommandError(2, "Must specify at least one index to create");
  }
  const specifications = body.indexes.map(parseIndexSpecification);
  const createdCollectionAutomatically = !catalog.get(namespace);
  const collection = catalog.getOrCreate(namespace);
  const before = new Set(collection.indexes);
  try {
    for (const specification of specifications) collection.createIndex(specification);
  } catch (error) {
    for (const index of collection.indexes) if (!before.has(index)) collection.dropIndex(index);
    throw error;
  }
  const numIndexesAfter = collection.indexes.length + 1;
  return { numIndexesBefore: before.size + 1, numIndexesAfter, createdCollectionAutomatically, ok: 1 };
}

function listIndexes(context: CommandContext): Reply {
  const collection = collectionOf(context);
  if (!collection) throw new CommandError(26, `ns does not exist: ${namespaceOf(context)}`);
  const shown = [ID_INDEX, ...collection.indexes.map(({ specification }) => ({ v: 2, ...specification }))];
  return listed(context, collection.namespace, shown);
}

const listed = (
  { cursors, nowMs }: CommandContext,
  namespace: string,
  documents: readonly Document[],
): Reply =>
  cursors.open(
    namespace,
    documents.map((document) => serialize(document)),
    nowMs,
    { batchSize: documents.length },
  );

function dropIndexes(context: CommandContext): Reply {
  const collection = collectionOf(context);
  if (!collection) throw new CommandError(26, `ns not found ${namespaceOf(context)}`);
  const nIndexesWas = collection.indexes.length + 1;
  const wanted = context.body.index;
  if (wanted === "*") {
    for (const index of collection.indexes) collection.dropIndex(index);
    return { nIndexesWas, ok: 1 };
  }
  const found = [wanted].flat().map((name: unknown) => {
    if (name === "_id_" || equalValues(name, { _id: 1 })) throw new CommandError(72, "cannot drop _id index");
    const index = collection.indexes.find(
      ({ name: own, specification }) =>
        own === name || (isDocument(name) && equalValues(specification.key, name)),
    );
    if (!index) throw new CommandError(27, `index not found with name [${JSON.stringify(name)}]`);
    return index;
  });
  for (const index of found) collection.dropIndex(index);
  return { nIndexesWas, ok: 1 };
}

function listCollections(context: CommandContext): Reply {
  const { catalog, database, body } = context;
  const matches = compileFilter(body.filter ?? {});
  const shown = catalog
    .list(database)
    .map(({ namespace }) => ({
      name: collectionNameOf(namespace),
      type: "collection",
      ...(body.nameOnly ? {} : { options: {}, info: { readOnly: false }, idIndex: ID_INDEX }),
    }))
    .filter((document) => matches(readerOf(document)));
  return listed(context, `${database}.$cmd.listCollections`, shown);
}

function listDatabases({ catalog, body }: CommandContext): Reply {
  const matches = compileFilter(body.filter ?? {});
  const names = new Set(catalog.list().map(({ namespace }) => databaseOf(namespace)));
  const databases = [...names].sort().map((name) => {
    if (body.nameOnly) return { name };
    const sizeOnDisk = catalog
      .list(name)
      .reduce((sum, collection) => sum + collection.measure().sizeBytes, 0);
    return { name, sizeOnDisk, empty: sizeOnDisk === 0 };
  });
  return { databases: databases.filter((document) => matches(readerOf(document))), ok: 1 };
}

const HELLO: Command = { fields: undefined, run: hello };

export const adminCommands: Record<string, Command> = {
  hello: HELLO,
  isMaster: HELLO,
  ismaster: HELLO,
  ping: { fields: [], run: () => ({ ok: 1 }) },
  // Sessions hold nothing here that ending them would free: retry records lapse by themselves.
  endSessions: { fields: [], run: () => ({ ok: 1 }) },
  buildInfo: {
    fields: [],
    run: () => ({
      version: VERSION.slice(0, 3).join("."),
      versionArray: VERSION,
      embeddedDocumentServer: true,
      maxBsonObjectSize: DOCUMENT_SIZE_BYTES_MAX,
      ok: 1,
    }),
  },
  create: { fields: [], writes: true, run: create },
  drop: { fields: [], writes: true, run: drop },
  dropDatabase: { fields: [], writes: true, run: dropDatabase },
  createIndexes: { fields: ["indexes"], writes: true, run: createIndexes },
  dropIndexes: { fields: ["index"], writes: true, run: dropIndexes },
  listIndexes: { fields: ["cursor"], run: listIndexes },
  listCollections: {
    fields: ["filter", "nameOnly", "cursor", "authorizedCollections"],
    run: listCollections,
  },
  listDatabases: { fields: ["filter", "nameOnly", "authorizedDatabases"], run: listDatabases },
};
