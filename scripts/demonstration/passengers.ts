/** Owns the demo's passengers: they log in with PNR and name, look at their offer, and accept; one declines. */
import type { PassengerInput } from "../../schemas/passenger.ts";
import type { Instance } from "../supervisor/environment.ts";
import { expectStatus, request } from "./http.ts";
import { passengerAddress } from "./limits.ts";
import type { DemoAirline } from "./provision.ts";

export interface Traveller {
  pnr: string;
  lastName: string;
}

/** One traveller of each booking. */
export const travellersOf = (passengers: readonly PassengerInput[]): Traveller[] => {
  const byPnr = new Map<string, Traveller>();
  for (const { pnr = "", lastName = "" } of passengers)
    if (!byPnr.has(pnr)) byPnr.set(pnr, { pnr, lastName });
  return [...byPnr.values()];
};

/** At once, so that a crowd at one gate is what the service sees. */
const atOnce = 8;

/** Logs every traveller in and lets them decide. Returns how many did what. */
export const decideOffers = async (
  instance: Instance,
  airline: DemoAirline,
  travellers: readonly Traveller[],
  declining: number,
): Promise<{ accepted: number; declined: number }> => {
  const counts = { accepted: 0, declined: 0 };
  const queue = travellers.map((traveller, index) => ({
    traveller,
    decline: index < declining,
    localAddress: passengerAddress(instance.baseUrl, index),
  }));
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const decision = next.decline ? "decline" : "accept";
      await decide(instance, airline, next, decision);
      counts[next.decline ? "declined" : "accepted"] += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return counts;
};

const decide = async (
  { baseUrl, captcha }: Instance,
  { passengerHost: host }: DemoAirline,
  { traveller: { pnr, lastName }, localAddress }: { traveller: Traveller; localAddress: string | undefined },
  decision: "accept" | "decline",
): Promise<void> => {
  const login = await request(baseUrl, {
    method: "POST",
    path: "/v1/auth/pnr-login",
    host,
    localAddress,
    body: { pnr, lastName, captcha },
  });
  const { sessionToken: token } = expectStatus(login, 200, `logging in as ${pnr}`).body as {
    sessionToken: string;
  };
  const offer = await request(baseUrl, { method: "GET", path: "/v1/me/offer", host, token });
  const { state } = expectStatus(offer, 200, "reading an offer").body as { state: string };
  if (state !== "READY") throw new Error(`the offer of ${pnr} is ${state}, not READY`);
  const path = `/v1/me/offer/${decision}`;
  const body = decision === "decline" ? { reason: "Staying with friends" } : {};
  expectStatus(
    await request(baseUrl, { method: "POST", path, host, token, body }),
    200,
    `${decision} as ${pnr}`,
  );
};
