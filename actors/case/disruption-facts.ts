/**
 * Owns what becomes of a disruption that is told of otherwise than its case was opened with: as long as nobody is provided for, the case
 * follows it; after that what changes nobody's place is taken over, and about the rest a person decides.
 */
import { type FlightFacts, flightNumberOf } from "../../schemas/flight.ts";
import { type DisruptionReason, type DisruptionType, disruptionReasons } from "../../schemas/vocabulary.ts";
import { type Facts, flightIn, isAwaitingManifest } from "./detected-state.ts";
import type { CaseEvent, CaseState } from "./state.ts";

export const reasonOf = (raw: string): { reason: DisruptionReason; reasonRaw?: string } =>
  (disruptionReasons as readonly string[]).includes(raw)
    ? { reason: raw as DisruptionReason }
    : { reason: "OTHER", reasonRaw: raw };

/** What a feed or an airline says of a flight; times are ISO 8601. */
interface Told {
  flight: FlightFacts;
  /** Where its passengers are. */
  airport: string;
  disruption: { type: DisruptionType; reason: string; airport?: string; decidedAt: string };
}

/** Of an operator's declaration the flight alone, where it says nothing of what has happened to it. */
export type ToldFacts = Told | Pick<Told, "flight">;

export const factsOf = ({ flight, airport, disruption }: Told): Facts => {
  const { reason, decidedAt, ...rest } = disruption;
  return {
    airport,
    flight: flightIn(flight),
    disruption: { ...rest, ...reasonOf(reason), decidedAt: new Date(decidedAt) },
  };
};

/** @param teller as a sentence begins with it */
export const decideFacts = (state: CaseState, told: ToldFacts, teller: string): CaseEvent[] => {
  const { airport, flight, disruption, plannedAt } = state;
  const facts = "airport" in told ? factsOf(told) : { airport, flight: flightIn(told.flight), disruption };
  const where = placesTold(state, facts);
  const what = whatIsTold(state, facts);
  if (where.length + what.length === 0) return [];
  if (isAwaitingManifest(state)) return [{ type: "case.facts-amended", data: facts }];
  if (where.length > 0) {
    const says = [...where, ...what].join(", ");
    const detail = `${teller} says ${says}. Rooms are sought by what was said before: settle the passengers by hand, or close the case and open it anew.`;
    return [{ type: "case.difference-noted", data: { says, detail } }];
  }
  // Who is planned is planned by when it was decided first.
  const decidedAt = plannedAt === undefined ? facts.disruption.decidedAt : disruption.decidedAt;
  return [
    {
      type: "case.facts-amended",
      data: { airport, flight, disruption: { ...facts.disruption, decidedAt } },
    },
  ];
};

const differing = (rows: readonly (readonly [what: string, before: string, now: string])[]): string[] =>
  rows.flatMap(([what, before, now]) => (before === now ? [] : [`${what} ${now} instead of ${before}`]));

/** Where and when: what is provided already hangs on it. */
const placesTold = (before: Facts, now: Facts): string[] =>
  differing([
    ["airport", before.airport, now.airport],
    ["flight", flightNumberOf(before.flight.number), flightNumberOf(now.flight.number)],
    ["origin", before.flight.origin, now.flight.origin],
    ["destination", before.flight.destination, now.flight.destination],
    [
      "departure",
      before.flight.scheduledDeparture.toISOString(),
      now.flight.scheduledDeparture.toISOString(),
    ],
  ]);

const whatIsTold = ({ disruption: before }: Facts, { disruption: now }: Facts): string[] =>
  differing([
    ["type", before.type, now.type],
    ["reason", before.reasonRaw ?? before.reason, now.reasonRaw ?? now.reason],
  ]);
