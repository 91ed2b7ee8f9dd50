// The outbox's way out, on a real document server with a stream that fails when it is told to.
import { randomUUID } from "node:crypto";
import type { Collection, Document } from "mongodb";
import { pino } from "pino";
import t from "tap";
import { openDocuments } from "../../../actors/runtime/documents.ts";
import type { Faults } from "../../../actors/runtime/faults.ts";
import { Relay } from "../../../actors/runtime/relay.ts";
import type { Streams } from "../../../streams/connection.ts";
import { startDocuments } from "../../harness/processes.ts";

const server = await startDocuments(t);
const documents = await openDocuments(server.url, server.databasePrefix);
t.teardown(() => documents.close());
const collection: Collection<Document> = documents.tenant("XN").collection("things");

const subjectOf = (kind: "cmd" | "int", n: number) =>
  kind === "cmd" ? `cmd.XN.thing.do.${n}` : `int.XN.thing.done.${n}`;

/** A stored entity whose outbox holds these, numbered from `first`. */
const stored = async (kinds: readonly ("cmd" | "int")[], first = 1) => {
  const _id = `XN-${randomUUID()}`;
  const outbox = kinds.map((kind, i) => ({
    n: first + i,
    subject: subjectOf(kind, first + i),
    payload: "{}",
  }));
  const document = { _id, outbox, outboxCount: first + kinds.length - 1, pendingSince: new Date(0) };
  await collection.insertOne(document as never);
  return document;
};
const load = async (_id: string) => (await collection.findOne({ _id: _id as never })) as Document;

const startRelay = (faults: Faults = () => undefined) => {
  const published: string[] = [];
  const control = {
    published,
    fails: (_n: number) => false,
    before: async (_n: number): Promise<void> => undefined,
  };
  const publish = async (_subject: string, _payload: string, { msgID }: { msgID: string }) => {
    const n = Number(msgID.split(":").at(-1));
    await control.before(n);
    if (control.fails(n)) throw new Error("NATS is away");
    published.push(msgID);
    return { seq: published.length };
  };
  const relay = new Relay({
    streams: { jetstream: { publish } } as unknown as Streams,
    collection,
    urnOf: (entity) => `urn:thing:${entity}`,
    log: pino({ level: "silent" }),
    faults,
  });
  return { relay, control, published };
};

t.test("in number order, under ids that follow from entity and number, then drained", async (t) => {
  const passed: string[] = [];
  const { relay, published } = startRelay((point, what) => passed.push(`${point}@${what}`));
  const thing = await stored(["int", "int", "cmd"], 4);
  t.equal(await relay.relay(thing), true);
  t.strictSame(
    published,
    [4, 5, 6].map((n) => `urn:thing:${thing._id}:${n}`),
  );
  t.strictSame(passed, ["after-publish@thing.done", "after-publish@thing.done", "after-publish@thing.do"]);
  await relay.stop();
  t.strictSame(await load(thing._id), { _id: thing._id, outbox: [], outboxCount: 6 });
});

t.test("the first failure stops it; a later turn goes on there, and sends nothing twice", async (t) => {
  const { relay, control, published } = startRelay();
  const thing = await stored(["int", "int", "int"]);
  control.fails = (n) => n === 2;
  t.equal(await relay.relay(thing), false);
  await relay.drain();
  t.strictSame(
    published.map((id) => id.at(-1)),
    ["1"],
  );
  t.match(
    await load(thing._id),
    { outbox: [{ n: 1 }, { n: 2 }, { n: 3 }], pendingSince: new Date(0) },
    "all stays",
  );
  control.fails = () => false;
  t.equal(await relay.relay(thing), true);
  t.strictSame(
    published.map((id) => id.at(-1)),
    ["1", "2", "3"],
  );
  await relay.stop();
  t.equal((await load(thing._id)).pendingSince, undefined);
});

t.test("commands in a row leave together, events wait for what is before them", async (t) => {
  const { relay, control } = startRelay();
  const begun: number[] = [];
  const gates = new Map([1, 2, 3, 4].map((n) => [n, Promise.withResolvers<void>()]));
  const both = Promise.withResolvers<void>();
  control.before = async (n) => {
    begun.push(n);
    if (begun.length === 2) both.resolve();
    await gates.get(n)?.promise;
  };
  const thing = await stored(["cmd", "cmd", "int", "cmd"]);
  const done = relay.relay(thing);
  await both.promise;
  t.strictSame(begun, [1, 2]);
  for (const { resolve } of gates.values()) resolve();
  await done;
  t.strictSame(begun, [1, 2, 3, 4]);
  await relay.stop();
});

t.test("an outbox that has grown meanwhile is not drained by the one who didn't see it", async (t) => {
  const { relay, published } = startRelay();
  const thing = await stored(["int"]);
  await relay.relay(thing);
  const grown = { n: 2, subject: subjectOf("int", 2), payload: "{}" };
  await collection.updateOne({ _id: thing._id as never }, {
    $set: { outboxCount: 2 },
    $push: { outbox: grown },
  } as never);
  await relay.drain();
  t.match(await load(thing._id), { outbox: [{ n: 1 }, { n: 2 }], pendingSince: new Date(0) });
  await relay.relay({ ...thing, outbox: [...thing.outbox, grown] });
  await relay.stop();
  t.strictSame(
    [...new Set(published.map((id) => id.at(-1)))],
    ["1", "2"],
    "in order; the first may be sent again, under the same id",
  );
  t.strictSame((await load(thing._id)).outbox, []);
});

t.test("turns of one entity follow each other; other entities don't wait", async (t) => {
  const { relay, control, published } = startRelay();
  const [slow, quick] = [await stored(["int"]), await stored(["int"])];
  const gate = Promise.withResolvers<void>();
  let held = 0;
  control.before = async () => {
    held += 1;
    if (held === 1) await gate.promise;
  };
  const grown = { ...slow, outbox: [...slow.outbox, { n: 2, subject: subjectOf("int", 2), payload: "{}" }] };
  const turns = Promise.all([relay.relay(slow), relay.relay(grown)]);
  await relay.relay(quick);
  t.strictSame(published, [`urn:thing:${quick._id}:1`]);
  gate.resolve();
  await turns;
  t.strictSame(
    published.slice(1),
    [1, 2].map((n) => `urn:thing:${slow._id}:${n}`),
  );
  await relay.stop();
});
