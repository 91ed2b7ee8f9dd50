// A chain of deaths: flight after flight is pushed at a service that kills itself at a named point, and is started again with
// the next point, so that it may die once more while it picks up what the last death left. At the end all must agree. Starting
// a service is what a chain costs, so that each life has a point to die at.
import type { Test } from "tap";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { Answer } from "../../scripts/demonstration/http.ts";
import { payByCard } from "../harness/card-policy.ts";
import {
  type ServiceProcess,
  smallFlight,
  startInstance,
  type TestInstance,
  travellersOf,
} from "../harness/instance.ts";
import { driveInOwnCars } from "../harness/own-cars.ts";
import { assertAgreement } from "./agreement.ts";

/** Points that a flight comes by on its way to its offers. */
export const pushPoints = [
  "after-commit@case.open",
  "after-publish@sub-case.open-many",
  "after-commit@sub-case.open-many",
  "before-ack@sub-case.open-many",
  "after-commit@case.note-provisioned",
  "after-commit@case.plan",
  "after-publish@wave.run",
  "after-commit@wave.run",
  "before-ack@wave.run",
  "after-publish@sub-case.assign#2",
  "after-commit@sub-case.assign#2",
  "after-publish@*.hold",
  "after-vendor-answer@*.hold#2",
  "after-vendor-answer@*.book#2",
  "before-ack@*.book",
  "after-vendor-answer@*.issue-card#2",
  "after-vendor-answer@*.book-ride",
  "after-vendor-answer@*.send#2",
  "after-commit@sub-case.record-answer#5",
  "before-ack@sub-case.record-answer#3",
  "after-publish@subcase.offer-ready#2",
] as const;

/** Points that a decline and its rollback come by: each call that takes something back, and each answer. */
export const rollbackPoints = [
  "after-commit@sub-case.decline-offer",
  "after-publish@*.cancel-ride",
  "after-vendor-answer@*.cancel-ride",
  "before-ack@*.cancel-ride",
  "after-commit@sub-case.record-answer",
  "before-ack@sub-case.record-answer",
  "after-publish@*.cancel-card",
  "after-vendor-answer@*.cancel-card",
  "before-ack@*.cancel-card",
  "after-commit@sub-case.record-answer#2",
  "before-ack@sub-case.record-answer#2",
  "after-publish@*.cancel",
  "after-vendor-answer@*.cancel",
  "before-ack@*.cancel",
  "after-commit@sub-case.record-answer#3",
  "before-ack@sub-case.record-answer#3",
  "after-publish@case.note-group",
] as const;

/** Points that an acceptance comes by. */
export const decisionPoints = [
  "after-commit@sub-case.accept-offer#2",
  "after-publish@subcase.resolved#2",
  "before-ack@case.note-group#2",
] as const;

/** Points that flights come by whose hotels are paid by card: that card is the first of each group. */
export const paymentPoints = {
  pushPoints: [
    "after-publish@*.issue-card",
    "after-vendor-answer@*.issue-card",
    "before-ack@*.issue-card",
    "after-vendor-answer@*.book",
    "after-commit@case.open",
  ],
  rollbackPoints: [
    "after-publish@*.cancel-card#2",
    "after-vendor-answer@*.cancel-card#2",
    "before-ack@*.cancel-card#2",
    "after-commit@sub-case.record-answer#4",
    "before-ack@sub-case.record-answer#4",
  ],
} as const;

export interface KillChain {
  pushPoints: readonly string[];
  rollbackPoints: readonly string[];
  decisionPoints: readonly string[];
  /** Bookings of each flight; at least 2. */
  groups: number;
  /** Hotels are paid by card alone. */
  byCard?: boolean;
}

/** What a death leaves is taken up soon; a search may take its time on a busy machine. */
export const eagerSettings = {
  SWEEP_INTERVAL_MS: "300",
  STEP_DEADLINE_MS: "1500",
  ACK_WAIT_MS: "1000",
  HOTEL_SEARCH_MS: "10000",
};

const withinMs = 60_000;
/** What comes by a point does so by then, even on a busy machine. */
const soonMs = 15_000;
/** Flights and rollbacks beyond one for each of so many points, for those whose own have gone by in an earlier life. */
const spareFor = (points: number): number => Math.min(3, points - 1);

/** A service that is meant to die, now here and now there. */
export class Mortal {
  readonly #t: Test;
  readonly #service: ServiceProcess;
  readonly #points: string[];
  readonly #it: TestInstance;
  /** So far. */
  deaths = 0;

  /** @param points of the lives to come; the service stands already, and may have one of its own. */
  constructor(t: Test, it: TestInstance, points: readonly string[]) {
    this.#t = t;
    this.#it = it;
    this.#service = it.services[0] as ServiceProcess;
    this.#points = [...points];
  }

  /** Starts it again with the next point; one that dies before it serves has found its point in what was left over. */
  async next(): Promise<void> {
    for (;;) {
      const point = this.#points.shift() ?? "";
      this.#service.settings.KILL_POINT = point;
      try {
        await this.#service.restart();
        return;
      } catch (error) {
        if (point === "") throw error;
        await this.#died(point);
      }
    }
  }

  get point(): string {
    return this.#service.settings.KILL_POINT ?? "";
  }

