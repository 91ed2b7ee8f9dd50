// What every process knows without asking: an entry that one of them cannot take keeps nobody from learning the others.
import { pino } from "pino";
import t from "tap";
import { changeEntry, type RemovalMark, takeMark, watchBucket } from "../../streams/bucket.ts";
import { openStreams } from "../../streams/connection.ts";
import { outageOf } from "../../streams/outage.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { eventually } from "../harness/patience.ts";
import { startNatsServer } from "../harness/processes.ts";

const nats = await startNatsServer(t);
const streams = await openStreams(nats.url, "test");
t.teardown(() => streams.close());
/** A watch that its owner closes, or that goes on, tells of no end. */
const ended = (error: unknown): void => void t.fail("the watch has ended", { error: String(error) });

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
  const watcher = { onValue: take, onUnreadable: (key: string) => void unreadable.push(key), onEnd: ended };
  const watched = await watchBucket<number>(streams, "things", watcher);
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

t.test("a watch that the server has lost comes back, and misses nothing", async (t) => {
  const known: string[] = [];
  const both = Promise.withResolvers<void>();
  const take = (key: string): void => {
    known.push(key);
    if (known.length === 2) both.resolve();
  };
  const watcher = { onValue: take, onUnreadable: (key: string) => void t.fail(key), onEnd: ended };
  const watched = await watchBucket<number>(streams, "lost", watcher);
  await watched.put("a", 1);
  const { consumers } = streams.manager;
  for (const { name } of await consumers.list("KV_lost").next()) await consumers.delete("KV_lost", name);
  await watched.put("b", 1);
  await both.promise;
  t.strictSame(known, ["a", "b"]);
  t.ok(watched.live());
  watched.close();
  await eventually("it has ended", async () => (watched.live() ? "still live" : undefined));
});

t.test("a watch that ends by itself tells so, and one that is closed does not", async (t) => {
  const own = await openStreams(nats.url, "ending");
  const ignore = (): void => undefined;
  const told = Promise.withResolvers<unknown>();
  const watcher = { onValue: ignore, onUnreadable: ignore, onEnd: told.resolve };
  const watched = await watchBucket<number>(own, "ending", watcher);
  const closed = await watchBucket<number>(own, "ending", { ...watcher, onEnd: ended });
  const directory = await openTenantDirectory(own, pino({ level: "silent" }));
  t.ok(watched.live() && directory.live());
  closed.close();
  await eventually("it has ended", async () => (closed.live() ? "still live" : undefined));
  await own.connection.close();
  t.ok((await told.promise) instanceof Error);
  t.notOk(watched.live());
  await eventually("airlines, too", async () => (directory.live() ? "still live" : undefined));
});

t.test("a watch whose bucket is lost begins anew, and tells all that is held then", async (t) => {
  const known: string[] = [];
  const ends: unknown[] = [];
  const watched = await watchBucket<number>(streams, "made-anew", {
    onValue: (key, value) => void known.push(`${key}=${value}`),
    onUnreadable: (key) => void t.fail(key),
    onEnd: (error) => void ends.push(error),
  });
  await watched.put("a", 1);
  await eventually("it is told", async () => (known.length === 1 ? undefined : known));
  await streams.manager.streams.delete("KV_made-anew");
  await eventually("the end is told", async () => (ends.length > 0 ? undefined : "nothing told"));
  await eventually("it goes on", async () => (watched.live() ? undefined : "not live"));
  await watched.put("b", 2);
  await eventually("the later one is told", async () => (known.includes("b=2") ? undefined : known));
  watched.close();
  await eventually("it has ended", async () => (watched.live() ? "still live" : undefined));
});

t.test("entries past their age are gone, and waited for by nobody", async (t) => {
  const ignore = (): void => undefined;
  const watcher = { onValue: ignore, onUnreadable: ignore, onEnd: ended };
  const first = await watchBucket<number>(streams, "short-lived", watcher, { ttlMs: 200 });
  await first.put("a", 1);
  const bucket = await streams.kv.open("short-lived");
  await eventually("it ages", async () => ((await bucket.get("a")) === null ? undefined : "still there"));
  const second = await watchBucket<number>(streams, "short-lived", watcher, { ttlMs: 200 });
  await changeEntry<number>(streams, "short-lived", "a", (held) => (held === undefined ? 2 : 3));
  t.equal((await bucket.get("a"))?.json(), 2, "what has aged is not held any more");
  first.close();
  second.close();
});

