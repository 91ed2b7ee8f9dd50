/**
 * Owns what partners read of a night's people, rooms, vouchers and rules (contract, "Partner API"; it leaves the bodies open).
 * Shown is what the scope names and no more: who travels and how far their group is, never a contact, a special requirement
 * (it tells of health), an offer or a wallet, an operator, a lock, a review item, a hotel chosen over the wave's, a vendor, or an
 * amount (what rooms cost is the airline's secret with its hotels; partners have the figure `cost.total`). A code that opens a
 * hotel's door is shown only under the scope that names it. Drills and shadow cases don't exist here.
 */
import Type, { type Static } from "typebox";
import { OperationalStatus } from "./case.ts";
import { LocalDate } from "./local-day.ts";
import { PageQuery } from "./page.ts";
import { PartnerCaseListItem } from "./partner-api.ts";
import { PolicyBody } from "./policy.ts";
import { segmentStatuses } from "./transport.ts";
import { Urn } from "./urn.ts";
import { cabins, directions, reservationStatuses, Timestamp, vehicleTypes } from "./vocabulary.ts";

export const PartnerPageQuery = Type.Object({ ...PageQuery });

const Group = Type.String({ description: "Who travel together, and are housed together." });

/** Somebody stranded, as the manifest that was pushed names them. */
export const PartnerPassenger = Type.Object(
  {
    urn: Urn("passenger"),
    groupId: Group,
    subCaseUrn: Urn("sub-case"),
    pnr: Type.Optional(Type.String()),
    firstName: Type.Optional(Type.String()),
    lastName: Type.Optional(Type.String()),
    cabinClass: Type.Optional(Type.String()),
    loyaltyTier: Type.Optional(Type.String()),
    passengerType: Type.Optional(Type.String()),
    operationalStatus: OperationalStatus,
  },
  { title: "PartnerPassenger", description: "Without contacts and special requirements: those stay here." },
);
export type PartnerPassenger = Static<typeof PartnerPassenger>;

const Hotel = Type.Object({
  hotelUrn: Urn("hotel"),
  name: Type.String(),
  address: Type.String(),
  stars: Type.Optional(Type.Integer()),
  distanceKm: Type.Optional(Type.Number({ description: "Straight line from the airport." })),
});

const stay = {
  status: Type.Enum([...reservationStatuses]),
  hotel: Hotel,
  checkIn: LocalDate("2026-11-21", "By the date at the airport."),
  checkOut: LocalDate("2026-11-22", "By the date at the airport."),
  nights: Type.Integer({ minimum: 1, examples: [1] }),
  rooms: Type.Integer({ minimum: 1, examples: [2] }),
};

export const voucherStatuses = ["ISSUED", "VOID"] as const;

const voucherHead = {
  urn: Urn("voucher"),
  status: Type.Enum([...voucherStatuses], { description: "`VOID`: its room was given up." }),
  issuedAt: Timestamp,
};

/** What one group has got: a room, a voucher, rides. */
export const PartnerServices = Type.Object(
  {
    groupId: Group,
    subCaseUrn: Urn("sub-case"),
    tier: Type.Enum([...cabins]),
    passengers: Type.Integer({ minimum: 0, examples: [3] }),
    operationalStatus: OperationalStatus,
    booking: Type.Optional(
      Type.Object(
        { urn: Urn("booking"), ...stay },
        {
          description:
            "Absent: no hotel has been asked yet. What the guests show at its desk: `GET /bookings/{…}`.",
        },
      ),
    ),
    voucher: Type.Optional(
      Type.Object(voucherHead, { description: "Absent: none is issued yet. Its code: `GET /vouchers/{…}`." }),
    ),
    rides: Type.Array(
      Type.Object({
        urn: Urn("segment"),
        direction: Type.Enum([...directions]),
        status: Type.Enum([...segmentStatuses]),
        vehicleType: Type.Enum([...vehicleTypes]),
        scheduledAt: Type.String({ ...Timestamp, description: "When the vehicle leaves." }),
      }),
      { description: "There and back, in the order in which they were made." },
    ),
  },
  { title: "PartnerServices" },
);
export type PartnerServices = Static<typeof PartnerServices>;

const whose = {
  caseUrn: Urn("case"),
  subCaseUrn: Urn("sub-case"),
  groupId: Group,
  passengerUrns: Type.Array(Urn("passenger"), { description: "Whose it is." }),
};

export const PartnerBooking = Type.Object(
  {
    urn: Urn("booking"),
    ...whose,
    ...stay,
    confirmationNumber: Type.Optional(Type.String({ description: "Absent: the hotel has not confirmed." })),
    voucherUrn: Type.Optional(Urn("voucher")),
  },
  {
    title: "PartnerBooking",
    description:
      "A group's newest: a room that has taken its place is another booking, and the former is 404.",
  },
);
export type PartnerBooking = Static<typeof PartnerBooking>;

export const PartnerVoucher = Type.Object(
  {
    ...voucherHead,
    code: Type.String({ description: "What the guests show." }),
    ...whose,
    bookingUrn: Urn("booking"),
    hotel: Hotel,
    checkIn: stay.checkIn,
    checkOut: stay.checkOut,
    rooms: stay.rooms,
  },
  { title: "PartnerVoucher", description: "A group's newest." },
);
export type PartnerVoucher = Static<typeof PartnerVoucher>;

/** A case that somebody is in, and how far their group is there. */
export const PassengerCase = Type.Object(
  {
    ...PartnerCaseListItem.properties,
    groupId: Group,
    subCaseUrn: Urn("sub-case"),
    operationalStatus: OperationalStatus,
  },
  { title: "PassengerCase" },
);
export type PassengerCase = Static<typeof PassengerCase>;

const constraints = Type.Pick(PolicyBody.properties.constraints, [
  "minStars",
  "maxDistanceKm",
  "requiredAmenities",
]);
const transport = Type.Pick(PolicyBody.properties.transport, ["mode", "perTier", "minutesBeforePickup"]);

/** What passengers are entitled to under a policy in force. */
export const PartnerPolicy = Type.Object(
  {
    urn: Urn("policy"),
    name: Type.String({ examples: ["Stranded overnight"] }),
    context: PolicyBody.properties.context,
    tiers: PolicyBody.properties.tiers,
    constraints: Type.Optional(constraints),
    buffers: Type.Optional(PolicyBody.properties.buffers),
    maxOccupancy: PolicyBody.properties.maxOccupancy,
    transport: Type.Optional(transport),
    version: Type.Integer({ description: "Counts the changes of its text." }),
  },
  {
    title: "PartnerPolicy",
    description:
      "What passengers are entitled to. Rates, amounts on cards, chains, providers, payments, weights and approvals are the airline's own.",
  },
);
export type PartnerPolicy = Static<typeof PartnerPolicy>;
