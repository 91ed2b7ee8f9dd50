/** Owns rides that passengers ask for themselves, where their policy allows it (contract, `POST /v1/me/transport/request`). */
import { Problem } from "../../schemas/problems.ts";
import type { RequestRideBody, RideParty } from "../../schemas/transport.ts";
import type { Direction } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { type Desk, orderOf, pickupFor, planByHand, recorded, wrong } from "./desk.ts";
import { type Itinerary, seek } from "./itinerary.ts";
import { leadMinutes, slotAt } from "./pickup.ts";
import type { Order, Segment } from "./transfer-state.ts";
import { isLive } from "./view.ts";

export const ownRide = "request-own-ride";

/** Rides of one order that its passengers may ask for: who needs more talks to a person. */
const askedMax = 3;
/** Searches for one of them. */
const attemptsMax = 5;
const daysAheadMax = 7;
const dayMs = 86_400_000;

/**
 * A ride that is sought, or booked and still to come, is the one asked for.
 * @throws Problem conflict/state, validation/body
 */
export const requestOwnRide = (
  itinerary: Itinerary,
  command: Received,
  { caseIsClosed, party }: Desk,
): void => {
  if (caseIsClosed)
    throw new Problem("conflict/state", "The case is closed and takes no further change.", {
      state: "CLOSED",
    });
  const allowed = itinerary.order(party?.reference ?? "") ?? party?.order;
  if (allowed?.onDemand === false)
    throw new Problem("conflict/state", "Your airline gives no rides on request. Ask its staff.", {
      state: "NOT_ALLOWED",
    });
  const order = orderOf(itinerary, party);
  const body = command.data as RequestRideBody;
  const direction = body.direction ?? (party?.isThere ? "HOTEL_TO_AIRPORT" : "AIRPORT_TO_HOTEL");
  const own = itinerary.state.segments.filter(
    (segment) => segment.direction === direction && segment.reference === order.reference,
  );
  const coming = own.find((segment) => isLive(segment) && segment.scheduledAt > command.now);
  const scheduledAt = wantedAt(itinerary, command, { order, party, direction });
  if (coming !== undefined) {
    if (body.pickupAt === undefined || coming.scheduledAt.getTime() === scheduledAt.getTime()) return;
    throw new Problem(
      "conflict/state",
      `You have a ride at ${coming.scheduledAt.toISOString()}. Ask your airline's staff to move it.`,
      { state: coming.status },
    );
  }
  const declined = own.findLast(({ status }) => status === "declined");
  recorded(itinerary, command, declined, () =>
    declined !== undefined && declined.attempt < attemptsMax
      ? seekAgain(itinerary, declined, scheduledAt)
      : planned(itinerary, order, { direction, scheduledAt, seed: command.id }),
  );
};

const seekAgain = (itinerary: Itinerary, declined: Segment, scheduledAt: Date): string => {
  const { vehicleType, specialRequirements, segmentId } = declined;
  seek(itinerary, declined, { scheduledAt, vehicleType, specialRequirements });
  return segmentId;
};

const planned = (
  itinerary: Itinerary,
  order: Order,
  { direction, scheduledAt, seed }: { direction: Direction; scheduledAt: Date; seed: string },
): string => {
  const asked = itinerary.state.segments.filter(
    ({ origin, reference }) => origin === "passenger" && reference === order.reference,
  );
  if (asked.length >= askedMax)
    throw new Problem(
      "conflict/state",
      `You have asked for ${asked.length} rides. Ask your airline's staff.`,
      {
        state: "NOT_ALLOWED",
      },
    );
  const wanted = { scheduledAt, vehicleType: order.vehicleType, specialRequirements: order.needs };
  return planByHand(itinerary, order, { direction, wanted, seed }, "passenger");
};

/** Asked for by time, it leaves at a whole quarter of an hour, so that others can ride along. */
const wantedAt = (
  itinerary: Itinerary,
  { data, now }: Received,
  { order, party, direction }: { order: Order; party: RideParty | undefined; direction: Direction },
): Date => {
  const { pickupAt } = data as RequestRideBody;
  if (pickupAt === undefined) {
    const at = pickupFor(itinerary, order, party, direction);
    if (at === undefined)
      throw new Problem(
        "conflict/state",
        "No flight is known that you could be driven to in time. Name a time.",
      );
    return at;
  }
  const at = new Date(pickupAt);
  if (at.getTime() < now.getTime() + leadMinutes * 60_000)
    throw wrong("/pickupAt", `is less than ${leadMinutes} minutes away`);
  if (at.getTime() > now.getTime() + daysAheadMax * dayMs)
    throw wrong("/pickupAt", `is more than ${daysAheadMax} days away`);
  return slotAt(at);
};
