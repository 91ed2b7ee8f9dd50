/** Owns what a sub-case keeps of its group's ride to the hotel, and what it orders of the transport actor, which drives it there and back. */

import { needsOf } from "../../schemas/passenger.ts";
import type { FlightFollowed, RideNote, RideOrder, RideParty, RideStatus } from "../../schemas/transport.ts";
import { NotYet, type Outgoing } from "../runtime/decider.ts";
import type { Call, SubCaseState } from "./state.ts";

export interface Ride {
  /** The segment; absent: it was refused. */
  rideId?: string;
  vendor: string;
  /** Of the order: of both ways. */
  reference: string;
  /** `cancelled`: the order is given back; `declined` is one ride alone, and the way back may stand. */
  status: RideStatus | "cancelled";
  vehicleType: string;
  pickupAt?: Date;
  /** Of the newest note; absent: nothing has changed since it was ordered. */
  noted?: number;
}

/** Undefined: nobody drives there, or nobody knows where it is. */
export const rideOrderOf = (state: SubCaseState): RideOrder | undefined => {
  const { assignment, candidate, reservation, flight, nextFlight, passengers, kind, shape = 0 } = state;
  const hotel = assignment?.candidates[candidate];
  const vendor = assignment?.terms.vendors.transport;
  if (hotel?.offer.coordinates === undefined || vendor === undefined || assignment === undefined)
    return undefined;
  const { airport, vehicleType, rides } = assignment.terms;
  return {
    vendor,
    caseId: state.caseId,
    groupId: state.groupId,
    ...(kind === undefined ? {} : { kind }),
    airport: state.airport,
    reservationId: reservation?.reservationId ?? "",
    hotelUrn: hotel.hotelUrn,
    airportPlace: { label: airport.name, coordinates: airport.coordinates },
    hotelPlace: { label: hotel.offer.name, coordinates: hotel.offer.coordinates },
    passengers: passengers.length,
    passengerUrns: passengers.map((passenger) => passenger.urn),
    needs: [...new Set(needsOf(passengers))],
    vehicleType,
    ...rides,
    notBefore: flight.scheduledDeparture.toISOString(),
    ...(nextFlight === undefined ? {} : { departure: nextFlight.scheduledDeparture.toISOString() }),
    shape,
  };
};

/** The order stands all the same: what it may have got beside the ride is to be given back. */
export const refusedRide = ({ vendor, reference, request }: Call): Ride => ({
  vendor,
  reference,
  status: "declined",
  vehicleType: (request as unknown as RideOrder).vehicleType,
});

/**
 * An earlier note that comes late, or one about an order that is none any more, is nothing.
 * @throws NotYet of one that comes before the answer to its order, and of the ride that a group leaves while it changes hotels:
 * whether it stays there after all is known when the change is over
 */
export const isRideNews = (
  { ride, left, call }: SubCaseState,
  { reference, sequence }: RideNote,
): boolean => {
  if (call?.step === "transport" && call.reference === reference)
    throw new NotYet("The answer to the order has not arrived yet.");
  const isNewsOf = (one: Ride | undefined): boolean =>
    one !== undefined &&
    one.reference === reference &&
    one.status !== "cancelled" &&
    sequence > (one.noted ?? 0);
  return isNewsOf(left?.ride) || isNewsOf(ride);
};

/** While the group changes hotels, what is left keeps its ride until the other one stands. */
export const withRideNoted = (state: SubCaseState, note: RideNote): SubCaseState => {
  const { left } = state;
  return left?.ride?.reference === note.reference
    ? { ...state, left: { ...left, ride: notedRide(left.ride, note) } }
    : { ...state, ride: notedRide(state.ride as Ride, note) };
};

const notedRide = (ride: Ride, { sequence, status, vehicleType, pickupAt }: RideNote): Ride => ({
  ...ride,
  status,
  vehicleType,
  pickupAt: new Date(pickupAt),
  noted: sequence,
});

/**
 * Whoever is driven back is picked up by the new flight; of a hotel that the group leaves, too, as it may stay there after all.
 * A closed case sets nobody driving: what has changed meanwhile is said when it opens again.
 */
export const followedFlights = ({
  subCaseId,
  ride,
  left,
  call,
  nextFlight,
  released,
  closedAt,
  shape = 0,
}: SubCaseState): Outgoing[] => {
  if (nextFlight === undefined || released !== undefined || closedAt !== undefined || shape === 0) return [];
  const ordered = [ride, left?.ride].filter((one) => one !== undefined && one.status !== "cancelled");
  const references = [
    ...ordered.map((one) => one?.reference ?? ""),
    ...(call?.step === "transport" ? [call.reference] : []),
  ];
  return references.map((reference) => {
    const departure = nextFlight.scheduledDeparture.toISOString();
    const data: FlightFollowed = { reference, departure, shape };
    return { to: "command", name: "transport.follow-flight", entity: subCaseId, data };
  });
};

/** For a person who would have the group driven: the order that its saga has made, as it would be made now. */
export const ridePartyOf = (state: SubCaseState): RideParty => {
  const { subCaseId, groupId, status, ride, reservation, round } = state;
  const isThere = reservation?.status === "CHECKED_IN";
  const party = {
    subCaseId,
    groupId,
    reference: ride?.reference ?? `${subCaseId}.ride.${round}`,
    ...(isThere && { isThere }),
  };
  const order = rideOrderOf(state);
  const has = reservation?.status === "CONFIRMED" || reservation?.status === "CHECKED_IN";
  if (!has) return { ...party, detail: "The group has no room." };
  if (order === undefined)
    return { ...party, detail: "No vendor can be asked to drive there: order the ride by hand." };
  const isSettled = status === "OFFER_READY" || status === "RESOLVED";
  if (!isSettled || ride === undefined || ride.status === "cancelled")
    return { ...party, detail: "The group's saga is under way. Wait for its outcome." };
  return { ...party, order };
};
