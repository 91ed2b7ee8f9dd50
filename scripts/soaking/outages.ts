/** Owns the outages at full numbers: NATS, then the document server, really away for half a minute under large flights. */
import { resolve } from "node:path";
import type { Scenario } from "./scenario.ts";
import { runTapScript } from "./tap-script.ts";

const script = resolve(import.meta.dirname, "../../test/fault/long-outages.ts");
const awayMs = 30_000;
const sizes = { groups: 40 };

export const outages: Scenario<typeof sizes> = {
  summary: `NATS, then the document server gone for ${awayMs / 1000} s under flights of ${sizes.groups} groups: requests are told so, and all settles`,
  sizes,
  run: async ({ sizes: { groups }, say, signal }) => {
    say(`${awayMs / 1000} s each, under ${groups} groups`);
    const settings = { OUTAGE_GROUPS: String(groups), OUTAGE_AWAY_MS: String(awayMs) };
    const faults = await runTapScript(script, settings, signal);
    return { done: `two outages of ${awayMs / 1000} s under ${groups} groups each`, faults };
  },
};
