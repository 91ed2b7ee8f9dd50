/** Owns the load soak: many flights of two airlines at once, and every group houses exactly once. */
import { OwnInstance } from "../benchmarks/instance.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { type DemoAirline, demoPolicies } from "../demonstration/provision.ts";
import { flightOf, pushUntilAnswered } from "./pushes.ts";
import type { Scenario, SoakRun } from "./scenario.ts";
import { checkSettled } from "./settled.ts";

const nights = 6;
const restTimeoutMs = 300_000;

/** The demo's rate for crew anywhere is in the airline's own currency, for which one of them finds no hotel near JFK. */
const houseCrew = async (own: OwnInstance, airline: DemoAirline): Promise<void> => {
  const token = await own.operatorToken(airline, "ADMIN");
  const post = async (path: string, body: unknown, status: number): Promise<unknown> =>
    expectStatus(await request(own.instance.baseUrl, { method: "POST", path, token, body }), status, path)
      .body;
  for (const policy of demoPolicies(airline.urn).filter(({ tiers }) => tiers.includes("CREW"))) {
    const { maxNightlyRate: _, ...constraints } = policy.constraints ?? {};
    const made = (await post("/v1/policies", { ...policy, constraints }, 201)) as { urn: string };
    await post(`/v1/policies/${encodeURIComponent(made.urn)}/activate`, {}, 200);
  }
};

const run = async ({ say, signal }: SoakRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 50, say, signal });
  try {
    const now = new Date();
    for (const airline of own.airlines) await houseCrew(own, airline);
    const pushes = own.airlines.flatMap((airline) =>
      Array.from({ length: nights }, (_, night) =>
        pushUntilAnswered(own, airline, flightOf(airline, night, now), async () => undefined),
      ),
    );
    say(`${pushes.length} flights pushed at once`);
    const options = { timeoutMs: restTimeoutMs, signal, say };
    const { done, faults, seen } = await checkSettled(own, await Promise.all(pushes), options);
    const unfinished =
      seen.unfinished === 0 ? [] : [`${seen.unfinished} groups are neither on offer nor decided`];
    return { done, faults: [...faults, ...unfinished] };
  } finally {
    await own.stop();
  }
};

export const waves: Scenario = {
  summary: `${nights * 2} flights of two airlines at once: every group is housed exactly once`,
  run,
};
