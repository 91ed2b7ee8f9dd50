/** Owns the wire shapes of the passenger surface: login, profile, offer, decision (contract, "Passenger API"). */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { Urn } from "./urn.ts";
import { cabins, offerStates, subCaseStatuses, Timestamp } from "./vocabulary.ts";

export const PnrLoginBody = Type.Object({
  pnr: Type.String({ minLength: 1, maxLength: 20, examples: ["K7QX2M"] }),
  lastName: Type.String({ minLength: 1, maxLength: 100, examples: ["Lovelace"] }),
  captcha: Type.String({ minLength: 1, maxLength: 4096, examples: ["<challenge token>"] }),
});
export type PnrLoginBody = Static<typeof PnrLoginBody>;

export const MagicLinkBody = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "Of the address in the message: `{passenger_base_url}?token=<token>`.",
    examples: ["<token>"],
  }),
});
export type MagicLinkBody = Static<typeof MagicLinkBody>;

export const PnrLoginView = Type.Object(
  { sessionToken: Type.String(), caseUrn: Urn("case"), expiresAt: Timestamp },
  { title: "PassengerSession" },
);
export type PnrLoginView = Static<typeof PnrLoginView>;

export const MeView = Type.Object(
  {
    caseUrn: Urn("case"),
    groupId: Type.String(),
    tier: Type.Enum([...cabins]),
    language: Type.String(),
    status: Type.Enum([...subCaseStatuses]),
    passengers: Type.Array(
      Type.Object({
        urn: Urn("passenger"),
        firstName: Type.Optional(Type.String()),
        lastName: Type.Optional(Type.String()),
      }),
    ),
    flight: Type.Optional(
      Type.Object({
        number: Type.String(),
        origin: Type.String(),
        destination: Type.String(),
        scheduledDeparture: Timestamp,
      }),
    ),
    nextFlight: Type.Optional(Type.Object({ number: Type.String(), scheduledDeparture: Timestamp })),
  },
  { title: "Me" },
);
export type MeView = Static<typeof MeView>;

/** How far a stay has come, as its passengers are told. */
export const stayStatuses = ["CONFIRMED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW", "CANCELLED"] as const;

/** Before it is ready an offer is PENDING and has only its state. */
export const OfferView = Type.Object(
  {
    state: Type.Enum([...offerStates]),
    hotel: Type.Optional(
      Type.Object({
        urn: Urn("hotel"),
        name: Type.String(),
        address: Type.String(),
        stars: Type.Optional(Type.Integer()),
        distanceKm: Type.Optional(Type.Number()),
      }),
    ),
    checkIn: Type.Optional(Type.String({ description: "Local date, `YYYY-MM-DD`." })),
    checkOut: Type.Optional(Type.String({ description: "Local date, `YYYY-MM-DD`." })),
    rooms: Type.Optional(Type.Integer()),
    nights: Type.Optional(Type.Integer()),
    stayStatus: Type.Optional(
      Type.Enum([...stayStatuses], { description: "Of the room: whether one has checked in, for one." }),
    ),
    voucher: Type.Optional(
      Type.Object({
        urn: Urn("voucher"),
        code: Type.String(),
        qr: Type.String({ description: "An image as a data URI." }),
      }),
    ),
    transport: Type.Optional(
      Type.Object({
        status: Type.Enum(["booked", "pending", "declined"]),
        vehicleType: Type.Optional(Type.String()),
        pickupAt: Type.Optional(Timestamp),
      }),
    ),
    walletCardUrl: Type.Optional(Type.String({ description: "Where the card can be seen." })),
    version: Type.Optional(Type.Integer()),
  },
  { title: "Offer" },
);
export type OfferView = Static<typeof OfferView>;

export const AcceptOfferBody = Type.Object({ ...Concurrency });
export const CheckInBody = Type.Object({ ...Concurrency });
export const DeclineOfferBody = Type.Object({
  reason: Type.Optional(Type.String({ maxLength: 500, examples: ["I found a room myself"] })),
  ...Concurrency,
});
export type DeclineOfferBody = Static<typeof DeclineOfferBody>;
