/** Owns the operator rows of key figures. */
import { kpis, MetricsQuery, MetricsView } from "../../../schemas/metrics.ts";
import type { Route } from "../../route.ts";

const catalogue = Object.entries(kpis)
  .map(([name, { unit, definition }]) => `- \`${name}\` (${unit}): ${definition}`)
  .join("\n");

export const metricsRoutes = [
  {
    id: "getMetrics",
    surface: "operator",
    method: "get",
    path: "/metrics",
    prefixes: ["/v1"],
    summary: "Read a key figure",
    description: `One figure of the catalogue, hour by hour, day by day, or over all. Drills and shadow cases count in none. It follows what happens within moments.\n\n${catalogue}`,
    // FINANCE_AUDIT is parallel to the operators' line (contract, "Operator").
    role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
    rate: "read",
    querystring: MetricsQuery,
    query: "metrics.read",
    success: 200,
    response: MetricsView,
    problems: ["auth/foreign-airport", "validation/kpi"],
  },
] as const satisfies readonly Route[];
