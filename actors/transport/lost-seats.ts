/** Owns what follows for a group when a vendor has cancelled its vehicle by itself. That the vehicle never drives is its run's. */
import type { SeatsNote } from "../../schemas/transport.ts";
import { findNone, giveUp, type Itinerary, seek } from "./itinerary.ts";
import { pickupInstead } from "./pickup.ts";
import type { Order, Segment } from "./transfer-state.ts";
import { segmentFacts } from "./view.ts";

/** Of one ride: a vendor that cancels over and over is a person's affair. */
const lossesMax = 3;

/**
 * Another vehicle is sought for the whole group, unless one is being sought already. Of seats that it has not, or is giving up, it is no
 * news; of those that it still seeks it may be, as it can overtake the word that they were found.
 */
export const loseSeats = (
  itinerary: Itinerary,
  segment: Segment | undefined,
  { attempt, detail = "The vehicle was cancelled." }: SeatsNote,
): void => {
  const { seat, sought } = segment ?? {};
  const isSought = sought?.attempt === attempt;
  if (segment === undefined || (seat?.attempt !== attempt && !isSought)) return;
  const { segmentId } = segment;
  if (!isSought) giveUp(itinerary, segment, seat);
  itinerary.tell({ type: "seats.lost", data: { segmentId, attempt } });
  if (isSought || sought === undefined) replace(itinerary, segmentId, detail);
  record(itinerary, segment);
};

const replace = (itinerary: Itinerary, segmentId: string, detail: string): void => {
  const segment = itinerary.segment(segmentId) as Segment;
  const { direction, scheduledAt, vehicleType, specialRequirements, losses = 0 } = segment;
  const { departure } = itinerary.order(segment.reference) as Order;
  const flight =
    direction === "HOTEL_TO_AIRPORT" && departure !== undefined ? new Date(departure) : undefined;
  const pickup = losses > lossesMax ? undefined : pickupInstead(scheduledAt, flight, itinerary.now);
  if (pickup === undefined) findNone(itinerary, segment, detail);
  else seek(itinerary, segment, { scheduledAt: pickup, vehicleType, specialRequirements });
};

/** What a vendor does is no person's decision; as it changes a ride, it is on the trail all the same. */
const record = (itinerary: Itinerary, before: Segment): void => {
  const { segmentId, reference } = before;
  const { vendor } = itinerary.order(reference) as Order;
  const after = { ...segmentFacts(itinerary.segment(segmentId) as Segment), vendor };
  const action = "transport.record-ride";
  itinerary.tell({
    type: "transfer.recorded",
    data: { segmentId, action, before: segmentFacts(before), after, isVendors: true },
  });
};
