/** Owns the operator row about airports. */
import { AirportSearchQuery, AirportView } from "../../../schemas/airports.ts";
import { pageOf } from "../../../schemas/page.ts";
import type { Route } from "../../route.ts";

export const airportRoutes = [
  {
    id: "searchAirports",
    surface: "operator",
    method: "get",
    path: "/airports/search",
    prefixes: ["/v1"],
    summary: "Search airports",
    description:
      "By code, name or city, with coordinates: the exact code first, then what begins with the text, larger airports before smaller.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    querystring: AirportSearchQuery,
    query: "vendor-adapter.airports",
    success: 200,
    response: pageOf(AirportView, "AirportPage"),
    problems: [],
  },
] as const satisfies readonly Route[];
