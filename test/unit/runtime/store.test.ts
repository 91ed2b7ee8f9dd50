// What a commit writes: the whole document at first, then only what has changed, with the outbox numbered without gaps.
import type { Collection, Document } from "mongodb";
import t from "tap";
import { type Commit, commit, firstDocument, type Loaded, loadedOf } from "../../../actors/runtime/store.ts";

interface State {
  name: string;
  tags: string[];
  note?: string;
}

const now = new Date("2026-03-01T20:00:00Z");
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const state: State = { name: "a", tags: ["x"] };
const entry = (n: number) => ({ subject: `int.XN.thing.done.${n}`, payload: `{"n":${n}}` });
const change = (over: Partial<Commit<State>> = {}): Commit<State> => ({
  entity: "XN-1",
  now,
  before: undefined,
  after: state,
  version: 1,
  handled: [{ id: "c1", at: now, version: 1 }],
  entries: [],
  timers: [],
  ...over,
});

interface Write {
  filter: Document;
  update: Document;
}

/** Takes one write, and answers as if it had found the document at the wanted revision or not. */
const taking = (matchedCount = 1) => {
  const writes: Write[] = [];
  const updateOne = async (filter: Document, update: Document) => {
    writes.push({ filter, update });
    return { matchedCount };
  };
  return { writes, collection: { updateOne } as unknown as Collection<Document> };
};

const standing = (over: Partial<Loaded<State>["meta"]> = {}, stored: object = state): Loaded<State> => ({
  meta: {
    _id: "XN-1",
    revision: 7,
    version: 3,
    schemaVersion: 1,
    handled: [{ id: "c0", at: ago(1000), version: 3 }],
    outbox: [],
    outboxCount: 4,
    ...over,
  },
  state,
  stored,
});

t.test("the first document", async (t) => {
  t.strictSame(firstDocument(2, change()), {
    _id: "XN-1",
    revision: 1,
    version: 1,
    schemaVersion: 2,
    handled: [{ id: "c1", at: now, version: 1 }],
    outbox: [],
    outboxCount: 0,
    ...state,
  });
  const later = new Date(now.getTime() + 9000);
  const soon = new Date(now.getTime() + 1000);
  const timers = [
    { name: "b", dueAt: later },
    { name: "a", dueAt: soon },
  ];
  const full = firstDocument(2, change({ entries: [entry(1), entry(2)], timers }));
  t.strictSame(full.outbox, [
    { n: 1, ...entry(1) },
    { n: 2, ...entry(2) },
  ]);
  t.match(full, { outboxCount: 2, pendingSince: now, nextDueAt: soon }, "the earliest timer is due first");
});

t.test("a unique name that is another's is a lost race; any other failure is thrown", async (t) => {
  const failing = (code: number) => {
    const write = async () => {
      throw Object.assign(new Error("no"), { code });
    };
    return { insertOne: write, updateOne: write } as unknown as Collection<Document>;
  };
  for (const over of [{}, { before: standing(), version: 4 }]) {
    t.equal(await commit(failing(11000), 1, change(over)), undefined);
    await t.rejects(commit(failing(50), 1, change(over)), { message: "no" });
  }
});

