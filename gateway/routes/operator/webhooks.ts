/** Owns the operator rows of webhooks: the delivery log. */
import { pageOf } from "../../../schemas/page.ts";
import { DeliverySearch, DeliveryView } from "../../../schemas/webhook-delivery.ts";
import type { Route } from "../../route.ts";

export const webhookRoutes = [
  {
    id: "listWebhookDeliveries",
    surface: "operator",
    method: "get",
    path: "/webhooks/deliveries",
    prefixes: ["/v1"],
    summary: "Read the webhooks' delivery log",
    description:
      "What partners were told, attempt by attempt, the newest event first; kept for 30 days after its end. All filters are optional, and all that are given must hold. An operator of one airport names a case there. An addition to the published contract.",
    // As the audit trail, which tells of what was told, too.
    role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
    rate: "read",
    querystring: DeliverySearch,
    query: "webhook.deliveries",
    success: 200,
    response: pageOf(DeliveryView, "WebhookDeliveryPage"),
    problems: ["auth/foreign-airport", "not-found/resource"],
  },
] as const satisfies readonly Route[];
