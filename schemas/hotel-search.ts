/** Owns the wire shape of an operator's hotel search: what is asked for, the hotels and offers found, and the cache behind it. */
import Type, { type Static } from "typebox";
import { discardReasons } from "./allocation.ts";
import { LocalDate } from "./local-day.ts";
import { PolicyConstraints } from "./policy.ts";
import { Urn } from "./urn.ts";
import { AirportCode, cabins, Money, Timestamp } from "./vocabulary.ts";

export const PlaceOnEarth = Type.Object({
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
});

/** Longer than any disruption lasts. */
export const nightsMax = 60;
const hotelsDefault = 50;
const hotelsMax = 200;

export const HotelSearchBody = Type.Object({
  airport: Type.Optional(
    Type.String({ ...AirportCode, description: "Where to look; not needed with `caseUrn`." }),
  ),
  caseUrn: Type.Optional(
    Type.String({ ...Urn("case"), description: "In place of `airport`: the airport of this case." }),
  ),
  checkIn: LocalDate("2026-11-21", "The first night."),
  nights: Type.Integer({ minimum: 1, maximum: nightsMax, examples: [1] }),
  rooms: Type.Integer({
    minimum: 1,
    maximum: 1000,
    examples: [2],
    description: "What `totalMinor` is worked out for. Hotels with fewer rooms are shown, too.",
  }),
  tier: Type.Optional(
    Type.Enum([...cabins], {
      description: "Offers are held against the policy in force for this tier at the airport.",
    }),
  ),
  constraints: Type.Optional(
    Type.Object(PolicyConstraints.properties, {
      description:
        "In place of the policy's own, member by member: what relaxing it would bring. `maxNightlyRate` is in major units of the currency of the airport's country. Without `tier` they alone count.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: hotelsMax,
      description: `Hotels in the answer, the best first; default ${hotelsDefault}.`,
    }),
  ),
});
export type HotelSearchBody = Static<typeof HotelSearchBody>;

/** @param limit as it was sent */
export const hotelsShown = (limit: number | undefined): number => limit ?? hotelsDefault;

const OfferFound = Type.Object({
  vendor: Type.String({ description: "`direct`: a contract of the airline's own." }),
  providerOfferId: Type.String(),
  nightlyRateMinor: Type.Integer({ description: "One room, one night." }),
  totalMinor: Type.Integer({ description: "`rooms` × `nights`." }),
  currency: Type.String({ description: "ISO 4217" }),
  roomsLeft: Type.Integer({ description: "Of this kind, in every night of the stay." }),
  accessibleRooms: Type.Integer({ description: "Part of `roomsLeft`." }),
  maxOccupancy: Type.Integer({ description: "Passengers in one room." }),
  acceptedPayments: Type.Array(Type.String()),
  freeCancellationUntil: Type.Optional(Timestamp),
  policy: Type.Optional(
    Type.Object(
      {
        allowed: Type.Boolean(),
        reason: Type.Optional(Type.Enum([...discardReasons])),
        detail: Type.Optional(Type.String({ description: "Both figures, in a sentence." })),
      },
      { description: "With `tier` or `constraints`." },
    ),
  ),
});

const HotelFound = Type.Object({
  hotelUrn: Urn("hotel"),
  name: Type.String(),
  address: Type.String(),
  coordinates: PlaceOnEarth,
  distanceKm: Type.Number({ description: "Straight line from the airport." }),
  stars: Type.Optional(Type.Integer({ description: "Absent: unrated." })),
  chain: Type.Optional(Type.String()),
  amenities: Type.Array(Type.String()),
  offers: Type.Array(OfferFound, { description: "Allowed ones first, then the cheapest." }),
});

export const HotelSearchView = Type.Object(
  {
    airport: AirportCode,
    checkIn: Type.String({ description: "Local date at the airport, `YYYY-MM-DD`." }),
    checkOut: Type.String({ description: "Local date at the airport, exclusive." }),
    rooms: Type.Integer(),
    policyUrn: Type.Optional(Urn("policy")),
    maxNightlyRate: Type.Optional(Money),
    hotelCount: Type.Integer({ description: "Found, of which at most `limit` are shown." }),
    hotels: Type.Array(HotelFound, {
      description:
        "Each hotel once, whoever sells it: hotels with an allowed offer first, then the cheapest.",
    }),
    vendors: Type.Array(
      Type.Object({
        vendor: Type.String(),
        offers: Type.Integer(),
        askedAt: Type.String({
          ...Timestamp,
          description: "When its offers were told; up to a minute ago, unless the cache is invalidated.",
        }),
      }),
      { description: "Whose offers these are." },
    ),
    partialFailures: Type.Array(Type.Object({ failedDomain: Type.String(), detail: Type.String() }), {
      description: "Vendors that failed, or did not answer within two seconds.",
    }),
  },
  { title: "HotelSearch" },
);
export type HotelSearchView = Static<typeof HotelSearchView>;
export type HotelFound = HotelSearchView["hotels"][number];

export const InvalidateHotelsQuery = Type.Object({ airport: AirportCode });

export const HotelsInvalidated = Type.Object(
  { airport: AirportCode, invalidatedAt: Timestamp },
  { title: "HotelsInvalidated" },
);
export type HotelsInvalidated = Static<typeof HotelsInvalidated>;
