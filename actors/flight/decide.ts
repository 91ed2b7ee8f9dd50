/** Owns when a predicted disruption is detected, when it opens a case, and what that case is told later. Pure. */
import {
  type DetectionTerm,
  detectionThresholdDefault,
  type FlightCaseNote,
  flightKeyOf,
  flightNumberOf,
  type NotePrediction,
} from "../../schemas/flight.ts";
import { derivedId } from "../runtime/clock.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import {
  evolve,
  type FlightEvent,
  type FlightState,
  heardAs,
  likelihoodOf,
  type Standing,
  standingOf,
  type Word,
} from "./state.ts";

/** Between the clocks of the vendor and ours. */
const skewMs = 5 * 60_000;
/** After the departure. */
const keptMs = 30 * 86_400_000;

/** The same for whoever tells of the flight. Its time is that of the flight's day, so that a new schedule makes no other flight. */
export const flightIdOf = (tenant: string, { flight }: Pick<NotePrediction, "flight">): string => {
  const scheduledDeparture = new Date(flight.scheduledDeparture);
  const key = flightKeyOf({ ...flight, scheduledDeparture });
  return derivedId(tenant, `flight/${key}`, new Date(key.slice(-10)));
};

const wordOf = (prediction: NotePrediction, now: Date): Word => ({
  eventId: prediction.eventId,
  observedAt: new Date(Math.min(Date.parse(prediction.observedAt), now.getTime() + skewMs)),
  sequence: prediction.sequence,
  origin: prediction.flight.origin,
  destination: prediction.flight.destination,
  scheduledDeparture: new Date(prediction.flight.scheduledDeparture),
  type: prediction.type,
  reason: prediction.reason,
  probability: prediction.probability,
  state: prediction.state,
});

const isEarlier = (one: Word, other: Word): boolean =>
  one.observedAt < other.observedAt ||
  (one.observedAt.getTime() === other.observedAt.getTime() && one.sequence < other.sequence);

/** Undefined: heard before, or overtaken by what the vendor has said since. */
const heardNow = (state: FlightState | undefined, { data, now }: Received): FlightEvent | undefined => {
  const prediction = data as NotePrediction;
  const { vendor, flight } = prediction;
  const word = wordOf(prediction, now);
  const last = state?.words[vendor];
  if (state?.heard.includes(heardAs(vendor, prediction))) return undefined;
  if (last !== undefined && isEarlier(word, last)) return undefined;
  const keptUntil = new Date(word.scheduledDeparture.getTime() + keptMs);
  const number = flightNumberOf(flight.number);
  return { type: "flight.predicted", data: { number, origin: flight.origin, vendor, word, keptUntil } };
};

/** As the flight will stand with what has come; undefined: nothing is new. For what must be read before the decision. */
export const standingAfter = (state: FlightState | undefined, command: Received): Standing | undefined => {
  const event = heardNow(state, command);
  return event === undefined ? undefined : standingOf(evolve(state, event).words);
};

/** Where the passengers are stranded: at the destination of a diversion or missed connection, else at the origin. */
export const airportOf = ({ type, origin, destination }: Standing): string =>
  type === "DIVERTED" || type === "MISSED_CONNECTION" ? destination : origin;

/** @param gathered the policies in force at the airport of {@link standingAfter} */
export const decide = (
  state: FlightState | undefined,
  command: Received,
  gathered: unknown,
): FlightEvent[] => {
  if (command.name === "flight.note-case") return noteCase(state, command);
  const heard = heardNow(state, command);
  if (heard === undefined) return [];
  const terms = gathered as DetectionTerm[];
  const events: FlightEvent[] = [heard];
  const add = (event: FlightEvent | undefined): void => {
    if (event !== undefined) events.push(event);
  };
  const now = (): FlightState => events.reduce<FlightState | undefined>(evolve, state) as FlightState;
  add(crossed(now(), terms, command));
  add(asked(now(), terms, command));
  add(told(now(), terms));
  return events;
};

const exceededBy = (standing: Standing, terms: readonly DetectionTerm[]): DetectionTerm[] => {
  const likelihood = likelihoodOf(standing);
  const inForce = terms.length > 0 ? terms : [byDefault];
  return inForce.filter(({ threshold }) => likelihood > threshold || likelihood === 1);
};