t.test("a change is decided on what stands, by one writer after the other", async (t) => {
  const add = (): Promise<void> => changeEntry<number>(streams, "counters", "a", (held = 0) => held + 1);
  await Promise.all(Array.from({ length: 6 }, add));
  const bucket = await streams.kv.open("counters");
  t.equal((await bucket.get("a"))?.json(), 6, "none is lost");
  await changeEntry<number>(streams, "counters", "a", () => undefined);
  t.equal((await bucket.get("a"))?.revision, 6, "nothing is written where nothing shall change");
  await bucket.delete("a");
  await changeEntry<number>(streams, "counters", "a", (held) => (held === undefined ? 7 : 8));
  t.equal((await bucket.get("a"))?.json(), 7, "what was deleted is not held");
  const rivals: Promise<number>[] = [];
  const late = changeEntry<number>(streams, "counters", "b", () => {
    rivals.push(bucket.put("b", "9"));
    return 1;
  });
  const error = await late.catch((caught: unknown) => caught);
  t.match(error, { message: "others keep changing b of counters" }, "ten lost races are enough");
  t.equal(outageOf(error), "streams", "and are waited out");
  await Promise.all(rivals);
  t.equal((await bucket.get("b"))?.json(), 9);
});

t.test("a removal is told, and no slower writer's older reading undoes it", async (t) => {
  const told: string[] = [];
  const marks = new Map<string, RemovalMark>();
  const watcher = {
    onValue: (key: string, value: number) => void told.push(`${key}=${value}`),
    onRemoved: (key: string, mark: RemovalMark) => {
      told.push(`${key} removed`);
      marks.set(key, mark);
    },
    onUnreadable: (key: string) => void t.fail(key),
    onEnd: ended,
  };
  const watched = await watchBucket<number>(streams, "removals", watcher);
  const change = (
    key: string,
    decide: (held: number | undefined) => number | null | Promise<number | null>,
  ) => changeEntry<number>(streams, "removals", key, decide);
  await change("a", () => 1);
  await change("a", () => null);
  await change("a", () => null);
  let truth: number | null = 1;
  for (const key of ["b", "c", "d"]) {
    truth = 1;
    if (key !== "b") await change(key, () => 1);
    if (key === "d") await change(key, () => null);
    const read = Promise.withResolvers<void>();
    const removed = Promise.withResolvers<void>();
    const slow = change(key, async () => {
      const seen = truth;
      read.resolve();
      await removed.promise;
      return seen;
    });
    await read.promise;
    truth = null;
    await change(key, () => truth);
    removed.resolve();
    await slow;
  }
  const bucket = await streams.kv.open("removals");
  for (const key of ["a", "b", "c", "d"]) t.equal((await bucket.get(key))?.operation, "DEL", key);
  await change("e", () => 4);
  await eventually("all is told", async () => (told.includes("e=4") ? undefined : told));
  const ends = ["a removed", "b removed", "c removed", "d removed", "e=4"];
  t.strictSame([...new Set(told)].sort(), ["a=1", "c=1", "d=1", ...ends].sort());
  watched.close();
  told.length = 0;
  const later = await watchBucket<number>(streams, "removals", watcher);
  t.strictSame(told.sort(), ends, "and to who comes later");
  await change("b", () => 5);
  for (const [key, mark] of marks) await takeMark(streams, "removals", key, mark);
  const left = await Promise.all(["a", "b", "c", "d", "e"].map((key) => bucket.get(key)));
  t.strictSame(
    left.map((entry) => entry?.json()),
    [undefined, 5, undefined, undefined, 4],
    "of what is put again no mark's end takes anything",
  );
  later.close();
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
