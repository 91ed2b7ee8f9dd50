// The live end of the event log: from some time back, in each stream's order, none twice and none left out, whatever the server loses.
import { pino } from "pino";
import t from "tap";
import { openStreams, type Streams } from "../../streams/connection.ts";
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
  await eventually(
    "a quarter of a second",
    until(() => Date.now() > Date.parse(state.last_ts) + 250),
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
  const recent = await tailOf(streams, 200);
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
