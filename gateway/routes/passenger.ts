/** Owns the passenger surface's table (contract, "Passenger API"). Which airline is meant is told by the host. */
import Type from "typebox";
import { NotificationView } from "../../schemas/notification.ts";
import { PageQuery, pageOf } from "../../schemas/page.ts";
import {
  AcceptOfferBody,
  CheckInBody,
  DeclineOfferBody,
  MagicLinkBody,
  MeView,
  OfferView,
  PnrLoginBody,
  PnrLoginView,
} from "../../schemas/passenger-api.ts";
import { ProblemReported, ReportProblemBody } from "../../schemas/passenger-problem.ts";
import { MyTransportView, RequestRideBody } from "../../schemas/transport.ts";
import { CardRevealView, WalletView } from "../../schemas/wallet.ts";
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

const problems = [
  "auth/case-closed",
  "not-found/resource",
  "conflict/state",
  "conflict/concurrent-write",
] as const;

const write = {
  surface: "passenger",
  method: "post",
  bodyBytesMax: 16 * 1024,
  prefixes: ["/v1"],
  rate: "write",
  cache: "purge",
  problems,
} as const;

const decision = {
  ...write,
  success: 200,
  response: OfferView,
  problems: [...problems, "conflict/version", "conflict/offer-decided"],
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
    id: "exchangeMagicLink",
    surface: "passenger",
    public: true,
    method: "post",
    path: "/auth/magic-link",
    prefixes: ["/v1"],
    summary: "Log in with the link in a message",
    description:
      "Opens a session of seven days, as a login does; also sets a cookie. A link is good once, for seven days, while its case is open.",
    rate: "write",
    body: MagicLinkBody,
    bodyBytesMax: 16 * 1024,
    handler: "exchangeMagicLink",
    cache: "purge",
    success: 200,
    response: PnrLoginView,
    problems: ["auth/login-failed", "upstream/unavailable"],
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
    id: "getMyWallet",
    path: "/me/wallet",
    summary: "Read one's card",
    description:
      "Balance, what is held, what can be spent, and what it was used for, as the payment vendor tells it. Never its number.",
    query: "sub-case.wallet",
    response: WalletView,
  },
  {
    id: "revealMyCard",
    surface: "passenger",
    method: "get",
    path: "/me/wallet/reveal",
    prefixes: ["/v1"],
    summary: "Show one's card's number",
    description:
      "The address of the payment vendor's own page, good for some minutes: number and code are never here. Each time is noted in the audit trail, and counts as a write.",
    rate: "write",
    command: "sub-case.reveal-card",
    cache: "none",
    success: 200,
    response: CardRevealView,
    problems: ["auth/case-closed", "not-found/resource", "conflict/state", "conflict/concurrent-write"],
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
  {
    ...write,
    id: "checkIn",
    path: "/me/check-in",
    summary: "Check in at the hotel",
    description:
      "On arrival, from the day of check-in on, in local time. Accepts the offer where that is undecided. The same again gives the same answer.",
    success: 200,
    response: OfferView,
    body: CheckInBody,
    command: "sub-case.check-in",
    problems: [...problems, "conflict/version"],
  },
  {
    ...write,
    id: "requestMyRide",
    path: "/me/transport/request",
    summary: "Ask for a ride",
    description:
      "Where the airline's policy allows it. A ride that is booked or sought already is the one asked for. A vehicle is sought: its outcome shows in `GET /v1/me/transport`.",
    success: 202,
    response: MyTransportView,
    body: RequestRideBody,
    command: "transport.request-own-ride",
    problems: [...problems, "validation/body"],
  },
  {
    ...write,
    id: "reportMyProblem",
    path: "/me/problem",
    summary: "Report a problem",
    description:
      "To the airline's staff. At most ten in a day for one group; the same words again are the same report.",
    success: 202,
    response: ProblemReported,
    body: ReportProblemBody,
    command: "sub-case.report-problem",
    problems: [...problems, "validation/body"],
  },
] as const satisfies readonly Route[];
