/** Owns the passengers of a soak: they log in and decide on their offers, again and again until they are answered, and what they were answered must hold. */
import { setTimeout as delay } from "node:timers/promises";
import type { Db } from "mongodb";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import type { OwnInstance } from "../benchmarks/instance.ts";
import { type Answer, type Asked, expectStatus, request } from "../demonstration/http.ts";
import type { Traveller } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { isConnectionLost } from "./pushes.ts";

export interface Decision {
  airline: DemoAirline;
  traveller: Traveller;
  does: "accept" | "decline";
}

const retryAfterMs = 250;
const attemptsMax = 400;

/** Asked until there is an answer that is none of an outage; says whether an earlier try may have been carried out. */
const insist = async (
  own: Pick<OwnInstance, "instance">,
  asked: Asked,
  waitForService: () => Promise<void>,
): Promise<{ answer: Answer; repeated: boolean }> => {
  for (let attempt = 1; ; attempt++) {
    await waitForService();
    try {
      const answer = await request(own.instance.baseUrl, asked);
      if ((answer.status !== 503 && answer.status !== 429) || attempt >= attemptsMax)
        return { answer, repeated: attempt > 1 };
    } catch (error) {
      if (!isConnectionLost(error) || attempt >= attemptsMax) throw error;
    }
    await delay(retryAfterMs);
  }
};

/**
 * Logs in, looks at the offer and decides.
 * @returns false: there is no offer to decide on yet
 * @throws Error after an answer that no passenger should get
 */
export const decideOnOffer = async (
  own: Pick<OwnInstance, "instance">,
  { airline, traveller, does }: Decision,
  waitForService: () => Promise<void>,
): Promise<boolean> => {
  const { pnr, lastName } = traveller;
  const host = airline.passengerHost;
  const ask = (asked: Asked) => insist(own, { ...asked, host }, waitForService);
  const body = { pnr, lastName, captcha: own.instance.captcha };
  const login = await ask({ method: "POST", path: "/v1/auth/pnr-login", body });
  if (login.answer.status === 401) return false;
  const { sessionToken: token } = expectStatus(login.answer, 200, `logging in as ${pnr}`).body as {
    sessionToken: string;
  };
  const seen = await ask({ method: "GET", path: "/v1/me/offer", token });
  const { state } = expectStatus(seen.answer, 200, `reading the offer of ${pnr}`).body as { state: string };
  if (state !== "READY") return false;
  const decided = await ask({ method: "POST", path: `/v1/me/offer/${does}`, token, body: {} });
  // Its first answer was lost: what stands is what was decided.
  if (decided.answer.status === 409 && decided.repeated) return true;
  expectStatus(decided.answer, 200, `${does} as ${pnr}`);
  return true;
};

const endsOf: Record<Decision["does"], readonly SubCaseState["status"][]> = {
  accept: ["RESOLVED"],
  decline: ["DECLINED", "COMPENSATION_FAILED"],
};

/** At rest: what a passenger was answered is what their group's sub-case came to. */
export const checkDecisions = async (
  databaseOf: (airline: string) => Db,
  answered: readonly Decision[],
): Promise<string[]> => {
  const faults: string[] = [];
  for (const { airline, traveller, does } of answered) {
    const groups = await databaseOf(airline.code)
      .collection<Pick<SubCaseState, "status" | "pnrs">>("subCases")
      .find({ pnrs: traveller.pnr }, { projection: { status: 1 } })
      .toArray();
    if (!groups.some(({ status }) => endsOf[does].includes(status)))
      faults.push(
        `${traveller.pnr} was told that its ${does} is taken; ${groups.map(({ _id, status }) => `${_id} is ${status}`).join(", ") || "no group has it"}`,
      );
  }
  return faults;
};
