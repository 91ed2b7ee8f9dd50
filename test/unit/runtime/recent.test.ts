// What saves a process reads and writes: it remembers what it wrote, and writes together what waits for one entity.
import type { Document } from "mongodb";
import { pino } from "pino";
import t from "tap";
import type { Decider } from "../../../actors/runtime/decider.ts";
import type { TenantDocuments } from "../../../actors/runtime/documents.ts";
import type { Handled } from "../../../actors/runtime/fold.ts";
import { createHandler } from "../../../actors/runtime/handle.ts";
import { Recent } from "../../../actors/runtime/recent.ts";
import type { Relay } from "../../../actors/runtime/relay.ts";
import type { HandledEntry, Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, received } from "../../harness/given.ts";

interface Seats {
  taken: number;
}

const empty: Document = {
  ...{ _id: "XN-1", revision: 1, version: 1, schemaVersion: 1 },
  ...{ handled: [], outbox: [], outboxCount: 0, taken: 0 },
};

/** A vehicle of three seats in a document that other processes write, too. */
const vehicle = (remembered: number, standing: Document | null = empty) => {
  let document = standing;
  let reads = 0;
  let writes = 0;
  let unwritable: string | undefined;
  const relayed: number[][] = [];
  let relayWorks = true;
  const collection = {
    findOne: async () => {
      reads++;
      return structuredClone(document);
    },
    insertOne: async (first: Document) => {
      if (document !== null) throw Object.assign(new Error("it stands"), { code: 11000 });
      document = first;
    },
    updateOne: async ({ revision }: Document, { $set, $push }: Document) => {
      const handled = $push.handled?.$each ?? [];
      const ids = handled.map(({ id }: HandledEntry) => id);
      if (ids.includes(unwritable)) throw new Error("too large");
      if (document === null || revision !== document.revision) return { matchedCount: 0 };
      writes++;
      const outbox = [...document.outbox, ...($push.outbox?.$each ?? [])];
      document = { ...document, ...$set, outbox, handled: [...document.handled, ...handled] };
      return { matchedCount: 1 };
    },
  };
  const decider: Decider<Seats, { type: string }> = {
    actor: "vehicle",
    kind: "wave",
    collection: "vehicles",
    schemaVersion: 1,
    remembered,
    commands: ["take"],
    indexes: [],
    decide: (state) => {
      if (state?.taken === 3) throw new Problem("conflict/state", "It is full.");
      return [{ type: "vehicle.taken" }];
    },
    evolve: (state) => ({ taken: (state?.taken ?? 0) + 1 }),
    outgoing: () => [{ to: "internal", type: "vehicle.taken", id: "XN-1", data: {} }],
    gathersFor: ({ id }) => id.startsWith("asks"),
    gather: async ({ id }) => {
      if (id.endsWith("in vain")) throw new Error("nobody answers");
      return "read elsewhere";
    },
    idempotent: ({ id }) => id.startsWith("counted"),
    opens: ({ id }) => id.startsWith("opens"),
    audit: () => null,
    view: (state) => state,
  };
  const relay = async ({ outbox }: Meta): Promise<boolean> => {
    relayed.push(outbox.map(({ n }: OutboxEntry) => n));
    return relayWorks;
  };
  const handle = createHandler<Seats, { type: string }>({
    decider,
    documents: () => ({ collection: () => collection }) as unknown as TenantDocuments,
    relay: () => ({ relay }) as unknown as Relay,
    scheduleTimers: () => undefined,
    clock: { now: () => evening },
    faults: () => undefined,
    log: pino({ level: "silent" }),
  });
  return {
    take: (id: string, expectedVersion?: number) =>
      handle({
        ...received("vehicle.take", {}, { entity: "XN-1" }),
        id,
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      }),
    /** As another process does. */
    write: (change: object) => {
      document = { ...document, ...change, revision: (document?.revision ?? 0) + 1 };
    },
    /** As another process does: what it publishes and drains is no new revision. */
    sweep: () => {
      document = { ...document, outbox: [] };
    },
    breakRelay: () => {
      relayWorks = false;
    },
    /** Of no command with this id. */
    breakWrites: (id: string) => {
      unwritable = id;
    },
    reads: () => reads,
    writes: () => writes,
    document: () => document ?? {},
    relayed,
  };
};

t.test("commands in a row read the document once", async (t) => {
  const { take, reads, document } = vehicle(10);
  for (const id of ["a", "b", "c"]) await take(id);
  t.equal(reads(), 1);
  t.match(document(), { taken: 3, revision: 4, version: 4, outboxCount: 3 });
  const forgetful = vehicle(0);
  for (const id of ["a", "b", "c"]) await forgetful.take(id);
  t.equal(forgetful.reads(), 3, "an actor that does not ask for it remembers nothing");
});

t.test("another process has written meanwhile", async (t) => {
  const { take, write, document } = vehicle(10);
  await take("a");
  write({ taken: 2 });
  t.match(await take("b"), { state: { taken: 3 } }, "the commit fails, and it is decided on what stands");
  t.equal(document().taken, 3);
  write({ taken: 0 });
  t.match(await take("c"), { state: { taken: 1 } }, "a refusal counts only of what stands");
});

t.test("a command that comes again is the same one", async (t) => {
  const { take, document } = vehicle(10);
  t.match(await take("a"), { repeated: false });
  t.match(await take("a"), { repeated: true, state: { taken: 1 } });
  t.equal(document().taken, 1);
  await take("b");
  t.match(await take("a"), { repeated: true, state: { taken: 2 } }, "whatever came between");
});

