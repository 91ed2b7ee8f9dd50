/** Owns what each public event tells (contract, "Outbound webhooks"): when it arises, and its data. Types and scopes stand in `events.ts`. */
import Type, { type TObject } from "typebox";
import { ExternalEventId, FlightNumber, NextFlight } from "./case.ts";
import type { PublicEventType } from "./events.ts";
import { certainties } from "./flight.ts";
import { stayEffects } from "./reaccommodate.ts";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  caseStatuses,
  disruptionReasons,
  disruptionTypes,
  GroupId,
  Money,
  subCaseStatuses,
  Timestamp,
} from "./vocabulary.ts";

export interface EventDescription {
  /** When it arises. */
  when: string;
  data: TObject;
}

const LocalDate = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "Local date at the airport.",
  examples: ["2026-11-21"],
});

const flight = Type.Object({
  iataDesignator: FlightNumber,
  originAirport: AirportCode,
  destinationAirport: AirportCode,
  scheduledDeparture: Timestamp,
});

const disruption = Type.Object({
  type: Type.Enum([...disruptionTypes]),
  reason: Type.Enum([...disruptionReasons]),
});

const group = { subCaseUrn: Urn("sub-case"), groupId: GroupId };

/** Alike for every step of a group. */
const groupEvent = (when: string): EventDescription => ({
  when,
  data: Type.Object({
    ...group,
    status: Type.Enum([...subCaseStatuses]),
    passengerUrns: Type.Array(Urn("passenger")),
    hotelUrn: Type.Optional(Urn("hotel")),
    hotelName: Type.Optional(Type.String()),
    bookingUrn: Type.Optional(Urn("booking")),
  }),
});

const voucher = { voucherUrn: Urn("voucher"), ...group };

const amendedGroup = Type.Object({
  groupId: GroupId,
  subCaseUrn: Urn("sub-case"),
  passengerUrns: Type.Optional(Type.Array(Urn("passenger"), { description: "With `GROUPS`." })),
  effect: Type.Optional(
    Type.Enum([...stayEffects], { description: "With `NEXT_FLIGHT`: what becomes of its stay." }),
  ),
  nextFlight: Type.Optional(NextFlight),
  checkIn: Type.Optional(LocalDate),
  checkOut: Type.Optional(LocalDate),
});

const count = Type.Integer({ minimum: 0, examples: [0] });

export const eventsDescribed: Readonly<Record<PublicEventType, EventDescription>> = {
  "disruption.detected": {
    when: "The flight predictor flags a disruption whose probability exceeds the policy's threshold.",
    data: Type.Object({
      flight,
      disruption,
      airport: AirportCode,
      probability: Type.Number({ minimum: 0, maximum: 1, examples: [0.92] }),
      threshold: Type.Number({ minimum: 0, maximum: 1, examples: [0.8] }),
      certainty: Type.Enum([...certainties], { description: "`CONFIRMED`: it is no prediction any more." }),
    }),
  },
  "case.opened": {
    when: "A case is provisioned: every passenger has an owner. One that the flight feed has opened has none yet (`subCaseCount` 0): they come with `case.amended`.",
    data: Type.Object({
      externalEventId: ExternalEventId,
      status: Type.Enum([...caseStatuses]),
      airport: AirportCode,
      flight,
      disruption,
      subCaseCount: Type.Integer({ minimum: 0 }),
    }),
  },
  "case.amended": {
    when: "The manifest is updated: groups are formed anew, passengers are added, or the next flight is another one. Of many groups several in a row tell. `DISRUPTION`: a case that the flight feed has opened, of which more is known.",
    data: Type.Object({
      externalEventId: ExternalEventId,
      change: Type.Enum(["NEXT_FLIGHT", "GROUPS", "PASSENGERS", "DISRUPTION"]),
      airport: Type.Optional(
        Type.String({ ...AirportCode, description: "With `DISRUPTION`, as what follows." }),
      ),
      flight: Type.Optional(flight),
      disruption: Type.Optional(disruption),
      probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1, examples: [0.97] })),
      certainty: Type.Optional(
        Type.Enum([...certainties], {
          description: "Absent once the airline has told of the disruption itself.",
        }),
      ),
      nextFlight: Type.Optional(NextFlight),
      groups: Type.Array(amendedGroup, { description: "Those whom it concerns." }),
      mergedAway: Type.Optional(
        Type.Array(Type.Object({ groupId: GroupId, mergedInto: GroupId }), { description: "With `GROUPS`." }),
      ),
    }),
  },
  "subcase.processing": groupEvent("Rooms and all that goes with them are being arranged for a group."),
  "subcase.offer-ready": groupEvent("All is arranged, and the passengers are told."),
  "subcase.resolved": groupEvent("The passengers have accepted."),
  "subcase.declined": groupEvent("The passengers have declined; what was arranged is being given back."),
  "subcase.failed": groupEvent("No room is left to try; a person works on it."),
  "subcase.compensation-failed": groupEvent(
    "What was arranged could not be given back; a person works on it.",
  ),
  "case.resolved": {
    when: "Every group of the case has come to its end.",
    data: Type.Object({
      resolvedAt: Timestamp,
      subCaseCount: Type.Integer({ minimum: 0 }),
      outcomes: Type.Object({
        resolved: Type.Integer({ minimum: 0, examples: [93] }),
        declined: count,
        notRequired: count,
        settledByHand: count,
      }),
    }),
  },
  "voucher.issued": {
    when: "A voucher is made and handed out.",
    data: Type.Object({
      ...voucher,
      hotelUrn: Type.Optional(Urn("hotel")),
      checkIn: Type.Optional(LocalDate),
      checkOut: Type.Optional(LocalDate),
      rooms: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
  },
  "voucher.amended": {
    when: "A voucher that was handed out is worth nothing any more, or good for another hotel or other dates.",
    data: Type.Object({
      ...voucher,
      status: Type.Enum(["AMENDED", "ISSUED", "VOID"], {
        description: "`ISSUED`: another voucher in its place, for another hotel.",
      }),
      reason: Type.String({ examples: ["The next flight has changed."] }),
      hotelUrn: Type.Optional(Urn("hotel")),
      checkIn: Type.Optional(LocalDate),
      checkOut: Type.Optional(LocalDate),
    }),
  },
  "wallet.card-issued": {
    when: "A virtual prepaid card is issued.",
    data: Type.Object({
      ...group,
      last4: Type.String({ pattern: "^\\d{4}$", examples: ["4821"] }),
      balance: Money,
    }),
  },
  "wallet.card-tx": {
    when: "A card is used: an authorization, its settlement, or a reversal.",
    data: Type.Object({
      ...group,
      last4: Type.String({ pattern: "^\\d{4}$", examples: ["4821"] }),
      kind: Type.Enum(["AUTHORIZATION", "SETTLEMENT", "REVERSAL"]),
      amount: Money,
      balance: Money,
    }),
  },
};

/** A webhook's body, of one type. Its members only ever become more. */
export const webhookBody = (type: PublicEventType): TObject =>
  Type.Object({
    type: Type.Literal(type),
    occurred_at: Timestamp,
    tenant: Urn("airline"),
    case_urn: Type.Optional(Urn("case")),
    correlation_urn: Type.Unsafe<string>({
      ...Urn("correlation"),
      examples: ["urn:correlation:01JD0000000000000000000000"],
    }),
    data: eventsDescribed[type].data,
  });
