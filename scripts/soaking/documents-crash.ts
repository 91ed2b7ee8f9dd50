/** Owns the crash of the document server at full numbers: the fault test itself, with more rounds and writers. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { endOf } from "../supervisor/running.ts";
import type { Scenario, SoakRun } from "./scenario.ts";

const rounds = 20;
const writers = 32;
const test = resolve(import.meta.dirname, "../../test/fault/documents-crash.test.ts");

const run = async ({ seed, say, signal }: SoakRun) => {
  say(`${rounds} kills under ${writers} writers`);
  const child = spawn(process.execPath, [...process.execArgv, test], {
    env: {
      ...process.env,
      CRASH_ROUNDS: String(rounds),
      CRASH_WRITERS: String(writers),
      CRASH_SEED: String(seed),
      TAP_TIMEOUT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
    signal,
  });
  const [end, output] = await Promise.all([endOf(child), text(child.stdout)]);
  signal.throwIfAborted();
  const failed = output.split("\n").filter((line) => /^\s*not ok /.test(line));
  if (end.code !== 0 && failed.length === 0)
    failed.push(`the test ended with code ${end.code ?? end.signal}`);
  return { done: `${rounds} kills under ${writers} writers`, faults: failed.map((line) => line.trim()) };
};

export const documentsCrash: Scenario = {
  summary: `the document server killed ${rounds} times under ${writers} writers: nothing acknowledged is lost`,
  run,
};
