/** Owns the flights that a soak pushes: each airline's on nights of its own, so that the hotels have rooms for all. */
import { setTimeout as delay } from "node:timers/promises";

import type { OwnInstance } from "../benchmarks/instance.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import type { DemoAirline } from "../demonstration/provision.ts";

const dayMs = 86_400_000;
const attemptsMax = 200;
/** After an answer that the service cannot take it now. */
const retryAfterMs = 250;

/** The flight number `index` of an airline: `index` nights from now, always the same passengers. */
export const flightOf = (airline: DemoAirline, index: number, now: Date) => ({
  ...demoPush(airline.code, new Date(now.getTime() + index * dayMs)),
  externalEventId: `soak-${airline.code}-${index}`,
  disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: now.toISOString() },
});

/**
 * Pushes as a partner's system does: the same event again until it is answered, since the service may be dead for a moment.
 * @returns the case's URN @throws Error after a refusal, or 200 attempts
 */
export const pushUntilAnswered = async (
  own: OwnInstance,
  airline: DemoAirline,
  body: ReturnType<typeof flightOf>,
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

const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(String(error.code));
