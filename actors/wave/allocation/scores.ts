/** Owns the scores of the candidates of one pass and the cost of each placement; both come from one scale, so the wave's figures explain its choice. */
import type { GroupNeed } from "../../../schemas/allocation.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { canHold, rateIn, roomsNeeded, type Stock } from "./gates.ts";

/** An offer that passed the gates for these groups. */
export interface Candidate {
  offer: HotelOffer;
  hotelUrn: string;
  distanceKm: number;
  stock: Stock;
}

export type Scores = { cost: number; distance: number; consolidation: number };
export type Weights = ResolvedPolicy["weights"];

/** Lowest and highest of what the pass's candidates have; what lies between is worth 0 to 1. */
interface Range {
  min: number;
  max: number;
}

/** What the figures of one pass are measured against. */
export interface Scale {
  /** Nightly price of one needed room, minor units of `currency`. */
  price: Range;
  distance: Range;
  currency: string;
  rooms: number;
  roomNights: number;
  /** The most hotels that the pass could open. */
  hotelsMax: number;
}

/** The same scale for all candidates and groups of a pass, whichever policy let them in. Neither list is empty. */
export const scaleOf = (
  audiences: { candidates: readonly Candidate[]; groups: readonly GroupNeed[] }[],
  currency: string,
): Scale => {
  const prices = audiences.flatMap(({ candidates, groups }) =>
    candidates.flatMap(({ offer }) => {
      const rate = rateIn(currency, offer);
      return rate === undefined ? [] : groups.map((group) => priceOf(group, offer, rate));
    }),
  );
  const candidates = audiences.flatMap((audience) => audience.candidates);
  const groups = audiences.flatMap((audience) => audience.groups);
  return {
    price: rangeOf(prices),
    distance: rangeOf(candidates.map(({ distanceKm }) => distanceKm)),
    currency,
    rooms: sum(groups, roomsOf),
    roomNights: sum(groups, roomNightsOf),
    hotelsMax: Math.min(new Set(candidates.map(({ hotelUrn }) => hotelUrn)).size, groups.length),
  };
};

/** The currency that prices are compared in: the policy's, else the one most candidates have (ties alphabetical). */
export const currencyOf = (policies: readonly ResolvedPolicy[], offers: readonly HotelOffer[]): string => {
  const limit = policies.find(({ maxNightlyRate }) => maxNightlyRate !== undefined)?.maxNightlyRate;
  if (limit !== undefined) return limit.currency;
  const times = new Map<string, number>();
  for (const { currency } of offers) times.set(currency, (times.get(currency) ?? 0) + 1);
  const [first] = [...times].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return first?.[0] ?? "";
};

/**
 * Scores of a candidate, 0–1, higher is better: what housing all groups of the pass there would cost, how near it
 * is, and what part of the groups' rooms it could hold.
 */
export const scoresOf = (candidate: Candidate, groups: readonly GroupNeed[], scale: Scale): Scores => {
  const holdable = groups.filter((group) => canHold(group, candidate.offer, candidate.stock));
  const nights = Math.max(1, sum(groups, roomNightsOf));
  return {
    cost: 1 - sum(groups, (group) => roomNightsOf(group) * dearness(group, candidate.offer, scale)) / nights,
    distance: 1 - share(candidate.distanceKm, scale.distance),
    consolidation:
      Math.min(candidate.stock.rooms, sum(holdable, roomsOf)) / Math.max(1, sum(groups, roomsOf)),
  };
};

/** 0–1. */
export const finalScore = (scores: Scores, weights: Weights): number =>
  weights.cost * scores.cost +
  weights.distance * scores.distance +
  weights.consolidation * scores.consolidation;

/**
 * The group's part of the pass's objective, without the hotel's opening: cost by room-nights, distance by rooms. If
 * every group went to one hotel, the parts would sum to 1 − score for each of the two.
 */
export const placementCost = (
  group: GroupNeed,
  candidate: Candidate,
  weights: Weights,
  scale: Scale,
): number => {
  const cost = (roomNightsOf(group) / scale.roomNights) * dearness(group, candidate.offer, scale);
  const distance = (roomsOf(group) / scale.rooms) * share(candidate.distanceKm, scale.distance);
  return weights.cost * cost + weights.distance * distance;
};

/** The consolidation objective as a price on each hotel in use; the most hotels possible cost the whole weight. */
export const openingCost = (
  members: readonly { groups: readonly GroupNeed[]; weights: Weights }[],
  scale: Scale,
): number =>
  sum(members, ({ groups, weights }) => (weights.consolidation * sum(groups, roomsOf)) / scale.rooms) /
  scale.hotelsMax;

/** What the pass's groups would pay on average for a needed room and night; a currency without an exchange rate comes after all others. */
export const averagePrice = (
  offer: HotelOffer,
  groups: readonly GroupNeed[],
  { currency }: Pick<Scale, "currency">,
): number => {
  const rate = rateIn(currency, offer);
  if (rate === undefined) return Number.POSITIVE_INFINITY;
  const total = sum(groups, (group) => roomNightsOf(group) * priceOf(group, offer, rate));
  return total / Math.max(1, sum(groups, roomNightsOf));
};

/** 0 the cheapest, 1 the dearest: without an exchange rate a price in a foreign currency counts as the dearest. */
const dearness = (group: GroupNeed, offer: HotelOffer, scale: Scale): number => {
  const rate = rateIn(scale.currency, offer);
  return rate === undefined ? 1 : share(priceOf(group, offer, rate), scale.price);
};

/** Nightly price of one room of the group's demand; higher than the rate where small rooms make it take more of them. */
const priceOf = (group: GroupNeed, offer: HotelOffer, rate: number): number =>
  (rate * roomsNeeded(group, offer)) / roomsOf(group);

export const roomsOf = (group: GroupNeed): number => Math.max(1, group.rooms);

const roomNightsOf = (group: GroupNeed): number => roomsOf(group) * Math.max(1, group.nights);

const rangeOf = (figures: readonly number[]): Range => {
  const range = { min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
  for (const figure of figures) {
    range.min = Math.min(range.min, figure);
    range.max = Math.max(range.max, figure);
  }
  return range;
};

const share = (figure: number, range: Range): number =>
  range.max > range.min ? (figure - range.min) / (range.max - range.min) : 0;

const sum = <Item>(items: readonly Item[], figure: (item: Item) => number): number =>
  items.reduce((total, item) => total + figure(item), 0);
