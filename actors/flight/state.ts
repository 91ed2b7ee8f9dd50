/** Owns what the service knows of a flight that a feed has told of: each vendor's newest word, what was made of it, and its case. */
import type { FlightPrediction, PredictionState } from "../../schemas/flight.ts";
import type { DisruptionType } from "../../schemas/vocabulary.ts";

/** Of flight documents. */
export const schemaVersion = 1;

/** What a vendor has said last. */
export interface Word {
  eventId: string;
  /** By the vendor's clock, but not far ahead of ours: it would shut out all that comes until then. */
  observedAt: Date;
  /** The vendor's own count. */
  sequence: number;
  origin: string;
  destination: string;
  scheduledDeparture: Date;
  type: DisruptionType;
  reason: string;
  /** 0 to 1. */
  probability: number;
  state: PredictionState;
}

/** Every vendor's word taken together. */
export interface Standing extends Word {
  vendor: string;
}

/** A case that was asked for. `OVER`: it has been told that nothing is disrupted any more. */
export interface Opening {
  /** Which detection it was asked for at. */
  crossing: number;
  /** The one asked for; once it is known, the one that there is. */
  caseId: string;
  state: "ASKED" | "OPENED" | "ELSEWHERE" | "OVER";
  /** What it knows of the flight. */
  known: Standing & { threshold: number };
}

export interface FlightState {
  number: string;
  /** Where the passengers are, should it not leave. */
  origin: string;
  /** By vendor. */
  words: Readonly<Record<string, Word>>;
  /** The newest event ids, each with its vendor in front: told again they are nothing new. */
  heard: string[];
  /** How often its disruption has been detected. */
  crossings: number;
  /** Set while a disruption is more probable than some policy's threshold. */
  detection?: { at: Date; threshold: number };
  opening?: Opening;
  /** Counts what its case was told. */
  told: number;
  /** When the document goes: long after anybody could say anything of the flight. */
  keptUntil: Date;
}

export type FlightEvent =
  | {
      type: "flight.predicted";
      data: { number: string; origin: string; vendor: string; word: Word; keptUntil: Date };
    }
  | { type: "flight.detected"; data: { at: Date; threshold: number; standing: Standing; airport: string } }
  /** No policy's threshold is exceeded any more. `withdrawn`: nobody speaks of a disruption any more. */
  | { type: "flight.receded"; data: { at: Date; withdrawn: boolean; standing: Standing } }
  | {
      type: "flight.case-asked";
      data: { caseId: string; standing: Standing; threshold: number; airport: string };
    }
  | { type: "flight.case-noted"; data: { caseId: string; state: "OPENED" | "ELSEWHERE" } }
  | {
      type: "flight.case-told";
      data: { withdrawn: boolean; standing: Standing; threshold: number; airport: string };
    };

/** What changes nothing that anybody is told of. */
export const technicalEvents: ReadonlySet<string> = new Set<FlightEvent["type"]>([
  "flight.predicted",
  "flight.case-noted",
]);

const heardMax = 64;

export const evolve = (before: FlightState | undefined, event: FlightEvent): FlightState => {
  if (event.type === "flight.predicted") return predicted(before, event.data);
  const state = before as FlightState;
  switch (event.type) {
    case "flight.detected": {
      const { at, threshold } = event.data;
      return { ...state, crossings: state.crossings + 1, detection: { at, threshold } };
    }
    case "flight.receded": {
      const { detection: _, ...rest } = state;
      return rest;
    }
    case "flight.case-asked": {
      const { caseId, standing, threshold } = event.data;
      const known = { ...standing, threshold };
      const opening: Opening = { crossing: state.crossings, caseId, state: "ASKED", known };
      return { ...state, opening, told: state.told + 1 };
    }
    case "flight.case-noted":
      return { ...state, opening: { ...(state.opening as Opening), ...event.data } };
    case "flight.case-told": {
      const { withdrawn, standing, threshold } = event.data;
      const opening: Opening = { ...(state.opening as Opening), known: { ...standing, threshold } };
      if (withdrawn) opening.state = "OVER";
      return { ...state, opening, told: state.told + 1 };
    }
    default:
      return event satisfies never;
  }
};

const predicted = (
  before: FlightState | undefined,
  { number, origin, vendor, word, keptUntil }: Extract<FlightEvent, { type: "flight.predicted" }>["data"],
): FlightState => ({
  ...(before ?? { number, origin, crossings: 0, told: 0, heard: [] }),
  words: { ...before?.words, [vendor]: word },
  heard: [...(before?.heard ?? []), heardAs(vendor, word)].slice(-heardMax),
  keptUntil,
});

export const heardAs = (vendor: string, { eventId }: Pick<FlightPrediction, "eventId">): string =>
  `${vendor} ${eventId}`;

/** 0 to 1; what is confirmed is certain, and what is withdrawn is nothing. */
export const likelihoodOf = ({ state, probability }: Pick<Word, "state" | "probability">): number =>
  state === "CONFIRMED" ? 1 : state === "WITHDRAWN" ? 0 : probability;

/** The vendor's word that speaks of a disruption the most; of two alike the newer one. Undefined: nobody has said anything. */
export const standingOf = (words: FlightState["words"]): Standing | undefined =>
  Object.entries(words)
    .map(([vendor, word]): Standing => ({ ...word, vendor }))
    .sort(
      (a, b) =>
        likelihoodOf(b) - likelihoodOf(a) ||
        b.observedAt.getTime() - a.observedAt.getTime() ||
        (a.vendor < b.vendor ? -1 : 1),
    )[0];
