/** Owns running a fault test as a process of its own and reading what failed from its TAP. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { endOf } from "../supervisor/running.ts";

/** @returns what failed, a line each; empty: nothing */
export const runTapScript = async (
  script: string,
  settings: Record<string, string>,
  signal: AbortSignal,
): Promise<string[]> => {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...settings, TAP_TIMEOUT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
    signal,
  });
  const [end, output] = await Promise.all([endOf(child), text(child.stdout)]);
  signal.throwIfAborted();
  const failed = output.split("\n").filter((line) => /^\s*not ok /.test(line));
  if (end.code !== 0 && failed.length === 0)
    failed.push(`the test ended with code ${end.code ?? end.signal}`);
  return failed.map((line) => line.trim());
};
