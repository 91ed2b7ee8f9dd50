// The live end of the event log: from some time back, in each stream's order, none twice and none left out, whatever the server loses; what one group
// has missed of it; that what gateways tell each other leaves nothing for ever; and that what is kept of a session is not undone.
import { pino } from "pino";
import t from "tap";
import { createReadPast } from "../../gateway/live/passenger-past.ts";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { type GatewayWatcher, liveGatewaysOver } from "../../streams/live-gateways.ts";
import { openLiveSessions } from "../../streams/live-sessions.ts";
import { publish } from "../../streams/publish.ts";
import { eventSubject, internalSubject } from "../../streams/subjects.ts";
import { openTail, type TailEntry } from "../../streams/tail.ts";
import { eventually } from "../harness/patience.ts";
import { startNatsServer } from "../harness/processes.ts";

const nats = await startNatsServer(t);
const streams = await openStreams(nats.url, "test");
t.teardown(() => streams.close());
const log = pino({ level: "silent" });

const until = (holds: () => boolean) => async () => (holds() ? undefined : "not yet");

let told = 0;
const tell = async (type: string, text: string): Promise<void> => {
  const subject = type.startsWith("case.")
    ? eventSubject("XN", type, "XN-1")
    : internalSubject("XN", type, "XN-2");
  await publish(streams, { subject, payload: JSON.stringify({ data: { text } }), messageId: `m${told++}` });
};
const textOf = (entry: TailEntry): string => String(entry.event().data.text);
const tailOf = async (over: Streams, backMs: number) => {
  const heard: TailEntry[] = [];
  const tail = await openTail(over, {
    types: { EVENTS: ["case.opened"], INTERNAL: ["subcase.lock-changed"] },
    backMs,
    hear: (entry) => void heard.push(entry),
    onCountedAnew: () => t.fail("nothing was made anew"),
    log,
  });
  t.teardown(() => tail.close());
  return { tail, heard, texts: () => heard.map(textOf).toSorted() };
};

t.test("begins as far back as it is asked to, without what nobody wants", async (t) => {
  await tell("case.opened", "a");
  await tell("case.amended", "unwanted");
  const { state } = await streams.manager.streams.info("EVENTS");
  const last = Date.parse(state.last_ts);
  await eventually(
    "some milliseconds",
    until(() => Date.now() > last + 20),
  );
  await tell("subcase.lock-changed", "b");
  await tell("case.opened", "c");
  const everything = await tailOf(streams, 60_000);
  t.strictSame(everything.texts(), ["a", "b", "c"], "all is heard when it returns");
  t.match(
    everything.heard.find((entry) => textOf(entry) === "b"),
    {
      stream: "INTERNAL",
      tenant: "XN",
      type: "subcase.lock-changed",
      id: "XN-2",
    },
  );
  // The server says that it is then, however long the test has taken to come here.
  const { manager } = streams;
  const info = async (name: string) => ({
    ...(await manager.streams.info(name)),
    ts: new Date(last + 210).toISOString(),
  });
  const then = Object.create(manager, {
    streams: { value: Object.create(manager.streams, { info: { value: info } }) },
  });
  const recent = await tailOf({ ...streams, manager: then }, 200);
  t.strictSame(recent.texts(), ["b", "c"]);
  await tell("case.opened", "d");
  await eventually(
    "the live end",
    until(() => everything.heard.length === 4 && recent.heard.length === 3),
  );
});

t.test(
  "a lost consumer, before and after anything was heard, costs nothing and repeats nothing",
  async (t) => {
    const { tail, heard, texts } = await tailOf(streams, 1);
    heard.length = 0;
    const lose = async (): Promise<void> => {
      for (const stream of ["EVENTS", "INTERNAL"])
        for (const { name } of await streams.manager.consumers.list(stream).next())
          await streams.manager.consumers.delete(stream, name);
    };
    await lose();
    await tell("case.opened", "e");
    await eventually(
      "what came after the loss",
      until(() => heard.length === 1),
    );
    await lose();
    await tell("case.opened", "f");
    await tell("subcase.lock-changed", "g");
    await eventually(
      "what came after the second loss",
      until(() => heard.length === 3),
    );
    t.strictSame(texts(), ["e", "f", "g"]);
    t.ok(tail.live());
  },
);

t.test(
  "a start whose first reading is lost before it has seen everything goes on with the next",
  async (t) => {
    const lost: string[] = [];
    const consumers: Streams["jetstream"]["consumers"] = Object.create(streams.jetstream.consumers);
    consumers.get = async (stream, ordered) => {
      const consumer = await streams.jetstream.consumers.get(stream, ordered);
      const { opt_start_seq: from } = ordered as { opt_start_seq?: number };
      if (from === undefined || lost.includes(stream)) return consumer;
      lost.push(stream);
      const consume = consumer.consume.bind(consumer);
      consumer.consume = async (options) => {
        const messages = await consume(options);
        messages.stop(new Error("lost"));
        return messages;
      };
      return consumer;
    };
    const jetstream: Streams["jetstream"] = Object.create(streams.jetstream, {
      consumers: { value: consumers },
    });
    const { texts } = await tailOf({ ...streams, jetstream }, 60_000);
    t.same(lost.toSorted(), ["EVENTS", "INTERNAL"]);
    t.strictSame(texts(), ["a", "b", "c", "d", "e", "f", "g"], "all is heard when it returns");
  },
);

