/** Owns what a case keeps of the flight feed that has opened it, and how long it waits for its manifest. */

import {
  type DetectedDisruption,
  type FlightFacts,
  feedEventPrefix,
  flightKeyOf,
  type OpenDetected,
  type PredictionState,
} from "../../schemas/flight.ts";
import type { Timer } from "../runtime/decider.ts";
import type { CaseState } from "./state.ts";

/** What the feed said last. */
export interface Prediction {
  probability: number;
  threshold: number;
  state: PredictionState;
  vendor: string;
  eventId: string;
  observedAt: Date;
}

export interface Detection {
  flightId: string;
  /** Which of the flight's detections has opened it. */
  crossing: number;
  /** Of what the flight tells the higher count is the newer. */
  told: number;
  prediction: Prediction;
  /** Set: the airline has pushed the disruption, and its word counts from then on. */
  isPushed?: true;
  /** Set: somebody has done something about it, who is not to find it closed. */
  takenBy?: string;
  /** Until when the airline may leave open who is stranded without anybody asking. */
  manifestDueAt?: Date;
  /** Set: somebody was told that it has not said so. */
  isManifestMissed?: true;
}

/** After a disruption is certain. */
const manifestPatienceMs = 30 * 60_000;

/** @param before undefined: it is detected now */
export const manifestDueAt = (
  { prediction, flight }: Pick<DetectedDisruption, "prediction" | "flight">,
  before: Detection | undefined,
  now: Date,
): Date => {
  if (prediction.state !== "CONFIRMED") return new Date(flight.scheduledDeparture);
  if (before?.prediction.state === "CONFIRMED" && before.manifestDueAt !== undefined)
    return before.manifestDueAt;
  return new Date(now.getTime() + manifestPatienceMs);
};

export const manifestTimers = (state: CaseState): Timer[] => {
  const { manifestDueAt: dueAt, isManifestMissed } = state.detection ?? {};
  if (dueAt === undefined || isManifestMissed || !isAwaitingManifest(state)) return [];
  return [{ name: "miss-manifest", dueAt }];
};

export interface FromFeed {
  /** The flight whose one case this is while it is open (`first-case.ts`); absent: none, or another case is. */
  flightClaim?: string;
  /** Set: the flight feed has opened it. */
  detection?: Detection;
}

export type DetectedEvent =
  /** The airline's own push or declaration of what the feed has opened a case for. */
  | { type: "case.manifest-received"; data: CaseState }
  | {
      type: "case.prediction-amended";
      data: Told & Facts & { manifestDueAt: Date };
    }
  /** For a person: nobody has said in time who is stranded. */
  | { type: "case.manifest-missed"; data: Record<string, never> }
  /** It is told of otherwise, and the case follows. */
  | { type: "case.facts-amended"; data: Facts }
  /** For a person: it is told of otherwise than passengers have been provided for. `says`: in what. */
  | { type: "case.difference-noted"; data: { says: string; detail: string } }
  /** Nothing of the case follows it. */
  | { type: "case.prediction-noted"; data: Told }
  /** For a person: somebody has gone on with what the feed now takes back. */
  | { type: "case.withdrawal-noted"; data: Told }
  | { type: "case.taken-in-hand"; data: { by: string } };

/** What is told of a disruption. */
export type Facts = Pick<CaseState, "airport" | "flight" | "disruption">;

export interface Told {
  told: number;
  prediction: Prediction;
  /** Set: of this detection the case is from now on. */
  crossing?: number;
}

const detectedTypes: Readonly<Record<DetectedEvent["type"], true>> = {
  "case.manifest-received": true,
  "case.prediction-amended": true,
  "case.manifest-missed": true,
  "case.facts-amended": true,
  "case.difference-noted": true,
  "case.prediction-noted": true,
  "case.withdrawal-noted": true,
  "case.taken-in-hand": true,
};

export const isDetected = <Event extends { type: string }>(
  event: Event,
): event is Extract<Event, DetectedEvent> => Object.hasOwn(detectedTypes, event.type);

/** Opened by the feed, and nobody has said yet who is stranded. */
export const isAwaitingManifest = ({ source, status, groups, provisionedAt }: CaseState): boolean =>
  source === "FEED" && status !== "CLOSED" && groups.length === 0 && provisionedAt === undefined;

/** A push of the flight is about this case. */
export const isAwaitingPush = ({ detection, status }: Pick<CaseState, "detection" | "status">): boolean =>
  detection !== undefined && detection.isPushed === undefined && status !== "CLOSED";

/** What a case is called until the airline gives the event a name. */
export const feedEventId = ({ flight, crossing }: OpenDetected): string =>
  `${feedEventPrefix}:${flightKeyOf(flightIn(flight))}:${crossing}`;

export const flightIn = ({ scheduledDeparture, ...flight }: FlightFacts): CaseState["flight"] => ({
  ...flight,
  scheduledDeparture: new Date(scheduledDeparture),
});

export const evolveDetected = (state: CaseState, event: DetectedEvent): CaseState => {
  const detection = state.detection as Detection;
  switch (event.type) {
    case "case.manifest-received":
      return received(state, event.data, detection);
    case "case.prediction-amended": {
      const { airport, flight, disruption, ...told } = event.data;
      return { ...state, airport, flight, disruption, detection: { ...detection, ...told } };
    }
    case "case.manifest-missed":
      return { ...state, detection: { ...detection, isManifestMissed: true } };
    case "case.facts-amended":
      return { ...state, ...event.data };
    case "case.difference-noted":
      return state;
    case "case.prediction-noted":
    case "case.withdrawal-noted":
      return { ...state, detection: { ...detection, ...event.data } };
    case "case.taken-in-hand":
      return { ...state, detection: { ...detection, takenBy: event.data.by } };
    default:
      return event satisfies never;
  }
};

/** From here on the case is as the push alone would have opened it; what was corrected meanwhile counts by when it was decided. */
const received = (state: CaseState, opened: CaseState, detection: Detection): CaseState => {
  const { awaiting, source: _, createdAt: __, createdBy: ___, correlationUrn: ____, ...facts } = opened;
  const { pendingNextFlight, nextFlightDecidedAt, ...kept } = state;
  const isLater =
    opened.nextFlight === undefined ||
    (nextFlightDecidedAt !== undefined && nextFlightDecidedAt > opened.disruption.decidedAt);
  return {
    ...kept,
    ...facts,
    detection: { ...detection, isPushed: true },
    ...(isLater && pendingNextFlight !== undefined ? { pendingNextFlight } : {}),
    ...(isLater && nextFlightDecidedAt !== undefined ? { nextFlightDecidedAt } : {}),
    // Who is stranded may still come by an amendment.
    ...(opened.groups.length === 0 || awaiting === undefined ? {} : { awaiting }),
  };
};