const handled = { id: "c1", at: now, version: 4 };
const later = { version: 4, handled: [handled] };
const bare = { revision: 8, version: 4, schemaVersion: 1, outboxCount: 4 };
const cases: { name: string; change: Partial<Commit<State>>; update: Document }[] = [
  {
    name: "nothing but the counters",
    change: {},
    update: { $set: bare, $push: { handled: { $each: [handled] } } },
  },
  {
    name: "what is the same object is not written, what is new is, what is gone is unset",
    change: {
      before: standing({}, { ...state, note: "old" }),
      after: { ...state, name: "b" },
    },
    update: { $set: { ...bare, name: "b" }, $unset: { note: "" }, $push: { handled: { $each: [handled] } } },
  },
  {
    name: "several commands in one go",
    change: { version: 5, handled: [handled, { id: "c2", at: now, version: 5 }] },
    update: {
      $set: { ...bare, version: 5 },
      $push: { handled: { $each: [handled, { id: "c2", at: now, version: 5 }] } },
    },
  },
  {
    name: "the outbox goes on where it ended, whatever is still in it",
    change: {
      before: standing({ outbox: [{ n: 4, ...entry(4) }] }),
      entries: [entry(5), entry(6)],
    },
    update: {
      $set: { ...bare, outboxCount: 6, pendingSince: now },
      $push: {
        handled: { $each: [handled] },
        outbox: {
          $each: [
            { n: 5, ...entry(5) },
            { n: 6, ...entry(6) },
          ],
        },
      },
    },
  },
  {
    name: "ids older than an hour are forgotten",
    change: {
      before: standing({
        handled: [
          { id: "old", at: ago(3_600_001), version: 1 },
          { id: "new", at: ago(3_599_999), version: 2 },
        ],
      }),
    },
    update: { $set: { ...bare, handled: [{ id: "new", at: ago(3_599_999), version: 2 }, handled] } },
  },
  {
    name: "ids that clients chose are kept for a day",
    change: {
      before: standing({
        handled: [
          { id: "api:old", at: ago(86_400_001), version: 1 },
          { id: "api:new", at: ago(86_399_999), version: 2 },
        ],
      }),
    },
    update: { $set: { ...bare, handled: [{ id: "api:new", at: ago(86_399_999), version: 2 }, handled] } },
  },
  {
    name: "a timer is set",
    change: { timers: [{ name: "a", dueAt: now }] },
    update: { $set: { ...bare, nextDueAt: now }, $push: { handled: { $each: [handled] } } },
  },
  {
    name: "a timer is taken away",
    change: { before: standing({ nextDueAt: now }) },
    update: { $set: bare, $unset: { nextDueAt: "" }, $push: { handled: { $each: [handled] } } },
  },
  {
    name: "a migration is written down with the change after it",
    change: {
      before: standing({}, { title: "a", tags: state.tags }),
    },
    update: { $set: { ...bare, name: "a" }, $unset: { title: "" }, $push: { handled: { $each: [handled] } } },
  },
];

t.test("updates", async (t) => {
  for (const { name, change: over, update } of cases) {
    const { collection, writes } = taking();
    const meta = await commit(collection, 1, change({ before: standing(), ...later, ...over }));
    t.strictSame(writes, [{ filter: { _id: "XN-1", revision: 7 }, update }], name);
    t.match(meta, { revision: 8, outboxCount: update.$set.outboxCount, version: update.$set.version }, name);
  }
  const { collection } = taking(0);
  t.equal(await commit(collection, 1, change({ before: standing() })), undefined, "a lost race is told");
});

t.test("what is told after a commit holds the whole outbox, for the relay", async (t) => {
  const { collection } = taking();
  const before = standing({ outbox: [{ n: 4, ...entry(4) }] });
  const meta = await commit(collection, 1, change({ before, entries: [entry(5)] }));
  t.strictSame(
    meta?.outbox.map(({ n }) => n),
    [4, 5],
  );
});

t.test("loading takes the runtime's part from the actor's, and migrates by version", async (t) => {
  const document = { ...firstDocument(1, change()), nextDueAt: now } as unknown as Document;
  const plain = loadedOf<State>(document, { schemaVersion: 1 });
  t.strictSame(plain.state, state);
  t.strictSame(Object.keys(plain.meta).includes("nextDueAt"), true);
  const migrate = (old: State, from: number): State => ({ ...old, note: `from ${from}` });
  const migrated = loadedOf<State>(document, { schemaVersion: 2, migrate });
  t.strictSame(migrated.state, { ...state, note: "from 1" });
  t.strictSame(migrated.stored, state, "what the next commit compares with");
  t.equal(loadedOf<State>(document, { schemaVersion: 1, migrate }).state.note, undefined);
});
