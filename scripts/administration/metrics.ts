// The subcommands about key figures: showing them as operators would read them, and making them anew from the streams' log.
import type { Progress, Rebuilt } from "../../actors/metrics/rebuild.ts";
import { granularities, kpiNames, type MetricsPoint, type MetricsView } from "../../schemas/metrics.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { airlineOf, type Reach, type Subcommand, type Values } from "./subcommand.ts";
import { table } from "./table.ts";

const dayMs = 86_400_000;

/** Those asked for, else all. @throws StartFailure when there is none of that code */
const airlinesOf = async (values: Values, reach: Reach): Promise<string[]> => {
  const { mongodb, databasePrefix } = await reach.documents();
  const asked = values.airline === undefined ? undefined : airlineOf(values);
  const tenants = mongodb.db(`${databasePrefix}_platform`).collection<{ _id: string }>("tenants");
  const found = await tenants
    .find(asked === undefined ? {} : { _id: asked })
    .sort({ _id: 1 })
    .toArray();
  if (found.length === 0 && asked !== undefined) throw new StartFailure(`there is no airline ${asked}`);
  return found.map(({ _id }) => _id);
};

const textOf = (values: Values, name: string): string | undefined =>
  typeof values[name] === "string" ? values[name] : undefined;

/** For a person at a terminal, who pipes the answer elsewhere. */
const report =
  (airline: string) =>
  ({ phase, stream, read, left }: Progress): void => {
    const doing = phase === "log" ? "reading" : "looking through";
    process.stderr.write(`${airline}  ${doing} ${stream}: ${read} events read, ${left} left\n`);
  };

const lineOf = ({
  airline,
  generation,
  resumed,
  wholeFrom,
  read,
  takenOver,
}: Rebuilt & { airline: string }) =>
  `${airline}  ${resumed ? "went on with" : "made"} generation ${generation} from ${read} events; ${
    wholeFrom === null
      ? "the log holds everything"
      : `hours before ${wholeFrom.toISOString()} stand as they were (${takenOver} buckets)`
  }`;

const shownValue = ({ value, amounts, of }: MetricsPoint): string => {
  if (amounts !== undefined)
    return amounts.map(({ currency, amountMinor }) => `${amountMinor} ${currency}`).join(", ") || "-";
  return `${value ?? "-"}${of === undefined ? "" : ` of ${of}`}`;
};

export const metricsSubcommands: Record<string, Subcommand> = {
  "metrics show": {
    usage: `metrics show [--airline XN] [--kpi …] [--from …] [--to …] [--granularity ${granularities.join("|")}] [--airport JFK]`,
    summary:
      "shows key figures, all of them and of the last 24 hours unless told; money in minor units of its currency",
    options: {
      airline: { type: "string" },
      kpi: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      granularity: { type: "string" },
      airport: { type: "string" },
    },
    async run(values, _positionals, reach) {
      const client = await reach.client();
      const now = new Date();
      const span = {
        from: textOf(values, "from") ?? new Date(now.getTime() - dayMs).toISOString(),
        to: textOf(values, "to") ?? now.toISOString(),
      };
      for (const [name, text] of Object.entries(span))
        if (Number.isNaN(Date.parse(text)))
          throw new StartFailure(`--${name} takes a time, and ${text} is none`);
      const granularity = granularities.find((one) => one === (textOf(values, "granularity") ?? "total"));
      if (granularity === undefined)
        throw new StartFailure(`--granularity takes ${granularities.join(", ")}`);
      const airport = textOf(values, "airport");
      const place = airport === undefined ? {} : { airport };
      const kpi = textOf(values, "kpi");
      const shown: (MetricsView & { airline: string })[] = [];
      for (const tenant of await airlinesOf(values, reach)) {
        for (const name of kpi === undefined ? kpiNames : [kpi]) {
          const params = { kpi: name, ...span, granularity, ...place };
          shown.push({
            airline: tenant,
            ...(await client.query<MetricsView>("metrics.read", { tenant, params })),
          });
        }
      }
      const rows = shown.flatMap(({ airline, kpi: name, unit, points }) =>
        points.map((point) => [airline, name, point.from, point.to, shownValue(point), unit]),
      );
      return { json: shown, text: table(["AIRLINE", "KPI", "FROM", "TO", "VALUE", "UNIT"], rows) };
    },
  },
  "metrics rebuild": {
    usage: "metrics rebuild [--airline XN]",
    summary:
      "makes key figures anew from the streams' log (8 days; older hours stand as they are) while events go on being\n      counted; started again after a kill it goes on",
    options: { airline: { type: "string" } },
    async run(values, _positionals, reach) {
      const { rebuild } = await import("../../actors/metrics/rebuild.ts");
      const { mongodb, databasePrefix } = await reach.documents();
      const streams = await reach.streams();
      const rebuilt: (Rebuilt & { airline: string })[] = [];
      for (const airline of await airlinesOf(values, reach)) {
        const database = mongodb.db(`${databasePrefix}_${airline}`);
        const documents = { tenant: airline, collection: (name: string) => database.collection(name) };
        const made = await rebuild({
          documents: documents as never,
          streams,
          now: new Date(),
          onProgress: report(airline),
        });
        rebuilt.push({ airline, ...made });
      }
      return { json: { airlines: rebuilt }, text: rebuilt.map(lineOf).join("\n") || "no airline" };
    },
  },
};
