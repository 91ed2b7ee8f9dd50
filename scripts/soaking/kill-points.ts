/** Owns the named kill points and the outages at full numbers: every point of the list, and larger flights. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const script = resolve(import.meta.dirname, "../../test/fault/full-size.ts");

export const killPoints: Scenario = {
  summary:
    "the service killed at every named point, then NATS, documents and a process taken away from larger flights",
  run: async ({ say, signal }) => {
    say("every named point, one after the other");
    return { done: "every named point, and three outages", faults: await runTapScript(script, {}, signal) };
  },
};
