/** Owns the wire shapes of ground transport (contract, "Transport"): segments, what changes them, and what actors tell each other of rides. */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import type { CaseKind } from "./drill.ts";
import type { Coordinates } from "./hotel.ts";
import { ReservationUrn } from "./reservation.ts";
import { Urn } from "./urn.ts";
import {
  type Direction,
  directions,
  GroupId,
  Reason,
  Timestamp,
  type VehicleType,
  vehicleTypes,
} from "./vocabulary.ts";

/** What passengers see (contract, "Transport"). */
export const rideStatuses = ["booked", "pending", "declined"] as const;
export type RideStatus = (typeof rideStatuses)[number];

/** Beside them: given up, by a person or with the room. */
export const segmentStatuses = [...rideStatuses, "cancelled"] as const;
export type SegmentStatus = (typeof segmentStatuses)[number];

const DirectionField = Type.Enum([...directions]);
const VehicleField = Type.Enum([...vehicleTypes]);
const Requirements = Type.Array(Type.String({ minLength: 1, maxLength: 100, examples: ["SERVICE_ANIMAL"] }), {
  maxItems: 20,
  description: "What the vehicle must be fit for, beyond its type. No names and no contact details.",
});
const PickupTime = Type.String({ ...Timestamp, description: "When the vehicle leaves." });

const SegmentVehicle = Type.Object({
  passengers: Type.Integer({ description: "Of the group, in this vehicle." }),
  plate: Type.Optional(Type.String({ description: "What to look for at the kerb." })),
});

const Place = Type.Object({ name: Type.String() });

export const SegmentView = Type.Object(
  {
    urn: Urn("segment"),
    caseUrn: Urn("case"),
    subCaseUrn: Urn("sub-case"),
    groupId: Type.String(),
    reservationUrn: Urn("reservation"),
    direction: DirectionField,
    scheduledAt: PickupTime,
    vehicleType: VehicleField,
    specialRequirements: Type.Array(Type.String()),
    passengers: Type.Integer({ description: "Who ride: the whole group." }),
    status: Type.Enum([...segmentStatuses], {
      description: "`pending` while a vehicle is sought, also where another one stands until then.",
    }),
    from: Place,
    to: Place,
    vehicles: Type.Array(SegmentVehicle, {
      description: "Empty until it is booked. A group larger than a vehicle rides in several.",
    }),
    detail: Type.Optional(Type.String({ description: "Why it was declined, or a change of it refused." })),
    version: Type.Integer({
      description: "Of the group's transport: each change of one of its segments counts.",
    }),
  },
  { title: "TransportSegment" },
);
export type SegmentView = Static<typeof SegmentView>;

export const CreateSegmentBody = Type.Object({
  reservationUrn: ReservationUrn,
  direction: DirectionField,
  scheduledAt: PickupTime,
  vehicleType: Type.Optional(
    Type.Enum([...vehicleTypes], { description: "Default: the group's, by its needs and its policy." }),
  ),
  specialRequirements: Type.Optional(Requirements),
  reason: Type.Optional(Reason),
  ...Concurrency,
});
export type CreateSegmentBody = Static<typeof CreateSegmentBody>;

export const RetimeSegmentBody = Type.Object({ scheduledAt: PickupTime, reason: Reason, ...Concurrency });
export type RetimeSegmentBody = Static<typeof RetimeSegmentBody>;

export const ChangeVehicleBody = Type.Object({
  vehicleType: VehicleField,
  specialRequirements: Type.Optional(Requirements),
  reason: Reason,
  ...Concurrency,
});
export type ChangeVehicleBody = Static<typeof ChangeVehicleBody>;

export const CancelSegmentBody = Type.Object({ reason: Reason, ...Concurrency });

export const RequestTransfersBody = Type.Object({
  groupIds: Type.Optional(
    Type.Array(GroupId, { minItems: 1, maxItems: 1500, uniqueItems: true, description: "Default: all." }),
  ),
  directions: Type.Optional(
    Type.Array(DirectionField, {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description: "Default: both.",
    }),
  ),
  reason: Type.Optional(Reason),
  fencingToken: Concurrency.fencingToken,
});
export type RequestTransfersBody = Static<typeof RequestTransfersBody>;

export const TransfersRequested = Type.Object(
  {
    caseUrn: Urn("case"),
    groups: Type.Array(Type.String(), {
      description: "For whom vehicles are sought where none is booked or sought already.",
    }),
    skipped: Type.Array(Type.Object({ groupId: Type.String(), detail: Type.String() }), {
      description: "Who cannot be driven now, and why.",
    }),
    correlationUrn: Type.String(),
  },
  { title: "TransfersRequested" },
);
export type TransfersRequested = Static<typeof TransfersRequested>;

const MyRide = Type.Object({
  urn: Urn("segment"),
  direction: DirectionField,
  status: Type.Enum([...rideStatuses]),
  vehicleType: VehicleField,
  pickupAt: PickupTime,
  from: Place,
  to: Place,
  vehicles: Type.Array(SegmentVehicle),
});

/** What a passenger asks for beside, or in place of, what was planned for their group. */
export const RequestRideBody = Type.Object({
  direction: Type.Optional(
    Type.Enum([...directions], {
      description: "Default: the way to the hotel while nobody has checked in, else the way back.",
    }),
  ),
  pickupAt: Type.Optional(
    Type.String({
      ...Timestamp,
      description:
        "Half an hour from now or later. Default: as soon as can be; of the way back, in time for the next flight.",
    }),
  ),
});
export type RequestRideBody = Static<typeof RequestRideBody>;

