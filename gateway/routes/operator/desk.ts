/** Owns the operator rows that look over the work: reservations. */
import Type from "typebox";
import { ReservationView } from "../../../schemas/case.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

export const deskRoutes = [
  {
    id: "listReservations",
    surface: "operator",
    method: "get",
    path: "/booking/cases/{caseUrn}/reservations",
    prefixes: ["/v1"],
    summary: "List a case's reservations",
    description: "One per housed group.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: caseParams,
    querystring: Type.Object(PageQuery),
    query: "sub-case.reservations",
    success: 200,
    response: pageOf(ReservationView, "ReservationPage"),
    problems: ["auth/foreign-airport"],
  },
] as const satisfies readonly Route[];
