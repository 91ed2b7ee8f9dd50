/** Owns the events of the passengers' stream (GET /v1/me/events): their names, what each tells, how the published description shows them. */
import Type, { type Static, type TSchema } from "typebox";
import { MeView, OfferView } from "./passenger-api.ts";
import { Urn } from "./urn.ts";
import { channels, Timestamp } from "./vocabulary.ts";

const at = Type.Optional(Timestamp);
const Money = Type.Object({
  amountMinor: Type.Integer({ examples: [4550] }),
  currency: Type.String({ examples: ["USD"] }),
});

const offerChanged = Type.Object(
  {
    at,
    offer: Type.Optional(OfferView),
  },
  {
    description:
      "`offer` is as GET /v1/me/offer shows it when this is sent, which may be newer than the change. Absent: one that comes with it has it, or it could not be read: get it there.",
  },
);

/** By name. Members may come to each. */
export const passengerEvents = {
  snapshot: Type.Object(
    { me: MeView, offer: OfferView },
    {
      description:
        "All of it: the first event, unless what was missed since `Last-Event-ID` follows instead; and again when the group has changed.",
    },
  ),
  "offer.updated": offerChanged,
  "offer.withdrawn": offerChanged,
  "voucher.updated": Type.Object({
    at,
    voucherUrn: Urn("voucher"),
    status: Type.Enum(["ISSUED", "AMENDED", "VOID"]),
    checkIn: Type.Optional(Type.String({ description: "Local date, `YYYY-MM-DD`." })),
    checkOut: Type.Optional(Type.String({ description: "Local date, `YYYY-MM-DD`." })),
  }),
  "transport.updated": Type.Object({
    at,
    segmentUrn: Urn("segment"),
    direction: Type.Enum(["AIRPORT_TO_HOTEL", "HOTEL_TO_AIRPORT"]),
    status: Type.Enum(["booked", "pending", "declined"]),
    vehicleType: Type.String({ examples: ["SHUTTLE"] }),
    pickupAt: Timestamp,
  }),
  "wallet.updated": Type.Object(
    {
      at,
      last4: Type.Optional(Type.String({ examples: ["4242"] })),
      balance: Type.Optional(Money),
      kind: Type.Optional(
        Type.String({ description: "Of a transaction: AUTHORIZATION, SETTLEMENT or REVERSAL." }),
      ),
      amount: Type.Optional(Money),
    },
    { description: "The whole stands at GET /v1/me/wallet." },
  ),
  "notification.sent": Type.Object({
    at,
    channel: Type.Enum([...channels]),
    template: Type.String({ examples: ["offer-ready"] }),
    recipient: Type.String({ description: "Masked.", examples: ["•••0143"] }),
  }),
  "session.revoked": Type.Object(
    { reason: Type.Enum(["CASE_CLOSED", "REVOKED", "EXPIRED"]) },
    { description: "The last event: the stream ends, and nothing is answered in this session any more." },
  ),
} as const satisfies Record<string, TSchema>;

export type PassengerEventName = keyof typeof passengerEvents;
export type PassengerEventData<Name extends PassengerEventName> = Static<(typeof passengerEvents)[Name]>;

/** What a client may send in place of the header `Last-Event-ID`, which not every one can set. */
export const EventsQuery = Type.Object({
  lastEventId: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        "In place of the header `Last-Event-ID`: the id of the last event that was received. What was missed since follows, or a snapshot where that cannot be told any more.",
    }),
  ),
});

const told: Readonly<Record<PassengerEventName, string>> = {
  snapshot: "profile and offer",
  "offer.updated": "the offer is ready, was decided, or shows something else",
  "offer.withdrawn": "the offer does not stand any more, and not by the passenger's decision",
  "voucher.updated": "a voucher was issued, has other dates, or is void",
  "transport.updated": "a ride was booked, moved, declined or cancelled",
  "wallet.updated": "a card was issued, loaded, used or cancelled",
  "notification.sent": "a message has gone out",
  "session.revoked": "the session is over",
};

/** For the description: a stream of text whose events are listed beside it. */
export const PassengerEventStream = Type.String({
  description: [
    "Server-Sent Events in UTF-8. `id` resumes by `Last-Event-ID`; a comment comes every 15 seconds; names and data may be added.",
    ...Object.entries(told).map(([name, what]) => `- \`${name}\`: ${what}`),
  ].join("\n"),
  "x-events": Object.fromEntries(
    Object.entries(passengerEvents).map(([name, data]) => [name, { data: data as TSchema }]),
  ),
  examples: [
    'id: 812.2204-1f6c9a02\nevent: notification.sent\ndata: {"channel":"SMS","template":"offer-ready","recipient":"•••0143"}\n\n',
  ],
});

/** What a gateway is told of a session's group, in one read. */
export interface PassengerSnapshot {
  subCaseId: string;
  me: MeView;
  offer: OfferView;
}
