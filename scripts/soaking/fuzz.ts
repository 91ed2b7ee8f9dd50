/** Owns the fuzz of every route at full numbers. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const script = resolve(import.meta.dirname, "../../test/scenario/fuzz.test.ts");

export const fuzz: Scenario<{ requests: number }> = {
  summary: "every route under hostile requests: each answer must be one that the route names",
  sizes: { requests: 1000 },
  run: async ({ seed, sizes, say, signal }) => {
    say(`${sizes.requests} requests of each route`);
    const settings = { FUZZ_SEED: String(seed), FUZZ_REQUESTS: String(sizes.requests) };
    return {
      done: `${sizes.requests} requests of each route`,
      faults: await runTapScript(script, settings, signal),
    };
  },
};
