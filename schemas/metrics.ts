/** Owns the catalogue of key figures: what each counts, in which unit, when; and how a series of one is asked for and told. */
import Type, { type Static } from "typebox";
import { AirportCode, Timestamp } from "./vocabulary.ts";

/** How a figure's parts make its value: a count, a share of two counts, a percentile of durations, or money. */
type Measure = "count" | "rate" | "p50" | "p95" | "money";

interface Kpi {
  unit: string;
  measure: Measure;
  /** What is counted, and when; part of the published description. */
  definition: string;
}

const ofCase = "Counts in the hour in which the case came in";

/** A partner's or supervisor's every figure: there is no other. */
export const kpis = {
  "cases.opened": {
    unit: "cases",
    measure: "count",
    definition: `Cases whose passengers all have an owner (\`case.opened\`). ${ofCase}.`,
  },
  "rooms.requested": {
    unit: "rooms",
    measure: "count",
    definition: `Rooms of all demands, whatever was decided on them. ${ofCase}, whenever they were asked for.`,
  },
  "rooms.booked": {
    unit: "rooms",
    measure: "count",
    definition: `Rooms booked, by a vendor or by hand, and neither given back nor taken back by the hotel since. ${ofCase}.`,
  },
  "offers.accepted.rate": {
    unit: "share",
    measure: "rate",
    definition: `Of the offers that passengers have answered, the share that was accepted; who arrives at the hotel has accepted. Without answers null. ${ofCase}.`,
  },
  "time-to-offer.p50": {
    unit: "seconds",
    measure: "p50",
    definition: `The median, over groups, of the time from the case's coming in to the group's first offer (nearest rank). Without offers null. ${ofCase}.`,
  },
  "time-to-offer.p95": {
    unit: "seconds",
    measure: "p95",
    definition: `The 95th percentile, over groups, of the time from the case's coming in to the group's first offer (nearest rank). Without offers null. ${ofCase}.`,
  },
  "auto-resolved.rate": {
    unit: "share",
    measure: "rate",
    definition: `Of the cases that are resolved, the share in which no operator had changed anything until then; opening the case by hand is no change of it. Without resolved cases null. ${ofCase}.`,
  },
  "cost.total": {
    unit: "money",
    measure: "money",
    definition: `What the hotels charge for the rooms of \`rooms.booked\`, by currency; cards and rides are not in it. ${ofCase}.`,
  },
  "savings.total": {
    unit: "money",
    measure: "money",
    definition: `For rooms of \`rooms.booked\` on a direct contract, as the wave chose them first: what the market asked for them in that wave, less what they cost; below zero where the contract was dearer. ${ofCase}.`,
  },
  "review.sla-breaches": {
    unit: "deadlines",
    measure: "count",
    definition:
      "Deadlines of manual review items that passed unresolved; an item can miss several. Counts in the hour in which it was missed.",
  },
} as const satisfies Record<string, Kpi>;

export type KpiName = keyof typeof kpis;
export const kpiNames = Object.keys(kpis) as readonly KpiName[];
export const isKpi = (text: string): text is KpiName => Object.hasOwn(kpis, text);

export const granularities = ["hour", "day", "total"] as const;
export type Granularity = (typeof granularities)[number];

/** From the first hour to the last. */
export const metricsDaysMax = 92;

export const MetricsQuery = Type.Object({
  kpi: Type.String({
    minLength: 1,
    maxLength: 60,
    examples: ["rooms.booked"],
    description: `One of ${kpiNames.map((name) => `\`${name}\``).join(", ")}.`,
  }),
  from: Type.String({
    ...Timestamp,
    examples: ["2026-11-21T00:00:00Z"],
    description: "The first hour (UTC): the one that this moment is in.",
  }),
  to: Type.String({
    ...Timestamp,
    examples: ["2026-11-22T00:00:00Z"],
    description: `Up to this moment, and to the end of the hour that it is in the middle of; at most ${metricsDaysMax} days after \`from\`.`,
  }),
  granularity: Type.Optional(
    Type.Enum([...granularities], {
      default: "total",
      description: "`day` is a day by UTC. Default: one figure for all.",
    }),
  ),
  airport: Type.Optional(AirportCode),
});
export type MetricsQuery = Static<typeof MetricsQuery>;

const Amounts = Type.Array(
  Type.Object({
    currency: Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217" }),
    amountMinor: Type.Integer({ description: "In minor units of the currency." }),
  }),
  { description: "Of figures in money, and then in place of `value`: one for each currency." },
);

const Point = Type.Object({
  from: Type.String({ ...Timestamp, examples: ["2026-11-21T21:00:00Z"] }),
  to: Type.String({ ...Timestamp, examples: ["2026-11-21T22:00:00Z"] }),
  value: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      examples: [0.93],
      description: "Null: nothing that a share or percentile could be of.",
    }),
  ),
  amounts: Type.Optional(Amounts),
  of: Type.Optional(
    Type.Integer({
      minimum: 0,
      examples: [42],
      description: "Of a share or percentile: how many answers, cases or groups it is of.",
    }),
  ),
});
export type MetricsPoint = Static<typeof Point>;

export const MetricsView = Type.Object(
  {
    kpi: Type.Enum([...kpiNames]),
    unit: Type.Enum(["cases", "rooms", "deadlines", "share", "seconds", "money"]),
    definition: Type.String({ examples: [kpis["rooms.booked"].definition] }),
    granularity: Type.Enum([...granularities]),
    from: Type.String({ ...Timestamp, examples: ["2026-11-21T00:00:00Z"] }),
    to: Type.String({ ...Timestamp, examples: ["2026-11-22T00:00:00Z"] }),
    airport: Type.Optional(Type.String({ examples: ["JFK"], description: "Absent: all airports." })),
    points: Type.Array(Point, { description: "In order, without gaps." }),
  },
  { title: "Metrics" },
);
export type MetricsView = Static<typeof MetricsView>;
