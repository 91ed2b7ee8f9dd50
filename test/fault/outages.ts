// A night with trouble: two service processes share the work while one is killed, NATS goes away in mid-run, and so does the
// document server. Who asks meanwhile is told so in time, and at the end all must agree.
import type { Test } from "tap";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import {
  type ServiceProcess,
  smallFlight,
  startInstance,
  type TestInstance,
  travellersOf,
} from "../harness/instance.ts";
import { assertAgreement, untilQuiet } from "./agreement.ts";
import { eagerSettings } from "./kill-chain.ts";
import { repeatCommands } from "./repeated-commands.ts";

const withinMs = 80_000;
/** The gateway gives a call up after 13 s; the rest is for a busy machine. */
const answerWithinMs = 15_000;

/** The night as a trouble finds it. */
interface Night {
  t: Test;
  it: TestInstance;
  /** How long a server stays away before it is started again. */
  awayMs: number;
}

/** How a trouble takes its course under a flight. */
interface Course {
  /** Once the first group is under way. */
  midway?(caseUrn: string): Promise<void>;
  /** Once everybody has decided. */
  end?(): Promise<void>;
}

/** Called before the flight is pushed. */
type Trouble = (night: Night) => Promise<Course>;

const troubles = {
  "one of two processes is killed": async ({ it }) => ({
    midway: () => (it.services[1] as ServiceProcess).kill(),
  }),
  "NATS goes away": async (night) => {
    const { it, awayMs } = night;
    if (awayMs === 0) return { midway: () => it.nats.restart() };
    // A gateway of its own has no actors in its process: without NATS it reaches nobody. The other has them beside it, and
    // goes on: what it commits is relayed later.
    const gateway = await it.startService({ ROLE: "gateway" });
    const late = smallFlight("XN", "NATS", 1);
    const told = { read: unavailable(/^case$/), write: unavailable(/^case$/) };
    const served = { read: { status: 200 }, write: { status: 202 } };
    return {
      midway: async (caseUrn) => {
        await it.nats.away(awayMs, async () => {
          await askInOutage(night, { caseUrn, late, baseUrl: gateway.url, expected: told });
          await askInOutage(night, { caseUrn, late, baseUrl: it.instance.baseUrl, expected: served });
        });
        await it.push(it.airlines[0], late);
      },
      end: () => gateway.stop(),
    };
  },
  "the document server goes away": async (night) => {
    const { it, awayMs } = night;
    if (awayMs === 0) return { midway: async () => it.documentServer?.restart() };
    const late = smallFlight("XN", "DOCS", 1);
    const expected = { read: unavailable(/^documents$/), write: unavailable(/^documents$/) };
    return {
      midway: async (caseUrn) => {
        const asking = { caseUrn, late, baseUrl: it.instance.baseUrl, expected };
        await it.documentServer?.away(awayMs, () => askInOutage(night, asking));
        await it.push(it.airlines[0], late);
      },
    };
  },
  "every command comes twice, out of order": async ({ t, it }) => ({
    end: await repeatCommands(t, it.streams, () => untilQuiet(it, "XN")),
  }),
} satisfies Record<string, Trouble>;
type TroubleName = keyof typeof troubles;

interface Asking {
  /** To read. */
  caseUrn: string;
  /** To push; the partner comes again with it after the outage. */
  late: DisruptionPushBody;
  baseUrl: string;
  expected: { read: object; write: object };
}

/** Contract, "Errors". */
const unavailable = (failedDomain: RegExp) => ({ status: 503, retryAfter: "30", body: { failedDomain } });

/** A read and a write, both answered in time. */
const askInOutage = async ({ t, it }: Night, { caseUrn, late, baseUrl, expected }: Asking): Promise<void> => {
  const [xn] = it.airlines;
  const asked = [
    {
      what: "read",
      path: `/v1/cases/${encodeURIComponent(caseUrn)}`,
      token: await it.operatorToken(xn.urn, "OPS_SUPERVISOR"),
    },
    {
      what: "write",
      path: "/partner/v1/disruptions",
      token: await it.partnerToken(xn),
      method: "POST",
      body: JSON.stringify(late),
    },
  ] as const;
  const answers = asked.map(async ({ what, path, token, ...init }) => {
    const askedAt = performance.now();
    const answer = await fetch(new URL(path, baseUrl), {
      ...init,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    t.match(
      { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: await answer.json() },
      expected[what],
      `a ${what} in an outage is answered ${answer.status} in ${Math.round(performance.now() - askedAt)} ms`,
    );
  });
  await Promise.all(answers);
};

/** One flight of so many groups for each trouble, or for those that share one, one after the other on one instance. */
export const runTroubles = async (
  t: Test,
  {
    groups,
    awayMs = 0,
    flights = Object.keys(troubles).map((name) => [name as TroubleName]),
  }: { groups: number; awayMs?: number; flights?: readonly (readonly TroubleName[])[] },
): Promise<void> => {
  const it = await startInstance(t, { settings: eagerSettings, services: [{}, { ROLE: "actors" }] });
  const xn = it.airlines[0];
  const night: Night = { t, it, awayMs };
  // Had beforehand: the one takes a process of its own, the other a service that serves.
  await Promise.all([it.operatorToken(xn.urn, "OPS_SUPERVISOR"), it.partnerToken(xn)]);
  for (const [i, names] of flights.entries()) {
    const flight = smallFlight("XN", `T${i}`, groups);
    const courses: Course[] = [];
    for (const name of names) courses.push(await troubles[name](night));
    const { caseUrn } = await it.push(xn, flight);
    await it.events.untilCount("subcase.processing", 1, { caseUrn, withinMs });
    for (const course of courses) await course.midway?.(caseUrn);
    await it.events.untilCount("subcase.offer-ready", groups, { caseUrn, withinMs });
    t.pass(`all have an offer though ${names.join(", and ")}`);
    for (const [j, traveller] of travellersOf(flight.passengers).entries()) {
      const token = await it.passengerToken(xn, traveller);
      const path = j === 0 ? "/v1/me/offer/decline" : "/v1/me/offer/accept";
      const { status } = await it.ask({ method: "POST", path, token, host: xn.passengerHost, body: {} });
      if (status !== 200) t.fail(`${path} answers ${status}`);
    }
    await it.events.untilCount("case.resolved", 1, { caseUrn, withinMs });
    for (const course of courses) await course.end?.();
    await assertAgreement(t, it, caseUrn, 1);
  }
};
