/** Owns what operators and passengers see of a group's rides. */
import type { MyTransportView, RideStatus, SegmentView } from "../../schemas/transport.ts";
import { urn } from "../../schemas/urn.ts";
import type { Order, Segment, TransferState } from "./transfer-state.ts";

/** What is said of a segment in events and in the audit trail: no special requirement, which may be about health. */
export const segmentFacts = ({ direction, scheduledAt, vehicleType, status, passengers }: Segment) => ({
  direction,
  scheduledAt: scheduledAt.toISOString(),
  vehicleType,
  status,
  passengers,
});

const orderOf = ({ orders }: TransferState, { reference }: Segment): Order =>
  orders.find((order) => order.reference === reference) as Order;

const placesOf = (state: TransferState, segment: Segment) => {
  const { airportPlace, hotelPlace } = orderOf(state, segment);
  const [airport, hotel] = [{ name: airportPlace.label }, { name: hotelPlace.label }];
  return segment.direction === "AIRPORT_TO_HOTEL"
    ? { from: airport, to: hotel }
    : { from: hotel, to: airport };
};

/** While another vehicle is sought none is shown: where the one that stands leaves, may be no use any more. */
const vehiclesOf = ({ status, seat }: Segment): SegmentView["vehicles"] =>
  status === "booked" ? (seat?.vehicles ?? []) : [];

export const segmentView = (state: TransferState, segment: Segment, version: number): SegmentView => ({
  urn: urn("segment", segment.segmentId),
  caseUrn: urn("case", state.caseId),
  subCaseUrn: urn("sub-case", state.transferId),
  groupId: state.groupId,
  reservationUrn: urn("reservation", orderOf(state, segment).reservationId),
  ...segmentFacts(segment),
  specialRequirements: segment.specialRequirements,
  ...placesOf(state, segment),
  vehicles: vehiclesOf(segment),
  ...(segment.detail === undefined ? {} : { detail: segment.detail }),
  version,
});

export const isLive = ({ status }: Segment): boolean => status === "booked" || status === "pending";

/** What an offer tells of: of this order a ride that goes, else the first. */
export const wayToHotel = ({ segments }: TransferState, reference: string): Segment | undefined => {
  const own = segments.filter(
    (segment) => segment.reference === reference && segment.direction === "AIRPORT_TO_HOTEL",
  );
  return own.find(isLive) ?? own[0];
};

export const passengersStatus = ({ status }: Segment): RideStatus =>
  status === "cancelled" ? "declined" : status;

/** Those for the room that the group has, or had last; a ride that a person has cancelled is declined to them. */
export const myTransport = (state: TransferState | undefined, now: Date): MyTransportView => {
  const reference = state?.orders.findLast(({ releasedAt }) => releasedAt === undefined)?.reference;
  if (state === undefined || reference === undefined) return { rides: [] };
  const own = state.segments
    .filter((segment) => segment.reference === reference)
    .toSorted((a, b) => a.scheduledAt.getTime() - b.scheduledAt.getTime());
  const live = own.filter(isLive);
  const next =
    live.find(({ scheduledAt }) => scheduledAt > now) ??
    live.at(-1) ??
    own.find(({ status }) => status === "declined") ??
    own[0];
  return {
    ...(next === undefined
      ? {}
      : {
          status: passengersStatus(next),
          vehicleType: next.vehicleType,
          pickupAt: next.scheduledAt.toISOString(),
        }),
    rides: own.map((segment) => ({
      urn: urn("segment", segment.segmentId),
      direction: segment.direction,
      status: passengersStatus(segment),
      vehicleType: segment.vehicleType,
      pickupAt: segment.scheduledAt.toISOString(),
      ...placesOf(state, segment),
      vehicles: vehiclesOf(segment),
    })),
  };
};
