/** Owns how a flight is named, and what is told of its disruption before anybody is stranded: by vendors, to the flight, to its case. */
import Type, { type Static } from "typebox";
import { airport } from "./airports.ts";
import { isoDate, localDay } from "./local-day.ts";
import { Urn } from "./urn.ts";
import { type DisruptionType, Timestamp } from "./vocabulary.ts";

/** How sure a disruption is that stands. */
export const certainties = ["PREDICTED", "CONFIRMED"] as const;
export type Certainty = (typeof certainties)[number];

export const predictionStates = [...certainties, "WITHDRAWN"] as const;
export type PredictionState = (typeof predictionStates)[number];

/** Times are ISO 8601 UTC. */
export interface FlightFacts {
  /** Airline and number, without blanks and leading zeros. */
  number: string;
  origin: string;
  destination: string;
  scheduledDeparture: string;
}

/** One thing that a flight-data vendor has told, in our words. */
export interface FlightPrediction {
  /** The vendor's own: told twice it is one. */
  eventId: string;
  /** ISO 8601 UTC, by the vendor's clock: of two the later one counts, whenever it comes. */
  observedAt: string;
  /** The vendor's own count: tells which of two of the same moment is the later one. */
  sequence: number;
  flight: FlightFacts;
  type: DisruptionType;
  /** As the vendor calls it; one of ours where we know it. */
  reason: string;
  /** 0 to 1. */
  probability: number;
  state: PredictionState;
}

/** The data of `flight.note-prediction`. */
export interface NotePrediction extends FlightPrediction {
  vendor: string;
}

/** The data of `case.open-detected`, `case.amend-detected` and `case.withdraw-detected`: the flight as it stands now. */
export interface DetectedDisruption {
  flightId: string;
  /** Counts what the flight has told of itself: of two the higher one is the newer. */
  told: number;
  /** Where the passengers will be stranded. */
  airport: string;
  flight: FlightFacts;
  disruption: { type: DisruptionType; reason: string; decidedAt: string };
  prediction: {
    probability: number;
    threshold: number;
    state: PredictionState;
    vendor: string;
    eventId: string;
    observedAt: string;
  };
}

/** The data of `case.open-detected`. */
export interface OpenDetected extends DetectedDisruption {
  /** How often this flight's disruption has been detected, from 1. */
  crossing: number;
}

/**
 * The data of `flight.note-case`. ELSEWHERE: an airline's or operator's own case is there, or the feed's own was closed: the feed has no
 * say in it.
 */
export interface FlightCaseNote {
  crossing: number;
  caseId: string;
  standing: "OPENED" | "ELSEWHERE";
}

/** From when on a predicted disruption counts, and whether it opens a case: of one policy in force at an airport. */
export interface DetectionTerm {
  policyId: string;
  version: number;
  threshold: number;
  opens: boolean;
}

/** What the names of events begin with that the feed has told of, until the airline names them. */
export const feedEventPrefix = "FEED";

/** Where neither a policy applies nor the one that does says anything. */
export const detectionThresholdDefault = 0.8;

/** What operators see of a case that the flight feed has opened. */
export const PredictionView = Type.Object(
  {
    flightUrn: Urn("flight"),
    state: Type.Enum([...predictionStates]),
    probability: Type.Number({ minimum: 0, maximum: 1, examples: [0.92] }),
    threshold: Type.Number({ minimum: 0, maximum: 1, examples: [0.8] }),
    vendor: Type.String({ examples: ["skywatch"], description: "Of flight data." }),
    observedAt: Timestamp,
  },
  { description: "Of a case that the flight feed has opened: what the feed said of the flight last." },
);
export type PredictionView = Static<typeof PredictionView>;

const designator = /^([A-Z0-9]{2}[A-Z]?) ?0*([0-9]{1,4}[A-Z]?)$/;

/** `XN 0482` and `XN482` are the same flight; what is no designator stays as it is. */
export const flightNumberOf = (text: string): string => {
  const [, airline, number] = designator.exec(text.trim().toUpperCase()) ?? [];
  return airline === undefined ? text : `${airline}${number}`;
};

/** Whether the flight is flown under this airline's own designator. @param number as {@link flightNumberOf} writes it */
export const isFlownBy = (airlineCode: string, number: string): boolean =>
  number.startsWith(airlineCode) && /^[0-9]{1,4}[A-Z]?$/.test(number.slice(airlineCode.length));

/**
 * What a flight is known by within its airline, whoever tells of it: number, airport of departure and the local date there on which it
 * is scheduled to leave. Legs of one number are flights of their own.
 */
export const flightKeyOf = ({
  number,
  origin,
  scheduledDeparture,
}: {
  number: string;
  origin: string;
  scheduledDeparture: Date;
}): string => {
  const day = localDay(scheduledDeparture.getTime(), airport(origin)?.timeZone ?? "UTC", 0);
  return `${flightNumberOf(number)}/${origin}/${isoDate(day)}`;
};
