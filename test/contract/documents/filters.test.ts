/** Owns the contract of queries: which documents a filter matches, what is refused, sorts and projections. */
import { Binary, type Document, Long, ObjectId } from "bson";
import t from "tap";
import { type AnyDocument, errorOf, openDocuments } from "./documents-under-test.ts";

const first = new ObjectId("000000000000000000000001");
const second = new ObjectId("000000000000000000000002");
const long = (text: string) => Long.fromString(text);
const lines = [
  { x: 1, y: 1 },
  { x: 2, y: 2 },
];

type FilterCase = [what: string, filter: Document, document: Document, matches: boolean];

const FILTERS: FilterCase[] = [
  ["a number equals itself", { a: 5 }, { a: 5 }, true],
  ["a number equals a 64-bit integer of the same value", { a: 5 }, { a: long("5") }, true],
  [
    "64-bit integers past 2^53 are told apart",
    { a: long("9007199254740993") },
    { a: long("9007199254740992") },
    false,
  ],
  [
    "a 64-bit integer past 2^53 equals itself",
    { a: long("9007199254740993") },
    { a: long("9007199254740993") },
    true,
  ],
  [
    "$lt between 64-bit integers",
    { a: { $lt: long("9223372036854775807") } },
    { a: long("9007199254740993") },
    true,
  ],
  ["NaN equals NaN", { a: Number.NaN }, { a: Number.NaN }, true],
  ["NaN is below nothing", { a: { $lt: 5 } }, { a: Number.NaN }, false],
  ["true is not 1", { a: 1 }, { a: true }, false],
  ["an ObjectId equals its copy", { a: first }, { a: new ObjectId(first.toHexString()) }, true],
  ["$gt between ObjectIds", { a: { $gt: first } }, { a: second }, true],
  ["$in with ObjectIds", { a: { $in: [first] } }, { a: first }, true],
  ["dates are equal by their time", { a: new Date(5) }, { a: new Date(5) }, true],
  ["$gte between dates", { a: { $gte: new Date(5) } }, { a: new Date(6) }, true],
  ["a date is not compared with a number", { a: { $gt: 1 } }, { a: new Date(6) }, false],
  [
    "binaries are equal by their bytes",
    { a: new Binary(Buffer.from("xy")) },
    { a: new Binary(Buffer.from("xy")) },
    true,
  ],
  ["strings compare by code point", { a: { $gt: "\uffff" } }, { a: "\u{1f600}" }, true],
  ["$gt compares within strings only", { a: { $gt: "a" } }, { a: 5 }, false],
  ["null matches null", { a: null }, { a: null }, true],
  ["null matches missing", { a: null }, {}, true],
  ["null does not match an empty array", { a: null }, { a: [] }, false],
  ["null matches an array with null", { a: null }, { a: [1, null] }, true],
  ["$gte null matches missing", { a: { $gte: null } }, {}, true],
  ["$gt null matches nothing", { a: { $gt: null } }, { a: null }, false],
  ["$ne null excludes missing", { a: { $ne: null } }, {}, false],
  ["$ne matches missing", { a: { $ne: 5 } }, {}, true],
  ["$in [null] matches missing", { a: { $in: [null] } }, {}, true],
  ["$nin [null] excludes missing", { a: { $nin: [null] } }, {}, false],
  ["a path through a number reaches nothing", { "a.b": null }, { a: 5 }, true],
  ["a path with null in some elements", { "a.b": null }, { a: [{ b: 1 }, {}] }, true],
  ["a path over an array of scalars reaches no null", { "a.b": null }, { a: [1, 2] }, false],
  ["$exists true with null", { a: { $exists: true } }, { a: null }, true],
  ["$exists true with missing", { a: { $exists: true } }, {}, false],
  ["$exists false with missing", { a: { $exists: false } }, {}, true],
  ["$exists false under an empty array", { "a.b": { $exists: false } }, { a: [] }, true],
  ["a document equals one with its fields in order", { a: { x: 1, y: 2 } }, { a: { x: 1, y: 2 } }, true],
  ["a document's field order matters", { a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }, false],
  ["$lt between documents goes field by field", { a: { $lt: { x: 2 } } }, { a: { x: 1 } }, true],
  ["an array matches by an element", { a: 2 }, { a: [1, 2] }, true],
  ["an array matches as a whole", { a: [1, 2] }, { a: [1, 2] }, true],
  ["a whole array's order matters", { a: [2, 1] }, { a: [1, 2] }, false],
  ["an array matches as an element", { a: [1, 2] }, { a: [[1, 2], 3] }, true],
  ["an empty array equals itself", { a: [] }, { a: [] }, true],
  ["$lt between arrays goes element by element", { a: { $lt: [2, 1] } }, { a: [1, 9] }, true],
  ["a range is met by different elements", { a: { $gt: 3, $lt: 5 } }, { a: [1, 10] }, true],
  [
    "$elemMatch wants one element for a range",
    { a: { $elemMatch: { $gt: 3, $lt: 5 } } },
    { a: [1, 10] },
    false,
  ],
  ["$elemMatch on one element", { a: { $elemMatch: { $gt: 3, $lt: 11 } } }, { a: [1, 10] }, true],
  ["$elemMatch on documents", { a: { $elemMatch: { x: 1, y: { $gt: 1 } } } }, { a: lines }, false],
  ["$elemMatch on documents, met", { a: { $elemMatch: { x: 2, y: { $gt: 1 } } } }, { a: lines }, true],
  ["$elemMatch with $or", { a: { $elemMatch: { $or: [{ x: 7 }, { y: 2 }] } } }, { a: lines }, true],
  ["$elemMatch with $ne", { a: { $elemMatch: { $ne: 1 } } }, { a: [1, 1] }, false],
  ["$elemMatch with $not", { a: { $elemMatch: { $not: { $gt: 1 } } } }, { a: [2, 1] }, true],
  ["$elemMatch does not look into nested arrays", { a: { $elemMatch: { $gt: 1 } } }, { a: [[2]] }, false],
  ["$elemMatch on a scalar", { a: { $elemMatch: { $gt: 1 } } }, { a: 2 }, false],
  ["$size", { a: { $size: 2 } }, { a: [1, 2] }, true],
  ["$size of no array", { a: { $size: 0 } }, {}, false],
  ["a position in a path", { "a.0": 5 }, { a: [5] }, true],
  ["a position and a field", { "a.1.x": 2 }, { a: lines }, true],
  ["a path over an array of documents", { "a.x": { $in: [2] } }, { a: lines }, true],
  ["two paths are met by different elements", { "a.x": 1, "a.y": 2 }, { a: lines }, true],
  ["$ne over an array of documents", { "a.x": { $ne: 2 } }, { a: lines }, false],
  ["$nin over an array", { a: { $nin: [2] } }, { a: [1, 2] }, false],
  ["a path through nested arrays", { "a.b.c": { $gt: 1 } }, { a: [{ b: [{ c: 2 }] }] }, true],
  ["$not on missing", { a: { $not: { $gt: 1 } } }, {}, true],
  ["$not on a match", { a: { $not: { $gt: 1 } } }, { a: 2 }, false],
  ["$and", { $and: [{ a: 1 }, { b: 2 }] }, { a: 1, b: 2 }, true],
  ["$or", { $or: [{ a: 1 }, { b: 2 }] }, { b: 2 }, true],
  ["$or inside $and", { $and: [{ $or: [{ a: 1 }, { a: 2 }] }, { b: 1 }] }, { a: 2, b: 2 }, false],
  ["$nor", { $nor: [{ a: 1 }, { b: 2 }] }, { a: 2, b: 1 }, true],
  ["several operators on one field", { a: { $gte: 1, $lte: 3, $ne: 2 } }, { a: 2 }, false],
  ["$in with an empty list", { a: { $in: [] } }, { a: 1 }, false],
  ["$nin with an empty list", { a: { $nin: [] } }, { a: 1 }, true],
  ["$eq with a document", { a: { $eq: { x: 1 } } }, { a: { x: 1 } }, true],
];

