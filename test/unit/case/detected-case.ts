// A case that the flight feed has opened, for tables: what the feed tells it, and the airline's push or amendment of it.
import { bodyHashOf, factsToldBy } from "../../../actors/case/intake.ts";
import { groupsOfPatch } from "../../../actors/case/manifest.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { OpenDetected } from "../../../schemas/flight.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import { eventsOf, received } from "../../harness/given.ts";
import { economy, open, pair, rules, stateOf } from "./planned-case.ts";

export const flight = {
  number: "XN482",
  origin: "JFK",
  destination: "MAD",
  scheduledDeparture: "2026-11-21T21:30:00.000Z",
};
export const detected = (told = 1, more: Partial<OpenDetected> = {}): OpenDetected => ({
  flightId: "XN-FLIGHT",
  crossing: 1,
  told,
  airport: "JFK",
  flight,
  disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: "2026-11-21T20:00:00.000Z" },
  prediction: {
    probability: 0.9,
    threshold: 0.8,
    state: "PREDICTED",
    vendor: "skywatch",
    eventId: `e${told}`,
    observedAt: "2026-11-21T20:00:00.000Z",
  },
  ...more,
});
export const certain = (told: number): OpenDetected => {
  const { prediction, ...rest } = detected(told);
  return { ...rest, prediction: { ...prediction, probability: 1, state: "CONFIRMED" } };
};
export const openedByFeed = received("case.open-detected", detected());
export const amend = ({ crossing: _, ...data }: OpenDetected) => received("case.amend-detected", data);
/** The flight asks for a case at another detection. */
export const amendAnew = (told: number, crossing: number) =>
  received("case.amend-detected", detected(told, { crossing }));
export const withdraw = (told = 2) => {
  const { prediction, ...rest } = detected(told);
  const state = "WITHDRAWN" as const;
  return received("case.withdraw-detected", {
    ...rest,
    prediction: { ...prediction, probability: 0, state },
  });
};
export const waiting = eventsOf(rules, [] as CaseEvent[], openedByFeed);

export const partner: Principal = { surface: "partner", tenant: "XN", urn: "urn:partner:XN-tower" };
export const push = (): Received => ({ ...open([pair, pair]), principal: partner });
/** The push with something else in its body. */
export const pushSaying = (more: { flight?: object; disruption?: object }): Received => {
  const body = push().data as { flight: object; disruption: object };
  const flight = { ...body.flight, ...more.flight };
  return { ...push(), data: { ...body, flight, disruption: { ...body.disruption, ...more.disruption } } };
};
/** What makes an amendment a push. */
export const namingOf = (command = push(), externalEventId = "E1") => ({
  naming: { externalEventId, bodyHash: bodyHashOf(command.data), facts: factsToldBy(command) },
});
export const diverted = (told: number) =>
  detected(told, {
    airport: "MAD",
    disruption: { type: "DIVERTED", reason: "VOLCANO", decidedAt: "2026-11-21T20:30:00.000Z" },
  });
export const somebody = (pnr: string): PassengerInput => ({ pnr, lastName: "Byron", cabinClass: "ECONOMY" });
export const patchOf = (
  name: string,
  passengers: PassengerInput[],
  more: object = {},
): [Received, unknown] => [
  received(
    `case.${name}`,
    { decidedAt: "2026-11-21T20:50:00Z", passengers, ...more },
    { principal: partner },
  ),
  {
    ...{ members: [], policies: economy },
    named: [...groupsOfPatch("XN", `XN/${stateOf(waiting).externalEventId}`, passengers)].flat(),
  },
];
