/**
 * Owns what the flight feed does to a case: it opens one whose manifest comes later, tells what it learns, and takes it back. Once the
 * airline has pushed the disruption the feed has no say in it any more.
 */
import type { DetectedDisruption, FlightCaseNote, OpenDetected } from "../../schemas/flight.ts";
import { urn } from "../../schemas/urn.ts";
import { NotYet, type Outgoing, type Received } from "../runtime/decider.ts";
import {
  type DetectedEvent,
  type Detection,
  feedEventId,
  isAwaitingManifest,
  isAwaitingPush,
  manifestDueAt,
  manifestTimers,
  type Prediction,
  type Told,
} from "./detected-state.ts";
import { decideFacts, factsOf } from "./disruption-facts.ts";
import { item } from "./items.ts";
import type { CaseEvent, CaseState } from "./state.ts";

const predictionOf = ({ prediction: { observedAt, ...rest } }: DetectedDisruption): Prediction => ({
  ...rest,
  observedAt: new Date(observedAt),
});

/** @param flightClaim so that no second case is opened for the flight */
export const decideOpenDetected = (
  state: CaseState | undefined,
  command: Received,
  flightClaim: string,
): CaseEvent[] => {
  if (state !== undefined) return [];
  const data = command.data as OpenDetected;
  const { flightId, crossing, told } = data;
  const opened: CaseState = {
    externalEventId: feedEventId(data),
    // No body has come yet; whichever does is the first.
    bodyHash: "",
    otherBodies: [],
    status: "OPEN",
    source: "FEED",
    ...factsOf(data),
    flightClaim,
    detection: {
      ...{ flightId, crossing, told, prediction: predictionOf(data) },
      manifestDueAt: manifestDueAt(data, undefined, command.now),
    },
    createdAt: command.now,
    createdBy: command.principal.urn,
    correlationUrn: command.correlationUrn,
    groups: [],
    progress: "",
    rooms: "",
    rounds: "",
    onDesk: [],
    manifest: [],
    provisioned: 0,
    policies: {},
    demands: [],
  };
  return [{ type: "case.registered", data: opened }];
};

/** What the flight knows now; of two the newer one counts, in whatever order they come. */
export const decideAmendDetected = (state: CaseState | undefined, command: Received): CaseEvent[] => {
  const data = command.data as DetectedDisruption;
  const told = newsFor(state, data);
  if (state === undefined || told === undefined) return [];
  if (isAwaitingPush(state) && isAwaitingManifest(state))
    return [
      {
        type: "case.prediction-amended",
        data: {
          ...{ ...told, ...factsOf(data) },
          manifestDueAt: manifestDueAt(data, state.detection, command.now),
        },
      },
    ];
  const noted: CaseEvent = { type: "case.prediction-noted", data: told };
  // What the airline has said itself stands.
  if (!isAwaitingPush(state)) return [noted];
  return [noted, ...decideFacts(state, data, `The flight feed ${told.prediction.vendor}`)];
};

/** The timer: somebody asks the airline, whom nobody need ask once it has said so. */
export const decideMissManifest = (state: CaseState, { now }: Received): CaseEvent[] =>
  manifestTimers(state).some(({ dueAt }) => dueAt <= now) ? [{ type: "case.manifest-missed", data: {} }] : [];

/** A case that nobody has touched is closed; about any other a person decides. */
export const decideWithdrawDetected = (state: CaseState | undefined, command: Received): CaseEvent[] => {
  const data = command.data as DetectedDisruption;
  const told = newsFor(state, data);
  if (state === undefined || told === undefined) return [];
  const isUntouched =
    isAwaitingManifest(state) && isAwaitingPush(state) && state.detection?.takenBy === undefined;
  if (!isUntouched) return [{ type: "case.withdrawal-noted", data: told }];
  const reason = withdrawnReason(told.prediction);
  return [
    { type: "case.prediction-noted", data: told },
    { type: "case.closed", data: { at: command.now, by: command.principal.urn, reason } },
  ];
};

const withdrawnReason = ({ vendor, eventId }: Prediction): string =>
  `The flight feed ${vendor} has withdrawn the disruption (event ${eventId}), and nobody had begun to work on it.`;

const newsFor = (
  state: CaseState | undefined,
  data: DetectedDisruption & Partial<Pick<OpenDetected, "crossing">>,
): Told | undefined => {
  if (state === undefined) throw new NotYet("The case does not exist yet.");
  const { detection } = state;
  const { told, crossing } = data;
  if (detection === undefined || told <= detection.told) return undefined;
  return { told, prediction: predictionOf(data), ...(crossing === undefined ? {} : { crossing }) };
};

/** Of a case that the feed has opened: who works on it is not to find it closed. */
export const takenInHand = (state: CaseState, { principal }: Received, events: CaseEvent[]): CaseEvent[] =>
  state.detection === undefined ||
  state.detection.takenBy !== undefined ||
  principal.surface === "system" ||
  events.length === 0
    ? []
    : [{ type: "case.taken-in-hand", data: { by: principal.urn } }];

