// An actor on the runtime with real NATS and documents: its three outcomes, what breaks, what comes twice, and who else works.

import type { Document } from "mongodb";
import { pino } from "pino";
import t from "tap";
import { sendCommand } from "../../actors/runtime/send.ts";
import { createStage } from "../../gateway/stage.ts";
import type { Command, Reply } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { consume } from "../../streams/consume.ts";
import { type DeadLetter, listDeadLetters, retryDeadLetter } from "../../streams/dead-letters.ts";
import { follow } from "../../streams/follow.ts";
import { publish } from "../../streams/publish.ts";
import { commandSubject, internalSubject } from "../../streams/subjects.ts";
import {
  type CounterHooks,
  type CounterNode,
  counterCommand,
  type Servers,
  startCounterNode,
  trace,
} from "../harness/counter-actor.ts";
import { EventLog } from "../harness/event-log.ts";
import { eventually, takesLong } from "../harness/patience.ts";
import { startDocuments, startNatsServer, temporaryFolder } from "../harness/processes.ts";

takesLong(t);
const nats = await startNatsServer(t);
const documents = await startDocuments(t);
const servers: Servers = {
  natsUrl: nats.url,
  mongodbUrl: documents.url,
  databasePrefix: documents.databasePrefix,
  folder: temporaryFolder(t),
};
const streams: Streams = await openStreams(servers.natsUrl, "test");
const events = await EventLog.open(streams);
t.teardown(async () => {
  events.close();
  await streams.close();
});

/** Replaced by each test that looks into decisions. */
const hooks: CounterHooks = {};
const node = await startCounterNode(t, servers, hooks);
t.afterEach(() => {
  delete hooks.deciding;
});

let ids = 0;
const id = (tenant = "XN"): string => `${tenant}-COUNTER${++ids}`;
const send = (command: Command, messageId?: string): Promise<void> =>
  sendCommand(streams, command, messageId);
const stored = async (entity: string, from: CounterNode = node): Promise<Document> =>
  (await from.context.documents
    .tenant(entity.slice(0, 2))
    .collection<Document>("counters")
    .findOne({ _id: entity as never })) as Document;
const eventsOf = (entity: string, type: string) =>
  events.of(type).filter(({ data }) => data.id === entity || data.entity === entity);
const untilEvents = (entity: string, type: string, count: number, withinMs?: number) =>
  events.until(`${count} × ${type} of ${entity}`, () => eventsOf(entity, type).length >= count, withinMs);
const open = async (entity: string): Promise<void> => {
  await send(counterCommand(`${entity}/open`, "open", entity));
  await untilEvents(entity, "counter.added", 1);
};

/** Who waits for the dead letter of a subject. */
const awaited = new Map<string, (letter: DeadLetter) => void>();
const following = await follow(streams, {
  stream: "DEAD",
  filterSubjects: ["dead.>"],
  log: pino({ level: "silent" }),
  handle: ({ sequence }) => void tellOf(sequence),
});
const tellOf = async (sequence: number): Promise<void> => {
  const [letter] = await listDeadLetters(streams, { from: sequence, limit: 1 });
  if (letter !== undefined) awaited.get(letter.subject)?.(letter);
};
t.teardown(() => following.stop());
const deadLetterOf = (subject: string): Promise<DeadLetter> =>
  new Promise((resolve) => awaited.set(subject, resolve));

t.test("events: a command, its event, the reaction to it and the next command keep one trace", async (t) => {
  const entity = id();
  await open(entity);
  const [opened] = eventsOf(entity, "counter.opened");
  const [added] = eventsOf(entity, "counter.added");
  for (const event of [opened, added]) {
    t.equal(event?.traceparent, trace.traceparent);
    t.equal(event?.correlation_urn, trace.correlationUrn);
    t.equal(event?.tenant, "urn:airline:XN");
  }
  t.match(await stored(entity), { count: 1, version: 2, revision: 2, outboxCount: 2 });
});

t.test("a refusal becomes one event, however often the command comes", async (t) => {
  const entity = id();
  await open(entity);
  const refused = counterCommand(`${entity}/refuse`, "refuse", entity);
  await send(refused, "one");
  await send(refused, "two");
  await send(counterCommand(`${entity}/after`, "add", entity));
  await untilEvents(entity, "counter.added", 2);
  await untilEvents(entity, "counter.refuse-refused", 1);
  const told = eventsOf(entity, "counter.refuse-refused");
  t.equal(new Set(told.map(({ urn }) => urn)).size, 1);
  t.match(told[0], {
    stream: "INTERNAL",
    traceparent: trace.traceparent,
    correlation_urn: trace.correlationUrn,
    data: { commandId: refused.id, problem: { code: "conflict/state", members: { state: "OPEN" } } },
  });
});

t.test("not yet: a command waits for its entity", async (t) => {
  const entity = id();
  const early = Promise.withResolvers<void>();
  hooks.deciding = ({ name, entity: about }) => {
    if (name === "counter.add" && about === entity) early.resolve();
  };
  await send(counterCommand(`${entity}/early`, "add", entity, { by: 10 }));
  await early.promise;
  await open(entity);
  await untilEvents(entity, "counter.added", 2);
  t.equal((await stored(entity)).count, 11);
});

