/** Owns the wire shape of cases and their manifest as operators write and read them (contract, "Case"). */
import Type, { type Static } from "typebox";
import { marketBases } from "./allocation.ts";
import { CancellationStep } from "./cancellation.ts";
import { Concurrency } from "./concurrency.ts";
import { CaseKind, caseKinds } from "./drill.ts";
import { feedEventPrefix, PredictionView } from "./flight.ts";
import { LockFacts } from "./lock.ts";
import { PageQuery } from "./page.ts";
import { GroupPriority } from "./partner-priority.ts";
import { PassengerInput } from "./passenger.ts";
import { RelaxedFields } from "./relaxation.ts";
import { ReviewItemView } from "./review.ts";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  cabins,
  caseStatuses,
  disruptionReasons,
  disruptionTypes,
  GroupId,
  Money,
  offerStates,
  Reason,
  reservationStatuses,
  subCaseStatuses,
  Timestamp,
} from "./vocabulary.ts";

/** An airline designator of two or three characters and a number, as printed on a ticket. */
export const FlightNumber = Type.String({
  pattern: "^[A-Z0-9]{2}[A-Z]? ?[0-9]{1,4}[A-Z]?$",
  examples: ["XN482"],
});

/** The sender's name of the event: unique per airline for ever, so the same one never opens a second case. */
export const ExternalEventId = Type.String({
  minLength: 1,
  maxLength: 200,
  // `eventIdOf` of the case actor.
  pattern: `^(?!(${[...caseKinds, feedEventPrefix].join("|")}):)`,
  examples: ["XN482-2026-11-21"],
  description:
    "Whatever you call it; what begins with `DRILL:` or `SHADOW:` is the name of a drill, what begins with `FEED:` of what the flight feed has told, and of nothing else.",
});

export const Flight = Type.Object({
  number: FlightNumber,
  origin: AirportCode,
  destination: AirportCode,
  scheduledDeparture: Timestamp,
  status: Type.Optional(Type.String({ minLength: 1, maxLength: 40, examples: ["CANCELLED"] })),
});
export type Flight = Static<typeof Flight>;

export const NextFlight = Type.Object({ number: FlightNumber, scheduledDeparture: Timestamp });
export type NextFlight = Static<typeof NextFlight>;

/** An unknown reason is taken as OTHER and its raw value kept, so the field is open. */
export const DisruptionInput = Type.Object({
  type: Type.Enum([...disruptionTypes]),
  reason: Type.String({ minLength: 1, maxLength: 60, examples: ["WEATHER"] }),
  airport: Type.Optional(AirportCode),
  decidedAt: Timestamp,
});
export type DisruptionInput = Static<typeof DisruptionInput>;

export const OpenCaseManuallyBody = Type.Object({
  externalEventId: ExternalEventId,
  flight: Flight,
  nextFlight: Type.Optional(NextFlight),
  passengerGroups: Type.Array(
    Type.Object({
      groupId: Type.Optional(GroupId),
      passengers: Type.Array(PassengerInput, { minItems: 1, maxItems: 500 }),
    }),
    { maxItems: 1500 },
  ),
  disruption: Type.Optional(DisruptionInput),
  kind: Type.Optional(CaseKind),
});
export type OpenCaseManuallyBody = Static<typeof OpenCaseManuallyBody>;

export const CaseListQuery = Type.Object({
  status: Type.Optional(Type.Enum([...caseStatuses])),
  airport: Type.Optional(AirportCode),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Flights scheduled to leave at this time or later." }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "Flights scheduled to leave before this time." }),
  ),
  ...PageQuery,
});

export const AllocateBody = Type.Object({ ...Concurrency });
export const AllocateCaseBody = Type.Object({ caseUrn: Urn("case"), ...Concurrency });

const PartialFailures = Type.Array(Type.Object({ failedDomain: Type.String(), detail: Type.String() }), {
  description: "Parts that did not answer in time; the rest is whole.",
});

/** What a started allocation answers: the wave is found under its URN once it has run. */
export const AllocationStarted = Type.Object(
  {
    caseUrn: Urn("case"),
    waveUrn: Type.Optional(Urn("wave")),
    partialFailures: PartialFailures,
    correlationUrn: Urn("correlation"),
  },
  { title: "AllocationStarted" },
);
export type AllocationStarted = Static<typeof AllocationStarted>;

