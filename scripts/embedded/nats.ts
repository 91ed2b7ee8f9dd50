// Finds or fetches nats-server and runs one on loopback with JetStream; who restarts it is the supervisor's business.
import { execFile, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readFile, watch } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { connect } from "@nats-io/transport-node";
import { type FolderLock, lockFolder } from "../supervisor/folder-lock.ts";
import { endedBeforeServing, endOf, logLength, type Running, stopProcess } from "../supervisor/running.ts";
import { StartFailure } from "../supervisor/start-failure.ts";

const run = promisify(execFile);
const versionMin = { major: 2, minor: 10 };
const versionWanted = `nats-server ${versionMin.major}.${versionMin.minor} or later`;
const otherwise = `install ${versionWanted} so that it is on PATH, or set NATS_URL to a running server`;
const startTimeoutMs = 30_000;
const orphanStopTimeoutMs = 5_000;

/**
 * The absolute path of a nats-server of at least 2.10: `configured` if given, else the one on PATH, else the one fetched into
 * `cacheDir` by an earlier call, else fetched now (about 14 MB; Debian only). `onProgress` hears of a fetch.
 *
 * @throws StartFailure when `configured` is unusable or nothing could be found or fetched.
 */
export async function ensureNatsServer(
  cacheDir: string,
  options: { configured?: string; onProgress?: (line: string) => void; signal?: AbortSignal } = {},
): Promise<string> {
  if (options.configured !== undefined) {
    const found = await versionOf(options.configured);
    if (isRecent(found)) return options.configured;
    throw new StartFailure(
      `${options.configured} is ${found === null ? "no nats-server that runs here" : `version ${found.text}`}: ${versionWanted} is needed`,
    );
  }
  const cached = join(cacheDir, "nats-server");
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => resolve(folder, "nats-server"));
  for (const candidate of [...onPath, cached].filter((file) => existsSync(file))) {
    if (isRecent(await versionOf(candidate))) return candidate;
  }
  options.onProgress?.("fetching nats-server…");
  await fetchNatsServer(cacheDir, options.signal);
  if (isRecent(await versionOf(cached))) return cached;
  throw new StartFailure(`the nats-server fetched to ${cached} does not run here: ${otherwise}`);
}

