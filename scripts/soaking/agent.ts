/** Owns the soak of the exception agent: hostile prompts, names and hotels at full numbers, put to a model that does as any of them says. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const script = resolve(import.meta.dirname, "../../test/scenario/agent.test.ts");

export const agent: Scenario<{ prompts: number }> = {
  summary:
    "hostile prompts, manifests and hotels, and a model that obeys them, then one that is away, slow or out of its mind: nothing but the three tools is called, nobody is named, nothing is booked or told, and each item is recommended something in 3 s",
  sizes: { prompts: 1000 },
  run: async ({ seed, sizes, say, signal }) => {
    say(`${sizes.prompts} prompts`);
    const settings = { PROMPT_SEED: String(seed), PROMPTS: String(sizes.prompts) };
    return { done: `${sizes.prompts} prompts`, faults: await runTapScript(script, settings, signal) };
  },
};