/** What this server refuses though MongoDB knows it, and what both refuse. */
const REFUSED: [what: string, filter: Document, code: number, by: "embedded" | "all"][] = [
  ["a regular expression", { a: /x/ }, 2, "embedded"],
  ["$regex", { a: { $regex: "x" } }, 2, "embedded"],
  ["$type", { a: { $type: "string" } }, 2, "embedded"],
  ["$where", { $where: "true" }, 2, "embedded"],
  ["$expr", { $expr: { $eq: ["$a", 1] } }, 2, "embedded"],
  ["$all", { a: { $all: [1] } }, 2, "embedded"],
  ["$text", { $text: { $search: "x" } }, 2, "embedded"],
  ["an unknown operator", { a: { $near: 1, $foo: 1 } }, 2, "all"],
  ["an unknown operator at the top", { $foo: [] }, 2, "all"],
  ["$in without an array", { a: { $in: 1 } }, 2, "all"],
  ["$or without an array", { $or: { a: 1 } }, 2, "all"],
  ["an empty $and", { $and: [] }, 2, "all"],
  ["a negative $size", { a: { $size: -1 } }, 2, "all"],
  ["$elemMatch without a document", { a: { $elemMatch: 1 } }, 2, "all"],
  ["$not without operators", { a: { $not: 5 } }, 2, "all"],
];

