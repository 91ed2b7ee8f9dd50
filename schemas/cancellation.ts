/** Owns what cancelling a booking costs when: the ladder as hotels give it, and what is read off it. Pure. */
import Type, { type Static } from "typebox";
import { Money, Timestamp } from "./vocabulary.ts";

export const CancellationStep = Type.Object({
  until: Type.Optional(
    Type.String({ ...Timestamp, description: "The last moment at this price; absent: for good." }),
  ),
  price: Type.Object(Money.properties, { description: "For the whole booking." }),
});
/** Up to its moment, that one included, cancelling costs so much. */
export type CancellationStep = Static<typeof CancellationStep>;

/** Earliest first; a price holds from the end of the step before it. Empty: the vendor doesn't tell. */
export type CancellationLadder = readonly CancellationStep[];

export const CancellationWindow = Type.Object({
  from: Type.Optional(
    Type.String({ ...Timestamp, description: "Only after it: waiting is cheaper. Absent: from now on." }),
  ),
  before: Type.Optional(
    Type.String({ ...Timestamp, description: "Afterwards it costs more. Absent: it stays at this price." }),
  ),
  price: Type.Object(Money.properties),
});
/** When cancelling is cheapest. */
export type CancellationWindow = Static<typeof CancellationWindow>;

const isOver = ({ until }: CancellationStep, at: Date): boolean =>
  until !== undefined && Date.parse(until) < at.getTime();

/** Steps that are still to come, the one in force first. Past the last known one, that one's price goes on. */
const remaining = (ladder: CancellationLadder, at: Date): CancellationLadder => {
  const left = ladder.filter((step) => !isOver(step, at));
  const last = ladder.at(-1);
  return left.length > 0 || last === undefined ? left : [{ price: last.price }];
};

/** Undefined: the vendor doesn't tell. */
export const cancellationPriceAt = (ladder: CancellationLadder, at: Date): Money | undefined =>
  remaining(ladder, at)[0]?.price;

/**
 * The cheapest of what is left, and of equally cheap moments the earliest stretch: who is sure need not wait.
 * @returns undefined where the vendor doesn't tell
 */
export const cheapestCancellation = (
  ladder: CancellationLadder,
  at: Date,
): CancellationWindow | undefined => {
  const left = remaining(ladder, at);
  const lowest = Math.min(...left.map(({ price }) => price.amountMinor));
  const first = left.findIndex(({ price }) => price.amountMinor === lowest);
  if (first === -1) return undefined;
  const dearer = left.findIndex((step, i) => i > first && step.price.amountMinor > lowest);
  const { until: before } = left[dearer === -1 ? left.length - 1 : dearer - 1] as CancellationStep;
  const { until: from } = left[first - 1] ?? {};
  const { price } = left[first] as CancellationStep;
  return { ...(from !== undefined && { from }), ...(before !== undefined && { before }), price };
};

/** The last moment at which cancelling costs nothing; undefined: it never does, it always does, or the vendor doesn't tell. */
export const freeCancellationUntil = (ladder: CancellationLadder): string | undefined => {
  const dearer = ladder.findIndex(({ price }) => price.amountMinor > 0);
  return dearer < 1 ? undefined : ladder[dearer - 1]?.until;
};

/**
 * The ladder of penalties that each begin at a moment, as Hotelbeds and Rapid word them: free before the first, and each in force until
 * the next begins. Those that begin together add up nothing: the dearest counts.
 * @param penalties in any order; empty: cancelling is free for good
 * @param zero of the booking's currency
 * @param now what was over before it is left out: a penalty that began in the past never was free
 */
export const ladderOfPenalties = (
  penalties: readonly { from: string; price: Money }[],
  zero: Money,
  now: Date,
): CancellationStep[] => {
  const byMoment = new Map<number, Money>();
  for (const { from, price } of penalties) {
    const at = Date.parse(from);
    const known = byMoment.get(at);
    if (known === undefined || known.amountMinor < price.amountMinor) byMoment.set(at, price);
  }
  const moments = [...byMoment.keys()].sort((a, b) => a - b);
  const priceAfter = (i: number): Money => (i < 0 ? zero : (byMoment.get(moments[i] as number) as Money));
  const steps = [...moments, undefined].map((moment, i) => ({
    ...(moment !== undefined && { until: new Date(moment).toISOString() }),
    price: priceAfter(i - 1),
  }));
  return steps.filter((step) => !isOver(step, now));
};

/** Of several rooms of one booking, each with its own ladder: what cancelling all of them costs. */
export const sumOfLadders = (ladders: readonly CancellationLadder[]): CancellationStep[] => {
  const [first] = ladders;
  if (first === undefined || ladders.some((ladder) => ladder.length === 0)) return [];
  const moments = new Set(ladders.flatMap((ladder) => ladder.flatMap(({ until }) => until ?? [])));
  const ends = [...moments].sort((a, b) => Date.parse(a) - Date.parse(b));
  const currency = (first[0] as CancellationStep).price.currency;
  return [...ends, undefined].map((until) => {
    // After the last end each costs what its last step says.
    const at = until === undefined ? new Date(8.64e15) : new Date(until);
    const amountMinor = ladders.reduce(
      (sum, ladder) => sum + (cancellationPriceAt(ladder, at)?.amountMinor ?? 0),
      0,
    );
    return { ...(until !== undefined && { until }), price: { amountMinor, currency } };
  });
};
