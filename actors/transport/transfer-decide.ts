/** Owns which rule answers which command to a transfer, and what its group's saga, its flight and its runs set going. */
import type { FlightFollowed, RideOrder, SeatsLeft, SeatsNote } from "../../schemas/transport.ts";
import type { VendorCall } from "../../schemas/vendor-call.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { type Desk, deskCommands, isDeskCommand, takeFromDesk } from "./desk.ts";
import {
  ask,
  cancel,
  decline,
  findNone,
  giveUp,
  Itinerary,
  isOfHolder,
  pickupToHotel,
  plan,
  seek,
  settleAsked,
} from "./itinerary.ts";
import { loseSeats } from "./lost-seats.ts";
import { ownRide, requestOwnRide } from "./own-ride.ts";
import { pickupBefore } from "./pickup.ts";
import type { Asked, Order, Segment, TransferEvent, TransferState, Wanted } from "./transfer-state.ts";
import { type CallSettings, deadlineAfter } from "./vehicle-call.ts";
import { isLive, passengersStatus, wayToHotel } from "./view.ts";

/** What a call of the saga asks for: of a ride the order, of a cancellation nothing that its reference doesn't say. */
type SagaCall = VendorCall & { request: Record<string, unknown> };

export const transferCommands = [
  "book-ride",
  "cancel-ride",
  "follow-flight",
  "note-seats",
  "note-left",
  "repeat",
  ...deskCommands,
  ownRide,
] as const;

/** @throws NotYet while what must come first has not arrived @throws Problem as the desk's rules say */
export const transferDecider =
  (settings: CallSettings) =>
  (state: TransferState | undefined, command: Received, gathered?: unknown): TransferEvent[] => {
    const itinerary = new Itinerary(command.entity, state, command.now, settings);
    const verb = command.name.slice("transport.".length);
    if (state !== undefined) requireAirport(command.principal, state.airport);
    if (isDeskCommand(verb)) takeFromDesk(itinerary, verb, command, gathered as Desk);
    else if (verb === ownRide) requestOwnRide(itinerary, command, gathered as Desk);
    else if (verb === "book-ride") bookRide(itinerary, command.data as SagaCall);
    else if (state === undefined) throw new NotYet("No ride was ordered for the group yet.");
    else follow(itinerary, verb, command.data);
    noteRides(itinerary, state);
    return itinerary.events;
  };

const follow = (itinerary: Itinerary, verb: string, data: unknown): void => {
  switch (verb) {
    case "cancel-ride":
      cancelRide(itinerary, data as VendorCall);
      break;
    case "follow-flight":
      followFlight(itinerary, data as FlightFollowed);
      break;
    case "note-seats":
      noteSeats(itinerary, data as SeatsNote);
      break;
    case "note-left":
      noteLeft(itinerary, data as SeatsLeft);
      break;
    case "repeat":
      repeatDue(itinerary);
      break;
    default:
      throw new Error(`a transfer takes no command ${verb}`);
  }
};

const askedBy = (
  verb: Asked["verb"],
  { reference, tries, again, replyTo }: VendorCall,
  vendor: string,
): Asked => ({
  verb,
  reference,
  vendor,
  tries,
  ...(again === undefined ? {} : { again }),
  replyTo,
});

/** What a group rides in where nobody has said otherwise. */
export const usual = ({ vehicleType, needs }: RideOrder, scheduledAt: Date): Wanted => ({
  scheduledAt,
  vehicleType,
  specialRequirements: needs,
});

/** Both ways. Asked again, the saga hears how the way to the hotel stands; how its group gets back is no affair of its steps. */
const bookRide = (itinerary: Itinerary, call: SagaCall): void => {
  const { reference } = call;
  const data = call.request as unknown as RideOrder;
  const known = itinerary.order(reference);
  const order: Order = known ?? { ...data, reference };
  if (known === undefined)
    itinerary.tell({ type: "transfer.ordered", data: { transferId: itinerary.transferId, order } });
  if (order.releasedAt === undefined) {
    if (itinerary.ofSaga(reference, "AIRPORT_TO_HOTEL") === undefined)
      planFor(itinerary, order, "AIRPORT_TO_HOTEL", pickupToHotel(itinerary.now, order));
    planReturn(itinerary, order);
  }
  ask(itinerary, askedBy("book-ride", call, order.vendor));
};

