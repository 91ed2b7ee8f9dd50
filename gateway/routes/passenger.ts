/** Owns the passenger surface's table (contract, "Passenger API"). Which airline is meant is told by the host. */
import Type from "typebox";
import { NotificationView } from "../../schemas/notification.ts";
import { PageQuery, pageOf } from "../../schemas/page.ts";
import {
  AcceptOfferBody,
  DeclineOfferBody,
  MeView,
  OfferView,
  PnrLoginBody,
  PnrLoginView,
} from "../../schemas/passenger-api.ts";
import { MyTransportView } from "../../schemas/transport.ts";
import type { Route } from "../route.ts";

const read = {
  surface: "passenger",
  method: "get",
  prefixes: ["/v1"],
  rate: "read",
  success: 200,
  cache: "passenger",
  problems: ["auth/case-closed", "not-found/resource"],
} as const;

const decision = {
  surface: "passenger",
  method: "post",
  bodyBytesMax: 16 * 1024,
  prefixes: ["/v1"],
  rate: "write",
  cache: "purge",
  success: 200,
  response: OfferView,
  problems: [
    "auth/case-closed",
    "not-found/resource",
    "conflict/offer-decided",
    "conflict/state",
    "conflict/version",
    "conflict/concurrent-write",
  ],
} as const;

export const passengerRoutes = [
  {
    id: "logIn",
    surface: "passenger",
    public: true,
    method: "post",
    path: "/auth/pnr-login",
    prefixes: ["/v1"],
    summary: "Log in with a booking reference",
    description: "Opens a session of seven days on the newest open case of the booking; also sets a cookie.",
    rate: "write",
    body: PnrLoginBody,
    bodyBytesMax: 16 * 1024,
    handler: "logIn",
    cache: "purge",
    success: 200,
    response: PnrLoginView,
    problems: ["validation/captcha", "auth/login-failed", "upstream/unavailable"],
  },
  {
    ...read,
    id: "getMe",
    path: "/me",
    summary: "Read one's profile",
    description: "Group, tier, language and progress within the case.",
    query: "sub-case.me",
    response: MeView,
  },
  {
    ...read,
    id: "getMyOffer",
    path: "/me/offer",
    summary: "Read one's offer",
    description: "Hotel, voucher, ride and card. PENDING until there is one.",
    query: "sub-case.offer",
    response: OfferView,
  },
  {
    ...read,
    id: "getMyVoucher",
    path: "/me/voucher",
    summary: "Read one's voucher",
    description: "A page to print, with a QR code.",
    query: "sub-case.voucher-html",
    produces: "text/html",
    response: Type.String({ description: "A page in HTML." }),
  },
  {
    ...read,
    id: "getMyTransport",
    path: "/me/transport",
    summary: "Read one's rides",
    description: "To the hotel and back: booked, pending or declined, when and from where.",
    query: "transport.mine",
    response: MyTransportView,
  },
  {
    ...read,
    id: "listMyNotifications",
    path: "/me/notifications",
    summary: "List the messages sent to one's group",
    description: "SMS, e-mail and WhatsApp, newest first.",
    querystring: Type.Object(PageQuery),
    query: "message.mine",
    response: pageOf(NotificationView, "NotificationPage"),
  },
  {
    ...decision,
    id: "acceptMyOffer",
    path: "/me/offer/accept",
    summary: "Accept the offer",
    description: "The same again gives the same answer.",
    body: AcceptOfferBody,
    command: "sub-case.accept-offer",
  },
  {
    ...decision,
    id: "declineMyOffer",
    path: "/me/offer/decline",
    summary: "Decline the offer",
    description: "The booking is cancelled and an operator is told.",
    body: DeclineOfferBody,
    command: "sub-case.decline-offer",
  },
] as const satisfies readonly Route[];
