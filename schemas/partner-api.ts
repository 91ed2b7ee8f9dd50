/** Owns the wire shapes of the partner surface and its token endpoint (contract, "Partner API", "Token endpoint"). */
import Type, { type Static } from "typebox";
import { DisruptionInput, ExternalEventId, FlightNumber, OperationalStatus } from "./case.ts";
import { PageQuery } from "./page.ts";
import { PassengerInput } from "./passenger.ts";
import { Urn } from "./urn.ts";
import { AirportCode, caseStatuses, Timestamp } from "./vocabulary.ts";

/** Contract, "Partner disruption push payload". The envelope must be usable; passengers are taken as they come. */
export const DisruptionPushBody = Type.Object({
  externalEventId: ExternalEventId,
  airlineUrn: Urn("airline"),
  flight: Type.Object({
    iataDesignator: FlightNumber,
    originAirport: AirportCode,
    destinationAirport: AirportCode,
    scheduledDeparture: Timestamp,
  }),
  disruption: DisruptionInput,
  passengers: Type.Array(PassengerInput, { maxItems: 20_000 }),
  nextFlight: Type.Optional(Type.Object({ iataDesignator: FlightNumber, scheduledDeparture: Timestamp })),
});
export type DisruptionPushBody = Static<typeof DisruptionPushBody>;

const partnerCase = {
  urn: Urn("case"),
  externalEventId: Type.String(),
  status: Type.Enum([...caseStatuses]),
  airport: AirportCode,
  flight: Type.Object({
    iataDesignator: Type.String(),
    originAirport: AirportCode,
    destinationAirport: AirportCode,
    scheduledDeparture: Timestamp,
  }),
  subCaseCount: Type.Integer({ minimum: 0 }),
  openedAt: Timestamp,
  resolvedAt: Type.Optional(Timestamp),
  closedAt: Type.Optional(Timestamp),
};

export const PartnerCaseListItem = Type.Object(partnerCase, { title: "PartnerCaseListItem" });
export type PartnerCaseListItem = Static<typeof PartnerCaseListItem>;

/** What a partner may see of a case: its progress in counts, never the operators' workflow. */
export const PartnerCaseView = Type.Object(
  {
    ...partnerCase,
    progress: Type.Array(
      Type.Object({ operationalStatus: OperationalStatus, groups: Type.Integer({ minimum: 0 }) }),
    ),
  },
  { title: "PartnerCase" },
);
export type PartnerCaseView = Static<typeof PartnerCaseView>;

export const PartnerCaseListQuery = Type.Object({
  airport: Type.Optional(AirportCode),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Flights scheduled to leave at this time or later." }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "Flights scheduled to leave before this time." }),
  ),
  ...PageQuery,
});

export const WebhookTestView = Type.Object(
  {
    delivered: Type.Boolean(),
    status: Type.Optional(Type.Integer({ description: "What the receiver answered." })),
    detail: Type.Optional(Type.String()),
  },
  { title: "WebhookTest" },
);
export type WebhookTestView = Static<typeof WebhookTestView>;

export const TokenRequestBody = Type.Object({
  grant_type: Type.String({ maxLength: 100, examples: ["client_credentials"] }),
  client_id: Type.String({ minLength: 1, maxLength: 128, examples: ["XN-tower"] }),
  client_secret: Type.String({ minLength: 1, maxLength: 256, examples: ["<client secret>"] }),
  audience: Type.String({ minLength: 1, maxLength: 500, examples: ["stopover-partner"] }),
});
export type TokenRequestBody = Static<typeof TokenRequestBody>;

export const TokenView = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Enum(["Bearer"]),
    expires_in: Type.Integer({ description: "Seconds." }),
  },
  { title: "AccessToken" },
);
export type TokenView = Static<typeof TokenView>;
