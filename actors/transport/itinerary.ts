/** Owns the story of one transfer's decision, and its moves: a segment planned, seats sought, given up, and what the saga is answered. */
import type { SeatHolder } from "../../schemas/transport.ts";
import type { Direction } from "../../schemas/vocabulary.ts";
import { derivedId } from "../runtime/clock.ts";
import { nextPickup } from "./pickup.ts";
import {
  type Asked,
  evolveTransfer,
  type Leaving,
  type Order,
  type Segment,
  type TransferEvent,
  type TransferState,
  type Waiting,
  type Wanted,
} from "./transfer-state.ts";
import { type CallSettings, deadlineAfter } from "./vehicle-call.ts";

/** Collects events while following the state that they lead to. */
export class Itinerary {
  readonly events: TransferEvent[] = [];
  readonly transferId: string;
  readonly now: Date;
  readonly settings: CallSettings;
  #state: TransferState | undefined;

  constructor(transferId: string, state: TransferState | undefined, now: Date, settings: CallSettings) {
    this.transferId = transferId;
    this.#state = state;
    this.now = now;
    this.settings = settings;
  }

  /** Of a transfer that stands; before its first order there is none. */
  get state(): TransferState {
    return this.#state as TransferState;
  }

  get exists(): boolean {
    return this.#state !== undefined;
  }

  get tenant(): string {
    return this.transferId.slice(0, this.transferId.indexOf("-"));
  }

  tell(event: TransferEvent): void {
    this.events.push(event);
    this.#state = evolveTransfer(this.#state, event);
  }

  order(reference: string): Order | undefined {
    return this.exists ? this.state.orders.find((order) => order.reference === reference) : undefined;
  }

  segment(segmentId: string): Segment | undefined {
    return this.exists ? this.state.segments.find((segment) => segment.segmentId === segmentId) : undefined;
  }

  /** What the saga has ordered with this reference. */
  ofSaga(reference: string, direction: Direction): Segment | undefined {
    return this.state.segments.find(
      (segment) =>
        segment.origin === "saga" && segment.reference === reference && segment.direction === direction,
    );
  }
}

/** One run for all who share; a vehicle of their own has a run of its own for each search. */
export const runIdOf = (order: Order, segment: Segment, attempt: number, wanted: Wanted): string => {
  const { vendor, kind = "", airportPlace, hotelUrn, airport } = order;
  const { vehicleType, scheduledAt } = wanted;
  const own = vehicleType === "SHUTTLE" ? "" : `${segment.segmentId}.${attempt}`;
  const seed = [
    "run",
    vendor,
    kind,
    airport,
    airportPlace.label,
    hotelUrn,
    segment.direction,
    vehicleType,
    scheduledAt.toISOString(),
    own,
  ];
  const tenant = segment.segmentId.slice(0, segment.segmentId.indexOf("-"));
  return derivedId(tenant, JSON.stringify(seed), scheduledAt);
};

const waiting = ({ now, settings }: Itinerary, attempt: number, runId: string): Waiting => ({
  attempt,
  runId,
  tries: 1,
  dueAt: deadlineAfter(now, 1, settings),
});

const seedOf = (seed: string): string => `segment/${seed}`;

/** The random part of an id is its seed's. */
export const isSeededBy = ({ segmentId }: Segment, seed: string): boolean =>
  segmentId.endsWith(derivedId("", seedOf(seed), new Date(0)).slice(-16));

export interface Plan {
  direction: Direction;
  origin: Segment["origin"];
  wanted: Wanted;
  /** Makes its id. */
  seed: string;
}

/** A new ride, and the first search for it. @param impossible why there can be none: it is declined unsought */
export const plan = (
  itinerary: Itinerary,
  order: Order,
  { direction, origin, wanted, seed }: Plan,
  impossible?: string,
): string => {
  const { now, tenant } = itinerary;
  const segmentId = derivedId(tenant, seedOf(seed), now);
  const { reference, passengers } = order;
  const bare: Segment = {
    segmentId,
    reference,
    direction,
    origin,
    passengers,
    ...wanted,
    status: "pending",
    attempt: 0,
    createdAt: now,
  };
  itinerary.tell({ type: "segment.planned", data: { segment: bare } });
  if (impossible === undefined) seek(itinerary, bare, wanted);
  else decline(itinerary, bare, impossible);
  return segmentId;
};

/** What stands is kept until other seats are found; what is being sought is sought no more. */
export const seek = (itinerary: Itinerary, segment: Segment, wanted: Wanted): void => {
  const order = itinerary.order(segment.reference) as Order;
  giveUp(itinerary, segment, segment.sought);
  const attempt = segment.attempt + 1;
  const sought = waiting(itinerary, attempt, runIdOf(order, segment, attempt, wanted));
  const { segmentId } = segment;
  itinerary.tell({ type: "segment.sought", data: { segmentId, wanted, sought } });
};

/** Nobody drives it, and the saga does not wait for it: a person hears of it. */
export const decline = (itinerary: Itinerary, segment: Segment, detail: string): void => {
  giveUp(itinerary, segment, segment.sought);
  giveUp(itinerary, segment, segment.seat);
  const { segmentId } = segment;
  itinerary.tell({ type: "segment.declined", data: { segmentId, detail, sagaTells: false } });
};

