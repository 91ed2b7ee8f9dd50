/** Owns the contract of indexes: uniqueness, sparse, partial, TTL, and that the planner uses them only where it may. */
import type { Document } from "bson";
import type { Collection } from "mongodb";
import t from "tap";
import { type AnyDocument, errorOf, indexOf, openDocuments, stagesOf } from "./documents-under-test.ts";

const insert = (collection: Collection<AnyDocument>, ...documents: AnyDocument[]) =>
  collection.insertMany(documents);

/** The ids of what a filter finds, in order of `sort`. */
const idsIn =
  (collection: Collection<AnyDocument>) =>
  async (filter: Document, sort: Document = { _id: 1 }): Promise<unknown[]> => {
    const found = await collection.find(filter, { sort: sort as never }).toArray();
    return found.map(({ _id }) => _id);
  };

t.test("uniqueness", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("unique");
  await insert(collection, { _id: 1, a: 1, l: [1, 2] }, { _id: 2, a: 2, l: [3] }, { _id: 3, l: [4, 4] });

  const byId = await errorOf(collection.insertOne({ _id: 1 }));
  t.match(byId, { code: 11000, keyPattern: { _id: 1 }, keyValue: { _id: 1 } }, "_id");
  await collection.createIndex({ a: 1 }, { unique: true, name: "byA" });
  const byField = await errorOf(collection.insertOne({ a: 2 }));
  t.match(byField, { code: 11000, keyPattern: { a: 1 }, keyValue: { a: 2 } }, "a field");
  const shown = kind === "documentdb" ? /index: byA dup key/ : /\.unique index: byA dup key: \{ a: 2 \}/;
  t.match(
    byField.message,
    shown,
    "the message names the index and, save by DocumentDB in its own way, the key",
  );
  t.match(
    await errorOf(collection.insertOne({ b: 1 })),
    { code: 11000 },
    "two without the field count as equal",
  );
  t.equal((await errorOf(collection.updateOne({ _id: 1 }, { $set: { a: 2 } }))).code, 11000, "by an update");
  t.strictSame((await collection.findOne({ _id: 1 }))?.a, 1, "the refused update left no trace");
  const modified = await errorOf(collection.findOneAndUpdate({ _id: 1 }, { $set: { a: 2 } }));
  t.match(
    modified,
    { code: 11000, ...(kind === "documentdb" ? {} : { keyValue: { a: 2 } }) },
    "by findAndModify",
  );
  const upsert = collection.updateOne({ _id: 50 }, { $set: { a: 2 } }, { upsert: true });
  t.equal((await errorOf(upsert)).code, 11000, "by an upsert");
  t.equal((await collection.updateOne({ _id: 1 }, { $set: { a: 1, z: 1 } })).modifiedCount, 1, "one's own");
  await collection.deleteOne({ _id: 2 });
  await collection.insertOne({ _id: 4, a: 2, l: [5] });
  t.pass("a deleted document's key is free");

  await collection.createIndex({ l: 1 }, { unique: true });
  t.match(await errorOf(collection.insertOne({ a: 70, l: [9, 4] })), { code: 11000 }, "an element");
  await collection.createIndex({ p: 1, q: -1 }, { unique: true, sparse: true });
  await insert(collection, { a: 80, l: 80, p: 1, q: 1 }, { a: 81, l: 81, p: 1, q: 2 });
  const compound = await errorOf(collection.insertOne({ a: 82, l: 82, p: 1, q: 1 }));
  t.match(compound, { code: 11000, keyPattern: { p: 1, q: -1 }, keyValue: { p: 1, q: 1 } }, "two fields");

  const doubled = database.collection<AnyDocument>("doubled");
  await insert(doubled, { a: 1 }, { a: 1 });
  t.equal(
    (await errorOf(doubled.createIndex({ a: 1 }, { unique: true }))).code,
    11000,
    "when the index is built",
  );
  t.equal((await doubled.indexes()).length, 1, "the refused index is not there");
});

