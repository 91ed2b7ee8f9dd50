/** Owns the sum of the tables: no route is served, checked or described that is not in it. */
import type { Route } from "../route.ts";
import { operatorRoutes } from "./operator.ts";
import { partnerRoutes } from "./partner.ts";
import { passengerRoutes } from "./passenger.ts";
import { passengerEventRoutes } from "./passenger-events.ts";
import { platformRoutes } from "./platform.ts";
import { vendorRoutes } from "./vendors.ts";

export const allRoutes: readonly Route[] = [
  ...operatorRoutes,
  ...passengerRoutes,
  ...passengerEventRoutes,
  ...partnerRoutes,
  ...platformRoutes,
  ...vendorRoutes,
];