/** Without `groupIds`: all that are allocated and wait for it. */
export const BookRoomsBody = Type.Object({
  groupIds: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
      minItems: 1,
      maxItems: 1500,
      examples: [["G1"]],
      description: "Of those named, the ones that wait for their booking.",
    }),
  ),
  reason: Type.Optional(Reason),
  ...Concurrency,
});

/** The sagas run on their own; each group's sub-case tells how it goes. */
export const BookingStarted = Type.Object(
  {
    caseUrn: Urn("case"),
    groups: Type.Array(
      Type.Object({
        groupId: Type.String(),
        subCaseUrn: Urn("sub-case"),
        hotelUrn: Type.Optional(Urn("hotel")),
        hotelName: Type.Optional(Type.String()),
        rooms: Type.Optional(Type.Integer()),
      }),
    ),
    partialFailures: PartialFailures,
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "BookingStarted" },
);
export type BookingStarted = Static<typeof BookingStarted>;

/** `hotelUrn`: where to begin; one of the hotels that the group's wave found for it. Without it: the wave's first choice. */
export const CompensateBody = Type.Object({
  hotelUrn: Type.Optional(Urn("hotel")),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  ...Concurrency,
});

/** The saga runs on its own; `correlationUrn` is the same for the same payload. */
export const CompensationStarted = Type.Object(
  {
    subCaseUrn: Urn("sub-case"),
    status: Type.Enum([...subCaseStatuses]),
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "CompensationStarted" },
);
export type CompensationStarted = Static<typeof CompensationStarted>;

export const ReasonBody = Type.Object({
  reason: Type.String({ minLength: 1, maxLength: 500, description: "Why; kept in the audit trail." }),
  ...Concurrency,
});

/** A case after it was closed or opened again. */
export const CaseStanding = Type.Object(
  {
    caseUrn: Urn("case"),
    status: Type.Enum([...caseStatuses]),
    closedAt: Type.Optional(Timestamp),
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "CaseStanding" },
);
export type CaseStanding = Static<typeof CaseStanding>;

const Disruption = Type.Object({
  type: Type.Enum([...disruptionTypes]),
  reason: Type.Enum([...disruptionReasons]),
  reasonRaw: Type.Optional(Type.String({ description: "As it was sent, where it was not one of ours." })),
  airport: Type.Optional(AirportCode),
  decidedAt: Type.Optional(Timestamp),
});

const caseHead = {
  urn: Urn("case"),
  airlineUrn: Urn("airline"),
  externalEventId: Type.String({ description: "Of a drill or shadow case with its kind in front." }),
  kind: Type.Optional(CaseKind),
  status: Type.Enum([...caseStatuses]),
  airport: AirportCode,
  flight: Flight,
  nextFlight: Type.Optional(NextFlight),
  disruption: Type.Optional(Disruption),
  prediction: Type.Optional(PredictionView),
  subCaseCount: Type.Integer({ minimum: 0 }),
  version: Type.Integer(),
  createdAt: Timestamp,
  updatedAt: Type.Optional(Timestamp),
  resolvedAt: Type.Optional(Timestamp),
  closedAt: Type.Optional(Timestamp),
};

export const CaseListItem = Type.Object(caseHead, { title: "CaseListItem" });
export type CaseListItem = Static<typeof CaseListItem>;

const PassengerView = Type.Object({
  urn: Urn("passenger"),
  pnr: Type.Optional(Type.String()),
  firstName: Type.Optional(Type.String()),
  lastName: Type.Optional(Type.String()),
  cabinClass: Type.Optional(Type.String()),
  loyaltyTier: Type.Optional(Type.String()),
  passengerType: Type.Optional(Type.String()),
  specialRequirements: Type.Optional(Type.Array(Type.String())),
  contact: Type.Optional(
    Type.Object({
      email: Type.Optional(Type.String()),
      phone: Type.Optional(Type.String()),
      language: Type.Optional(Type.String()),
    }),
  ),
});

/** A group's progress: its sub-case's status, or LOCAL_RESIDENT when no night has to be bridged. */
export const OperationalStatus = Type.Enum([...subCaseStatuses, "LOCAL_RESIDENT"]);

const MergedInto = Type.String({
  description: "The group that its passengers are in now; nobody is left in this one.",
});

const GroupView = Type.Object({
  groupId: Type.String(),
  subCaseUrn: Type.Optional(Urn("sub-case")),
  tier: Type.Enum([...cabins]),
  operationalStatus: OperationalStatus,
  passengers: Type.Array(PassengerView),
  mergedInto: Type.Optional(MergedInto),
  priority: Type.Optional(GroupPriority),
  lockedBy: Type.Optional(LockFacts.lockedBy),
  lockExpiresAt: Type.Optional(LockFacts.lockExpiresAt),
});