t.test("sparse and partial indexes", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("partial");
  await collection.createIndex({ s: 1 }, { sparse: true, name: "sparse" });
  await collection.createIndex(
    { lease: 1 },
    { unique: true, partialFilterExpression: { active: true }, name: "lease" },
  );
  await collection.createIndex(
    { due: 1 },
    { partialFilterExpression: { due: { $exists: true } }, name: "due" },
  );
  await collection.createIndex(
    { at: 1 },
    { partialFilterExpression: { $and: [{ n: { $gte: 5 } }, { state: { $in: ["A", "B"] } }] }, name: "at" },
  );
  await insert(
    collection,
    { _id: 1, s: 1, lease: "L", active: true, due: 5, at: 1, n: 7, state: "A" },
    { _id: 2, lease: "L", active: false, at: 2, n: 1, state: "A" },
    { _id: 3, s: null, due: null, at: 3, n: 9, state: "C" },
  );
  const used = async (filter: Document, sort: Document = {}) =>
    indexOf(
      await collection
        .find(filter)
        .sort(sort as never)
        .explain(),
    );
  const ids = idsIn(collection);

  t.equal(await used({ s: 1 }), "sparse");
  t.equal(await used({ s: { $gt: 0 } }), "sparse");
  // DocumentDB says that it reads the sparse index here, yet finds the documents.
  if (kind !== "documentdb")
    t.equal(await used({ s: null }), undefined, "a sparse index knows nothing of missing fields");
  t.same(await ids({ s: null }), [2, 3]);
  t.same(await ids({ s: { $in: [1, null] } }), [1, 2, 3]);
  t.same((await ids({}, { s: 1 })).length, 3, "a sort does not lose documents to it");

  t.equal((await errorOf(collection.insertOne({ lease: "L", active: true }))).code, 11000);
  t.equal((await errorOf(collection.updateOne({ _id: 2 }, { $set: { active: true } }))).code, 11000);
  t.equal(await used({ lease: "L", active: true }), "lease");
  t.equal(await used({ $and: [{ lease: "L" }, { active: { $eq: true } }] }), "lease", "implied through $and");
  t.equal(await used({ lease: "L" }), undefined, "not implied");
  t.equal(await used({ lease: "L", active: { $ne: false } }), undefined, "not surely implied");
  t.same(await ids({ lease: "L" }), [1, 2]);

  // DocumentDB doesn't draw this conclusion.
  if (kind !== "documentdb") t.equal(await used({ due: { $lte: 9 } }), "due", "a range implies existence");
  t.equal(await used({ due: 5 }), "due", "a value implies existence");
  t.equal(await used({ due: null }), undefined, "null does not");
  t.equal(await used({ at: 1, n: { $gt: 5 }, state: "A" }), "at");
  t.equal(await used({ at: 1, n: 8, state: { $in: ["A"] } }), "at");
  t.equal(await used({ at: 1, n: { $gte: 4 }, state: "A" }), undefined, "a wider range");
  t.equal(await used({ at: 1, n: 8, state: { $in: ["A", "C"] } }), undefined, "a wider list");
  t.equal(await used({ at: 1, $or: [{ n: 8, state: "A" }, { n: 1 }] }), undefined, "an alternative");
  t.same(await ids({ at: { $gte: 1 }, n: { $gte: 1 } }), [1, 2, 3]);

  await collection.updateOne({ _id: 1 }, { $set: { active: false } });
  await collection.updateOne({ _id: 2 }, { $set: { active: true } });
  t.same(await ids({ lease: "L", active: true }), [2], "entries follow the filter");
});

