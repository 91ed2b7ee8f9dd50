/** Owns the operator surface's table: every row that an operator's token can open, gathered from the folder beside it. */
import type { Route } from "../route.ts";
import { airportRoutes } from "./operator/airports.ts";
import { allocationRoutes } from "./operator/allocation.ts";
import { bookingRoutes } from "./operator/booking.ts";
import { caseRoutes } from "./operator/cases.ts";
import { contractRoutes } from "./operator/contracts.ts";
import { demandRoutes } from "./operator/demand.ts";
import { deskRoutes } from "./operator/desk.ts";
import { groupRoutes } from "./operator/groups.ts";
import { hotelRoutes } from "./operator/hotels.ts";
import { orchestrationRoutes } from "./operator/orchestration.ts";
import { policyRoutes } from "./operator/policies.ts";
import { revocationRoutes } from "./operator/revocations.ts";

export const operatorRoutes = [
  ...caseRoutes,
  ...groupRoutes,
  ...demandRoutes,
  ...allocationRoutes,
  ...policyRoutes,
  ...contractRoutes,
  ...hotelRoutes,
  ...bookingRoutes,
  ...airportRoutes,
  ...orchestrationRoutes,
  ...deskRoutes,
  ...revocationRoutes,
] as const satisfies readonly Route[];
