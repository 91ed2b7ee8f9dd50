/** Owns what a bucket's facts come to, and what figures of many buckets come to together. Pure. */
import type { Granularity, KpiName, MetricsPoint } from "../../schemas/metrics.ts";
import type { Facts } from "./facts.ts";

export interface Money {
  currency: string;
  amountMinor: number;
}

/** One case's part in one hour; kept beside its facts, so that a series reads no more than it tells. */
export interface Figures {
  opened: number;
  roomsRequested: number;
  roomsBooked: number;
  accepted: number;
  answered: number;
  /** Milliseconds to each group's first offer. */
  offersMs: number[];
  resolved: number;
  resolvedAlone: number;
  cost: Money[];
  savings: Money[];
  breaches: number;
}

const isBefore = (a: Date | undefined, b: Date): boolean => a !== undefined && a < b;

/** A case that has not been opened counts for nothing yet: its opening comes after some of its facts, or never (a drill's). */
export const figuresOf = (facts: Facts, cameIn: Date): Figures => {
  const breaches = Object.keys(facts.breaches ?? {}).length;
  if (facts.opened === undefined) return { ...nothing(), breaches };
  const rooms = Object.values(facts.rooms ?? {}).filter((room) => room !== null);
  const answers = Object.values(facts.answers ?? {});
  const { resolvedAt, touchedAt } = facts;
  return {
    opened: 1,
    roomsRequested: sumOf(Object.values(facts.demands ?? {})),
    roomsBooked: sumOf(rooms.map((room) => room.rooms)),
    accepted: answers.filter((answer) => answer === "ACCEPTED").length,
    answered: answers.length,
    offersMs: Object.values(facts.offers ?? {})
      .map((at) => Math.max(0, at.getTime() - cameIn.getTime()))
      .sort((a, b) => a - b),
    resolved: resolvedAt === undefined ? 0 : 1,
    resolvedAlone: resolvedAt === undefined || isBefore(touchedAt, resolvedAt) ? 0 : 1,
    cost: perCurrency(rooms.map(({ currency, totalMinor }) => ({ currency, amountMinor: totalMinor }))),
    savings: perCurrency(
      rooms.map(({ currency, totalMinor, marketMinor }) => ({
        currency,
        amountMinor: marketMinor === undefined ? undefined : marketMinor - (totalMinor ?? 0),
      })),
    ),
    breaches,
  };
};

const nothing = (): Figures => ({
  opened: 0,
  roomsRequested: 0,
  roomsBooked: 0,
  accepted: 0,
  answered: 0,
  offersMs: [],
  resolved: 0,
  resolvedAlone: 0,
  cost: [],
  savings: [],
  breaches: 0,
});

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);

/** By currency, in the order of their codes; what has no amount or no currency is left out. */
const perCurrency = (
  amounts: readonly { currency?: string | undefined; amountMinor?: number | undefined }[],
): Money[] => {
  const sums = new Map<string, number>();
  for (const { currency, amountMinor } of amounts)
    if (currency !== undefined && amountMinor !== undefined)
      sums.set(currency, (sums.get(currency) ?? 0) + amountMinor);
  return [...sums]
    .map(([currency, amountMinor]) => ({ currency, amountMinor }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
};

/** Nearest rank: the smallest value that at least this share of all is not above. Null of nothing. */
export const percentile = (values: readonly number[], share: number): number | null => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? null;
};

type Value = Pick<MetricsPoint, "value" | "amounts" | "of">;

const rate = (part: number, whole: number): Value => ({
  value: whole === 0 ? null : part / whole,
  of: whole,
});

const timeToOffer =
  (share: number) =>
  (all: readonly Figures[]): Value => {
    const times = all.flatMap(({ offersMs }) => offersMs);
    const at = percentile(times, share);
    return { value: at === null ? null : at / 1000, of: times.length };
  };

const counted =
  (name: "opened" | "roomsRequested" | "roomsBooked" | "breaches") =>
  (all: readonly Figures[]): Value => ({ value: sumOf(all.map((one) => one[name])) });

/** Of each figure: which fields it reads, and what many buckets' come to. */
export const measures: Readonly<
  Record<KpiName, { reads: readonly (keyof Figures)[]; value(all: readonly Figures[]): Value }>
> = {
  "cases.opened": { reads: ["opened"], value: counted("opened") },
  "rooms.requested": { reads: ["roomsRequested"], value: counted("roomsRequested") },
  "rooms.booked": { reads: ["roomsBooked"], value: counted("roomsBooked") },
  "offers.accepted.rate": {
    reads: ["accepted", "answered"],
    value: (all) => rate(sumOf(all.map((one) => one.accepted)), sumOf(all.map((one) => one.answered))),
  },
  "time-to-offer.p50": { reads: ["offersMs"], value: timeToOffer(0.5) },
  "time-to-offer.p95": { reads: ["offersMs"], value: timeToOffer(0.95) },
  "auto-resolved.rate": {
    reads: ["resolvedAlone", "resolved"],
    value: (all) => rate(sumOf(all.map((one) => one.resolvedAlone)), sumOf(all.map((one) => one.resolved))),
  },
  "cost.total": {
    reads: ["cost"],
    value: (all) => ({ amounts: perCurrency(all.flatMap(({ cost }) => cost)) }),
  },
  "savings.total": {
    reads: ["savings"],
    value: (all) => ({ amounts: perCurrency(all.flatMap(({ savings }) => savings)) }),
  },
  "review.sla-breaches": { reads: ["breaches"], value: counted("breaches") },
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Of the whole hours from `from` to before `to`; a day begins at midnight UTC. */
const spans = (from: Date, to: Date, granularity: Granularity): { from: Date; to: Date }[] => {
  if (granularity === "total") return [{ from, to }];
  const stepMs = granularity === "hour" ? hourMs : dayMs;
  const all: { from: Date; to: Date }[] = [];
  for (let at = from.getTime(); at < to.getTime(); ) {
    const end = Math.min((Math.floor(at / stepMs) + 1) * stepMs, to.getTime());
    all.push({ from: new Date(at), to: new Date(end) });
    at = end;
  }
  return all;
};

/** One figure's points, in order and without gaps. @param buckets in any order, each within the span */
export const seriesOf = (
  kpi: KpiName,
  buckets: readonly { hour: Date; figures: Figures }[],
  { from, to, granularity }: { from: Date; to: Date; granularity: Granularity },
): MetricsPoint[] => {
  const points = spans(from, to, granularity);
  const within = new Map<number, Figures[]>(points.map((point) => [point.from.getTime(), []]));
  const starts = points.map((point) => point.from.getTime());
  for (const { hour, figures } of buckets) {
    const start = starts[startAt(starts, hour.getTime())];
    if (start !== undefined) within.get(start)?.push(figures);
  }
  return points.map((point) => ({
    from: point.from.toISOString(),
    to: point.to.toISOString(),
    ...measures[kpi].value(within.get(point.from.getTime()) ?? []),
  }));
};

/** Place of the last start that is not after this moment; -1: all are. */
const startAt = (starts: readonly number[], moment: number): number => {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};
