/** Owns the shape of a direct contract with a hotel, and how other actors ask for its rooms. */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { LocalDate } from "./local-day.ts";
import { PageQuery } from "./page.ts";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  amenities,
  type Money,
  type PaymentMethod,
  paymentMethods,
  Timestamp,
} from "./vocabulary.ts";

/** The vendor under whose name contracts are sold; no configured vendor may have it. */
export const directVendor = "direct";

const Rooms = (description: string) => Type.Integer({ minimum: 0, maximum: 10_000, description });

/** Agreed beyond the rooms themselves: on record, and shown; the service itself does nothing by it. */
const conditions = Type.Object({
  releaseDays: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 365, description: "Before arrival; 0: on the day." }),
  ),
  cancellation: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1000, examples: ["Free until 18:00 on the day, then one night"] }),
  ),
  roomTypes: Type.Optional(Type.String({ minLength: 1, maxLength: 300, examples: ["Double or twin"] })),
});

const terms = {
  name: Type.String({ minLength: 1, maxLength: 120, examples: ["Garden Court, winter block"] }),
  hotel: Type.Object({
    hotelUrn: Type.Optional(
      Type.String({
        ...Urn("hotel"),
        description: "As a wave shows it: other vendors' offers of this hotel are then known to be the same.",
      }),
    ),
    name: Type.String({ minLength: 1, maxLength: 120 }),
    address: Type.String({ minLength: 1, maxLength: 300 }),
    coordinates: Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
    }),
    stars: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: "Absent: unrated." })),
    chain: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
    amenities: Type.Array(Type.Enum([...amenities]), { maxItems: 20, uniqueItems: true }),
  }),
  airport: Type.String({ ...AirportCode, description: "The airport whose passengers it takes." }),
  validFrom: LocalDate("2026-11-01", "The first night."),
  validUntil: LocalDate("2027-04-01", "Exclusive: the last guests leave on this day."),
  rates: Type.Array(
    Type.Object({
      from: LocalDate("2026-11-01", "The season's first night."),
      until: LocalDate("2027-04-01", "Exclusive."),
      nightlyRateMinor: Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: "One room and night, minor units of the contract's currency.",
      }),
    }),
    { minItems: 1, maxItems: 100, description: "Seasons: each night of the validity is in exactly one." },
  ),
  currency: Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217", examples: ["USD"] }),
  maxOccupancy: Type.Integer({ minimum: 1, maximum: 8, description: "Passengers in one room." }),
  accessibleRooms: Rooms("Part of each night's rooms, not on top of them."),
  acceptedPayments: Type.Optional(
    Type.Array(Type.Enum([...paymentMethods]), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description: "Default: GUARANTEE alone.",
    }),
  ),
  conditions: Type.Optional(conditions),
  block: Type.Object({
    roomsPerNight: Rooms("Rooms that the hotel holds for the airline every night."),
    exceptions: Type.Optional(
      Type.Array(
        Type.Object({ night: LocalDate("2026-12-24"), rooms: Rooms("In place of `roomsPerNight`.") }),
        { maxItems: 400, description: "Nights with another number of rooms, each named once." },
      ),
    ),
    blackouts: Type.Optional(
      Type.Array(
        Type.Object({
          from: LocalDate("2026-12-30", "The first night without rooms."),
          until: LocalDate("2027-01-02", "Exclusive."),
          reason: Type.Optional(Type.String({ minLength: 1, maxLength: 120, examples: ["New Year"] })),
        }),
        {
          maxItems: 100,
          description:
            "Nights in which the contract sells nothing, whatever `exceptions` says; rooms taken stay taken.",
        },
      ),
    ),
  }),
};

export const ContractBody = Type.Object({
  analysisUrn: Type.Optional(
    Type.String({
      ...Urn("contract-analysis"),
      description:
        "The analysis of the document that these terms were read from. Whoever sends it stands by them: nothing of it counts before.",
    }),
  ),
  contractUrn: Type.Optional(
    Type.String({
      ...Urn("contract"),
      description: "The contract to replace the terms of; absent: a new one.",
    }),
  ),
  ...terms,
  version: Concurrency.version,
});
export type ContractBody = Static<typeof ContractBody>;

