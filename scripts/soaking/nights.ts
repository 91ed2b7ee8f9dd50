/** Owns the scenarios' nights at full size: with the deaths, the second processes and the long tables that the suite leaves out. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const names = ["locks", "metrics", "audit", "agent", "transport", "messages", "partner-surface"] as const;
const folder = resolve(import.meta.dirname, "../../test/scenario");

export const nights: Scenario = {
  summary: `the nights of ${names.join(", ")} with processes that die in them, an audit trail of thousands and a manifest of ten thousand`,
  run: async ({ say, signal }) => {
    const faults: string[] = [];
    for (const name of names) {
      say(name);
      const found = await runTapScript(resolve(folder, `${name}.test.ts`), { FULL_SIZE: "1" }, signal);
      faults.push(...found.map((fault) => `${name}: ${fault}`));
    }
    return { done: `${names.length} nights`, faults };
  },
};
