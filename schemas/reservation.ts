/** Owns the wire shape of one reservation as operators read it, and of one that a person has made by phone. */
import Type, { type Static } from "typebox";
import { CancellationWindow } from "./cancellation.ts";
import { ReservationView } from "./case.ts";
import { Concurrency } from "./concurrency.ts";
import { nightsMax, PlaceOnEarth } from "./hotel-search.ts";
import { LocalDate } from "./local-day.ts";
import { Urn } from "./urn.ts";
import { GroupId, Money, Reason, Timestamp } from "./vocabulary.ts";

/** In place of a vendor's name where a person has booked; no configured vendor may have it. */
export const byHandVendor = "by-hand";

export const ReservationUrn = Type.String({
  ...Urn("reservation", "booking"),
  description: "Or its booking's URN. Suffixes `:vendor:…:status:…` are ignored.",
});

const Phone = Type.String({
  pattern: "^\\+?[0-9][0-9 ()./-]{4,30}$",
  examples: ["+1 718 555 0143"],
  description: "Of the hotel.",
});

export const ReservationDetail = Type.Object(
  {
    ...ReservationView.properties,
    hotel: Type.Object({
      hotelUrn: Urn("hotel"),
      name: Type.String(),
      address: Type.String(),
      phone: Type.Optional(Phone),
      coordinates: Type.Optional(PlaceOnEarth),
      stars: Type.Optional(Type.Integer()),
      distanceKm: Type.Optional(Type.Number({ description: "Straight line from the airport." })),
    }),
    nights: Type.Integer(),
    passengers: Type.Array(
      Type.Object({
        urn: Urn("passenger"),
        firstName: Type.Optional(Type.String()),
        lastName: Type.Optional(Type.String()),
      }),
    ),
    cancellingNow: Type.Optional(
      Type.Object(Money.properties, { description: "What cancelling would cost at this moment." }),
    ),
    cheapestCancellation: Type.Optional(
      Type.Object(CancellationWindow.properties, {
        description: "When cancelling is cheapest from now on: after `from`, until `before`.",
      }),
    ),
    payment: Type.Optional(Type.Enum(["GUARANTEE", "CARD"], { description: "How the hotel is paid." })),
    voucher: Type.Optional(
      Type.Object({
        urn: Urn("voucher"),
        code: Type.String(),
        status: Type.Enum(["ISSUED", "VOID"]),
        issuedAt: Timestamp,
      }),
    ),
    byHand: Type.Optional(
      Type.Object(
        {
          bookedBy: Type.String({ description: "The operator's URN." }),
          bookedAt: Timestamp,
          reason: Type.String(),
        },
        { description: "Made by a person, past every vendor: cancelling it is a person's work, too." },
      ),
    ),
    version: Type.Integer({ description: "Of the sub-case." }),
  },
  { title: "ReservationDetail" },
);
export type ReservationDetail = Static<typeof ReservationDetail>;

export const ManualReservationBody = Type.Object({
  caseUrn: Type.Optional(Urn("case")),
  groupId: Type.Optional(Type.String({ ...GroupId, description: "With `caseUrn`: whose room it is." })),
  subCaseUrn: Type.Optional(
    Type.String({ ...Urn("sub-case"), description: "In place of `caseUrn` and `groupId`." }),
  ),
  hotelUrn: Type.Optional(
    Type.String({ ...Urn("hotel"), description: "A hotel of the catalogue; or name it in `hotel`." }),
  ),
  hotel: Type.Optional(
    Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 120, examples: ["Harbour Rooms"] }),
        address: Type.String({ minLength: 1, maxLength: 300, examples: ["7 Quay Street, New York, US"] }),
        phone: Type.Optional(Phone),
        coordinates: Type.Optional(PlaceOnEarth),
        stars: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
      },
      {
        description:
          "A hotel that no vendor knows. Without `coordinates` no ride is ordered: a review item asks a person to.",
      },
    ),
  ),
  checkIn: LocalDate("2026-11-21", "The first night, by the date at the airport."),
  nights: Type.Integer({ minimum: 1, maximum: nightsMax, examples: [1] }),
  rooms: Type.Integer({ minimum: 1, maximum: 500, examples: [1] }),
  confirmationNumber: Type.String({
    minLength: 1,
    maxLength: 60,
    pattern: "\\S",
    examples: ["HR-20871"],
    description: "What the guests show at the desk.",
  }),
  totalMinor: Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    examples: [18_900],
    description: "The whole stay, all rooms, in minor units of `currency`.",
  }),
  currency: Type.String({ pattern: "^[A-Z]{3}$", examples: ["USD"], description: "ISO 4217" }),
  reason: Reason,
  ...Concurrency,
});
export type ManualReservationBody = Static<typeof ManualReservationBody>;
