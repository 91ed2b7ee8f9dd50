/** Owns the crash of the embedded document server: killed under writers, it comes back with all that it acknowledged. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Document, Long, serialize, UUID } from "bson";
import { MongoClient } from "mongodb";
import t, { type Test } from "tap";
import { Framer, parseRequest } from "../../scripts/embedded/documents/wire.ts";
import { crash } from "../harness/environment.ts";

const ENTRY = path.resolve(import.meta.dirname, "../../scripts/embedded/documents/server.ts");

interface Process {
  child: ChildProcess;
  url: string;
}

async function start(dir: string, ...options: string[]): Promise<Process> {
  const args = ["--disable-warning=ExperimentalWarning", ENTRY, "--dir", dir, ...options];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
  return { child, url: line.replace("listening ", "") };
}

async function kill({ child }: Process, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill(signal);
  return ((await exited) as [number | null])[0];
}

/** What a start that must fail prints and exits with. */
async function failToStart(dir: string, ...options: string[]): Promise<{ code: number; message: string }> {
  const args = ["--disable-warning=ExperimentalWarning", ENTRY, "--dir", dir, ...options];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  let message = "";
  child.stderr.on("data", (text) => {
    message += text;
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, message: message.trim() };
}

const folder = () => mkdtempSync(path.join(tmpdir(), "stopover-crash-"));

interface Keyed extends Document {
  _id: number | string;
}

interface Counter {
  sent: number;
  acknowledged: number;
}

/** Writes until the server dies: an insert, then a counted update of the writer's own document. */
async function writeUntilDeath(
  client: MongoClient,
  writer: number,
  acknowledged: Set<string | number>,
  counter: Counter,
  round: number,
) {
  const database = client.db("crash");
  for (let i = 0; ; i++) {
    const id = `${round}-${writer}-${i}`;
    try {
      await database.collection<Keyed>("inserted").insertOne({ _id: id, unique: id, pad: "y".repeat(500) });
      acknowledged.add(id);
      counter.sent++;
      const push = { handled: { $each: [{ id }], $slice: -20 } } as never;
      await database
        .collection<Keyed>("counters")
        .updateOne({ _id: writer }, { $inc: { n: 1 }, $push: push });
      counter.acknowledged++;
    } catch (error) {
      const isServerGone =
        error instanceof Error && /^Mongo(Network|ServerSelection|PoolCleared)/.test(error.name);
      if (isServerGone) return;
      throw error;
    }
  }
}

async function check(t: Test, url: string, acknowledged: Set<string | number>, counters: Counter[]) {
  const client = await new MongoClient(url).connect();
  const inserted = client.db("crash").collection<Keyed>("inserted");
  const found = await inserted.find().toArray();
  const ids = new Set(found.map(({ _id }) => _id));
  t.same(
    [...acknowledged].filter((id) => !ids.has(id)),
    [],
    `all of ${acknowledged.size} acknowledged inserts are there`,
  );
  const indexed = await inserted
    .find({ unique: { $gte: "" } })
    .sort({ unique: 1 })
    .toArray();
  t.same(
    indexed.map(({ _id }) => _id),
    [...ids].sort(),
    "the index knows the same documents",
  );
  for (const { _id, n } of await client.db("crash").collection<Keyed>("counters").find().toArray()) {
    const counter = counters[Number(_id)]!;
    t.ok(
      n >= counter.acknowledged && n <= counter.sent,
      `counter ${_id}: ${counter.acknowledged} <= ${n} <= ${counter.sent}`,
    );
    counter.sent = n;
    counter.acknowledged = n;
  }
  await client.close();
}

t.test("kill -9 under writers", async (t) => {
  const dir = folder();
  let server = await start(dir);
  const counters: Counter[] = Array.from({ length: crash.writers }, () => ({ sent: 0, acknowledged: 0 }));
  const acknowledged = new Set<string | number>();
  const setUp = await new MongoClient(server.url).connect();
  await setUp.db("crash").collection<Keyed>("inserted").createIndex({ unique: 1 }, { unique: true });
  await setUp
    .db("crash")
    .collection<Keyed>("counters")
    .insertMany(counters.map((_, i) => ({ _id: i, n: 0 })));
  await setUp.close();
  for (let round = 0; round < crash.rounds; round++) {
    const client = await new MongoClient(server.url, {
      serverSelectionTimeoutMS: 300,
      maxPoolSize: 40,
    }).connect();
    const before = acknowledged.size;
    const writers = counters.map((counter, i) => writeUntilDeath(client, i, acknowledged, counter, round));
    // The moment of the kill is an amount of work, so that a slow machine is killed as deep in it as a fast one.
    const target = before + 300 + ((crash.seed * 7919 + round * 104_729) % 500);
    while (acknowledged.size < target) await client.db("crash").command({ ping: 1 });
    await kill(server, "SIGKILL");
    await Promise.all(writers);
    await client.close();
    server = await start(dir);
    await check(t, server.url, acknowledged, counters);
  }
  t.equal(await kill(server, "SIGTERM"), 0);
  rmSync(dir, { recursive: true });
});

t.test("starting and stopping", async (t) => {
  const dir = folder();
  const other = folder();
  const server = await start(dir);
  const locked = await failToStart(dir);
  t.match(
    locked,
    { code: 1, message: /^document server: .*locked by another document server$/ },
    "a locked folder",
  );
  const taken = await failToStart(other, "--port", new URL(server.url).port);
  t.match(taken, { code: 1, message: /^document server: port \d+ is already in use$/ }, "a taken port");
  const noFolder = await failToStart("", "--port", "x");
  t.match(noFolder, { code: 1, message: /^document server: --port must be/ }, "a bad option");
  const client = await new MongoClient(server.url).connect();
  await client.db("stop").collection<Keyed>("kept").insertOne({ _id: 1 });
  const startedAt = performance.now();
  t.equal(await kill(server, "SIGINT"), 0, "a clean exit with a client connected");
  const stopMs = performance.now() - startedAt;
  t.ok(stopMs < 1000, `within a second (${Math.round(stopMs)} ms)`);
  await client.close();
  const again = await start(dir);
  const reader = await new MongoClient(again.url).connect();
  t.equal(await reader.db("stop").collection("kept").countDocuments(), 1);
  await reader.close();
  t.equal(await kill(again, "SIGTERM"), 0);
  rmSync(dir, { recursive: true });
  rmSync(other, { recursive: true });
});

/** One command as a driver frames it. */
function messageOf(command: Document): Buffer {
  const body = serialize(command);
  const header = Buffer.alloc(21);
  header.writeInt32LE(header.length + body.length, 0);
  header.writeInt32LE(1, 4);
  header.writeInt32LE(2013, 12);
  return Buffer.concat([header, body]);
}

/** Sends bytes over a connection of their own; undefined if that is closed instead of answered. */
async function exchange(url: string, message: Buffer): Promise<Document | undefined> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(message);
  const framer = new Framer();
  for await (const chunk of socket) {
    for (const frame of framer.push(chunk)) return parseRequest(frame).body;
  }
  return undefined;
}