/** What was agreed, with every default filled in. */
export type ContractTerms = Omit<
  ContractBody,
  "analysisUrn" | "contractUrn" | "version" | "acceptedPayments" | "block"
> & {
  acceptedPayments: PaymentMethod[];
  block: {
    roomsPerNight: number;
    exceptions: { night: string; rooms: number }[];
    /** Absent: none. */
    blackouts?: { from: string; until: string; reason?: string }[];
  };
};

export const contractStatuses = ["UPCOMING", "ACTIVE", "ENDED"] as const;
export type ContractStatus = (typeof contractStatuses)[number];

export const ContractListQuery = Type.Object({
  status: Type.Optional(
    Type.Enum([...contractStatuses], {
      description: "Absent: those that are in force or will be, that is all but ENDED.",
    }),
  ),
  airport: Type.Optional(AirportCode),
  ...PageQuery,
});

export const ContractView = Type.Object(
  {
    urn: Urn("contract"),
    ...terms,
    status: Type.Enum([...contractStatuses], { description: "By the local date at the airport." }),
    provenance: Type.Optional(
      Type.Object(
        {
          analysisUrn: Urn("contract-analysis"),
          confirmedBy: Type.String({ examples: ["urn:operator:9b2f6c1e-0c7a-4c55-8e2f-5f1d1c0a7a11"] }),
          confirmedAt: Timestamp,
        },
        {
          description:
            "Stands through later changes of the terms that name no analysis; who made those is in the audit.",
        },
      ),
    ),
    nights: Type.Array(
      Type.Object({
        night: LocalDate("2026-11-21"),
        rooms: Type.Integer({ minimum: 0, description: "The block." }),
        taken: Type.Integer({ minimum: 0, description: "Held or booked." }),
        left: Type.Integer({ minimum: 0 }),
        accessibleLeft: Type.Integer({ minimum: 0 }),
      }),
      { description: "The next fourteen, tonight first, as far as the contract reaches." },
    ),
    version: Type.Integer({ description: "Counts changes of the terms; rooms taken and given back don't." }),
    createdAt: Timestamp,
    changedAt: Type.String({ ...Timestamp, description: "The last change of the terms." }),
  },
  { title: "Contract" },
);
export type ContractView = Static<typeof ContractView>;

/** The data of `contract.hold`. `reference` is the asker's, as in all that follow: one attempt's alone. */
export interface HoldRooms {
  reference: string;
  rooms: number;
  /** Of the rooms, those that must be accessible. */
  accessible: number;
  /** Local dates; check-out exclusive. */
  checkIn: string;
  checkOut: string;
  /** What was offered: a dearer contract or another currency by now refuses. */
  nightlyRateMinor: number;
  currency: string;
}

/** The data of `contract.book`. */
export interface BookRooms {
  reference: string;
  holdId: string;
  payment: PaymentMethod;
}

/** The data of `contract.cancel`. */
export interface CancelRooms {
  reference: string;
  bookingId: string;
}

/**
 * Why `contract.hold`, `.book` and `.cancel` say no for good: the `state` of their conflict/state. A contract, hold or
 * booking that isn't there is not-found/resource.
 */
export const contractRefusals = [
  "SOLD_OUT",
  "HOLD_EXPIRED",
  "PAYMENT_DECLINED",
  "INVALID_REQUEST",
  "REFERENCE_REUSED",
  "REFUSED",
] as const;
export type ContractRefusal = (typeof contractRefusals)[number];

/** What stands under a reference: the answer of hold, book and cancel, and what `contract.lookup` finds. */
export type RoomsTaken = { holdId: string; expiresAt: string; total: Money } & (
  | { state: "HELD" }
  | { state: "EXPIRED" }
  | { state: "BOOKED"; bookingId: string; confirmationNumber: string }
  | { state: "CANCELLED"; bookingId: string; confirmationNumber: string; cancelledAt: string; fee: Money }
);

/** What `contract.ledger` lists: bookings and their cancellations in the order of change. */
export interface ContractLedgerPage {
  entries: { bookingId: string; reference: string; state: "BOOKED" | "CANCELLED"; changedAt: string }[];
  nextCursor?: string;
}