const byDefault: DetectionTerm = {
  policyId: "",
  version: 0,
  threshold: detectionThresholdDefault,
  opens: false,
};

/** The one that is crossed first. */
const lowest = (terms: readonly DetectionTerm[]): number =>
  Math.min(...terms.map(({ threshold }) => threshold), ...(terms.length === 0 ? [byDefault.threshold] : []));

/** Contract, "Outbound webhooks": told of once for each time that the probability comes to exceed a threshold. */
const crossed = (
  state: FlightState,
  terms: readonly DetectionTerm[],
  { now }: Received,
): FlightEvent | undefined => {
  const standing = standingOf(state.words) as Standing;
  const exceeded = exceededBy(standing, terms);
  if (state.detection === undefined && exceeded.length > 0) {
    const airport = airportOf(standing);
    return { type: "flight.detected", data: { at: now, threshold: lowest(exceeded), standing, airport } };
  }
  if (state.detection === undefined || exceeded.length > 0) return undefined;
  const withdrawn = standing.state === "WITHDRAWN";
  return { type: "flight.receded", data: { at: now, withdrawn, standing } };
};

/** A case, where a policy whose threshold is exceeded wants one, and none was asked for that has not ended. */
const asked = (
  state: FlightState,
  terms: readonly DetectionTerm[],
  { tenant, now }: Received,
): FlightEvent | undefined => {
  const { detection, opening, crossings } = state;
  const standing = standingOf(state.words) as Standing;
  if (detection === undefined || !exceededBy(standing, terms).some(({ opens }) => opens)) return undefined;
  const isOver =
    opening?.state === "OVER" || (opening?.state === "ELSEWHERE" && opening.crossing < crossings);
  if (opening !== undefined && !isOver) return undefined;
  const seed = `flight/${flightKeyOf({ ...state, scheduledDeparture: standing.scheduledDeparture })}/${crossings}`;
  const caseId = derivedId(tenant, seed, now);
  const { threshold } = detection;
  return { type: "flight.case-asked", data: { caseId, standing, threshold, airport: airportOf(standing) } };
};

/** The case has answered: what has been heard since it was asked for is told now. */
const noteCase = (state: FlightState | undefined, command: Received): FlightEvent[] => {
  if (state === undefined) throw new NotYet("The flight is not known yet.");
  const { crossing, caseId, standing } = command.data as FlightCaseNote;
  const { opening } = state;
  if (opening?.crossing !== crossing) return [];
  // One that was elsewhere may have been closed while the question came again, or been opened again; one that was open may be closed.
  const isNews =
    opening.state === "ASKED" ||
    (opening.state === "ELSEWHERE" && standing === "OPENED") ||
    (opening.state === "OPENED" && standing === "ELSEWHERE" && opening.caseId === caseId);
  if (!isNews) return [];
  const noted: FlightEvent = { type: "flight.case-noted", data: { caseId, state: standing } };
  const more = told(evolve(state, noted), undefined);
  return more === undefined ? [noted] : [noted, more];
};

/** What a case that the feed has opened must hear of: anything but that it is somewhat less probable than it thinks. */
const told = (state: FlightState, terms: readonly DetectionTerm[] | undefined): FlightEvent | undefined => {
  const { opening, detection } = state;
  const standing = standingOf(state.words) as Standing;
  if (opening?.state !== "OPENED" || !isNews(opening.known, standing, detection !== undefined))
    return undefined;
  const threshold = detection?.threshold ?? (terms === undefined ? opening.known.threshold : lowest(terms));
  const withdrawn = standing.state === "WITHDRAWN";
  return { type: "flight.case-told", data: { withdrawn, standing, threshold, airport: airportOf(standing) } };
};

const factsOf = ({ type, reason, destination, scheduledDeparture, state }: Standing): string =>
  [type, reason, destination, scheduledDeparture.toISOString(), state].join("\n");

const isNews = (
  known: Standing & { threshold: number },
  standing: Standing,
  isDetected: boolean,
): boolean => {
  if (factsOf(known) !== factsOf(standing)) return true;
  const [before, now] = [likelihoodOf(known), likelihoodOf(standing)];
  const wasAbove = before > known.threshold || before === 1;
  return now > before || (wasAbove && !isDetected);
};