/** The driver doesn't let its numbers be chosen. */
async function sendRaw(url: string, command: Document): Promise<Document> {
  const reply = await exchange(url, messageOf(command));
  if (reply === undefined) throw new Error("the connection was closed without a reply");
  return reply;
}

t.test("retry records", async (t) => {
  const dir = folder();
  let server = await start(dir);
  const lsid = { id: new UUID() };
  const numbered = (txnNumber: number, command: Document) => ({
    ...command,
    lsid,
    txnNumber: Long.fromNumber(txnNumber),
    $db: "retry",
  });
  const insert = numbered(1, { insert: "things", documents: [{ _id: 1, n: 0 }] });
  const update = numbered(2, { update: "things", updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } } }] });
  t.match(await sendRaw(server.url, insert), { n: 1, ok: 1 });
  t.match(await sendRaw(server.url, update), { n: 1, nModified: 1, ok: 1 });
  await kill(server, "SIGKILL");
  server = await start(dir);
  t.match(await sendRaw(server.url, update), { n: 1, nModified: 1, ok: 1 }, "the answer outlives the server");
  const found = await sendRaw(server.url, { find: "things", $db: "retry" });
  t.same(found.cursor.firstBatch, [{ _id: 1, n: 1 }], "applied once");
  t.match(await sendRaw(server.url, insert), { ok: 0, code: 225 }, "a number before the last");
  const other = { ...update, lsid: { id: new UUID() } };
  t.match(await sendRaw(server.url, other), { nModified: 1 }, "another session's number is its own");
  const tooLong = messageOf({ ping: 1, $db: "x" });
  tooLong.writeInt32LE(48_000_001, 0);
  t.equal(await exchange(server.url, tooLong), undefined, "a message past 48 MB closes its connection");
  t.match(await sendRaw(server.url, { ping: 1, $db: "x" }), { ok: 1 }, "the server goes on");
  t.equal(await kill(server, "SIGTERM"), 0);
  rmSync(dir, { recursive: true });
});