t.test("the same command three times is one event", async (t) => {
  const entity = id();
  await open(entity);
  const add = counterCommand(`${entity}/add`, "add", entity, { by: 10 });
  for (const messageId of ["first", "second", "third"]) await send(add, `${entity}/${messageId}`);
  await send(counterCommand(`${entity}/last`, "add", entity, { by: 100 }));
  await events.until("the last one", () =>
    eventsOf(entity, "counter.added").some(({ data }) => data.count === 111),
  );
  t.strictSame(
    eventsOf(entity, "counter.added").map(({ data }) => data.count),
    [1, 11, 111],
  );
  t.strictSame(
    (await stored(entity)).handled.map(({ id: handled }: { id: string }) => handled).length,
    4,
    "each command is kept once",
  );
  const reply: Reply = await node.broker.call("counter.add", add);
  t.match(
    reply,
    { ok: { count: 111 }, repeated: true },
    "a synchronous repeat is told so, and changes nothing",
  );
});

t.test("a caller who has seen an older version is refused", async (t) => {
  const entity = id();
  await open(entity);
  const asked = (expectedVersion: number, n: number) =>
    node.broker.call<Reply, Command>("counter.add", {
      ...counterCommand(`${entity}/v${n}`, "add", entity),
      expectedVersion,
    });
  t.match(await asked(1, 1), { problem: { code: "conflict/version", members: { version: 2 } } });
  t.match(await asked(2, 2), { ok: { count: 2 }, version: 3 });
  const both = await Promise.all([asked(3, 3), asked(3, 4)]);
  t.equal(both.filter((reply) => "ok" in reply).length, 1, "of two at once, one is taken");
});

t.test("two processes race on one entity: no increment is lost", { timeout: 100_000 }, async (t) => {
  const entity = id();
  await open(entity);
  const deciders = new Set<string>();
  hooks.deciding = () => void deciders.add("first");
  const second = await startCounterNode(t, servers, { deciding: () => void deciders.add("second") });
  await Promise.all(
    Array.from({ length: 50 }, (_, i) => send(counterCommand(`${entity}/race${i}`, "add", entity))),
  );
  await untilEvents(entity, "counter.added", 51, 50_000);
  const { count, revision, version, outboxCount } = await stored(entity);
  t.strictSame({ count, version, outboxCount }, { count: 51, version: 52, outboxCount: 52 });
  t.ok(revision <= 52, `in ${revision} writes: those that wait for each other are written together`);
  t.strictSame([...deciders].sort(), ["first", "second"], "both took part");
  t.equal(new Set(eventsOf(entity, "counter.added").map(({ urn }) => urn)).size, 51);
  await second.stop();
});

t.test("a body larger than a message travels in pieces", async (t) => {
  const entity = id();
  await open(entity);
  const stage = createStage(node.broker);
  const text = "é✈".repeat(800_000);
  const staged = await stage(counterCommand(`${entity}/large`, "add", entity, { text }));
  t.strictSame(staged.data, {});
  await send(staged);
  await untilEvents(entity, "counter.added", 2);
  t.equal((await stored(entity)).textLength, text.length);
  const lost = {
    ...counterCommand(`${entity}/lost`, "add", entity),
    staged: { stagedId: "never-came", pieces: 2 },
  };
  t.match(await node.broker.call("counter.add", lost), { problem: { code: "not-found/resource" } });
});

t.test("one airline's flood doesn't keep another's command waiting", { timeout: 100_000 }, async (t) => {
  const flooded = Array.from({ length: 10 }, () => id("QZ"));
  const other = id("XN");
  await Promise.all([...flooded, other].map(open));
  let before = 0;
  const reached = Promise.withResolvers<number>();
  const flood = 400;
  hooks.deciding = ({ entity }) => {
    if (entity === other) reached.resolve(before);
    else before += 1;
  };
  await Promise.all(
    Array.from({ length: flood }, (_, i) =>
      send(counterCommand(`flood/${i}`, "add", flooded[i % flooded.length] as string)),
    ),
  );
  await send(counterCommand(`${other}/one`, "add", other));
  const handledBefore = await reached.promise;
  t.ok(handledBefore < flood / 2, `handled after ${handledBefore} of ${flood}`);
  for (const entity of flooded) await untilEvents(entity, "counter.added", 1 + flood / flooded.length);
});

t.test("timers: due ones fire, later ones too, and one found not due yet is sent again", async (t) => {
  const entity = id();
  await open(entity);
  let refusals = 1;
  hooks.deciding = ({ name }) => {
    if (name === "counter.wake" && refusals-- > 0)
      throw new Problem("conflict/state", "The clock here is slow.");
  };
  await send(counterCommand(`${entity}/snooze`, "snooze", entity, { inMs: 300 }));
  await untilEvents(entity, "counter.woken", 1);
  t.equal(refusals, -1, "it was told twice");
  t.match(await stored(entity), { wakes: 1, nextDueAt: undefined });
});