const planFor = (
  itinerary: Itinerary,
  order: Order,
  direction: Segment["direction"],
  at: Date,
  impossible?: string,
): void => {
  const seed = `${order.reference}/${direction}`;
  plan(itinerary, order, { direction, origin: "saga", wanted: usual(order, at), seed }, impossible);
};

const tooSoon = (departure: string): string =>
  `The flight that departs at ${departure} leaves too soon for any ride to it.`;

const returnsOf = ({ state }: Itinerary, reference: string): Segment[] =>
  state.segments.filter(
    (segment) => segment.reference === reference && segment.direction === "HOTEL_TO_AIRPORT",
  );

/** Once, whoever was first to want it, and whatever became of it. Nobody is driven back while no flight is known. */
const planReturn = (itinerary: Itinerary, order: Order): void => {
  const { reference, departure, minutesBeforePickup } = order;
  if (departure === undefined || returnsOf(itinerary, reference).length > 0) return;
  const at = new Date(departure);
  const pickup = pickupBefore(at, minutesBeforePickup, itinerary.now);
  const impossible = pickup === undefined ? tooSoon(departure) : undefined;
  planFor(itinerary, order, "HOTEL_TO_AIRPORT", pickup ?? at, impossible);
};

/** The way back that a new flight moves: one that goes, else the last that was declined. */
const returnToMove = (itinerary: Itinerary, reference: string): Segment | undefined => {
  const own = returnsOf(itinerary, reference);
  const live = own.filter(isLive);
  return (
    live.find(({ scheduledAt }) => scheduledAt > itinerary.now) ??
    live[0] ??
    own.findLast(({ status }) => status === "declined")
  );
};

/** The room is given up, or another hotel's is taken: every ride of the order goes, whoever wanted it. */
const cancelRide = (itinerary: Itinerary, call: VendorCall): void => {
  const { reference, again = 0 } = call;
  const order = itinerary.order(reference);
  if (order === undefined) throw new NotYet("The ride has not been ordered yet.");
  if (order.releasedAt === undefined) {
    itinerary.tell({ type: "transfer.released", data: { reference, at: itinerary.now } });
    for (const segment of itinerary.state.segments)
      if (segment.reference === reference && segment.status !== "cancelled") cancel(itinerary, segment);
  }
  for (const { refusal, ...leaving } of itinerary.state.leaving) {
    if (leaving.reference !== reference || refusal === undefined || leaving.again >= again) continue;
    const dueAt = deadlineAfter(itinerary.now, 1, itinerary.settings);
    const anew = { ...leaving, again, tries: 1, dueAt };
    itinerary.tell({ type: "seats.given-up-again", data: { leaving: anew } });
  }
  ask(itinerary, askedBy("cancel-ride", call, order.vendor));
};

/** Who goes back later, or sooner, is picked up so; who had no flight has one now. A ride that a person has cancelled stays so. */
const followFlight = (itinerary: Itinerary, { reference, departure, shape }: FlightFollowed): void => {
  const order = itinerary.order(reference);
  if (order === undefined) throw new NotYet("The ride has not been ordered yet.");
  if (order.releasedAt !== undefined || order.shape >= shape) return;
  itinerary.tell({ type: "transfer.flight-changed", data: { reference, departure, shape } });
  const segment = returnToMove(itinerary, reference);
  if (segment === undefined) {
    planReturn(itinerary, itinerary.order(reference) as Order);
    return;
  }
  const { scheduledAt, vehicleType, specialRequirements } = segment;
  const pickup = pickupBefore(new Date(departure), order.minutesBeforePickup, itinerary.now);
  if (pickup === undefined) {
    // One that goes before the flight does is better than none.
    if (isLive(segment) && scheduledAt >= new Date(departure))
      decline(itinerary, segment, tooSoon(departure));
    return;
  }
  if (isLive(segment) && scheduledAt.getTime() === pickup.getTime()) return;
  seek(itinerary, segment, { scheduledAt: pickup, vehicleType, specialRequirements });
};

