/** Owns the contract of commands: cursors, batches, races, retried writes, limits and what is refused. */
import { connect, createServer, type Socket } from "node:net";
import { Decimal128, type Document, serialize } from "bson";
import { type Collection, MongoClient } from "mongodb";
import t from "tap";
import { type AnyDocument, errorOf, openDocuments } from "./documents-under-test.ts";

const numbered = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: count - i }));

t.test("cursors", async (t) => {
  const { database } = await openDocuments(t);
  const collection: Collection<AnyDocument> = database.collection("cursors");
  await collection.insertMany(numbered(1000));
  t.equal((await collection.find().toArray()).length, 1000, "in the default batches");
  t.equal((await collection.find().batchSize(7).toArray()).length, 1000, "in small batches");
  t.equal(
    (await collection.find({}, { batchSize: 10, singleBatch: true }).toArray()).length,
    10,
    "one batch",
  );
  const page = await collection.find().sort({ n: 1 }).skip(10).limit(5).toArray();
  t.same(
    page.map(({ n }) => n),
    [11, 12, 13, 14, 15],
    "skip and limit",
  );
  t.equal(
    (await collection.find().limit(150).batchSize(100).toArray()).length,
    150,
    "a limit over two batches",
  );
  const sorted = await collection.find().sort({ n: -1 }).batchSize(300).toArray();
  t.same(
    sorted.map(({ _id }) => _id),
    numbered(1000).map(({ _id }) => _id),
    "sorted over batches",
  );

  const exact = { promoteLongs: false };
  const open = await database.command({ find: "cursors", batchSize: 0 }, exact);
  t.equal(open.cursor.firstBatch.length, 0);
  t.not(Number(open.cursor.id), 0, "an empty first batch leaves the cursor open");
  await collection.deleteMany({ _id: { $gte: 500 } });
  const rest = await database.command({ getMore: open.cursor.id, collection: "cursors" });
  t.equal(rest.cursor.nextBatch.length, 500, "what is deleted meanwhile does not come");
  t.equal(Number(rest.cursor.id), 0, "the end closes it");
  const gone = await errorOf(database.command({ getMore: open.cursor.id, collection: "cursors" }));
  t.equal(gone.code, 43, "it is not there any more");
  const killed = await database.command({ find: "cursors", batchSize: 1 }, exact);
  const reply = await database.command({ killCursors: "cursors", cursors: [killed.cursor.id] });
  t.equal(reply.cursorsKilled.length, 1);
  t.equal((await errorOf(database.command({ getMore: killed.cursor.id, collection: "cursors" }))).code, 43);
  t.same(await database.collection("nothing").find().toArray(), [], "a collection that is not there");
});

t.test("counting, distinct, listing", async (t) => {
  const { database, client } = await openDocuments(t);
  const collection: Collection<AnyDocument> = database.collection("things");
  await collection.insertMany([
    { a: 1, l: [1, 2] },
    { a: 2, l: [2, 3] },
    { a: 2, l: [] },
    { a: null, b: { c: 1 } },
  ]);
  t.equal(await collection.countDocuments({ a: 2 }), 2);
  t.equal(await collection.countDocuments({ a: { $gte: 1 } }, { skip: 1, limit: 1 }), 1);
  t.equal(await collection.countDocuments({ a: 7 }), 0);
  t.equal(await collection.estimatedDocumentCount(), 4);
  t.equal((await database.command({ count: "things", query: { a: 2 } })).n, 2);
  t.same((await collection.distinct("a")).sort(), [1, 2, null].sort());
  t.same(await collection.distinct("l", { a: 2 }), [2, 3]);
  t.same(await collection.distinct("b.c"), [1]);

  await database.createCollection("other");
  t.equal((await database.command({ create: "other" })).ok, 1, "again, which changes nothing");
  t.same((await database.listCollections().toArray()).map(({ name }) => name).sort(), ["other", "things"]);
  t.same((await database.listCollections({ name: "other" }, { nameOnly: true }).toArray()).length, 1);
  await database.dropCollection("other");
  t.same((await database.listCollections().toArray()).length, 1);
  const databases = (await client.db().admin().listDatabases({ nameOnly: true })).databases;
  t.ok(databases.some(({ name }) => name === database.databaseName));
  await database.dropDatabase();
  t.equal(await collection.countDocuments(), 0, "a dropped database is empty");
});