  /** Resolves once it has died at its point. */
  async death(): Promise<void> {
    if (!(await this.#diesWithin(withinMs)))
      throw new Error(`nothing died at ${this.point}: ${this.#it.events.summary()}`);
  }

  /** False: nothing came by its point; what would have, has gone by in an earlier life. */
  diesSoon(): Promise<boolean> {
    return this.#diesWithin(soonMs);
  }

  async #diesWithin(ms: number): Promise<boolean> {
    const late = AbortSignal.timeout(ms);
    const { exited } = this.#service;
    const hasDied = await new Promise<boolean>((resolve) => {
      late.addEventListener("abort", () => resolve(false), { once: true });
      void exited.then(() => resolve(true));
    });
    if (hasDied) await this.#died(this.point);
    return hasDied;
  }

  async #died(point: string): Promise<void> {
    this.deaths += 1;
    const { signal } = await this.#service.exited;
    this.#t.equal(signal, "SIGKILL", `died at ${point}`);
  }

  /** Asks until there is an answer, over as many deaths as it takes. */
  async insist<T = Answer>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (this.point === "") throw error;
        await this.death();
        await this.next();
      }
    }
  }
}

export const runKillChain = async (t: Test, chain: KillChain): Promise<void> => {
  const [first = "", ...points] = [...chain.pushPoints, ...chain.rollbackPoints, ...chain.decisionPoints];
  const it = await startInstance(t, { settings: eagerSettings, services: [{ KILL_POINT: first }] });
  const xn = it.airlines[0];
  if (chain.byCard === true) await payByCard(it, xn);
  await driveInOwnCars(it, xn);
  const mortal = new Mortal(t, it, points);
  const flights = await pushAll(t, it, mortal, chain);
  const cases = await Promise.all(flights.map(async (flight) => (await it.push(xn, flight)).caseUrn));
  for (const caseUrn of cases)
    await it.events.untilCount("subcase.offer-ready", chain.groups, { caseUrn, withinMs });
  await decideAll(t, it, mortal, flights, chain);
  for (const caseUrn of cases) {
    await it.events.untilCount("case.resolved", 1, { caseUrn, withinMs });
    await assertAgreement(t, it, caseUrn, 1);
  }
};

/** A flight for each point that flights come by; no flight comes by the first point of those that follow. */
const pushAll = async (
  t: Test,
  it: TestInstance,
  mortal: Mortal,
  { pushPoints, rollbackPoints, groups }: KillChain,
): Promise<DisruptionPushBody[]> => {
  const [xn] = it.airlines;
  const token = await it.partnerToken(xn);
  const flights: DisruptionPushBody[] = [];
  const isPushing = (): boolean => pushPoints.includes(mortal.point);
  while (isPushing()) {
    const flight = smallFlight("XN", `K${flights.length}`, groups);
    flights.push(flight);
    const answer = await mortal.insist(() =>
      it.ask({ method: "POST", path: "/partner/v1/disruptions", token, body: flight }),
    );
    t.equal(answer.status, 202, "the push is taken");
    if (!isPushing()) break;
    if (await mortal.diesSoon()) await mortal.next();
    else if (flights.length > pushPoints.length + spareFor(pushPoints.length)) await mortal.death();
  }
  while (flights.length < rollbackPoints.length + spareFor(rollbackPoints.length)) {
    const flight = smallFlight("XN", `K${flights.length}`, groups);
    flights.push(flight);
    await it.push(xn, flight);
  }
  return flights;
};

/** One group of each flight declines, the others accept. */
const decideAll = async (
  t: Test,
  it: TestInstance,
  deciding: Mortal,
  flights: DisruptionPushBody[],
  { rollbackPoints }: KillChain,
): Promise<void> => {
  const isRollback = (): boolean => rollbackPoints.includes(deciding.point);
  const bookings = flights.map(({ passengers }) => travellersOf(passengers));
  for (const [traveller] of bookings) {
    if (traveller === undefined) throw new Error("a flight without passengers");
    await decide(t, it, deciding, { traveller, path: "/v1/me/offer/decline", standing: 409 });
    // A rollback goes on behind its answer: who decides meanwhile would be missed at the points that follow.
    if (isRollback() && (await deciding.diesSoon())) await deciding.next();
  }
  if (isRollback()) await deciding.death();
  for (const traveller of bookings.flatMap((each) => each.slice(1)))
    await decide(t, it, deciding, { traveller, path: "/v1/me/offer/accept", standing: 200 });
  while (deciding.point !== "") {
    await deciding.death();
    await deciding.next();
  }
};

/** @param what.standing the answer to a decision that was taken already */
const decide = async (
  t: Test,
  it: TestInstance,
  deciding: Mortal,
  what: { traveller: { pnr: string; lastName: string }; path: string; standing: number },
): Promise<void> => {
  const host = it.airlines[0].passengerHost;
  const body = { ...what.traveller, captcha: it.instance.captcha };
  const login = await deciding.insist(() =>
    it.ask({ method: "POST", path: "/v1/auth/pnr-login", host, body }),
  );
  t.equal(login.status, 200, "logged in");
  const { sessionToken: token } = login.body as { sessionToken: string };
  const { point } = deciding;
  const answer = await deciding.insist(() =>
    it.ask({ method: "POST", path: what.path, token, host, body: {} }),
  );
  const expected = deciding.point === point ? [200] : [200, what.standing];
  t.ok(expected.includes(answer.status), `${what.path} answers ${answer.status}`);
};