async function fetchNatsServer(cacheDir: string, signal?: AbortSignal): Promise<void> {
  mkdirSync(cacheDir, { recursive: true });
  const logFile = join(cacheDir, "fetch.log");
  const log = openSync(logFile, "w");
  // Detached, so that giving up reaches apt too: a shell passes a signal on only when its command has ended.
  const script = spawn(join(import.meta.dirname, "fetch-nats.sh"), [cacheDir], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const giveUp = () => process.kill(-script.pid!, "SIGTERM");
  signal?.addEventListener("abort", giveUp, { once: true });
  const end = await endOf(script);
  signal?.removeEventListener("abort", giveUp);
  signal?.throwIfAborted();
  if (end.code === 0) return;
  const reason = end.error?.message ?? readFileSync(logFile, "utf8").trim().split("\n").at(-1);
  throw new StartFailure(`${reason} (log: ${logFile}): ${otherwise}`);
}

interface Version {
  major: number;
  minor: number;
  text: string;
}

/** Null when `binary` is missing or isn't a nats-server that this machine can run. */
async function versionOf(binary: string): Promise<Version | null> {
  const answer = await run(binary, ["--version"]).catch((error: Error & { code?: unknown }) => {
    if (error.code === "ENOENT" || error.code === "EACCES" || typeof error.code === "number") return null;
    throw error;
  });
  const match = answer?.stdout.match(/v(\d+)\.(\d+)\.\S+/);
  return match ? { major: Number(match[1]), minor: Number(match[2]), text: match[0] } : null;
}

function isRecent(version: Version | null): boolean {
  if (version === null) return false;
  return (
    version.major > versionMin.major ||
    (version.major === versionMin.major && version.minor >= versionMin.minor)
  );
}

export interface NatsOptions {
  binary: string;
  /** Holds the streams, a lock and the server's pid; what an earlier server kept there is continued. */
  dataDir: string;
  /** Appended to. */
  logFile: string;
  /** Left out: the server itself takes a free one, so that no other process can take it in between. */
  port?: number;
  /** Gives the start up: it rejects with the signal's reason and leaves nothing behind. */
  signal?: AbortSignal;
}

/**
 * Starts a nats-server on loopback and resolves once a client has connected and found JetStream on.
 * A server left in the folder by a killed launcher is stopped first. Limits are the server's own (1 MiB payload).
 *
 * @throws StartFailure when a living process holds the folder, or the server ends before it serves.
 */
export async function startNats(options: NatsOptions): Promise<Running> {
  const lock = lockFolder(options.dataDir, "nats");
  try {
    await stopOrphan(options.dataDir);
    return await launch(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function launch(
  { binary, dataDir, logFile, port, signal }: NatsOptions,
  lock: FolderLock,
): Promise<Running> {
  for (const file of readdirSync(dataDir).filter(isPortsFile)) rmSync(join(dataDir, file));
  const [command, ...args] = [
    ...(await endsWithParent(binary)),
    ...[binary, "--addr", "127.0.0.1", "--port", String(port ?? -1), "--server_name", "stopover-embedded"],
    ...["--jetstream", "--store_dir", storeDir(dataDir), "--ports_file_dir", dataDir],
  ] as [string, ...string[]];
  const waiting = new AbortController();
  const deadline = [waiting.signal, AbortSignal.timeout(startTimeoutMs), ...(signal ? [signal] : [])];
  const portsFile = firstPortsFile(dataDir, AbortSignal.any(deadline));
  const logged = logLength(logFile);
  const log = openSync(logFile, "a");
  // Detached: Ctrl-C at the terminal then reaches the launcher alone, which stops things in their order.
  const child = spawn(command, args, { detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  const exited = endOf(child);
  void exited.then((end) => {
    lock.release();
    waiting.abort(endedBeforeServing("nats-server", end, logFile, logged));
  });
  try {
    if (child.pid !== undefined) writeFileSync(pidFile(dataDir), `${child.pid}\n`);
    const url = await portsFile;
    await checkServing(url);
    return { url, pid: child.pid!, exited, stop: (graceMs) => stopProcess(child, exited, graceMs) };
  } catch (error) {
    await stopProcess(child, exited, 0);
    if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
    throw new StartFailure(`nats-server did not start in ${startTimeoutMs / 1000} s: see ${logFile}`);
  }
}

const storeDir = (dataDir: string) => join(dataDir, "store");
const pidFile = (dataDir: string) => join(dataDir, "nats.pid");
const isPortsFile = (name: string) => name.endsWith(".ports");

/** The client URL, from the file in which the server tells its ports once it listens. Rejects with the signal's reason. */
async function firstPortsFile(dataDir: string, signal: AbortSignal): Promise<string> {
  try {
    for await (const { filename } of watch(dataDir, { signal })) {
      if (filename === null || !isPortsFile(filename)) continue;
      const text = readFileSync(join(dataDir, filename), "utf8");
      // The file is first seen empty or half written; another change follows.
      if (!text.trimEnd().endsWith("}")) continue;
      const url = (JSON.parse(text) as { nats?: string[] }).nats?.[0];
      if (url !== undefined) return url;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  throw new Error(`the watch on ${dataDir} ended`);
}

async function checkServing(url: string): Promise<void> {
  const connection = await connect({ servers: url, reconnect: false });
  const info = connection.info;
  await connection.close();
  if (info?.jetstream !== true) throw new StartFailure(`the nats-server at ${url} serves without JetStream`);
}

/**
 * The words before a command by which the kernel ends it when this process dies, however it dies: nats-server itself
 * does not watch its parent. Empty where the system lacks them; the next start on the folder then ends the orphan.
 */
async function endsWithParent(binary: string): Promise<string[]> {
  const words = ["setpriv", "--pdeathsig", "TERM"];
  const usable = await run(words[0]!, [...words.slice(1), binary, "--version"]).then(
    () => true,
    () => false,
  );
  return usable ? words : [];
}

/** Called with the lock held: a server that still runs on the folder has lost its launcher, and nobody else will stop it. */
async function stopOrphan(dataDir: string): Promise<void> {
  const pid = Number(await readFile(pidFile(dataDir), "utf8").catch(() => "0"));
  if (pid === 0 || !(await isOurServer(pid, dataDir))) return;
  const killAt = Date.now() + orphanStopTimeoutMs;
  process.kill(pid, "SIGTERM");
  // A process that is not our child reports its end to nobody: it can only be looked at.
  while (await isOurServer(pid, dataDir)) {
    if (Date.now() > killAt) process.kill(pid, "SIGKILL");
    await delay(20);
  }
}

/** By its command line, since the pid may long belong to something else. */
async function isOurServer(pid: number, dataDir: string): Promise<boolean> {
  const words =
    process.platform === "linux"
      ? await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")
      : await run("ps", ["-o", "command=", "-p", String(pid)]).then(
          ({ stdout }) => stdout,
          () => "",
        );
  return words.includes("nats-server") && words.includes(storeDir(dataDir));
}
