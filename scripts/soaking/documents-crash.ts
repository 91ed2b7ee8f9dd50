/** Owns the crash of the document server at full numbers: the fault test itself, with more rounds and writers. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const rounds = 20;
const writers = 32;
const test = resolve(import.meta.dirname, "../../test/fault/documents-crash.test.ts");

export const documentsCrash: Scenario = {
  summary: `the document server killed ${rounds} times under ${writers} writers: nothing acknowledged is lost`,
  run: async ({ seed, say, signal }) => {
    const done = `${rounds} kills under ${writers} writers`;
    say(done);
    const settings = {
      CRASH_ROUNDS: String(rounds),
      CRASH_WRITERS: String(writers),
      CRASH_SEED: String(seed),
    };
    return { done, faults: await runTapScript(test, settings, signal) };
  },
};