t.test("a sweep publishes and wakes what a dead process left", async (t) => {
  const entity = id();
  const left = id();
  await open(entity);
  const counters = node.context.documents.tenant("XN").collection<Document>("counters");
  const document = await stored(entity);
  const payload = JSON.stringify({
    ...eventsOf(entity, "counter.added")[0],
    urn: `urn:event:${left}`,
    data: { id: left },
  });
  const subject = internalSubject("XN", "counter.added", left);
  const past = new Date(Date.now() - 60_000);
  await counters.insertOne({
    ...document,
    _id: left as never,
    outbox: [1, 2].map((n) => ({ n, subject, payload })),
    outboxCount: 2,
    pendingSince: past,
    wakeAt: past,
    nextDueAt: past,
  });
  await untilEvents(left, "counter.added", 2);
  await untilEvents(left, "counter.woken", 1);
  t.match(await stored(left), { wakes: 1, count: document.count });
});

t.test("what breaks is tried eight times, put aside, and can be sent again", async (t) => {
  const subject = internalSubject("XN", "test.broken", "one");
  const tries: number[] = [];
  let healthy = false;
  const mended = Promise.withResolvers<void>();
  const consuming = await consume(streams, {
    stream: "INTERNAL",
    durable: "test_broken",
    filterSubjects: [subject],
    owner: "tester",
    concurrency: 4,
    delayMs: (failures) => failures * 5,
    log: pino({ level: "silent" }),
    handle: async ({ attempt }) => {
      tries.push(attempt);
      if (!healthy) throw new Error("broken");
      mended.resolve();
      return { kind: "done" };
    },
  });
  t.teardown(() => consuming.stop());
  const dead = deadLetterOf(subject);
  await publish(streams, { subject, payload: '{"a":1}', messageId: "broken-1" });
  const letter = await dead;
  t.strictSame(tries, [1, 2, 3, 4, 5, 6, 7, 8]);
  t.match(letter, {
    tenant: "XN",
    actor: "tester",
    consumer: "test_broken",
    reason: "broken",
    body: '{"a":1}',
  });
  await eventually("the original is ended", async () => {
    const { num_pending, num_ack_pending } = await streams.manager.consumers.info("INTERNAL", "test_broken");
    return num_pending + num_ack_pending === 0 ? undefined : { num_pending, num_ack_pending };
  });
  healthy = true;
  t.equal(await retryDeadLetter(streams, letter.sequence), true);
  await mended.promise;
  t.equal(tries.length, 9);
});

t.test("not yet, and never: it is put aside in the end, and a retry brings it back", async (t) => {
  await node.stop();
  const entity = id();
  const subject = commandSubject("XN", "counter.add", entity);
  const letter = deadLetterOf(subject);
  await send(counterCommand(`${entity}/lost`, "add", entity, { by: 5 }));
  let tries = 0;
  const deciding = (): void => {
    tries += 1;
  };
  // By the time this one has started, the command is older than its patience, but has not been tried yet.
  const impatient = await startCounterNode(t, servers, { deciding }, { COMMAND_PATIENCE_MS: "500" });
  const dead = await letter;
  t.ok(tries > 1, `tried ${tries} times`);
  t.match(dead, {
    tenant: "XN",
    actor: "counter",
    consumer: "cmd_counter_XN",
    reason: "The counter does not exist yet.",
  });
  t.equal(dead.subject, subject);
  await send(counterCommand(`${entity}/open`, "open", entity));
  await untilEvents(entity, "counter.added", 1);
  t.equal(await retryDeadLetter(streams, dead.sequence), true);
  await untilEvents(entity, "counter.added", 2);
  t.equal((await stored(entity, impatient)).count, 6);
  t.equal(await retryDeadLetter(streams, dead.sequence), false, "it is gone");
});

t.test(
  "servers that go away and come back lose nothing, and put nothing aside",
  { timeout: 100_000 },
  async (t) => {
    const patient = await startCounterNode(t, servers);
    const entity = id();
    await send(counterCommand(`${entity}/open`, "open", entity));
    await untilEvents(entity, "counter.added", 1);
    const add = async (n: number): Promise<void> => {
      const reply = await patient.broker.call<Reply, Command>(
        "counter.add",
        counterCommand(`${entity}/a${n}`, "add", entity),
      );
      t.match(reply, { ok: { count: n } });
    };
    await nats.kill();
    await add(2);
    await add(3);
    const waiting = (await stored(entity, patient)).outbox.map(({ n }: { n: number }) => n);
    t.strictSame(waiting.slice(-2), [3, 4], "what was decided meanwhile waits in the outbox");
    await nats.restart();
    await untilEvents(entity, "counter.added", 3, 40_000);
    t.strictSame(
      eventsOf(entity, "counter.added").map(({ data }) => data.count),
      [1, 2, 3],
      "in their order",
    );
    if (documents.process === undefined) return;
    await documents.process.kill();
    await send(counterCommand(`${entity}/away`, "add", entity));
    await documents.process.restart();
    await untilEvents(entity, "counter.added", 4, 40_000);
    t.equal((await stored(entity, patient)).count, 4);
    t.strictSame(await listDeadLetters(streams, { limit: 5 }), []);
  },
);