/** Told as soon as the case is there: its passengers are nobody's yet, since nobody knows them. */
export const openedByFeed = (state: CaseState, caseId: string): Outgoing[] => {
  const { externalEventId, status, airport, disruption } = state;
  return [
    {
      to: "public",
      type: "case.opened",
      caseId,
      data: {
        externalEventId,
        status,
        airport,
        flight: flightOf(state),
        disruption: { type: disruption.type, reason: disruption.reason },
        subCaseCount: 0,
      },
    },
    ...noteFlight(state, caseId, "OPENED"),
  ];
};

/** The flight tells a closed case nothing more, and asks for another at its next detection; one that is open again it tells. */
export const noteFlight = (
  { detection }: CaseState,
  caseId: string,
  standing: FlightCaseNote["standing"],
): Outgoing[] => {
  if (detection === undefined) return [];
  const { flightId, crossing } = detection;
  const data: FlightCaseNote = { crossing, caseId, standing };
  return [{ to: "command", name: "flight.note-case", entity: flightId, data }];
};

export const flightOf = ({ flight }: CaseState) => ({
  iataDesignator: flight.number,
  originAirport: flight.origin,
  destinationAirport: flight.destination,
  scheduledDeparture: flight.scheduledDeparture,
});

export const detectedOut = (event: DetectedEvent, state: CaseState, caseId: string): Outgoing[] => {
  switch (event.type) {
    case "case.manifest-received":
      return [disruptionAmended(state, caseId), ...manifestCame(state, caseId)];
    case "case.prediction-amended":
      return [disruptionAmended(state, caseId), ...askedAnew(event.data, state, caseId)];
    case "case.facts-amended":
      return [disruptionAmended(state, caseId)];
    case "case.manifest-missed":
      return [missingManifestItem(state, caseId)];
    case "case.difference-noted":
      return [differenceItem(state, caseId, event.data)];
    case "case.withdrawal-noted":
      return [withdrawnItem(state, caseId, event.data.prediction)];
    case "case.prediction-noted":
      return askedAnew(event.data, state, caseId);
    case "case.taken-in-hand":
      return [];
    default:
      return event satisfies never;
  }
};

/** The flight wanted a case for another detection, and this one is still open. */
const askedAnew = ({ crossing }: Told, state: CaseState, caseId: string): Outgoing[] =>
  crossing === undefined ? [] : noteFlight(state, caseId, "OPENED");

/** Contract, "Outbound webhooks": case.amended; of a case that was opened before its airline told of it. */
const disruptionAmended = (state: CaseState, caseId: string): Outgoing => {
  const { externalEventId, airport, disruption, detection } = state;
  const { probability, state: certainty } = (detection as Detection).prediction;
  return {
    to: "public",
    type: "case.amended",
    caseId,
    data: {
      externalEventId,
      change: "DISRUPTION",
      airport,
      flight: flightOf(state),
      disruption: { type: disruption.type, reason: disruption.reason },
      ...(detection?.isPushed ? {} : { probability, certainty }),
      groups: [],
    },
  };
};

const amendedGroupsMax = 500;

/** The manifest of a case that was told of before it had one is owned now. */
export const manifestProvisioned = ({ externalEventId, groups }: CaseState, caseId: string): Outgoing[] =>
  Array.from({ length: Math.ceil(groups.length / amendedGroupsMax) }, (_, i) => ({
    to: "public",
    type: "case.amended",
    caseId,
    data: {
      externalEventId,
      change: "PASSENGERS",
      groups: groups
        .slice(i * amendedGroupsMax, (i + 1) * amendedGroupsMax)
        .map(({ groupId, subCaseId }) => ({ groupId, subCaseUrn: urn("sub-case", subCaseId) })),
    },
  }));

const withdrawnItem = (state: CaseState, caseId: string, { vendor, eventId }: Prediction): Outgoing =>
  item(state, caseId, {
    category: "PARTIAL_FULFILLMENT",
    origin: "flight-feed",
    detail: `The flight feed ${vendor} has withdrawn this disruption after the case was taken up. Close the case, or go on with it.`,
    groups: state.groups.map(({ groupId }) => groupId),
    occurrence: eventId,
  });

const differenceItem = (
  state: CaseState,
  caseId: string,
  { says, detail }: { says: string; detail: string },
): Outgoing =>
  item(state, caseId, {
    category: "DATA_INCOMPLETE",
    origin: "flight-feed",
    detail,
    groups: state.groups.map(({ groupId }) => groupId),
    occurrence: says,
  });

const missingManifestItem = (state: CaseState, caseId: string): Outgoing =>
  item(state, caseId, {
    category: "DATA_INCOMPLETE",
    origin: "flight-feed",
    detail: "The airline has not told who is stranded. Ask for its manifest, or close the case.",
    groups: [],
    occurrence: "manifest",
  });

/** Takes that item off the desks again. */
export const manifestCame = ({ detection, groups }: CaseState, caseId: string): Outgoing[] =>
  detection?.isManifestMissed && groups.length > 0
    ? [{ to: "command", name: "review.note-manifest", entity: caseId, data: {} }]
    : [];