t.test("the planner", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("plans");
  const documents = Array.from({ length: 200 }, (_, i) => ({
    _id: i,
    a: i % 10,
    b: i,
    c: -i,
    l: [i, i + 1000],
  }));
  await insert(collection, ...documents);
  await collection.createIndex({ a: 1, b: -1 }, { name: "ab" });
  await collection.createIndex({ c: -1 }, { name: "c" });
  await collection.createIndex({ l: 1 }, { name: "l" });
  type Find = { filter: Document; sort?: Document; hint?: string | Document };
  const explain = async ({ filter, sort = {}, hint }: Find) =>
    collection
      .find(filter, hint ? { hint } : {})
      .sort(sort as never)
      .explain();
  const cases: [find: Find, index: string | undefined, examined: number, isSortedInMemory: boolean][] = [
    [{ filter: {} }, undefined, 200, false],
    [{ filter: { _id: 5 } }, "_id_", 1, false],
    [{ filter: { b: 5 } }, undefined, 200, false],
    [{ filter: { a: 3 } }, "ab", 20, false],
    [{ filter: { a: 3, b: 13 } }, "ab", 1, false],
    [{ filter: { a: 3, b: { $gte: 100, $lt: 120 } } }, "ab", 2, false],
    [{ filter: { a: { $in: [3, 4] }, b: { $gt: 190 } } }, "ab", 2, false],
    [{ filter: { $and: [{ a: 3 }, { b: 13 }] } }, "ab", 1, false],
    [{ filter: { a: 3 }, sort: { b: 1 } }, "ab", 20, false],
    [{ filter: { a: 3 }, sort: { b: -1 } }, "ab", 20, false],
    [{ filter: { a: 3 }, sort: { a: 1, b: -1 } }, "ab", 20, false],
    [{ filter: { a: 3 }, sort: { c: 1 } }, "ab", 20, true],
    [{ filter: { c: { $gt: -10 } } }, "c", 10, false],
    [{ filter: { c: { $lte: -190 } }, sort: { c: 1 } }, "c", 10, false],
    [{ filter: { l: 1005 } }, "l", 1, false],
    [{ filter: { l: 1005 }, sort: { l: 1 } }, "l", 1, true],
    [{ filter: { a: 3 }, hint: "c" }, "c", 200, false],
    [{ filter: { a: 3 }, hint: { a: 1, b: -1 } }, "ab", 20, false],
    [{ filter: { a: 3 }, hint: { $natural: 1 } }, undefined, 200, false],
  ];
  for (const [find, index, examined, isSortedInMemory] of cases) {
    const explained = await explain(find);
    const what = JSON.stringify(find);
    t.equal(indexOf(explained), index, what);
    if (kind !== "embedded") continue;
    t.equal(explained.executionStats.totalDocsExamined, examined, `${what}: documents examined`);
    t.equal(stagesOf(explained).includes("SORT"), isSortedInMemory, `${what}: sorted in memory`);
  }
  const error = await errorOf(collection.find({}, { hint: "none" }).toArray());
  t.equal(error.code, 2, "an unknown hint");
  const sorted = await collection
    .find({ a: { $in: [1, 2] } })
    .sort({ b: -1 })
    .limit(3)
    .toArray();
  t.same(
    sorted.map(({ b }) => b),
    [192, 191, 182],
  );
});

t.test("large documents come by their index whole and in order", async (t) => {
  const { database } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("large");
  await collection.createIndex({ n: 1 }, { name: "n" });
  const sizes = Array.from({ length: 60 }, (_, i) => (i % 7 === 0 ? 700_000 : 2000 + i));
  // Stored in another order than the index's.
  const order = sizes.map((_, i) => (i * 23) % sizes.length);
  await collection.insertMany(order.map((n) => ({ _id: `d${n}`, n, text: "x".repeat(sizes[n] as number) })));
  for (const direction of [1, -1] as const) {
    const found = await collection.find({}, { hint: "n" }).sort({ n: direction }).toArray();
    const told = found.map(({ n, text }) => [n, text.length]);
    const stands = sizes.map((size, n) => [n, size]);
    t.strictSame(told, direction === 1 ? stands : stands.reverse());
  }
  const some = await collection
    .find({ n: { $gt: 40 } }, { projection: { n: 1 } })
    .sort({ n: 1 })
    .skip(3)
    .limit(12)
    .toArray();
  t.strictSame(
    some,
    Array.from({ length: 12 }, (_, i) => ({ _id: `d${i + 44}`, n: i + 44 })),
  );
});

