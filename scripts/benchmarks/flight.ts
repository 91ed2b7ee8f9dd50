/** Owns pushing the demo's flight to an instance of a benchmark's own, and telling when all that follows is done. */
import { setTimeout as delay } from "node:timers/promises";
import type { CaseOpened } from "../../schemas/case.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { demoPush } from "../demonstration/manifest.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { Timeline } from "../demonstration/timeline.ts";
import { freshEventId, type OwnInstance } from "./instance.ts";

const lookEveryMs = 50;
/** Looks in a row that must find nothing under way: a message is in no stream while a process turns it into another. */
const quietLooks = 4;

/** A new disruption of 180 passengers; the answer to the push. */
export const pushFlight = async (
  { instance }: Pick<OwnInstance, "instance">,
  airline: DemoAirline,
  token: string,
  externalEventId: string = freshEventId(),
): Promise<Pick<CaseOpened, "caseUrn" | "subCaseCount">> => {
  const body = { ...demoPush(airline.code, new Date()), externalEventId };
  const answer = await request(instance.baseUrl, {
    method: "POST",
    path: "/partner/v1/disruptions",
    token,
    body,
  });
  return expectStatus(answer, 202, "pushing the disruption").body as CaseOpened;
};

/**
 * Resolves once no command waits and every event has gone to the partners. There is no event for "nothing more comes",
 * so the streams are looked at until they stay empty.
 */
export const untilQuiet = async (
  { streams, airlines }: Pick<OwnInstance, "streams" | "airlines">,
  signal: AbortSignal,
): Promise<void> => {
  const hooks = airlines.flatMap(({ partners }) => partners.map(({ clientId }) => `hook_${clientId}`));
  for (let quiet = 0; quiet < quietLooks; ) {
    const { state } = await streams.manager.streams.info("COMMANDS");
    const waiting = await Promise.all(
      hooks.map(async (hook) => {
        const { num_pending, num_ack_pending } = await streams.manager.consumers.info("EVENTS", hook);
        return num_pending + num_ack_pending;
      }),
    );
    quiet = state.messages === 0 && waiting.every((count) => count === 0) ? quiet + 1 : 0;
    await delay(lookEveryMs, undefined, { signal });
  }
};

/** The demo's flight with an offer for everybody, and nothing under way any more; its case. */
export const housedFlight = async (
  own: OwnInstance,
  airline: DemoAirline,
  signal: AbortSignal,
): Promise<string> => {
  const timeline = new Timeline();
  await timeline.watch(own.streams, airline.code);
  try {
    const { caseUrn, subCaseCount } = await pushFlight(own, airline, await own.partnerToken(airline));
    await timeline.until(() => timeline.count("subcase.offer-ready") >= subCaseCount, signal);
    await untilQuiet(own, signal);
    return caseUrn;
  } finally {
    timeline.stop();
  }
};

/** Gives the hotels their rooms back: one night near one airport holds two such flights and no third. */
export const emptyHotels = async ({ sandboxUrl }: Pick<OwnInstance, "sandboxUrl">): Promise<void> => {
  const answer = await fetch(new URL("/reset", sandboxUrl), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ vendors: ["stayhub", "roomlink"] }),
  });
  if (!answer.ok) throw new Error(`the sandbox was not reset: ${answer.status}`);
};