t.test("batches", async (t) => {
  const { database } = await openDocuments(t);
  const collection: Collection<AnyDocument> = database.collection("batches");
  const operations = [
    { insertOne: { document: { _id: 1, n: 0 } } },
    { updateOne: { filter: { _id: 1 }, update: { $inc: { n: 5 } } } },
    { updateOne: { filter: { _id: 2 }, update: { $set: { n: 1 } }, upsert: true } },
    { replaceOne: { filter: { _id: 2 }, replacement: { r: 1 } } },
    { updateMany: { filter: {}, update: { $set: { seen: true } } } },
    { deleteOne: { filter: { _id: 1 } } },
  ];
  const result = await collection.bulkWrite(operations as never);
  t.match(result, { insertedCount: 1, matchedCount: 4, modifiedCount: 4, upsertedCount: 1, deletedCount: 1 });
  t.strictSame(await collection.find().toArray(), [{ _id: 2, r: 1, seen: true }] as Document[]);

  const documents = [{ _id: 10 }, { _id: 2 }, { _id: 11 }, { _id: 2 }, { _id: 12 }] as Document[];
  const ordered = await errorOf(collection.insertMany(documents));
  t.match(ordered, { code: 11000, insertedCount: 1 }, "an ordered batch stops at its first error");
  await collection.deleteMany({ _id: { $gte: 10 } });
  const unordered = await errorOf(collection.insertMany(documents, { ordered: false }));
  t.match(unordered, { code: 11000, insertedCount: 3 }, "an unordered one goes on");
  t.same(
    unordered.writeErrors.map(({ index }: Document) => index),
    [1, 3],
  );
  t.equal((await collection.deleteMany({ _id: { $gte: 10 } })).deletedCount, 3);
  t.equal(
    (await collection.updateMany({ _id: 2 }, { $set: { r: 1 } })).modifiedCount,
    0,
    "no change, none modified",
  );
  const replaceMany = database.command({ update: "batches", updates: [{ q: {}, u: { a: 1 }, multi: true }] });
  t.ok((await replaceMany).writeErrors.length, "a replacement of many is refused");

  const many = Array.from({ length: 3000 }, (_, i) => ({ _id: 100 + i, pad: "x".repeat(1000) }));
  t.equal((await collection.insertMany(many as Document[])).insertedCount, 3000);
  t.equal((await collection.find({}, { batchSize: 100_000 }).toArray()).length, 3001);
});

