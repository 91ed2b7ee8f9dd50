/** Owns the operator rows about one reservation: reading it, its voucher, and one that a person has made. */
import Type from "typebox";
import { ManualReservationBody, ReservationDetail, ReservationUrn } from "../../../schemas/reservation.ts";
import type { Route } from "../../route.ts";

const reservationParams = Type.Object({ reservationUrn: ReservationUrn });

export const bookingRoutes = [
  {
    id: "getReservation",
    surface: "operator",
    method: "get",
    path: "/booking/reservations/{reservationUrn}",
    prefixes: ["/v1"],
    summary: "Read a reservation",
    description: "With its hotel, its guests and its voucher. A booking's URN names it, too.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: reservationParams,
    query: "sub-case.reservation",
    success: 200,
    response: ReservationDetail,
    problems: ["auth/foreign-airport"],
  },
  {
    id: "getReservationVoucher",
    surface: "operator",
    method: "get",
    path: "/booking/reservations/{reservationUrn}/voucher/html",
    prefixes: ["/v1"],
    summary: "Print a reservation's voucher",
    description: "The page that the passengers print, in their language. 404 until a voucher is issued.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: reservationParams,
    query: "sub-case.reservation-voucher",
    success: 200,
    response: Type.String({ description: "A printable page." }),
    produces: "text/html",
    problems: ["auth/foreign-airport"],
  },
  {
    id: "reserveManually",
    surface: "operator",
    method: "post",
    path: "/booking/manual-reservations",
    prefixes: ["/v1"],
    summary: "Record a room booked by hand",
    description:
      "A room that a person has booked past every vendor, for a group that has none (PENDING or FAILED). The group's saga goes on from it: voucher, card, ride, message, offer. No vendor is asked about it; when it is given up, a review item asks a person to cancel it.",
    role: "OPS_SUPERVISOR",
    rate: "write",
    body: ManualReservationBody,
    command: "sub-case.reserve-manually",
    success: 201,
    response: ReservationDetail,
    problems: [
      "auth/foreign-airport",
      "not-found/resource",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      "conflict/state",
      "conflict/version",
      "conflict/concurrent-write",
    ],
  },
] as const satisfies readonly Route[];