/** `status`, `vehicleType` and `pickupAt` are of one ride: the next that is still to come, else the last that was, else a declined one. */
export const MyTransportView = Type.Object(
  {
    status: Type.Optional(
      Type.Enum([...rideStatuses], { description: "Of the next ride. Absent: no ride is planned." }),
    ),
    vehicleType: Type.Optional(VehicleField),
    pickupAt: Type.Optional(PickupTime),
    rides: Type.Array(MyRide, { description: "In the order of their pickups." }),
  },
  { title: "MyTransport" },
);
export type MyTransportView = Static<typeof MyTransportView>;

export interface RidePlace {
  label: string;
  coordinates: Coordinates;
}

/** What a sub-case orders with `transport.book-ride`: both ways, for its whole group. A copy, so that a night goes by the terms it began with. */
export interface RideOrder {
  /** Whom vehicles are ordered from. */
  vendor: string;
  caseId: string;
  groupId: string;
  /** Set: of a drill or shadow case. */
  kind?: CaseKind;
  /** The case's. */
  airport: string;
  reservationId: string;
  hotelUrn: string;
  airportPlace: RidePlace;
  hotelPlace: RidePlace;
  passengers: number;
  /** Who they are; absent in orders of former versions. */
  passengerUrns?: string[];
  needs: string[];
  vehicleType: VehicleType;
  /** The most passengers in one vehicle, by its type. */
  seats: Record<VehicleType, number>;
  minutesBeforePickup: number;
  /** Whether passengers may ask for a ride themselves. */
  onDemand: boolean;
  /** ISO 8601 UTC, the scheduled departure of the flight that strands them: they are picked up after it. Absent: at once. */
  notBefore?: string;
  /** The next flight's scheduled departure, ISO 8601 UTC; absent: none is known, and nobody is driven back yet. */
  departure?: string;
  /** How often the stay was changed, as the order knows it: of two departures that of the later change counts. */
  shape: number;
}

/** The data of `transport.follow-flight`: the next flight of a group that has ordered rides is another one. */
export interface FlightFollowed {
  /** Of the order. */
  reference: string;
  departure: string;
  shape: number;
}

/** What the sub-case answers when asked whom to drive where. */
export interface RideParty {
  /** They have arrived at the hotel. */
  isThere?: true;
  subCaseId: string;
  groupId: string;
  /** Of the round whose room it is; what a saga orders has the same. */
  reference: string;
  /** Absent: nobody can be driven now. */
  order?: RideOrder;
  /** Why not. */
  detail?: string;
}

/** The data of `sub-case.note-ride`: the way to the hotel is another one than the saga was told. */
export interface RideNote {
  /** Of the order. */
  reference: string;
  /** Counts up: an earlier note that comes late is nothing. */
  sequence: number;
  status: RideStatus;
  vehicleType: VehicleType;
  /** ISO 8601 UTC. */
  pickupAt: string;
}

/** Whose seats a message between a group's transfer and a run is about. `attempt` counts the searches for one segment. */
export interface SeatHolder {
  /** The group's sub-case. */
  transferId: string;
  segmentId: string;
  attempt: number;
}

/** Vehicles that leave one place for another at one time; those of one kind are one document. */
export interface RunFacts {
  vendor: string;
  kind?: CaseKind;
  airport: string;
  hotelUrn: string;
  direction: Direction;
  vehicleType: VehicleType;
  /** ISO 8601 UTC. */
  pickupAt: string;
  from: RidePlace;
  to: RidePlace;
}

/** The data of `transport.take-seats`. */
export interface TakeSeats extends SeatHolder {
  run: RunFacts;
  passengers: number;
  /** The most in one vehicle. */
  seats: number;
  needs: string[];
}

/** The data of `transport.leave-seats`. */
export interface LeaveSeats extends SeatHolder {
  /** How often a person has had a refused cancellation asked again. */
  again: number;
}

/** The data of `transport.note-seats`: what a search for seats came to. `lost`: they were booked, and the vendor has cancelled their vehicle. */
export interface SeatsNote extends SeatHolder {
  outcome: "booked" | "refused" | "lost";
  vehicles: { passengers: number; plate?: string }[];
  /** Of `refused` and `lost`. */
  code?: string;
  detail?: string;
}

/** The data of `transport.note-left`: the seats are free, and a vehicle that this emptied is cancelled, or cannot be. */
export interface SeatsLeft extends SeatHolder {
  again: number;
  refusal?: { code: string; detail: string };
}

/** The data of `transport.record-ride`: what a transport vendor tells of a ride after it was booked. */
export interface RideReport {
  /** Ours, of the vehicle. */
  reference: string;
  /** The vendor's own id. */
  rideId: string;
  state: "CANCELLED";
  /** ISO 8601 UTC, by the vendor's clock. */
  at: string;
}

/** A vehicle's reference: the group that it was ordered for first, its run, and its number there. */
export const rideReference = (transferId: string, runId: string, number: number): string =>
  `${transferId}.ride.${runId}.${number}`;

/** The run of a vehicle's reference; undefined: it is none of a vehicle. */
export const runOfReference = (reference: string): string | undefined =>
  /^[\w-]+\.ride\.([A-Z0-9]{2,3}-[0-9A-HJKMNP-TV-Z]{26})\.\d+$/.exec(reference)?.[1];