t.test("arrays in indexes", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("multikey");
  await insert(
    collection,
    {
      _id: 1,
      k: [
        { x: 1, y: 5 },
        { x: 2, y: 2 },
      ],
      a: [1, 9],
      b: 1,
    },
    { _id: 2, k: [{ x: 3, y: 3 }], a: [5], b: 2 },
    { _id: 3, k: [], a: [], b: 3 },
  );
  await collection.createIndex({ "k.x": 1, "k.y": 1 });
  await collection.createIndex({ a: 1, b: 1 });
  const ids = idsIn(collection);
  t.same(await ids({ "k.x": 1, "k.y": 2 }), [1], "two elements of one array meet two conditions");
  t.same(await ids({ a: { $gt: 4, $lt: 2 } }), [1], "two elements meet two ends of a range");
  t.same(await ids({ a: { $gte: 1 } }), [1, 2], "a document comes once however many elements match");
  t.same(await ids({ a: 9 }, { a: 1, b: 1 }), [1], "an equality does not drop out of the sort");
  t.same(await ids({ a: { $in: [1, 5] } }, { a: -1 }), [1, 2], "nor does a list");
  t.same(await ids({ a: [] }), [3], "an empty array");
  t.same(await ids({ a: null }), [], "which is not null");
  if (kind === "documentdb") return; // It accepts parallel arrays.
  t.equal((await errorOf(collection.insertOne({ a: [1], b: [2] }))).code, 171, "two arrays in one index");
  t.equal((await errorOf(collection.updateOne({ _id: 1 }, { $set: { b: [1] } }))).code, 171);
});

t.test("what fuzzing once found", async (t) => {
  const { database } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("found");
  await insert(
    collection,
    { _id: 1, a: [1, 5], b: 1 },
    { _id: 2, a: [1, 3], b: 2 },
    { _id: 3, a: [1], b: 3 },
  );
  const ids = async (filter: Document, sort: Document = {}) =>
    (
      await collection
        .find(filter)
        .sort(sort as never)
        .toArray()
    ).map(({ _id }) => _id);
  t.same(await ids({ $and: [{ _id: 1 }, { b: 2 }] }), [], "$and with an _id is no mere look-up by _id");
  t.same(await ids({ _id: 1, b: 2 }), [], "nor is an _id beside another condition");
  t.same(await ids({ $and: [{ _id: { $in: [1, 2] } }, { _id: { $in: [2, 3] } }] }), [2], "nor are two lists");
  t.same(await ids({ _id: { $in: [2, 1, 2, 2] } }), [1, 2], "an _id listed twice comes once");
  t.same(await ids({ _id: { $in: [2, 1, 2] } }, { _id: -1 }), [2, 1], "backwards too");

  await collection.createIndex({ a: 1, b: 1 });
  t.same(await ids({ a: 1 }, { a: -1 }), [1, 2, 3], "an equality on an array stays in the sort");
  t.same(await ids({ a: 1, b: { $gte: 1 } }, { b: -1 }), [3, 2, 1]);
  t.same(await ids({ b: { $gte: 1 } }, { a: 1, b: -1 }), [3, 2, 1]);

  const stored = database.collection<AnyDocument>("stored");
  await stored.createIndex({ l: 1 }, { unique: true });
  const sent = { _id: 1, l: [undefined, -0, "\ud800"] };
  await stored.insertOne(sent);
  await stored.updateOne({ _id: 1 }, { $set: { l: [undefined, -0, "\ud801"] }, $inc: { n: 1 } });
  const found = async (value: unknown) => (await stored.find({ l: value }).toArray()).length;
  t.same(
    [await found(null), await found(0), await found("\ufffd")],
    [1, 1, 1],
    "what is stored is indexed, not what was meant",
  );
  await stored.deleteOne({ _id: 1 });
  await stored.insertOne({ ...sent, _id: 2 });
  t.equal(await stored.countDocuments({ l: 0 }), 1, "and no entry stays behind");
});

