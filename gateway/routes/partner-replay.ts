/** Owns the partner surface's rows about replays (contract, "Partner API"): events of the last days told again. */
import Type from "typebox";
import { ReplayQuery, ReplayView } from "../../schemas/replay.ts";
import { Urn } from "../../schemas/urn.ts";
import type { Route } from "../route.ts";

/** Every scope that brings deliveries (contract, table of event types). */
export const deliveryScopes = [
  "cases.events.subscribe",
  "disruptions.events.subscribe",
  "vouchers.read",
  "wallet.events.subscribe",
] as const;

export const partnerReplayRoutes = [
  {
    id: "replayEvents",
    surface: "partner",
    method: "get",
    path: "/events/replay",
    prefixes: ["/partner/v1"],
    summary: "Have events delivered again",
    description:
      "The events of your types from `since` to `until` (both included) are told again to your registered webhook: same event URNs and bodies, fresh timestamps and signatures, in the order in which they arose, one after another and at most 50 a second, while new ones come as ever. Nothing else happens on the platform. What is not taken is tried again by the schedule of every delivery, but never pauses your subscription. One replay runs at a time: the same range again is the running one, another is refused with it in `replay`.",
    scope: deliveryScopes,
    rate: "write",
    querystring: ReplayQuery,
    command: "webhook.replay-events",
    success: 202,
    response: ReplayView,
    problems: [
      "not-found/resource",
      "validation/replay-window",
      "conflict/state",
      "conflict/concurrent-write",
    ],
  },
  {
    id: "getReplay",
    surface: "partner",
    method: "get",
    path: "/events/replay/{replayUrn}",
    prefixes: ["/partner/v1"],
    summary: "Ask how far a replay is",
    description: "One of your own; kept for 30 days after its end. An addition to the published contract.",
    scope: deliveryScopes,
    rate: "read",
    params: Type.Object({ replayUrn: Urn("replay") }),
    query: "webhook.replay",
    success: 200,
    response: ReplayView,
    problems: [],
  },
] as const satisfies readonly Route[];