export const AllocationView = Type.Object({
  groupId: Type.String(),
  subCaseUrn: Type.Optional(Urn("sub-case")),
  tier: Type.Enum([...cabins]),
  hotelUrn: Urn("hotel"),
  hotelName: Type.String(),
  rooms: Type.Integer(),
  nights: Type.Integer(),
  totalMinor: Type.Integer(),
  currency: Type.String(),
  marketTotalMinor: Type.Optional(
    Type.Integer({ description: "Of a direct contract: what vendors asked for the same in this wave." }),
  ),
  marketBasis: Type.Optional(
    Type.Enum([...marketBases], {
      description:
        "SAME_HOTEL: the cheapest vendor's offer of this hotel. SAME_STARS: the median of the vendors' hotels with as many stars.",
    }),
  ),
  reason: Type.String({ description: "Why this hotel." }),
});
export type AllocationView = Static<typeof AllocationView>;

export const ReservationView = Type.Object(
  {
    urn: Urn("reservation"),
    bookingUrn: Type.Optional(Urn("booking")),
    caseUrn: Urn("case"),
    subCaseUrn: Type.Optional(Urn("sub-case")),
    groupId: Type.String(),
    status: Type.Enum([...reservationStatuses]),
    vendor: Type.Optional(Type.String()),
    hotelUrn: Urn("hotel"),
    hotelName: Type.String(),
    checkIn: Type.String({ description: "Local date at the airport, `YYYY-MM-DD`." }),
    checkOut: Type.String({ description: "Local date at the airport, `YYYY-MM-DD`." }),
    rooms: Type.Integer(),
    confirmationNumber: Type.Optional(Type.String()),
    totalMinor: Type.Optional(Type.Integer()),
    currency: Type.Optional(Type.String()),
    freeCancellationUntil: Type.Optional(
      Type.String({ ...Timestamp, description: "The last moment at which cancelling costs nothing." }),
    ),
    cancellation: Type.Optional(
      Type.Array(CancellationStep, {
        description: "What cancelling costs until when, earliest first, as the vendor has told it.",
      }),
    ),
    cancellationFee: Type.Optional(
      Type.Object(Money.properties, { description: "What the vendor charged for its cancellation." }),
    ),
  },
  { title: "Reservation" },
);
export type ReservationView = Static<typeof ReservationView>;

export const CaseView = Type.Object(
  {
    ...caseHead,
    passengerGroups: Type.Array(GroupView),
    wave: Type.Union([
      Type.Object({ urn: Urn("wave"), allocations: Type.Array(AllocationView) }),
      Type.Null(),
    ]),
    reservations: Type.Array(ReservationView),
    manualReviewItems: Type.Array(ReviewItemView),
    relaxations: Type.Optional(
      Type.Array(
        Type.Object({
          fields: RelaxedFields,
          groupIds: Type.Array(Type.String(), { description: "For whose sake." }),
          reason: Type.String(),
          by: Type.String({ description: "User URN." }),
          at: Timestamp,
        }),
        { description: "Limits of the policies that are loosened for this case alone, in order." },
      ),
    ),
    partialFailures: Type.Optional(
      Type.Array(Type.Object({ failedDomain: Type.String(), detail: Type.String() })),
    ),
  },
  { title: "Case" },
);
export type CaseView = Static<typeof CaseView>;

export const CaseOpened = Type.Object(
  {
    caseUrn: Urn("case"),
    status: Type.Enum([...caseStatuses]),
    subCaseCount: Type.Integer({ minimum: 0 }),
    correlationUrn: Urn("correlation"),
  },
  { title: "CaseOpened" },
);
export type CaseOpened = Static<typeof CaseOpened>;

export const ManifestItem = Type.Object(
  {
    subCaseUrn: Urn("sub-case"),
    groupId: Type.String(),
    tier: Type.Enum([...cabins]),
    status: Type.Enum([...subCaseStatuses]),
    offerState: Type.Enum([...offerStates]),
    ...LockFacts,
    version: Type.Integer(),
    passengers: Type.Array(PassengerView),
    mergedInto: Type.Optional(MergedInto),
  },
  { title: "SubCase" },
);
export type ManifestItem = Static<typeof ManifestItem>;
