// The embedded NATS server as an operator meets it: found, started, killed, continued, refused.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import t, { type Test } from "tap";
import { ensureNatsServer, startNats } from "../../scripts/embedded/nats.ts";
import { startNatsServer, temporaryFolder } from "../harness/processes.ts";

const cacheDir = resolve(import.meta.dirname, "../../.cache/nats");
const binary = await ensureNatsServer(cacheDir);

async function connected(t: Test, url: string): Promise<NatsConnection> {
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  return connection;
}

async function statusOf(connection: NatsConnection, type: string): Promise<void> {
  for await (const status of connection.status()) if (status.type === type) return;
}

async function storedMessages(connection: NatsConnection): Promise<number> {
  return (await (await jetstreamManager(connection)).streams.info("NIGHT")).state.messages;
}

t.test("a stream survives kill -9, on the same port, and the client finds it again", async (t) => {
  const nats = await startNatsServer(t);
  const connection = await connected(t, nats.url);
  t.equal(connection.info?.jetstream, true, "JetStream is on");
  t.equal(connection.info?.max_payload, 1_048_576, "the payload limit is the server's own");
  t.match(nats.url, /^nats:\/\/127\.0\.0\.1:\d+$/, "only loopback is listened on");
  await (await jetstreamManager(connection)).streams.add({ name: "NIGHT", subjects: ["night.*"] });
  await jetstream(connection).publish("night.one", "a");
  const firstPid = nats.pid;
  const reconnected = statusOf(connection, "reconnect");
  await nats.kill();
  t.equal((await nats.exited).signal, "SIGKILL");
  await nats.restart();
  t.not(nats.pid, firstPid);
  await reconnected;
  await jetstream(connection).publish("night.two", "b");
  t.equal(await storedMessages(connection), 2, "what was acknowledged before the kill is still there");
});

t.test("a clean stop keeps the stream too", async (t) => {
  const nats = await startNatsServer(t);
  const before = await connected(t, nats.url);
  await (await jetstreamManager(before)).streams.add({ name: "NIGHT", subjects: ["night.*"] });
  await jetstream(before).publish("night.one", "a");
  await before.close();
  await nats.stop();
  await nats.restart();
  t.equal(await storedMessages(await connected(t, nats.url)), 1);
});

t.test("two servers take ports of their own; one folder takes one server", async (t) => {
  const folder = temporaryFolder(t);
  const start = (name: string, port?: number) =>
    startNats({
      binary,
      dataDir: join(folder, name),
      logFile: join(folder, `${name}.log`),
      ...(port !== undefined && { port }),
    });
  const [one, two] = await Promise.all([start("one"), start("two")]);
  t.teardown(() => Promise.all([one.stop(1000), two.stop(1000)]));
  t.not(one.url, two.url);
  await t.rejects(start("one"), {
    name: "StartFailure",
    message: /one is in use by process \d+: stop it, or/,
  });
  await t.rejects(
    start("three", Number(new URL(one.url).port)),
    { name: "StartFailure", message: /address already in use.*three\.log/ },
    "a taken port is told with the server's own reason and its log",
  );
  const three = await start("three");
  await three.stop(1000);
  t.equal(
    (await three.exited).signal,
    null,
    "the failed start let go of its folder, and a stop needs no kill",
  );
});

/** Starts a server from a process of its own, which is then killed; the server's pid. */
async function startAndLoseLauncher(
  t: Test,
  options: { dataDir: string; logFile: string },
  path: string,
): Promise<number> {
  const module = resolve(import.meta.dirname, "../../scripts/embedded/nats.ts");
  const code = `
    const { startNats } = await import(${JSON.stringify(pathToFileURL(module).href)});
    const { pid } = await startNats(${JSON.stringify({ binary, ...options })});
    console.log(pid);
    await new Promise((resolve) => process.stdin.on("end", resolve).resume());`;
  const launcher = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { PATH: path },
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.teardown(() => launcher.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: launcher.stdout }), "line");
  launcher.kill("SIGKILL");
  await once(launcher, "exit");
  return Number(line);
}

function isRunning(pid: number): boolean {
  // A process that has ended but that nobody has collected yet (a zombie) has an empty command line.
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
}

t.test(
  "a server whose launcher was killed",
  { skip: process.platform !== "linux" && "reads /proc" },
  async (t) => {
    const folder = temporaryFolder(t);
    const options = { dataDir: join(folder, "nats"), logFile: join(folder, "nats.log") };
    const orphan = await startAndLoseLauncher(t, options, "/nonexistent");
    t.ok(isRunning(orphan), "without setpriv it stays");
    const next = await startNats({ binary, ...options });
    t.teardown(() => next.stop(1000));
    t.notOk(isRunning(orphan), "and is stopped before the next one starts on its folder");
    t.ok(isRunning(next.pid));
  },
);

t.test("giving a start up leaves nothing running and the folder free", async (t) => {
  const folder = temporaryFolder(t);
  const options = { binary, dataDir: join(folder, "nats"), logFile: join(folder, "nats.log") };
  const reason = new Error("told to stop");
  await t.rejects(startNats({ ...options, signal: AbortSignal.abort(reason) }), reason);
  const running = await startNats(options);
  await running.stop(1000);
});

t.test("which nats-server is taken", async (t) => {
  const folder = temporaryFolder(t);
  const script = (name: string, version: string) => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho "nats-server: v${version}"\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const refusals = [
    {
      configured: script("old", "2.9.10"),
      message: /old is version v2\.9\.10: nats-server 2\.10 or later is needed/,
    },
    { configured: join(folder, "none"), message: /none is no nats-server that runs here/ },
  ];
  for (const { configured, message } of refusals) {
    await t.rejects(ensureNatsServer(folder, { configured }), { name: "StartFailure", message });
  }
  for (const version of ["2.10.0", "2.15.1", "3.0.0"]) {
    const configured = script(`new-${version}`, version);
    t.equal(await ensureNatsServer(folder, { configured }), configured, version);
  }
  copyFileSync(script("cached", "2.11.0"), join(folder, "nats-server"));
  t.match(await ensureNatsServer(folder), /nats-server$/, "one fetched earlier is used without a fetch");
});
