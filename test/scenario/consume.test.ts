// Messages that wait in a process for their place: few, and known to the server as taken, so that nobody else gets them.
import { pino } from "pino";
import t from "tap";
import { openStreams } from "../../streams/connection.ts";
import { type Consumption, consume, type Delivery, done } from "../../streams/consume.ts";
import { publish } from "../../streams/publish.ts";
import { watch } from "../harness/actors.ts";
import { startNatsServer } from "../harness/processes.ts";

const nats = await startNatsServer(t);
const streams = await openStreams(nats.url, "test");
t.teardown(() => streams.close());

const publishAll = async (name: string, count: number): Promise<void> => {
  for (let i = 0; i < count; i++)
    await publish(streams, {
      subject: `int.XN.test.${name}.${i}`,
      payload: "{}",
      messageId: `${name}-${i}`,
    });
};
/** Takes messages up, and is done with each of them once it is let go. */
const holding = (name: string, more: Pick<Consumption, "concurrency" | "ackWaitMs">) => {
  const taken: Delivery[] = [];
  const release = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let published = 0;
  const start = () =>
    consume(streams, {
      stream: "INTERNAL",
      durable: `test_${name}`,
      filterSubjects: [`int.XN.test.${name}.*`],
      owner: "tester",
      log: pino({ level: "silent" }),
      ...more,
      handle: async (delivery) => {
        taken.push(delivery);
        if (taken.length === more.concurrency) begun.resolve();
        if (taken.length === published) all.resolve();
        await release.promise;
        return done;
      },
    });
  const begin = async (count: number) => {
    published = count;
    await publishAll(name, count);
    const consuming = await start();
    await begun.promise;
    return consuming;
  };
  return { taken, begin, release: release.resolve, all: all.promise };
};

t.test("a message that waits for a place is given to nobody else", async (t) => {
  const { taken, begin, release, all } = holding("waiting", { concurrency: 1, ackWaitMs: 300 });
  const signs = await watch(streams.connection, "$JS.ACK.INTERNAL.test_waiting.>");
  const consuming = await begin(2);
  // Each sign comes after a third of the ack wait: six are two of them, for the one at work and for the one that waits.
  await signs.until((seen) => {
    const bySubject = Map.groupBy(seen, ({ subject }) => subject);
    return bySubject.size === 2 && [...bySubject.values()].every((of) => of.length >= 6);
  });
  t.equal(taken.length, 1, "one place, one message");
  release();
  await all;
  await consuming.stop();
  t.strictSame(
    taken.map(({ attempt }) => attempt),
    [1, 1],
  );
  const info = await streams.manager.consumers.info("INTERNAL", "test_waiting");
  t.strictSame([info.num_redelivered, info.delivered.consumer_seq], [0, 2], "each was delivered once");
});

t.test("few messages are asked for ahead of those that are worked on", async (t) => {
  const { begin, release, all } = holding("ahead", { concurrency: 32, ackWaitMs: 300 });
  const signs = await watch(streams.connection, "$JS.ACK.INTERNAL.test_ahead.>");
  const consuming = await begin(100);
  // The one behind those at work has been waiting for a while: what is asked for ahead has come.
  await signs.until((seen) => new Set(seen.map(({ subject }) => subject)).size === 33);
  const info = await streams.manager.consumers.info("INTERNAL", "test_ahead");
  t.ok(info.num_ack_pending <= 32 + 1 + 8, `${info.num_ack_pending} are out`);
  release();
  await all;
  await consuming.stop();
});
