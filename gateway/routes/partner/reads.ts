/** Owns the partner rows that read a night: people, services, bookings, vouchers, policies, figures (contract, "Partner API"). */
import Type from "typebox";
import { MetricsQuery, MetricsView } from "../../../schemas/metrics.ts";
import { pageOf } from "../../../schemas/page.ts";
import {
  PartnerBooking,
  PartnerPageQuery,
  PartnerPassenger,
  PartnerPolicy,
  PartnerServices,
  PartnerVoucher,
  PassengerCase,
} from "../../../schemas/partner-reads.ts";
import { ReservationUrn } from "../../../schemas/reservation.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";
import { kpiCatalogue } from "../kpi-catalogue.ts";

const read = {
  surface: "partner",
  method: "get",
  prefixes: ["/partner/v1"],
  rate: "read",
  success: 200,
} as const;
const caseParams = Type.Object({ caseUrn: Urn("case") });
const passengerParams = Type.Object({ passengerUrn: Urn("passenger") });

export const partnerReadRoutes = [
  {
    ...read,
    id: "listPartnerPassengers",
    path: "/cases/{caseUrn}/passengers",
    summary: "List a case's passengers",
    description:
      "Group by group, with how far each is; some moments after the push. Contacts and special requirements are not shown.",
    scope: "cases.read",
    params: caseParams,
    querystring: PartnerPageQuery,
    query: "sub-case.partner-passengers",
    response: pageOf(PartnerPassenger, "PartnerPassengerPage"),
    problems: [],
  },
  {
    ...read,
    id: "listPartnerServices",
    path: "/cases/{caseUrn}/services",
    summary: "List what a case's groups have got",
    description: "Room, voucher and rides of each group. Amounts and codes are not shown.",
    scope: "cases.read",
    params: caseParams,
    querystring: PartnerPageQuery,
    query: "sub-case.partner-services",
    response: pageOf(PartnerServices, "PartnerServicesPage"),
    problems: [],
  },
  {
    ...read,
    id: "getPartnerBooking",
    path: "/bookings/{bookingUrn}",
    summary: "Read a booking",
    description: "By the URN of the booking or of its reservation: they share an id.",
    scope: "bookings.read",
    params: Type.Object({ bookingUrn: ReservationUrn }),
    query: "sub-case.partner-booking",
    response: PartnerBooking,
    problems: [],
  },
  {
    ...read,
    id: "getPartnerVoucher",
    path: "/vouchers/{voucherUrn}",
    summary: "Read a voucher",
    description: "With the code that the guests show.",
    scope: "vouchers.read",
    params: Type.Object({ voucherUrn: Urn("voucher") }),
    query: "sub-case.partner-voucher",
    response: PartnerVoucher,
    problems: [],
  },
  {
    ...read,
    id: "listPassengerCases",
    path: "/passengers/{passengerUrn}/cases",
    summary: "List a passenger's cases",
    description: "Newest first, with how far their group is in each.",
    scope: "cases.read",
    params: passengerParams,
    querystring: PartnerPageQuery,
    query: "sub-case.partner-passenger-cases",
    response: pageOf(PassengerCase, "PassengerCasePage"),
    problems: [],
  },
  {
    ...read,
    id: "listPassengerVouchers",
    path: "/passengers/{passengerUrn}/vouchers",
    summary: "List a passenger's vouchers",
    description: "Of the newest case first; of each group its newest.",
    scope: "vouchers.read",
    params: passengerParams,
    querystring: PartnerPageQuery,
    query: "sub-case.partner-passenger-vouchers",
    response: pageOf(PartnerVoucher, "PartnerVoucherPage"),
    problems: [],
  },
  {
    ...read,
    id: "listPartnerPolicies",
    path: "/policies",
    summary: "List the active policies",
    description: "What passengers are entitled to under each.",
    scope: "policies.read",
    querystring: PartnerPageQuery,
    query: "policy.partner-active",
    response: pageOf(PartnerPolicy, "PartnerPolicyPage"),
    problems: [],
  },
  {
    ...read,
    id: "getPartnerMetrics",
    path: "/metrics",
    summary: "Read a certified key figure",
    description: `One figure of the catalogue, of the registration's airline; another name is refused with the catalogue in \`errors\`. Drills and shadow cases count in none.\n\n${kpiCatalogue}`,
    scope: "metrics.read",
    querystring: MetricsQuery,
    query: "metrics.read",
    response: MetricsView,
    problems: ["validation/kpi"],
  },
] as const satisfies readonly Route[];
