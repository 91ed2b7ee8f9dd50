/** Owns which rule answers which command to a transfer, and what its group's saga, its flight and its runs set going. */
import type { FlightFollowed, RideOrder, SeatsLeft, SeatsNote } from "../../schemas/transport.ts";
import type { VendorCall } from "../../schemas/vendor-call.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { type Desk, deskCommands, isDeskCommand, takeFromDesk } from "./desk.ts";
import { cancel, giveUp, Itinerary, isOfHolder, isSagas, plan, seek, settleAsked } from "./itinerary.ts";
import { nextPickup, pickupBefore } from "./pickup.ts";
import type { Asked, Order, Segment, TransferEvent, TransferState, Wanted } from "./transfer-state.ts";
import { type CallSettings, deadlineAfter } from "./vehicle-call.ts";
import { wayToHotel } from "./view.ts";

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
] as const;

/** @throws NotYet while what must come first has not arrived @throws Problem as the desk's rules say */
export const transferDecider =
  (settings: CallSettings) =>
  (state: TransferState | undefined, command: Received, gathered?: unknown): TransferEvent[] => {
    const itinerary = new Itinerary(command.entity, state, command.now, settings);
    const verb = command.name.slice("transport.".length);
    if (state !== undefined) requireAirport(command.principal, state.airport);
    if (isDeskCommand(verb)) takeFromDesk(itinerary, verb, command, gathered as Desk);
    else if (verb === "book-ride") bookRide(itinerary, command.data as SagaCall);
    else if (state === undefined) throw new NotYet("No ride was ordered for the group yet.");
    else follow(itinerary, verb, command.data);
    noteRide(itinerary, state);
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
  const asked = askedBy("book-ride", call, order.vendor);
  itinerary.tell({ type: "transfer.asked", data: { asked } });
  if (order.releasedAt === undefined) {
    if (itinerary.ofSaga(reference, "AIRPORT_TO_HOTEL") === undefined)
      planFor(itinerary, order, "AIRPORT_TO_HOTEL", nextPickup(itinerary.now));
    planReturn(itinerary, order);
  }
  settleAsked(itinerary);
};

const planFor = (itinerary: Itinerary, order: Order, direction: Segment["direction"], at: Date): void => {
  const seed = `${order.reference}/${direction}`;
  plan(itinerary, order, { direction, origin: "saga", wanted: usual(order, at), seed });
};

/** Nobody is driven back while no flight is known, or to one that has left. */
const planReturn = (itinerary: Itinerary, order: Order): void => {
  const { reference, departure, minutesBeforePickup } = order;
  if (departure === undefined || itinerary.ofSaga(reference, "HOTEL_TO_AIRPORT") !== undefined) return;
  const pickup = pickupBefore(new Date(departure), minutesBeforePickup, itinerary.now);
  if (pickup !== undefined) planFor(itinerary, order, "HOTEL_TO_AIRPORT", pickup);
};

const isLive = ({ status }: Segment): boolean => status === "booked" || status === "pending";

/** The room is given up, or another hotel's is taken: every ride of the order goes, whoever wanted it. */
const cancelRide = (itinerary: Itinerary, call: VendorCall): void => {
  const { reference, again = 0 } = call;
  const order = itinerary.order(reference);
  if (order === undefined) throw new NotYet("The ride has not been ordered yet.");
  const asked = askedBy("cancel-ride", call, order.vendor);
  itinerary.tell({ type: "transfer.asked", data: { asked } });
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
  settleAsked(itinerary);
};

/** Who goes back later, or sooner, is picked up so; who had no flight has one now. A ride that a person has cancelled stays so. */
const followFlight = (itinerary: Itinerary, { reference, departure, shape }: FlightFollowed): void => {
  const order = itinerary.order(reference);
  if (order === undefined) throw new NotYet("The ride has not been ordered yet.");
  if (order.releasedAt !== undefined || order.shape >= shape) return;
  itinerary.tell({ type: "transfer.flight-changed", data: { reference, departure, shape } });
  const pickup = pickupBefore(new Date(departure), order.minutesBeforePickup, itinerary.now);
  if (pickup === undefined) return;
  for (const segment of itinerary.state.segments) {
    const isReturn = segment.reference === reference && segment.direction === "HOTEL_TO_AIRPORT";
    if (!isReturn || segment.status === "cancelled") continue;
    const { scheduledAt, vehicleType, specialRequirements } = segment;
    if (isLive(segment) && scheduledAt.getTime() === pickup.getTime()) continue;
    seek(itinerary, segment, { scheduledAt: pickup, vehicleType, specialRequirements });
  }
  planReturn(itinerary, itinerary.order(reference) as Order);
};

/** Of a search that is over nothing counts: its seats are being given up. */
const noteSeats = (itinerary: Itinerary, note: SeatsNote): void => {
  const segment = itinerary.segment(note.segmentId);
  if (segment?.sought === undefined || segment.sought.attempt !== note.attempt) return;
  const { segmentId, seat, sought } = segment;
  if (note.outcome === "booked") {
    giveUp(itinerary, segment, seat);
    itinerary.tell({ type: "segment.booked", data: { segmentId, vehicles: note.vehicles } });
  } else {
    const detail = note.detail ?? "No vehicle could be had.";
    giveUp(itinerary, segment, sought);
    if (seat === undefined) {
      const sagaTells = isSagas(itinerary, segment);
      itinerary.tell({ type: "segment.declined", data: { segmentId, detail, sagaTells } });
    } else itinerary.tell({ type: "segment.kept", data: { segmentId, detail } });
  }
  settleAsked(itinerary);
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

/** A way to the hotel that changes after the saga was answered is told to the sub-case, whose offer shows it. */
const noteRide = (itinerary: Itinerary, before: TransferState | undefined): void => {
  if (before === undefined || !itinerary.exists) return;
  const isAnswering = ({ asked }: TransferState): boolean => asked?.verb === "book-ride";
  if (isAnswering(before) || isAnswering(itinerary.state)) return;
  const shown = (state: TransferState): string | undefined => {
    const segment = wayToHotel(state);
    return (
      segment && JSON.stringify([segment.reference, segment.status, segment.scheduledAt, segment.vehicleType])
    );
  };
  const now = shown(itinerary.state);
  if (now !== undefined && now !== shown(before)) itinerary.tell({ type: "transfer.ride-noted", data: {} });
};
