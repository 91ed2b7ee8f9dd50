// A night with trouble: two service processes share the work while one is killed, NATS restarts in mid-run, and so does the
// document server. At the end all must agree.
import type { Test } from "tap";
import {
  type ServiceProcess,
  smallFlight,
  startInstance,
  type TestInstance,
  travellersOf,
} from "../harness/instance.ts";
import { assertAgreement } from "./agreement.ts";
import { eagerSettings } from "./kill-chain.ts";

const withinMs = 80_000;

/** What goes wrong once the first group of a flight has its room. */
type Trouble = (it: TestInstance) => Promise<void>;

export const troubles: Record<string, Trouble> = {
  "one of two processes is killed": async (it) => {
    await (it.services[1] as ServiceProcess).kill();
  },
  "NATS restarts": async (it) => {
    await it.nats.kill();
    await it.nats.restart();
  },
  "the document server restarts": async (it) => {
    if (it.documentServer === undefined) return;
    await it.documentServer.kill();
    await it.documentServer.restart();
  },
};

/** One flight of so many groups for each trouble, one after the other on one instance. */
export const runTroubles = async (t: Test, groups: number, names = Object.keys(troubles)): Promise<void> => {
  const it = await startInstance(t, { settings: eagerSettings, services: [{}, { ROLE: "actors" }] });
  const xn = it.airlines[0];
  for (const [i, name] of names.entries()) {
    const flight = smallFlight("XN", `T${i}`, groups);
    const { caseUrn } = await it.push(xn, flight);
    await it.events.untilCount("subcase.processing", 1, { caseUrn, withinMs });
    await troubles[name]?.(it);
    await it.events.untilCount("subcase.offer-ready", groups, { caseUrn, withinMs });
    t.pass(`all have an offer though ${name}`);
    for (const [j, traveller] of travellersOf(flight.passengers).entries()) {
      const token = await it.passengerToken(xn, traveller);
      const path = j === 0 ? "/v1/me/offer/decline" : "/v1/me/offer/accept";
      const { status } = await it.ask({ method: "POST", path, token, host: xn.passengerHost, body: {} });
      if (status !== 200) t.fail(`${path} answers ${status}`);
    }
    await it.events.untilCount("case.resolved", 1, { caseUrn, withinMs });
    await assertAgreement(t, it, caseUrn, 1);
  }
};
