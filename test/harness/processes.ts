// Real processes for scenario and fault tests: servers and scripts on free ports and temporary folders, which a test can
// kill, suspend and start again, and which end with the test whatever happens. What they serve is the tests' business.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { MongoClient } from "mongodb";
import type { Test } from "tap";
import { ensureNatsServer, startNats } from "../../scripts/embedded/nats.ts";
import type { ProcessEnd, Running } from "../../scripts/supervisor/running.ts";
import { startScript } from "../../scripts/supervisor/script-process.ts";
import { mongodbUrl } from "./environment.ts";

const root = resolve(import.meta.dirname, "../..");
const stopGraceMs = 3_000;
const logTailLines = 40;

type Scope = Pick<Test, "teardown" | "comment" | "passing">;

export interface ControlledProcess {
  /** The same over every restart. */
  readonly url: string;
  readonly pid: number;
  readonly logFile: string;
  /** Of the current run: also how to wait for a process that kills itself. */
  readonly exited: Promise<ProcessEnd>;
  /** SIGKILL; resolves once it has ended. */
  kill(): Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing until `resume`. */
  suspend(): void;
  resume(): void;
  /** Asks it to stop, as the supervisor would. */
  stop(): Promise<void>;
  /** Starts it on the same port and data, after killing what still runs of it; resolves once it serves. */
  restart(): Promise<void>;
  /** Kills it, lets `meanwhile` run, and starts it again after `awayMs` at the soonest. */
  away(awayMs: number, meanwhile: () => Promise<void>): Promise<void>;
}

/** A folder that is removed when the test ends. */
export function temporaryFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), "stopover-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A NATS server of the test's own (never NATS_URL: tests would share its streams, and could not kill it). */
export async function startNatsServer(t: Scope): Promise<ControlledProcess> {
  const binary = await ensureNatsServer(join(root, ".cache/nats"), { onProgress: (line) => t.comment(line) });
  const folder = temporaryFolder(t);
  const logFile = join(folder, "nats.log");
  return control(t, logFile, (port) =>
    startNats({ binary, dataDir: join(folder, "nats"), logFile, ...(port !== undefined && { port }) }),
  );
}

export interface Documents {
  url: string;
  /** For DATABASE_PREFIX: keeps tests apart that share a server. */
  databasePrefix: string;
  /** Undefined with MONGODB_URL: that server is not ours to kill. */
  process: ControlledProcess | undefined;
}

/** The server at MONGODB_URL if set, whose databases of this test are dropped at its end; else an embedded one of the test's own. */
export async function startDocuments(t: Scope): Promise<Documents> {
  const databasePrefix = `t${randomBytes(6).toString("hex")}`;
  const external = mongodbUrl;
  if (external !== undefined) {
    t.teardown(() => dropDatabases(external, databasePrefix));
    return { url: external, databasePrefix, process: undefined };
  }
  const documents = await startControlledScript(t, {
    script: "scripts/embedded/documents/server.ts",
    args: (port, folder) => ["--dir", join(folder, "documents"), "--port", String(port ?? 0)],
    readyLine: /^listening (mongodb:\S+)/,
  });
  return { url: documents.url, databasePrefix, process: documents };
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = await MongoClient.connect(url);
  try {
    const { databases } = await client.db("admin").admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(`${prefix}_`)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}

export interface ControlledScriptOptions {
  /** From the root of the checkout. */
  script: string;
  /** `port` is undefined at first and the first run's on a restart; `folder` is the test's own and kept over restarts. */
  args?: (port: number | undefined, folder: string) => string[];
  /** Added to the test's own environment. */
  env?: Record<string, string>;
  /** Its first group is the address at which the script serves. */
  readyLine: RegExp;
}

export interface ControlledScript extends ControlledProcess {
  /** The first line of its stdout, past or to come, of any run, that matches. Rejects when the current run ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
}

export async function startControlledScript(
  t: Scope,
  options: ControlledScriptOptions,
): Promise<ControlledScript> {
  const folder = temporaryFolder(t);
  const logFile = join(folder, "script.log");
  const lines: string[] = [];
  /** Who waits for a line: how to look for it, and how to give up. */
  const waiting = new Map<() => void, () => void>();
  let hasEnded = false;
  const script = await control(t, logFile, (port) =>
    startScript({
      name: options.script,
      script: join(root, options.script),
      args: options.args?.(port, folder) ?? [],
      env: { ...process.env, ...options.env },
      logFile,
      readyLine: options.readyLine,
      onLine: (line) => {
        hasEnded = false;
        lines.push(line);
        for (const look of waiting.keys()) look();
      },
      onLastLine: () => {
        hasEnded = true;
        for (const giveUp of waiting.values()) giveUp();
      },
    }),
  );
  const line = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((found, reject) => {
      const look = () => {
        const match = lines.map((text) => pattern.exec(text)).find((result) => result !== null);
        if (!match) return;
        waiting.delete(look);
        found(match);
      };
      const giveUp = () => {
        waiting.delete(look);
        reject(new Error(`${options.script} ended without a line like ${pattern}`));
      };
      waiting.set(look, giveUp);
      look();
      if (hasEnded && waiting.has(look)) giveUp();
    });
  return Object.defineProperties({ line }, Object.getOwnPropertyDescriptors(script)) as ControlledScript;
}

/** Registered before the first start, so that a start that fails midway is cleaned up as well. */
async function control(
  t: Scope,
  logFile: string,
  start: (port: number | undefined) => Promise<Running>,
): Promise<ControlledProcess> {
  let running: Running;
  t.teardown(async () => {
    if (running === undefined) return;
    signal("SIGCONT");
    await running.stop(stopGraceMs);
    if (!t.passing()) t.comment(readFileSync(logFile, "utf8").split("\n").slice(-logTailLines).join("\n"));
  });
  running = await start(undefined);
  const port = Number(new URL(running.url).port);
  let hasEnded = false;
  watchEnd();
  return {
    url: running.url,
    logFile,
    get pid() {
      return running.pid;
    },
    get exited() {
      return running.exited;
    },
    kill: () => running.stop(0),
    suspend: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
    stop: () => running.stop(stopGraceMs),
    restart,
    async away(awayMs, meanwhile) {
      await running.stop(0);
      await Promise.all([delay(awayMs), meanwhile()]);
      await restart();
    },
  };

  async function restart(): Promise<void> {
    await running.stop(0);
    running = await start(port);
    watchEnd();
  }

  function watchEnd(): void {
    const watched = running;
    hasEnded = false;
    void watched.exited.then(() => {
      if (running === watched) hasEnded = true;
    });
  }

  /** A pid may belong to another process once ours has ended. */
  function signal(name: NodeJS.Signals): void {
    if (!hasEnded) process.kill(running.pid, name);
  }
}