/** The search is over: what stands is kept while it has not left, else nobody drives it. */
export const findNone = (itinerary: Itinerary, segment: Segment, detail: string): void => {
  const { segmentId, seat, sought } = segment;
  giveUp(itinerary, segment, sought);
  if (seat !== undefined && seat.scheduledAt > itinerary.now) {
    itinerary.tell({ type: "segment.kept", data: { segmentId, detail } });
    return;
  }
  giveUp(itinerary, segment, seat);
  const sagaTells = isSagas(itinerary, segment);
  itinerary.tell({ type: "segment.declined", data: { segmentId, detail, sagaTells } });
};

/** @param seats undefined: there are none */
export const giveUp = (
  itinerary: Itinerary,
  { segmentId, reference }: Segment,
  seats: { attempt: number; runId: string } | undefined,
): void => {
  if (seats === undefined) return;
  const { attempt, runId } = seats;
  const leaving: Leaving = { segmentId, reference, again: 0, ...waiting(itinerary, attempt, runId) };
  itinerary.tell({ type: "seats.given-up", data: { leaving } });
};

/** The first slot that a group can reach that is stranded by then. */
export const pickupToHotel = (now: Date, { notBefore }: Pick<Order, "notBefore">): Date =>
  nextPickup(now, notBefore === undefined ? now : new Date(notBefore));

/** Given up with all its seats. */
export const cancel = (itinerary: Itinerary, segment: Segment): void => {
  giveUp(itinerary, segment, segment.sought);
  giveUp(itinerary, segment, segment.seat);
  itinerary.tell({ type: "segment.cancelled", data: { segmentId: segment.segmentId } });
};

/** What is settled is answered at once; what is not is waited for, unless the saga waits for something later by now. */
export const ask = (itinerary: Itinerary, asked: Asked): void => {
  if (answerIfKnown(itinerary, asked) || isOvertaken(itinerary.state, asked)) return;
  itinerary.tell({ type: "transfer.asked", data: { asked } });
};

/** Tells the saga what it waits for, once that is known. */
export const settleAsked = (itinerary: Itinerary): void => {
  const { asked } = itinerary.state;
  if (asked !== undefined) answerIfKnown(itinerary, asked);
};

const answerIfKnown = (itinerary: Itinerary, asked: Asked): boolean => {
  const { verb, reference } = asked;
  const answer = verb === "book-ride" ? rideFor(itinerary, reference) : givenBack(itinerary, reference);
  if (answer !== undefined) itinerary.tell({ type: "transfer.answered", data: { asked, ...answer } });
  return answer !== undefined;
};

/** A saga waits for one call at a time: what comes late of an earlier order, or of an earlier try, nobody waits for. */
const isOvertaken = ({ asked: standing, orders }: TransferState, asked: Asked): boolean => {
  if (standing === undefined) return false;
  const place = (reference: string): number => orders.findIndex((order) => order.reference === reference);
  if (standing.reference !== asked.reference) return place(asked.reference) < place(standing.reference);
  const { again = 0, tries } = asked;
  const { again: againBefore = 0 } = standing;
  return (
    standing.verb === asked.verb && (again < againBefore || (again === againBefore && tries < standing.tries))
  );
};

type Answer = { result: object } | { refusal: { code: string; detail: string } };

const rideFor = (itinerary: Itinerary, reference: string): Answer | undefined => {
  const segment = itinerary.ofSaga(reference, "AIRPORT_TO_HOTEL");
  switch (segment?.status) {
    case "booked":
      return {
        result: {
          rideId: segment.segmentId,
          vehicleType: segment.vehicleType,
          pickupAt: segment.scheduledAt.toISOString(),
        },
      };
    case "declined":
      return { refusal: { code: "REFUSED", detail: segment.detail ?? "No vehicle could be had." } };
    case "cancelled":
      return { refusal: { code: "CANCELLED", detail: "The ride was cancelled before it was booked." } };
    default:
      return undefined;
  }
};

/** A vehicle that cannot be cancelled is somebody's work; the seats are free all the same. */
const givenBack = ({ state }: Itinerary, reference: string): Answer | undefined => {
  const open = state.leaving.filter((leaving) => leaving.reference === reference);
  if (open.some(({ refusal }) => refusal === undefined)) return undefined;
  const [stuck] = open;
  return stuck?.refusal === undefined ? { result: {} } : { refusal: stuck.refusal };
};

/** Whether the saga waits for this segment's outcome. */
export const isSagas = (
  { state }: Itinerary,
  { segmentId, direction, origin, reference }: Segment,
): boolean =>
  state.asked?.verb === "book-ride" &&
  origin === "saga" &&
  direction === "AIRPORT_TO_HOTEL" &&
  state.asked.reference === reference &&
  state.segments.some((segment) => segment.segmentId === segmentId);

export const isOfHolder = (leaving: Leaving, { segmentId, attempt }: SeatHolder): boolean =>
  leaving.segmentId === segmentId && leaving.attempt === attempt;