t.test("the outbox goes on where it stood", async (t) => {
  const working = vehicle(10);
  for (const id of ["a", "b"]) await working.take(id);
  t.strictSame(working.relayed, [[1], [2]], "what has left is not brought again");
  const stalled = vehicle(10);
  stalled.breakRelay();
  for (const id of ["a", "b"]) await stalled.take(id);
  t.strictSame(stalled.relayed, [[1], [1, 2]], "what has not left comes before the next");
  stalled.sweep();
  await stalled.take("c");
  t.strictSame(stalled.relayed.at(-1), [3], "what a sweep has brought is not brought again");
  t.equal(stalled.reads(), 3, "for the document was asked");
});

t.test("only so many are remembered, and what is taken is gone", async (t) => {
  const recent = new Recent<Seats>(2);
  const loaded = (id: string) =>
    ({ meta: { _id: id, outbox: [{ n: 1 }, { n: 2 }] } as Meta, state: { taken: 0 }, stored: {} }) as const;
  for (const id of ["XN-1", "XN-2", "XN-3"]) recent.put("XN", loaded(id));
  t.equal(recent.take("XN", "XN-1"), undefined, "the oldest has made place");
  recent.published("XN", "XN-2", 1);
  t.match(recent.take("XN", "XN-2")?.meta.outbox, [{ n: 2 }]);
  t.equal(recent.take("XN", "XN-2"), undefined);
  t.equal(recent.take("QZ", "XN-3"), undefined, "another airline's is another");
});

/** What each has come to: the seats then taken and the version, or its refusal. */
const told = async (all: Promise<Handled<Seats>>[]): Promise<unknown[]> =>
  (await Promise.allSettled(all)).map((result) =>
    result.status === "rejected"
      ? (result.reason.code ?? result.reason.message)
      : [result.value.state.taken, result.value.version, ...(result.value.repeated ? ["again"] : [])],
  );

t.test("what waits for one entity is decided in turn and written in one go", async (t) => {
  for (const remembered of [0, 10]) {
    const { take, reads, writes, document, relayed } = vehicle(remembered);
    const first = take("a");
    const rest = ["b", "b", "c", "d"].map((id) => take(id));
    t.strictSame(await told([first, ...rest]), [[1, 2], [2, 3], [2, 3, "again"], [3, 4], "conflict/state"]);
    t.equal(writes(), 2, "the first found nobody waiting; the others went together");
    t.equal(reads(), remembered === 0 ? 2 : 1);
    t.match(document(), { taken: 3, version: 4, revision: 3, outboxCount: 3 });
    t.strictSame(
      document().handled.map(({ id, version }: HandledEntry) => [id, version]),
      [
        ["a", 2],
        ["b", 3],
        ["c", 4],
      ],
    );
    t.strictSame(relayed.at(-1)?.slice(-2), [2, 3], "each has its own messages");
  }
});

t.test("what is idempotent by itself leaves no entry behind", async (t) => {
  const { take, document } = vehicle(10);
  for (const id of ["a", "counted 1", "counted 2"]) await take(id);
  t.match(document(), { taken: 3, version: 4, outboxCount: 3 });
  t.strictSame(
    document().handled.map(({ id }: HandledEntry) => id),
    ["a"],
  );
});

t.test("of those who have seen the same version one wins", async (t) => {
  const { take, document } = vehicle(10);
  const all = ["first", "a", "b", "c"].map((id) => take(id, id === "first" ? undefined : 2));
  t.strictSame(await told(all), [[1, 2], [2, 3], "conflict/version", "conflict/version"]);
  t.equal(document().taken, 2);
});

t.test("another process was first: all are decided again", async (t) => {
  const { take, write, document, writes } = vehicle(10);
  const [first, ...rest] = ["a", "b", "c"].map((id) => take(id));
  await first;
  write({ taken: 2 });
  t.strictSame(await told(rest), [[3, 3], "conflict/state"]);
  t.match(document(), { taken: 3, revision: 4 });
  t.equal(writes(), 2);
});

t.test("one that cannot be written spoils no other", async (t) => {
  const { take, breakWrites, document } = vehicle(10);
  breakWrites("bad");
  const all = ["a", "b", "bad", "c"].map((id) => take(id));
  t.strictSame(await told(all), [[1, 2], [2, 3], "too large", [3, 4]]);
  t.match(document(), { taken: 3, outboxCount: 3 });
});

t.test("what opens an entity is tried as an insert, and finds what stands all the same", async (t) => {
  const { take, reads, document } = vehicle(0);
  t.match(await take("opens a"), { state: { taken: 1 }, version: 2 }, "it stood already");
  t.equal(reads(), 1);
  t.match(await take("opens a"), { repeated: true });
  t.equal(document().taken, 1);
  const absent = vehicle(0, null);
  t.match(await absent.take("opens a"), { state: { taken: 1 }, version: 1, repeated: false });
  t.equal(absent.reads(), 0);
  t.match(absent.document(), { taken: 1, revision: 1 });
});

t.test("nobody waits for what another has to read elsewhere", async (t) => {
  const { take, writes } = vehicle(10);
  const all = ["a", "b", "asks", "c"].map((id) => take(id));
  t.strictSame(await told(all), [[1, 2], [2, 3], [3, 4], "conflict/state"]);
  t.equal(writes(), 3, "what is decided is written before anything is read");
  const other = vehicle(10);
  const asking = ["a", "asks 1", "asks 2"].map((id) => other.take(id));
  t.strictSame(await told(asking), [
    [1, 2],
    [2, 3],
    [3, 4],
  ]);
  t.equal(other.writes(), 3);
  const third = vehicle(10);
  const vain = ["a", "asks in vain", "b"].map((id) => third.take(id));
  t.strictSame(await told(vain), [[1, 2], "nobody answers", [2, 3]]);
});
