/** Owns the operator rows of key figures. */
import { AvailabilityQuery, AvailabilityView } from "../../../schemas/availability.ts";
import { MetricsQuery, MetricsView } from "../../../schemas/metrics.ts";
import type { Route } from "../../route.ts";
import { kpiCatalogue } from "../kpi-catalogue.ts";

export const metricsRoutes = [
  {
    id: "getMetrics",
    surface: "operator",
    method: "get",
    path: "/metrics",
    prefixes: ["/v1"],
    summary: "Read a key figure",
    description: `One figure of the catalogue, hour by hour, day by day, or over all. Drills and shadow cases count in none. It follows what happens within moments.\n\n${kpiCatalogue}`,
    // FINANCE_AUDIT is parallel to the operators' line (contract, "Operator").
    role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
    rate: "read",
    querystring: MetricsQuery,
    query: "metrics.read",
    success: 200,
    response: MetricsView,
    problems: ["auth/foreign-airport", "validation/kpi"],
  },
  {
    id: "getPartnerAvailability",
    surface: "operator",
    method: "get",
    path: "/metrics/partner-availability",
    prefixes: ["/v1"],
    summary: "Read how available partners find the service",
    description:
      "The airline's partners' requests by tier and outcome, beside the contract's monthly targets. Counted by the gateways, minute by minute, a minute late; refusals (4xx) are no failures. An addition to the published contract.",
    role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
    rate: "read",
    querystring: AvailabilityQuery,
    query: "metrics.availability",
    success: 200,
    response: AvailabilityView,
    problems: [],
  },
] as const satisfies readonly Route[];
