/** Owns the kill soak: the service dies by SIGKILL at moments drawn from the seed while flights come in, and nothing is lost or done twice. */
import { setTimeout as delay } from "node:timers/promises";
import { OwnInstance } from "../benchmarks/instance.ts";
import { flightOf, pushUntilAnswered } from "./pushes.ts";
import { randomFrom, type Scenario, type SoakRun } from "./scenario.ts";
import { checkSettled } from "./settled.ts";

const kills = 12;
const nights = 4;
/** A life between two kills lasts up to this long, drawn from the seed. */
const lifeMsMax = 4000;
const restTimeoutMs = 300_000;
/** What a dead process held comes back this soon instead of after the half minute of production. */
const impatient = { ACK_WAIT_MS: "3000", SWEEP_INTERVAL_MS: "1000", STEP_DEADLINE_MS: "4000" };

const run = async ({ seed, say, signal }: SoakRun) => {
  const random = randomFrom(seed);
  const own = await OwnInstance.start({ vendorLatencyMs: 50, env: impatient, say, signal });
  try {
    const now = new Date();
    let serving = Promise.resolve();
    const flights = Array.from({ length: nights }, (_, night) => night).flatMap((night) =>
      own.airlines.map((airline) => ({ airline, body: flightOf(airline, night, now) })),
    );
    const pushes: Promise<string>[] = [];
    for (let kill = 1; kill <= kills; kill++) {
      const next = flights.shift();
      if (next !== undefined) pushes.push(pushUntilAnswered(own, next.airline, next.body, () => serving));
      const lifeMs = Math.round(random() * lifeMsMax);
      await delay(lifeMs, undefined, { signal });
      say(`kill ${kill} of ${kills}, ${lifeMs} ms after the last start`);
      serving = own.restartService(0);
      await serving;
    }
    const caseUrns = await Promise.all(pushes);
    const settled = await checkSettled(own, caseUrns, { timeoutMs: restTimeoutMs, signal, say });
    return { ...settled, done: `${kills} kills; ${settled.done}` };
  } finally {
    await own.stop();
  }
};

export const killed: Scenario = {
  summary: `the service killed ${kills} times at random moments while flights come in: nothing is lost or done twice`,
  run,
};
