/** Wires the flight actor: what feeds predict of an airline's flights, and what follows from it. */
import type { DetectedDisruption, DetectionTerm, OpenDetected } from "../../schemas/flight.ts";
import { type DisruptionReason, disruptionReasons } from "../../schemas/vocabulary.ts";
import type { Change, Decider, Outgoing, Received } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { airportOf, decide, flightIdOf, standingAfter } from "./decide.ts";
import {
  evolve,
  type FlightEvent,
  type FlightState,
  likelihoodOf,
  type Opening,
  type Standing,
  schemaVersion,
  technicalEvents,
} from "./state.ts";

const flights = (context: ActorContext): Decider<FlightState, FlightEvent> => ({
  actor: "flight",
  kind: "flight",
  collection: "flights",
  schemaVersion,
  commands: ["note-prediction", "note-case"],
  indexes: [{ name: "kept-until", key: { keptUntil: 1 }, expireAfterSeconds: 0 }],
  technical: technicalEvents,
  locate: ({ name, tenant, data }) =>
    name === "flight.note-prediction" ? { _id: flightIdOf(tenant, data as never) } : undefined,
  create: ({ name, tenant, data }) =>
    name === "flight.note-prediction" ? flightIdOf(tenant, data as never) : undefined,
  gathersFor: ({ name }) => name === "flight.note-prediction",
  gather: (command, state) => gather(context, command, state),
  decide,
  evolve,
  outgoing,
  view: () => null,
  audit,
});

const gather = async (
  context: ActorContext,
  command: Received,
  state: FlightState | undefined,
): Promise<DetectionTerm[]> => {
  const standing = standingAfter(state, command);
  if (standing === undefined) return [];
  const params = { airport: airportOf(standing) };
  return context.call<DetectionTerm[]>("policy.detection-terms", { ...command, params });
};

export const outgoing = (event: FlightEvent, state: FlightState, _: Received, id: string): Outgoing[] => {
  switch (event.type) {
    case "flight.detected": {
      const { standing, threshold, airport } = event.data;
      return [
        {
          to: "public",
          type: "disruption.detected",
          data: {
            flight: {
              iataDesignator: state.number,
              originAirport: standing.origin,
              destinationAirport: standing.destination,
              scheduledDeparture: standing.scheduledDeparture,
            },
            disruption: { type: standing.type, reason: reasonOf(standing.reason) },
            airport,
            probability: likelihoodOf(standing),
            threshold,
            certainty: standing.state,
          },
        },
      ];
    }
    case "flight.case-asked": {
      const { crossing, caseId } = state.opening as Opening;
      const data: OpenDetected = { ...detectedOf(event.data, state, id), crossing };
      return [{ to: "command", name: "case.open-detected", entity: caseId, data }];
    }
    case "flight.case-told": {
      const { caseId } = state.opening as Opening;
      const name = event.data.withdrawn ? "case.withdraw-detected" : "case.amend-detected";
      return [{ to: "command", name, entity: caseId, data: detectedOf(event.data, state, id) }];
    }
    case "flight.predicted":
    case "flight.receded":
    case "flight.case-noted":
      return [];
    default:
      return event satisfies never;
  }
};

const reasonOf = (raw: string): DisruptionReason =>
  (disruptionReasons as readonly string[]).includes(raw) ? (raw as DisruptionReason) : "OTHER";

const detectedOf = (
  { standing, threshold, airport }: { standing: Standing; threshold: number; airport: string },
  { number, told }: FlightState,
  flightId: string,
): DetectedDisruption => ({
  flightId,
  told,
  airport,
  flight: {
    number,
    origin: standing.origin,
    destination: standing.destination,
    scheduledDeparture: standing.scheduledDeparture.toISOString(),
  },
  disruption: {
    type: standing.type,
    reason: standing.reason,
    decidedAt: standing.observedAt.toISOString(),
  },
  prediction: {
    probability: likelihoodOf(standing),
    threshold,
    state: standing.state,
    vendor: standing.vendor,
    eventId: standing.eventId,
    observedAt: standing.observedAt.toISOString(),
  },
});

/** Whatever somebody is told of; that a vendor has said one more thing of a flight is no act of anybody's. */
const audit = ({ command, before, after, events }: Change<FlightState, FlightEvent>) => {
  const acts = events.filter(({ type }) => !technicalEvents.has(type));
  const act = acts[0];
  if (act === undefined || !("standing" in act.data)) return null;
  const { vendor, eventId } = act.data.standing;
  return {
    action: act.type,
    airport: airportOf(act.data.standing),
    reason: `The flight feed ${vendor} has told it (event ${eventId}).`,
    before: before === undefined ? null : snapshot(before),
    after: { ...snapshot(after), acts: acts.map(({ type }) => type), by: command.name },
  };
};

/** What an auditor compares. */
const snapshot = ({ number, words, crossings, detection, opening }: FlightState) => ({
  number,
  words,
  crossings,
  ...(detection === undefined ? {} : { detection }),
  ...(opening === undefined ? {} : { case: { caseId: opening.caseId, state: opening.state } }),
});

export const flightActor = (context: ActorContext): Actor => ({
  name: "flight",
  deciders: [flights(context)],
});