t.test("of a case's log a group is told its own: with hundreds beside it, and in a drill", async (t) => {
  const readPast = createReadPast(streams);
  const [group, other] = [`XN-${"0G".repeat(13)}`, `XN-${"0H".repeat(13)}`];
  const asked = (caseId: string, subCaseId: string) => ({ tenant: "XN", caseId, subCaseId });
  const lastOf = async () => {
    const [EVENTS, INTERNAL] = await Promise.all(
      ["EVENTS", "INTERNAL"].map(
        async (stream) => (await streams.manager.streams.info(stream)).state.last_seq,
      ),
    );
    return { EVENTS: EVENTS ?? 0, INTERNAL: INTERNAL ?? 0 };
  };
  const put = (subject: string, type: string, subCaseId: string, more = {}): Promise<unknown> => {
    const data = { subCaseUrn: `urn:sub-case:${subCaseId}`, ...more };
    return publish(streams, { subject, payload: JSON.stringify({ type, data }), messageId: `m${told++}` });
  };
  const issued = (type: string, caseId: string, subCaseId: string, more = {}) =>
    put(eventSubject("XN", type, caseId), type, subCaseId, more);
  const drilled = (type: string, id: string, subCaseId: string) =>
    put(internalSubject("XN", type, id), type, subCaseId);
  const before = await lastOf();
  await issued("voucher.issued", "XN-PAST", group);
  await Promise.all(Array.from({ length: 250 }, () => issued("wallet.card-issued", "XN-PAST", other)));
  await issued("wallet.card-tx", "XN-PAST", other, { from: group });
  await drilled("subcase.offer-changed", group, group);
  await drilled("subcase.offer-changed", other, other);
  await issued("wallet.card-tx", "XN-PAST", group);
  await issued("wallet.card-tx", "XN-ELSEWHERE", group);
  const upTo = await lastOf();
  await issued("voucher.amended", "XN-PAST", group);
  const typesOf = async (caseId: string, of: string, to = upTo) =>
    (await readPast(asked(caseId, of), before, to))?.map((entry) => entry.event().type).toSorted();
  t.strictSame(
    await typesOf("XN-PAST", group),
    ["subcase.offer-changed", "voucher.issued", "wallet.card-tx"],
    "nothing of another group, and nothing after the place",
  );
  t.equal(await typesOf("XN-PAST", other), undefined, "its own are too many to be told one by one");
  await drilled("voucher.issued", "XN-DRILL", group);
  await drilled("wallet.card-tx", "XN-DRILL", other);
  const past = await readPast(asked("XN-DRILL", group), upTo, await lastOf());
  t.match(past, [{ position: { EVENTS: upTo.EVENTS, INTERNAL: upTo.INTERNAL + 1 } }]);
  t.strictSame(
    past?.map((entry) => entry.event().type),
    ["voucher.issued"],
    "a drill's stand in the house",
  );
});

t.test("what gateways and operators that are gone have left goes with a later start", async (t) => {
  const present: string[] = [];
  const watcher: GatewayWatcher = {
    onBeat: (gateway) => void present.push(gateway),
    onPresent: (gateway, key) => void present.push(`${gateway}.${key}`),
    onAbsent: () => undefined,
  };
  const open = async (now?: () => Date) => {
    const gateways = await liveGatewaysOver(streams, log, now)(watcher);
    t.teardown(() => gateways.close());
    return gateways;
  };
  const first = await open();
  const operator = { tenant: "XN", operatorUrn: "urn:operator:1", since: "", cases: [] };
  for (const gateway of ["gone", "here"]) {
    await first.beat(gateway);
    await first.tellPresent(gateway, operator);
  }
  await eventually(
    "all of it",
    until(() => present.length === 4),
  );
  const [, key = ""] = present.find((one) => one.startsWith("gone."))?.split(".") ?? [];
  await first.tellAbsent("gone", key);
  await first.forget("gone");
  const held = async () => (await streams.manager.streams.info("KV_gateways")).state.messages;
  await open();
  t.equal(await held(), 4, "who was away for a moment learns of it");
  await open(() => new Date(Date.now() + 2 * 86_400_000));
  await eventually("two entries", async () => ((await held()) === 2 ? undefined : `${await held()} entries`));
  present.length = 0;
  await open();
  t.same(present, ["here", `here.${key}`], "and nothing else is lost");
});

t.test("what one connection of a session has noted is undone by no other", async (t) => {
  const sessions = await openLiveSessions(streams);
  const id = "an-id-of-a-session";
  const noted = (connection: string, ...rooms: string[]) => ({
    tenant: "XN",
    operatorUrn: "urn:user:ana",
    rooms: rooms.map((room) => ({ room, since: "0.0_0.0" })),
    connection,
  });
  const old = await sessions.write(id, noted("one", "a"), undefined);
  const resumed = await sessions.read(id);
  t.strictSame(resumed, old);
  t.ok(await sessions.write(id, noted("one", "a"), old), "it is kept alive meanwhile");
  const joined = await sessions.write(id, noted("two", "a", "b"), resumed);
  t.ok(joined, "which is nothing that would be lost");
  t.equal(await sessions.write(id, noted("one", "a"), old), undefined, "the room of the other stays");
  t.strictSame(await sessions.read(id), joined);
  const left = await sessions.write(id, noted("two", "b"), resumed);
  t.match(left, { session: { rooms: [{ room: "b" }] } }, "a write whose answer was lost is its own");
});
