/** Owns what a sub-case keeps of its group's ride to the hotel, and what it orders of the transport actor, which drives it there and back. */

import { needsOf } from "../../schemas/passenger.ts";
import type { FlightFollowed, RideNote, RideOrder, RideParty, RideStatus } from "../../schemas/transport.ts";
import type { Outgoing } from "../runtime/decider.ts";
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
  const { assignment, candidate, reservation, nextFlight, passengers, kind, shape = 0 } = state;
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
    needs: [...new Set(needsOf(passengers))],
    vehicleType,
    ...rides,
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

/** An earlier note that comes late, or one about an order that is none any more, is nothing. */
export const isRideNews = ({ ride }: SubCaseState, { reference, sequence }: RideNote): boolean =>
  ride !== undefined &&
  ride.reference === reference &&
  ride.status !== "cancelled" &&
  sequence > (ride.noted ?? 0);

export const notedRide = (ride: Ride, { sequence, status, vehicleType, pickupAt }: RideNote): Ride => ({
  ...ride,
  status,
  vehicleType,
  pickupAt: new Date(pickupAt),
  noted: sequence,
});

/** Whoever is driven back is picked up by the new flight; of a hotel that the group leaves, too, as it may stay there after all. */
export const followedFlights = ({
  subCaseId,
  ride,
  left,
  call,
  nextFlight,
  released,
  shape = 0,
}: SubCaseState): Outgoing[] => {
  if (nextFlight === undefined || released !== undefined) return [];
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
  const party = { subCaseId, groupId, reference: ride?.reference ?? `${subCaseId}.ride.${round}` };
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
