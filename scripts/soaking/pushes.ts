/** Owns the flights that a soak pushes: each airline's on nights of its own, so that the hotels have rooms for all. */
import { setTimeout as delay } from "node:timers/promises";

import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { OwnInstance } from "../benchmarks/instance.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import type { DemoAirline } from "../demonstration/provision.ts";

const dayMs = 86_400_000;
const attemptsMax = 200;
/** After an answer that the service cannot take it now. */
const retryAfterMs = 250;

/** The flight number `index` of an airline: `index` nights from now, always the same passengers. */
export const flightOf = (airline: DemoAirline, index: number, now: Date): DisruptionPushBody => ({
  ...demoPush(airline.code, new Date(now.getTime() + index * dayMs)),
  externalEventId: `soak-${airline.code}-${index}`,
  disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: now.toISOString() },
});

/** The same flight with so many of its bookings, small and large, under PNRs that no other flight has. */
export const flightWith = (
  airline: DemoAirline,
  index: number,
  { groups, now }: { groups: number; now: Date },
): DisruptionPushBody => {
  const flight = flightOf(airline, index, now);
  const bookings = [...Map.groupBy(flight.passengers, ({ pnr }) => pnr).values()];
  const chosen = Array.from({ length: groups }, (_, i) => {
    const booking = bookings[Math.floor((i * bookings.length) / Math.max(groups, bookings.length))] ?? [];
    const pnr = `S${index.toString(36).padStart(2, "0")}${i.toString(36).padStart(3, "0")}`.toUpperCase();
    return booking.map((passenger) => ({ ...passenger, pnr }));
  });
  return { ...flight, passengers: chosen.flat() };
};

/**
 * Pushes as a partner's system does: the same event again until it is answered, since the service may be dead for a moment.
 * @returns the case's URN @throws Error after a refusal, or 200 attempts
 */
export const pushUntilAnswered = async (
  own: Pick<OwnInstance, "instance" | "partnerToken">,
  airline: DemoAirline,
  body: DisruptionPushBody,
  waitForService: () => Promise<void>,
): Promise<string> => {
  for (let attempt = 1; ; attempt++) {
    await waitForService();
    try {
      const token = await own.partnerToken(airline);
      const asked = { method: "POST", path: "/partner/v1/disruptions", token, body } as const;
      const answer = await request(own.instance.baseUrl, asked);
      if (answer.status === 503 && attempt < attemptsMax) {
        await delay(retryAfterMs);
        continue;
      }
      return (expectStatus(answer, 202, `pushing ${body.externalEventId}`).body as { caseUrn: string })
        .caseUrn;
    } catch (error) {
      if (!isConnectionLost(error) || attempt >= attemptsMax) throw error;
    }
  }
};

/** The service died, or has not come back yet. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(String(error.code));
