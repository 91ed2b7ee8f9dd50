/** Owns the partner surface's row of the log of its deliveries. */
import { pageOf } from "../../schemas/page.ts";
import { DeliveryView, PartnerDeliverySearch } from "../../schemas/webhook-delivery.ts";
import type { Route } from "../route.ts";
import { deliveryScopes } from "./partner-replay.ts";

export const partnerWebhookRoutes = [
  {
    id: "listMyWebhookDeliveries",
    surface: "partner",
    method: "get",
    path: "/webhooks/deliveries",
    prefixes: ["/partner/v1"],
    summary: "Read the log of your deliveries",
    description:
      "What your webhook was told, attempt by attempt, the newest event first; kept for 30 days after its end. All filters are optional, and all that are given must hold. An addition to the published contract.",
    scope: deliveryScopes,
    rate: "read",
    querystring: PartnerDeliverySearch,
    query: "webhook.own-deliveries",
    success: 200,
    response: pageOf(DeliveryView, "OwnWebhookDeliveryPage"),
    problems: [],
  },
] as const satisfies readonly Route[];