t.test("filters", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("filters");
  await collection.insertMany(FILTERS.map(([, , document], i) => ({ _id: i, ...document }) as Document));
  for (const [i, [what, filter, , matches]] of FILTERS.entries()) {
    const found = await collection.findOne({ $and: [{ _id: i }, filter] } as Document);
    t.equal(found !== null, matches, what);
    const scanned = await collection.find(filter).toArray();
    t.equal(
      scanned.some(({ _id }) => (_id as unknown) === i),
      matches,
      `${what}, reading everything`,
    );
  }
  for (const [what, filter, code, by] of REFUSED) {
    if (by === "embedded" && kind !== "embedded") continue;
    const error = await errorOf(collection.findOne(filter));
    t.equal(error.code, code, `${what} is refused`);
    const named = Object.keys(filter)[0]!.startsWith("$") ? Object.keys(filter)[0]! : "";
    t.ok(error.message.includes(named), `${what} is named: ${error.message}`);
  }
});

t.test("sorts", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("sorts");
  const ascending: unknown[] = [
    // DocumentDB sorts an empty array like a missing field; MongoDB puts it below null.
    ...(kind === "documentdb" ? [] : [[]]),
    null,
    Number.NaN,
    -1.5,
    0,
    long("9007199254740993"),
    "",
    "a",
    "a\0b",
    "b",
    { x: 1 },
    { x: 1, y: 1 },
    new Binary(Buffer.from("x")),
    first,
    second,
    false,
    true,
    new Date(-1),
    new Date(1),
  ];
  await collection.insertMany(ascending.map((a, i) => ({ _id: i, a }) as Document).reverse());
  const ids = async (sort: Document, filter: Document = {}, limit = 0) =>
    (
      await collection
        .find(filter)
        .sort(sort as never)
        .limit(limit)
        .toArray()
    ).map(({ _id }) => _id as unknown);
  const expected = ascending.map((_, i) => i);
  t.same(await ids({ a: 1 }), expected, "ascending across types");
  t.same(await ids({ a: -1 }), expected.toReversed(), "descending across types");
  t.same(await ids({ a: 1 }, {}, 3), [0, 1, 2], "with a limit");
  await collection.createIndex({ a: 1 });
  t.same(
    await ids({ a: 1 }, { a: { $gte: "" } }),
    expected.filter((i) => typeof ascending[i] === "string"),
    "by an index's range",
  );

  await collection.deleteMany({});
  await collection.insertMany([
    {
      _id: 1,
      l: [3, 9],
      m: 1,
      k: [
        { x: 1, y: 1 },
        { x: 5, y: 0 },
      ],
    },
    { _id: 2, l: [4, 5], m: 2, k: [{ x: 2, y: 2 }] },
    { _id: 3, m: 2, k: [{ x: 2, y: 3 }] },
    { _id: 4, l: 7, m: 1, k: [{ x: 0, y: 9 }] },
  ] as Document[]);
  t.same(await ids({ l: 1 }), [3, 1, 2, 4], "an array sorts by its least element");
  t.same(await ids({ l: -1 }), [1, 4, 2, 3], "an array sorts downwards by its greatest element");
  t.same(await ids({ m: -1, _id: -1 }), [3, 2, 4, 1], "by several fields");
  t.same(await ids({ "k.x": 1, "k.y": -1 }), [4, 1, 3, 2], "by fields of one array");
  t.same(await ids({ l: 1 }, { l: { $gt: 6 } }), [1, 4], "elements outside the filter count for the order");
  const unordered = await errorOf(database.command({ find: "sorts", sort: { a: 2 } }));
  if (kind !== "documentdb") t.equal(unordered.code, 15975, "neither 1 nor -1");
});

