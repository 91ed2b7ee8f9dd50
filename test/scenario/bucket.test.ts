// What every process knows without asking: an entry that one of them cannot take keeps nobody from learning the others.
import { pino } from "pino";
import t from "tap";
import { watchBucket } from "../../streams/bucket.ts";
import { openStreams } from "../../streams/connection.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { startNatsServer } from "../harness/processes.ts";

const nats = await startNatsServer(t);
const streams = await openStreams(nats.url, "test");
t.teardown(() => streams.close());

t.test("an unreadable entry is told of and passed over, at the start and later", async (t) => {
  const bucket = await streams.kv.create("things", { history: 1 });
  await bucket.put("a", "no JSON");
  await bucket.put("b", JSON.stringify(1));
  const known: string[] = [];
  const unreadable: string[] = [];
  const third = Promise.withResolvers<void>();
  const take = (key: string, value: number): void => {
    if (value === 2) throw new Error("not for this process");
    known.push(key);
    if (key === "d") third.resolve();
  };
  const watched = await watchBucket<number>(streams, "things", take, (key) => unreadable.push(key));
  t.strictSame([known, unreadable], [["b"], ["a"]], "what stood before the start");
  await watched.put("c", 2);
  await watched.put("d", 3);
  await third.promise;
  t.strictSame(
    [known, unreadable],
    [
      ["b", "d"],
      ["a", "c"],
    ],
    "and what came after",
  );
  watched.close();
});

t.test("a passenger host that moves to another airline stays with it", async (t) => {
  const directory = await openTenantDirectory(streams, pino({ level: "silent" }));
  const airline = (code: string, ...passengerHosts: string[]) => ({
    code,
    name: code,
    homeCountry: "US",
    passengerHosts,
  });
  await directory.announce(airline("AA", "fly.example"));
  await directory.announce(airline("BB", "fly.example"));
  await directory.announce(airline("AA"));
  t.equal(directory.byPassengerHost("fly.example")?.code, "BB");
  directory.close();
});
