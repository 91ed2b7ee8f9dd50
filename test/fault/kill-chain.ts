// A chain of deaths: flight after flight is pushed at a service that kills itself at a named point, and is started again with
// the next point, so that it may die once more while it picks up what the last death left. At the end all must agree.
import type { Test } from "tap";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { Answer } from "../../scripts/demonstration/http.ts";
import {
  type ServiceProcess,
  smallFlight,
  startInstance,
  type TestInstance,
  travellersOf,
} from "../harness/instance.ts";
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

/** Points that the passengers' decisions come by. */
export const decisionPoints = [
  "after-commit@sub-case.decline-offer",
  "after-vendor-answer@*.cancel",
  "after-vendor-answer@*.cancel-card",
  "after-commit@sub-case.accept-offer#2",
  "after-publish@subcase.resolved#2",
  "before-ack@case.note-group#2",
] as const;

export interface KillChain {
  pushPoints: readonly string[];
  decisionPoints: readonly string[];
  /** Bookings of each flight; at least 2. */
  groups: number;
}

/** What a death leaves is taken up soon; a search may take its time on a busy machine. */
export const eagerSettings = {
  SWEEP_INTERVAL_MS: "300",
  STEP_DEADLINE_MS: "1500",
  ACK_WAIT_MS: "1000",
  HOTEL_SEARCH_MS: "10000",
};

const withinMs = 60_000;

/** A service that is meant to die, now here and now there. */
class Mortal {
  readonly #t: Test;
  readonly #service: ServiceProcess;
  readonly #points: string[];
  readonly #it: TestInstance;

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
    const late = AbortSignal.timeout(withinMs);
    await new Promise<void>((resolve, reject) => {
      late.addEventListener(
        "abort",
        () => reject(new Error(`nothing died at ${this.point}: ${this.#it.events.summary()}`)),
        {
          once: true,
        },
      );
      this.#service.exited.then(() => resolve(), reject);
    });
    await this.#died(this.point);
  }

  async #died(point: string): Promise<void> {
    const { signal } = await this.#service.exited;
    this.#t.equal(signal, "SIGKILL", `died at ${point}`);
  }

  /** Asks until there is an answer, over as many deaths as it takes. */
  async insist(ask: () => Promise<Answer>): Promise<Answer> {
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
  const it = await startInstance(t, { settings: eagerSettings });
  const xn = it.airlines[0];
  const token = await it.partnerToken(xn);
  const push = (body: DisruptionPushBody) =>
    it.ask({ method: "POST", path: "/partner/v1/disruptions", token, body });
  const flights: DisruptionPushBody[] = [];

  const pushed = new Mortal(t, it, chain.pushPoints);
  await pushed.next();
  while (pushed.point !== "") {
    const flight = smallFlight("XN", `K${flights.length}`, chain.groups);
    flights.push(flight);
    const answer = await pushed.insist(() => push(flight));
    t.equal(answer.status, 202, "the push is taken");
    if (pushed.point === "") break;
    await pushed.death();
    await pushed.next();
  }
  const cases = await Promise.all(flights.map(async (flight) => (await it.push(xn, flight)).caseUrn));
  for (const caseUrn of cases)
    await it.events.untilCount("subcase.offer-ready", chain.groups, { caseUrn, withinMs });
  await decideAll(t, it, flights, chain.decisionPoints);
  for (const caseUrn of cases) {
    await it.events.untilCount("case.resolved", 1, { caseUrn, withinMs });
    await assertAgreement(t, it, caseUrn, 1);
  }
};

/** One group of each flight declines, the others accept. */
const decideAll = async (
  t: Test,
  it: TestInstance,
  flights: DisruptionPushBody[],
  points: readonly string[],
): Promise<void> => {
  const xn = it.airlines[0];
  const deciding = new Mortal(t, it, points);
  await deciding.next();
  const logIn = async (traveller: { pnr: string; lastName: string }): Promise<string> => {
    const body = { ...traveller, captcha: it.instance.captcha };
    const login = { method: "POST", path: "/v1/auth/pnr-login", host: xn.passengerHost, body } as const;
    const answer = await deciding.insist(() => it.ask(login));
    t.equal(answer.status, 200, "logged in");
    return (answer.body as { sessionToken: string }).sessionToken;
  };
  for (const flight of flights) {
    for (const [i, traveller] of travellersOf(flight.passengers).entries()) {
      const token = await logIn(traveller);
      const path = i === 0 ? "/v1/me/offer/decline" : "/v1/me/offer/accept";
      const point = deciding.point;
      const answer = await deciding.insist(() =>
        it.ask({ method: "POST", path, token, host: xn.passengerHost, body: {} }),
      );
      const repeated = deciding.point !== point;
      const expected = i === 0 && repeated ? [200, 409] : [200];
      t.ok(expected.includes(answer.status), `${path} answers ${answer.status}`);
      // A rollback goes on behind its answer: who accepts meanwhile would be missed at the points that follow.
      if (i === 0 && deciding.point.includes(".cancel")) {
        await deciding.death();
        await deciding.next();
      }
    }
  }
  while (deciding.point !== "") {
    await deciding.death();
    await deciding.next();
  }
};
