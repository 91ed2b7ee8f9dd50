/** Owns the route of the passengers' stream. What is streamed is `live/`'s. */
import { EventsQuery, PassengerEventStream } from "../../schemas/passenger-events.ts";
import type { Route } from "../route.ts";

export const passengerEventRoutes = [
  {
    id: "streamMyEvents",
    surface: "passenger",
    method: "get",
    path: "/me/events",
    prefixes: ["/v1"],
    summary: "Follow what changes",
    description:
      "A stream of Server-Sent Events, which ends with the session; whoever reads too slowly is cut off and comes back by `Last-Event-ID`. Five streams of one session at most on one server.",
    rate: "read",
    querystring: EventsQuery,
    handler: "streamMyEvents",
    cache: "none",
    produces: "text/event-stream",
    success: 200,
    response: PassengerEventStream,
    problems: ["auth/case-closed", "not-found/resource", "rate/exceeded", "upstream/unavailable"],
  },
] as const satisfies readonly Route[];
