// Starts one of our own Node scripts as a child that ends with us, and waits for the line by which it says that it serves.
import { spawn } from "node:child_process";
import { closeSync, createWriteStream, openSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { parentHoldsStdin } from "./parent-watch.ts";
import { endedBeforeServing, endOf, logLength, type Running, stopProcess } from "./running.ts";
import { StartFailure } from "./start-failure.ts";

const startTimeoutMs = 60_000;

export interface ScriptOptions {
  /** As the log lines call it. */
  name: string;
  /** Path of the .ts file. */
  script: string;
  args?: string[];
  /** Node's own options, e.g. heap limits. */
  nodeArgs?: string[];
  /** The whole environment of the child; nothing is added but `parentHoldsStdin`. */
  env: NodeJS.ProcessEnv;
  /** Takes its stdout and stderr, appended. */
  logFile: string;
  /** Matched against each line of its stdout; the first group is the address at which it serves. */
  readyLine: RegExp;
  /** Hears of every line of its stdout, the ready line included. */
  onLine?: (line: string) => void;
  /** Called once all of its stdout has been heard, which may be a little after its end. */
  onLastLine?: () => void;
  /** Gives the start up: it rejects with the signal's reason and leaves nothing behind. */
  signal?: AbortSignal;
}

/** @throws StartFailure when the script ends, or a minute passes, before its ready line. */
export async function startScript(options: ScriptOptions): Promise<Running> {
  const { name, logFile, signal } = options;
  const logged = logLength(logFile);
  const log = openSync(logFile, "a");
  const { nodeArgs = [], script, args = [] } = options;
  // Not this process's own options: among them may be what it runs, which would start it all over again.
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    env: { ...options.env, ...parentHoldsStdin },
    stdio: ["pipe", "pipe", log],
    // Ctrl-C at the terminal then reaches the supervisor alone, which stops things in their order.
    detached: true,
  });
  closeSync(log);
  const exited = endOf(child);
  // Writing to a child that has just died is no failure of ours: `exited` tells of its end.
  child.stdin!.on("error", () => undefined);
  child.stdout!.pipe(createWriteStream(logFile, { flags: "a" }));
  const waiting = new AbortController();
  void exited.then((end) => waiting.abort(endedBeforeServing(name, end, logFile, logged)));
  const late = setTimeout(
    () =>
      waiting.abort(
        new StartFailure(`${name} did not serve within ${startTimeoutMs / 1000} s (log: ${logFile})`),
      ),
    startTimeoutMs,
  );
  try {
    const url = await firstAddress(
      child.stdout!,
      options,
      AbortSignal.any([waiting.signal, ...(signal ? [signal] : [])]),
    );
    return { url, pid: child.pid!, exited, stop: (graceMs) => stopProcess(child, exited, graceMs) };
  } catch (error) {
    await stopProcess(child, exited, 0);
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** The first group of the ready line. Goes on reading afterwards, for `onLine`. Rejects with the signal's reason. */
function firstAddress(
  stdout: Readable,
  { readyLine, onLine, onLastLine }: ScriptOptions,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    const lines = createInterface({ input: stdout });
    lines.once("close", () => onLastLine?.());
    lines.on("line", (line) => {
      onLine?.(line);
      const match = readyLine.exec(line);
      if (match) resolve(match[1] ?? "");
    });
  });
}