t.test("projections", async (t) => {
  const { database, kind } = await openDocuments(t);
  const collection = database.collection<AnyDocument>("projections");
  const document = { _id: 1, a: 1, b: { c: 2, d: { e: 3, f: 4 } }, l: [{ x: 1, y: 2 }, 5, [{ x: 3 }]] };
  await collection.insertOne(document as Document);
  const cases: [projection: Document, shown: Document][] = [
    [{}, document],
    [{ a: 1 }, { _id: 1, a: 1 }],
    [{ a: true, _id: 0 }, { a: 1 }],
    [{ _id: 1 }, { _id: 1 }],
    [{ _id: 0 }, { a: 1, b: document.b, l: document.l }],
    [
      { b: 0, l: 0 },
      { _id: 1, a: 1 },
    ],
    [
      { _id: 0, a: 0 },
      { b: document.b, l: document.l },
    ],
    [{ "b.d.e": 1 }, { _id: 1, b: { d: { e: 3 } } }],
    [
      { "b.d.e": 0, l: 0 },
      { _id: 1, a: 1, b: { c: 2, d: { f: 4 } } },
    ],
    [{ "l.x": 1, _id: 0 }, { l: [{ x: 1 }, [{ x: 3 }]] }],
    [
      { "l.x": 0, b: 0 },
      { _id: 1, a: 1, l: [{ y: 2 }, 5, [{}]] },
    ],
    [{ "a.z": 1 }, { _id: 1 }],
    [{ missing: 1 }, { _id: 1 }],
  ];
  for (const [projection, shown] of cases) {
    t.strictSame(await collection.findOne({}, { projection }), shown, JSON.stringify(projection));
  }
  const odd = {
    _id: 2,
    ab: "",
    a: new Date(-1),
    é: { è: "ü", e: null },
    abc: 1.5,
    l: [
      ...Array.from({ length: 12 }, (_, i) => ({ x: i, y: first })),
      "z",
      [7, [{ x: long("8"), y: 1.5 }]],
      {},
    ],
  };
  await collection.insertOne(odd as Document);
  const shownOdd: [projection: Document, shown: Document][] = [
    [{ a: 1 }, { _id: 2, a: odd.a }],
    [
      { ab: 1, abc: 1 },
      { _id: 2, ab: "", abc: odd.abc },
    ],
    [
      { é: 0, l: 0, a: 0 },
      { _id: 2, ab: "", abc: odd.abc },
    ],
    [{ "é.è": 1 }, { _id: 2, é: { è: "ü" } }],
    [
      { "é.è": 0, l: 0, abc: 0 },
      { _id: 2, ab: "", a: odd.a, é: { e: null } },
    ],
    [{ "l.x": 1, _id: 0 }, { l: [...Array.from({ length: 12 }, (_, i) => ({ x: i })), [[{ x: 8 }]], {}] }],
    [
      { "l.y": 0, a: 0, ab: 0, abc: 0, é: 0 },
      { _id: 2, l: [...Array.from({ length: 12 }, (_, i) => ({ x: i })), "z", [7, [{ x: 8 }]], {}] },
    ],
  ];
  for (const [projection, shown] of shownOdd) {
    t.strictSame(await collection.findOne({ _id: 2 }, { projection }), shown, JSON.stringify(projection));
  }
  t.equal((await errorOf(collection.findOne({}, { projection: { a: 1, b: 0 } }))).code, 31254);
  const mixed = await errorOf(collection.findOne({}, { projection: { a: 0, b: 1 } }));
  t.equal(mixed.code, kind === "documentdb" ? 31254 : 31253);
  t.match((await errorOf(collection.findOne({}, { projection: { b: 1, "b.c": 1 } }))).message, /ollision/);
  if (kind !== "embedded") return;
  for (const projection of [
    { l: { $slice: 1 } },
    { l: { $elemMatch: { x: 1 } } },
    { "l.$": 1 },
    { z: "$a" },
  ]) {
    const error = await errorOf(collection.findOne({}, { projection }));
    t.match(
      error,
      { code: 2, message: Object.keys(projection)[0]! },
      `${JSON.stringify(projection)} is refused`,
    );
  }
});
