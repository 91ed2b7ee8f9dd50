// What the supervisor and the tests know of a process that serves: its address, its end, and how to stop it.
import type { ChildProcess } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { StartFailure } from "./start-failure.ts";

export interface Running {
  /** Where it serves, as it said itself. */
  url: string;
  pid: number;
  /** Resolves when the process has ended, for whatever reason; never rejects. */
  exited: Promise<ProcessEnd>;
  /** Asks it to stop (SIGTERM), kills it after `graceMs`, and resolves once it has ended. */
  stop(graceMs: number): Promise<void>;
}

export interface ProcessEnd {
  /** Null when a signal ended it, or when it never ran. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Set when the command could not be run at all. */
  error?: Error;
}

/** To be called in the same tick as the spawn: a command that cannot be run says so on the next. */
export function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once("error", (error) => child.pid === undefined && resolve({ code: null, signal: null, error }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** As in `ended with code 1`. */
export function describeEnd({ code, signal, error }: ProcessEnd): string {
  if (error) return `could not be run (${error.message})`;
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}

/** Resolves once the process has ended: asked at first, killed after `graceMs` (0: at once). */
export async function stopProcess(
  child: ChildProcess,
  exited: Promise<ProcessEnd>,
  graceMs: number,
): Promise<void> {
  // A stopped process (SIGSTOP) takes no SIGTERM, but SIGKILL ends it all the same.
  if (graceMs > 0) child.kill("SIGTERM");
  const killer = setTimeout(() => child.kill("SIGKILL"), graceMs);
  await exited;
  clearTimeout(killer);
}

/** The length of a log before a start, to tell what the start wrote; 0 when there is none yet. */
export function logLength(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
}

/** The failure of a process that ended before it served, with the reason that it left in its log since `since` (bytes). */
export function endedBeforeServing(
  name: string,
  end: ProcessEnd,
  logFile: string,
  since: number,
): StartFailure {
  const written = readFileSync(logFile).subarray(since).toString("utf8").split("\n");
  const last = (pattern: RegExp) => written.findLast((line) => pattern.test(line));
  // The message of a thrown error stands above its stack; a script that fails on purpose says why last.
  const problem = last(/^error: |^\w*Error( \[\w+\])?: |\[FTL\] /) ?? last(/\S/);
  const reason = problem ? `: ${problem.replace(/^(error|\w*Error( \[\w+\])?): |^.*\[FTL\] /, "")}` : "";
  return new StartFailure(`${name} ${describeEnd(end)}${reason} (log: ${logFile})`);
}
