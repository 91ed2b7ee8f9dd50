/** Owns the read of a figure: which is asked for, over which hours, and what the caller may see of it. */
import type { Query } from "../../schemas/command.ts";
import {
  type Granularity,
  isKpi,
  kpiNames,
  kpis,
  type MetricsQuery,
  type MetricsView,
  metricsDaysMax,
} from "../../schemas/metrics.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ActorContext } from "../runtime/host.ts";
import { airportFilter } from "../runtime/reach.ts";
import { readBuckets } from "./buckets.ts";
import { hourOf } from "./facts.ts";
import { seriesOf } from "./figures.ts";

const hourMs = 3_600_000;

/** The refusal of a span. */
export const wrongSpan = (detail: string): Problem =>
  new Problem("validation/query", "Correct the query parameters named in `errors`.", {
    errors: [{ pointer: "?to", detail }],
  });

/** Whole hours. @throws Problem validation/query for no span, or one that is too long */
export const spanOf = ({ from, to }: Pick<MetricsQuery, "from" | "to">): { from: Date; to: Date } => {
  const begin = new Date(from);
  const end = new Date(to);
  if (begin >= end) throw wrongSpan("is not after `from`");
  if (end.getTime() - begin.getTime() > metricsDaysMax * 24 * hourMs)
    throw wrongSpan(`is more than ${metricsDaysMax} days after \`from\``);
  const first = hourOf(begin);
  const last = hourOf(new Date(end.getTime() - 1));
  return { from: first, to: new Date(last.getTime() + hourMs) };
};

const unknownKpi = (): Problem =>
  new Problem("validation/kpi", "There is no such figure. Ask for one of those named in `errors`.", {
    errors: [{ pointer: "?kpi", detail: `is none of ${kpiNames.join(", ")}` }],
  });

export const metricsQueries = (context: ActorContext) => ({
  /**
   * GET /v1/metrics, and a partner's. The database is the caller's airline's own, and rows of other airports are left out for
   * whoever is scoped to one (contract, "Multi-tenant isolation").
   * @throws Problem validation/kpi, validation/query, auth/foreign-airport
   */
  read: async ({ tenant, principal, params }: Query): Promise<MetricsView> => {
    const asked = params as unknown as MetricsQuery;
    const { kpi } = asked;
    if (!isKpi(kpi)) throw unknownKpi();
    const granularity: Granularity = asked.granularity ?? "total";
    const span = spanOf(asked);
    const place = airportFilter(principal, asked.airport);
    const buckets = await readBuckets(context.documents.tenant(tenant), kpi, { ...span, ...place });
    const { unit, definition } = kpis[kpi];
    return {
      kpi,
      unit,
      definition,
      granularity,
      from: span.from.toISOString(),
      to: span.to.toISOString(),
      ...place,
      points: seriesOf(kpi, buckets, { ...span, granularity }),
    };
  },
});