/** Of a search that is over nothing counts: its seats are being given up. Nobody rides in a vehicle that has left before it was found. */
const noteSeats = (itinerary: Itinerary, note: SeatsNote): void => {
  const segment = itinerary.segment(note.segmentId);
  if (note.outcome === "lost") loseSeats(itinerary, segment, note);
  else if (segment?.sought !== undefined && segment.sought.attempt === note.attempt)
    endSearch(itinerary, segment, note);
  settleAsked(itinerary);
};

const endSearch = (itinerary: Itinerary, segment: Segment, note: SeatsNote): void => {
  const { segmentId, seat, scheduledAt } = segment;
  if (note.outcome === "booked" && scheduledAt > itinerary.now) {
    giveUp(itinerary, segment, seat);
    itinerary.tell({ type: "segment.booked", data: { segmentId, vehicles: note.vehicles } });
    return;
  }
  const late = note.outcome === "booked" ? "The vehicle was found too late." : undefined;
  findNone(itinerary, segment, late ?? note.detail ?? "No vehicle could be had.");
};

const noteLeft = (itinerary: Itinerary, note: SeatsLeft): void => {
  const { segmentId, attempt, refusal } = note;
  const leaving = itinerary.state.leaving.find((one) => isOfHolder(one, note));
  if (leaving === undefined || leaving.again > note.again) return;
  if (refusal === undefined) itinerary.tell({ type: "seats.left", data: { segmentId, attempt } });
  else if (leaving.refusal === undefined) {
    const { asked } = itinerary.state;
    const sagaTells = asked?.verb === "cancel-ride" && asked.reference === leaving.reference;
    itinerary.tell({ type: "seats.stuck", data: { segmentId, attempt, refusal, sagaTells } });
  }
  settleAsked(itinerary);
};

/** The timer: what a run has not answered is said again. */
const repeatDue = (itinerary: Itinerary): void => {
  const { now, settings, state } = itinerary;
  const later = <W extends { tries: number; dueAt: Date }>(one: W): W => ({
    ...one,
    tries: one.tries + 1,
    dueAt: deadlineAfter(now, one.tries + 1, settings),
  });
  for (const { segmentId, sought } of state.segments)
    if (sought !== undefined && sought.dueAt <= now)
      itinerary.tell({ type: "seats.search-repeated", data: { segmentId, sought: later(sought) } });
  for (const leaving of state.leaving)
    if (leaving.refusal === undefined && leaving.dueAt <= now)
      itinerary.tell({ type: "seats.given-up-again", data: { leaving: later(leaving) } });
};

/** How a way to the hotel looks to who was told of it. */
const shownIn = (state: TransferState | undefined, reference: string): string | undefined => {
  const segment = state && wayToHotel(state, reference);
  if (segment === undefined) return undefined;
  const status = passengersStatus(segment);
  return status === "declined"
    ? status
    : [status, segment.scheduledAt.toISOString(), segment.vehicleType].join(" ");
};

/** The first answer to an order is surely heard; of a later one, to a try sent again, the saga may have gone on already. */
const firstHeard = (
  { events }: Itinerary,
  { reference, told }: Pick<Order, "reference" | "told">,
): string | undefined => {
  for (const event of events) {
    if (told || event.type !== "transfer.answered" || event.data.asked.verb !== "book-ride") continue;
    if (event.data.asked.reference !== reference) continue;
    const { pickupAt, vehicleType } = (event.data.result ?? {}) as {
      pickupAt?: string;
      vehicleType?: string;
    };
    return pickupAt === undefined ? "declined" : ["booked", pickupAt, vehicleType].join(" ");
  }
  return undefined;
};

/**
 * A way to the hotel that is another one than the sub-case was told is told to it, as its offer shows it: of each order that
 * stands, for while a group changes hotels two do. What the saga waits for it hears as its answer.
 */
const noteRides = (itinerary: Itinerary, before: TransferState | undefined): void => {
  if (!itinerary.exists) return;
  const { orders, asked } = itinerary.state;
  for (const { reference, releasedAt } of orders) {
    if (releasedAt !== undefined || (asked?.verb === "book-ride" && asked.reference === reference)) continue;
    const orderBefore = before?.orders.find((order) => order.reference === reference);
    const heard = firstHeard(itinerary, orderBefore ?? { reference }) ?? shownIn(before, reference);
    const now = shownIn(itinerary.state, reference);
    if (now !== undefined && now !== heard)
      itinerary.tell({ type: "transfer.ride-noted", data: { reference } });
  }
};