t.test("races", async (t) => {
  const { database } = await openDocuments(t);
  const collection: Collection<AnyDocument> = database.collection("races");
  const tasks = 60;
  await collection.insertMany(Array.from({ length: tasks }, (_, i) => ({ _id: i, revision: 0 })));
  const wins = new Map<number, number>();
  const claimAll = async (worker: number) => {
    for (let i = 0; i < tasks; i++) {
      const claim = { $set: { worker }, $inc: { revision: 1 } };
      const { modifiedCount } = await collection.updateOne({ _id: i, revision: 0 }, claim);
      if (modifiedCount === 1) wins.set(i, (wins.get(i) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, worker) => claimAll(worker)));
  t.same([...wins.values()], Array(tasks).fill(1), "each compare-and-set is won once");
  const increment = () => collection.updateOne({ _id: "counter" }, { $inc: { n: 1 } }, { upsert: true });
  await Promise.all(Array.from({ length: 200 }, increment));
  t.equal((await collection.findOne({ _id: "counter" }))?.n, 200, "no increment is lost, one upsert inserts");
});

/** A relay that, once told to, loses the reply to the next command of a name: it cuts the connection instead. */
async function lossyRelay(target: URL) {
  let losesReplyTo: string | undefined;
  let lost = 0;
  const sockets = new Set<Socket>();
  const relay = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    let isLosing = false;
    client.on("data", (bytes) => {
      if (losesReplyTo && bytes.includes(`\x02${losesReplyTo}\0`)) {
        isLosing = true;
        losesReplyTo = undefined;
      }
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (!isLosing) return client.write(bytes);
      lost++;
      client.destroy();
      return server.destroy();
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  return {
    url: `mongodb://127.0.0.1:${(relay.address() as { port: number }).port}/?directConnection=true`,
    loseReplyTo: (command: string) => {
      losesReplyTo = command;
    },
    lost: () => lost,
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}

t.test("a write whose reply is lost is applied once", async (t) => {
  const { database, url } = await openDocuments(t);
  const relay = await lossyRelay(new URL(url));
  const client = await new MongoClient(relay.url, { maxPoolSize: 1 }).connect();
  t.teardown(async () => {
    await client.close();
    relay.close();
  });
  const collection: Collection<AnyDocument> = client.db(database.databaseName).collection("retried");
  const direct: Collection<AnyDocument> = database.collection("retried");
  await direct.insertOne({ _id: 1, n: 0, l: [] });
  const cases: [command: string, write: () => Promise<unknown>][] = [
    ["insert", () => collection.insertOne({ _id: 2 })],
    ["update", () => collection.updateOne({ _id: 1 }, { $inc: { n: 1 }, $push: { l: 1 } as never })],
    [
      "findAndModify",
      () => collection.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: "after" }),
    ],
    ["delete", () => collection.deleteOne({ _id: 2 })],
  ];
  const results: Document[] = [];
  for (const [i, [command, write]] of cases.entries()) {
    relay.loseReplyTo(command);
    results.push((await write()) as Document);
    t.equal(relay.lost(), i + 1, `the first reply to ${command} was lost`);
  }
  t.match(
    results,
    [{ insertedId: 2 }, { modifiedCount: 1 }, { n: 2, l: [1] }, { deletedCount: 1 }],
    "each retry gets the first one's answer",
  );
  t.strictSame(await direct.findOne({ _id: 1 }), { _id: 1, n: 2, l: [1] } as Document);
  t.equal(await direct.countDocuments(), 1);
});

t.test("limits", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection: Collection<AnyDocument> = database.collection("limits");
  const mebibyte = 1024 * 1024;
  await collection.insertOne({ _id: 1, pad: "x".repeat(16 * mebibyte - 100) });
  t.equal((await collection.findOne({ _id: 1 }))?.pad.length, 16 * mebibyte - 100, "nearly 16 MiB");
  if (kind !== "embedded") return;
  const tooLarge = { _id: 2, pad: "x".repeat(16 * mebibyte) };
  t.ok(serialize(tooLarge).length > 16 * mebibyte);
  t.equal((await errorOf(collection.insertOne(tooLarge))).code, 10334, "past it");
  t.equal((await errorOf(collection.updateOne({ _id: 1 }, { $set: { more: "y".repeat(200) } }))).code, 10334);
  const grow = (pad: string) =>
    collection.updateOne({ _id: 3 }, { $push: { l: pad, m: 1 } as never }, { upsert: true });
  await grow("x".repeat(9 * mebibyte));
  t.equal((await errorOf(grow("x".repeat(9 * mebibyte)))).code, 10334, "far past it");
  t.equal((await collection.findOne({ _id: 3 }))?.l.length, 1);
  const deep = (levels: number): Document => (levels === 0 ? {} : { d: deep(levels - 1) });
  t.equal((await errorOf(collection.insertOne(deep(150)))).code, 15, "nesting");
  t.equal(
    (await errorOf(collection.insertOne({ a: { $b: 1 } } as Document))).code,
    52,
    "names with a dollar sign",
  );
  t.equal((await errorOf(collection.insertOne({ _id: [1] as never }))).code, 2, "an array as _id");
});

t.test("what is not promised", async (t) => {
  const { database, client, kind } = await openDocuments(t);
  if (kind !== "embedded") return void t.pass("the embedded server's own promise");
  const collection: Collection<AnyDocument> = database.collection("promise");
  await collection.insertOne({ a: 1 });
  const collation = { locale: "en", strength: 2 };
  const refused: [named: string, operation: () => Promise<unknown>][] = [
    ["aggregation", () => collection.aggregate([{ $match: { a: 1 } }, { $group: { _id: "$a" } }]).toArray()],
    ["aggregation", () => collection.aggregate([{ $match: {} }, { $lookup: {} }]).toArray()],
    ["aggregation", () => collection.watch().next()],
    ["collation", () => collection.find({}, { collation }).toArray()],
    ["collation", () => collection.updateOne({}, { $set: { a: 1 } }, { collation })],
    ["arrayFilters", () => collection.updateOne({}, { $set: { a: 1 } }, { arrayFilters: [{ x: 1 }] })],
    ["let", () => collection.find({}, { let: { x: 1 } }).toArray()],
    ["min", () => collection.find({}, { min: { a: 1 }, hint: { a: 1 } }).toArray()],
    ["tailable", () => collection.find({}, { tailable: true }).toArray()],
    ["capped", () => database.createCollection("capped", { capped: true, size: 1000 })],
    ["validator", () => database.createCollection("checked", { validator: { a: 1 } })],
    ["viewOn", () => database.createCollection("view", { viewOn: "promise" })],
    ["mapReduce", () => database.command({ mapReduce: "promise" })],
    ["renameCollection", () => collection.rename("renamed")],
    ["collMod", () => database.command({ collMod: "promise" })],
    ["serverStatus", () => database.admin().command({ serverStatus: 1 })],
    ["saslStart", () => database.command({ saslStart: 1 })],
    ["write concern", () => collection.insertOne({}, { writeConcern: { w: 2 } })],
    ["read concern", () => collection.find({}, { readConcern: { level: "snapshot" } }).toArray()],
    ["explain", () => database.command({ explain: { count: "promise" } })],
  ];
  for (const [named, operation] of refused) {
    const error = await errorOf(operation());
    t.match(error, { code: 115, message: named }, `${named}: ${error.message}`);
  }
  const decimal = { a: Decimal128.fromString("1.5") };
  t.match(
    await errorOf(collection.insertOne(decimal)),
    { code: 2, message: "Decimal128" },
    "a type outside the promise",
  );
  t.match(await errorOf(collection.findOne(decimal)), { code: 2, message: "Decimal128" });
  const transaction = client.withSession((session) =>
    session.withTransaction(() => collection.insertOne({ b: 1 }, { session })),
  );
  t.match(await errorOf(transaction), { code: 115, message: "transactions" });
  t.strictSame(await collection.countDocuments(), 1, "nothing refused was half done");
});