t.test("definitions", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("definitions");
  t.equal(await collection.createIndex({ a: 1, b: -1 }), "a_1_b_-1");
  t.equal(await collection.createIndex({ a: 1, b: -1 }), "a_1_b_-1", "the same again");
  await collection.createIndex(
    { a: 1 },
    { unique: true, partialFilterExpression: { c: { $gt: 1 } }, name: "p" },
  );
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  const shown = (await collection.indexes()).map(({ v, ...rest }) => rest);
  t.same(shown, [
    { key: { _id: 1 }, name: "_id_" },
    { key: { a: 1, b: -1 }, name: "a_1_b_-1" },
    { key: { a: 1 }, name: "p", unique: true, partialFilterExpression: { c: { $gt: 1 } } },
    { key: { at: 1 }, name: "at_1", expireAfterSeconds: 60 },
  ]);
  t.equal((await errorOf(collection.createIndex({ z: 1 }, { name: "p" }))).code, 86, "a name that is taken");
  t.equal(
    (await errorOf(collection.createIndex({ a: 1, b: -1 }, { name: "q" }))).code,
    85,
    "a key that is taken",
  );
  t.equal(
    (await errorOf(collection.createIndex({ at: 1, b: 1 }, { expireAfterSeconds: 1 }))).code,
    67,
    "compound TTL",
  );
  await collection.dropIndex("p");
  await collection.dropIndex("a_1_b_-1");
  t.equal((await errorOf(collection.dropIndex("p"))).code, 27);
  await collection.dropIndexes();
  t.equal((await collection.indexes()).length, 1);
  t.equal((await errorOf(database.collection<AnyDocument>("nothing").indexes())).code, 26);
  if (kind !== "embedded") return;
  const refused: [key: Document, options: Document, named: string][] = [
    [{ a: "text" }, {}, "text"],
    [{ a: "2dsphere" }, {}, "2dsphere"],
    [{ a: "hashed" }, {}, "hashed"],
    [{ "$**": 1 }, {}, "wildcard"],
    [{ a: 1 }, { collation: { locale: "en" } }, "collation"],
    [{ a: 1 }, { hidden: true }, "hidden"],
    [{ a: 1 }, { partialFilterExpression: { a: { $ne: 1 } } }, "$ne"],
    [{ a: 1 }, { partialFilterExpression: { $or: [{ a: 1 }] } }, "$or"],
    [{ a: 1 }, { partialFilterExpression: { a: { $exists: false } } }, "$exists"],
  ];
  for (const [key, options, named] of refused) {
    const error = await errorOf(collection.createIndex(key as never, options));
    t.ok(error.code && error.message.includes(named), `${named} is refused by name: ${error.message}`);
  }
});

t.test("TTL", async (t) => {
  const { database, kind } = await openDocuments(t, 20);
  if (kind !== "embedded") return void t.pass("others sweep once a minute");
  const collection = database.collection<AnyDocument>("expiring");
  await collection.createIndex({ at: 1 }, { expireAfterSeconds: 1 });
  await collection.createIndex(
    { gone: 1 },
    { expireAfterSeconds: 0, partialFilterExpression: { kept: false } },
  );
  const past = new Date(Date.now() - 5000);
  const future = new Date(Date.now() + 60_000);
  await insert(
    collection,
    ...Array.from({ length: 1200 }, () => ({ at: past })),
    { _id: 1, at: future },
    { _id: 2, at: "text" },
    { _id: 3 },
    { _id: 4, at: [future, past] },
    { _id: 5, gone: past, kept: true },
    { _id: 6, gone: past, kept: false },
  );
  // More than one sweep's share is over, so this takes several; each look is a round trip, not a wait.
  while (
    (await collection.countDocuments({ at: past })) + (await collection.countDocuments({ kept: false })) >
    0
  );
  const left = await collection.find().sort({ _id: 1 }).toArray();
  t.same(
    left.map(({ _id }) => _id as unknown),
    [1, 2, 3, 5],
  );
});
