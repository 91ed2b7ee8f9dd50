/** Owns the load soak: many flights of two airlines at once, and every group houses exactly once. */
import { OwnInstance } from "../benchmarks/instance.ts";
import { flightOf, pushUntilAnswered } from "./pushes.ts";
import type { Scenario, SoakRun } from "./scenario.ts";
import { checkSettled } from "./settled.ts";

const nights = 6;
const restTimeoutMs = 300_000;

const run = async ({ say, signal }: SoakRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 50, say, signal });
  try {
    const now = new Date();
    const pushes = own.airlines.flatMap((airline) =>
      Array.from({ length: nights }, (_, night) =>
        pushUntilAnswered(own, airline, flightOf(airline, night, now), async () => undefined),
      ),
    );
    say(`${pushes.length} flights pushed at once`);
    return await checkSettled(own, await Promise.all(pushes), { timeoutMs: restTimeoutMs, signal, say });
  } finally {
    await own.stop();
  }
};

export const waves: Scenario = {
  summary: `${nights * 2} flights of two airlines at once: every group is housed exactly once`,
  run,
};
