/** Owns one tier pass: gates, dedup, scores and assignment of its groups over the rooms that earlier passes left. */
import type { GroupNeed, RankingInput } from "../../../schemas/allocation.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import { ordinal } from "../../../schemas/hotel-identity.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { rankingOf, unplacedReason } from "./explain.ts";
import {
  accessibleRoomsNeeded,
  canHold,
  policyRefusal,
  type Refusal,
  roomsNeeded,
  type Stock,
  stockRefusal,
} from "./gates.ts";
import { type Assign, type AssignmentProblem, evaluate, unplaced } from "./packing.ts";
import {
  averagePrice,
  type Candidate,
  currencyOf,
  finalScore,
  openingCost,
  placementCost,
  roomsOf,
  type Scale,
  type Scores,
  scaleOf,
  scoresOf,
} from "./scores.ts";

/** An offer with what never changes during a wave; `stock` is counted down. */
export type StockedOffer = Candidate;

/** A candidate as one policy of the pass sees it. */
export interface Ranked extends Candidate {
  refusal: Refusal | undefined;
  /** Absent for a refused candidate. */
  scores: Scores | undefined;
  score: number;
  groupsTaken: number;
  roomsTaken: number;
  /** The offer of the same hotel that was taken instead. */
  winner: HotelOffer | undefined;
}

/** The groups of a pass that share one policy. */
export interface Audience {
  tiers: string[];
  policy: ResolvedPolicy;
  groups: GroupNeed[];
  ranked: Ranked[];
}

export interface Placement {
  group: GroupNeed;
  audience: Audience;
  candidate: Ranked;
}

export interface PassResult {
  placements: Placement[];
  unplaced: { group: GroupNeed; reason: string }[];
  rankingInputs: RankingInput[];
  objective: number;
}

/** Beyond what all else in a pass together can reach, so an unplaced room always weighs more. */
const unplacedRoomPenalty = 2;

/**
 * Rounds end when all groups have a place or nothing changes. The first knows one offer per hotel, as dedup asks;
 * only for groups that found no place, further ones look at offers that dedup had put aside, when the cheaper one of
 * that hotel has no room for them left: a stranded family is not turned away from a room because it costs more.
 */
export const runPass = (
  name: string,
  audiences: Audience[],
  offers: StockedOffer[],
  openHotels: Set<string>,
  assign: Assign,
): PassResult => {
  for (const audience of audiences) audience.ranked = offers.map((offer) => judge(offer, audience));
  const passing = (audience: Audience): Ranked[] =>
    audience.ranked.filter(({ refusal }) => refusal === undefined);
  const scale = scaleOf(
    audiences.map((audience) => ({ candidates: passing(audience), groups: audience.groups })),
    currencyOf(
      audiences.map(({ policy }) => policy),
      audiences.flatMap((audience) => passing(audience).map(({ offer }) => offer)),
    ),
  );
  for (const audience of audiences)
    for (const ranked of passing(audience)) {
      ranked.scores = scoresOf(ranked, audience.groups, scale);
      ranked.score = finalScore(ranked.scores, audience.policy.weights);
    }
  const placements: Placement[] = [];
  let objective = 0;
  let waiting = new Set(audiences.flatMap(({ groups }) => groups));
  while (waiting.size > 0) {
    const round = assignRound(audiences, waiting, scale, openHotels, assign);
    if (round.placements.length === 0) break;
    for (const placement of round.placements) take(placement, openHotels);
    placements.push(...round.placements);
    objective += round.objective;
    waiting = new Set(
      [...waiting].filter((group) => !round.placements.some((placed) => placed.group === group)),
    );
  }
  const held = [...waiting];
  return {
    placements,
    unplaced: held.map((group) => ({ group, reason: unplacedReason(group, audiences) })),
    rankingInputs: rankingOf(name, audiences),
    objective: objective + held.reduce((sum, group) => sum + unplacedRoomPenalty * roomsOf(group), 0),
  };
};

const judge = (offer: StockedOffer, audience: Audience): Ranked => ({
  ...offer,
  refusal:
    policyRefusal(offer.offer, audience.policy, offer.distanceKm) ??
    stockRefusal(offer.offer, offer.stock, audience.groups),
  scores: undefined,
  score: 0,
  groupsTaken: 0,
  roomsTaken: 0,
  winner: undefined,
});

/** One assignment over one offer per hotel and audience: the cheapest that can hold a group still waiting. */
const assignRound = (
  audiences: Audience[],
  waiting: Set<GroupNeed>,
  scale: Scale,
  openHotels: Set<string>,
  assign: Assign,
): { placements: Placement[]; objective: number } => {
  const offers = new Map<HotelOffer, number>();
  const hotels = new Map<string, number>();
  const problem: AssignmentProblem = { bins: [], openingCost: [], items: [] };
  const fee = openingCost(
    audiences.map(({ groups, policy }) => ({ groups, weights: policy.weights })),
    scale,
  );
  const binOf = ({ offer, hotelUrn, stock }: Ranked): number => {
    if (!hotels.has(hotelUrn)) {
      hotels.set(hotelUrn, hotels.size);
      // A hotel that an earlier pass uses is no further hotel.
      problem.openingCost.push(openHotels.has(hotelUrn) ? 0 : fee);
    }
    if (!offers.has(offer)) {
      offers.set(offer, offers.size);
      problem.bins.push({ site: hotels.get(hotelUrn)!, ...stock });
    }
    return offers.get(offer)!;
  };
  const items = audiences.flatMap((audience) => {
    const groups = audience.groups.filter((group) => waiting.has(group));
    const chosen = dedup(audience, groups, scale).map((candidate) => ({ candidate, bin: binOf(candidate) }));
    return groups.map((group) => ({ group, audience, chosen }));
  });
  problem.items = items.map(({ group, audience, chosen }) => ({
    value: roomsOf(group),
    accessible: accessibleRoomsNeeded(group),
    options: chosen
      .filter(({ candidate }) => canHold(group, candidate.offer, candidate.stock))
      .map(({ candidate, bin }) => ({
        bin,
        rooms: roomsNeeded(group, candidate.offer),
        cost: placementCost(group, candidate, audience.policy.weights, scale),
      })),
  }));
  const assignment = assign(problem);
  const placements = items.flatMap(({ group, audience, chosen }, index) => {
    const candidate = chosen.find(({ bin }) => bin === assignment[index])?.candidate;
    return assignment[index] === unplaced || candidate === undefined ? [] : [{ group, audience, candidate }];
  });
  return { placements, objective: evaluate(problem, assignment).cost };
};

/** The cheapest passing offer of each hotel that can hold one of the groups, ties to `direct`; the others learn who won. */
const dedup = (audience: Audience, groups: GroupNeed[], scale: Scale): Ranked[] => {
  const winners = new Map<string, Ranked>();
  const usable = audience.ranked
    .filter(({ refusal }) => refusal === undefined)
    .filter(({ offer, stock }) => groups.some((group) => canHold(group, offer, stock)));
  const price = new Map(usable.map(({ offer }) => [offer, averagePrice(offer, audience.groups, scale)]));
  const dearer = ({ offer }: Ranked): number => (offer.vendor === "direct" ? 0 : 1);
  usable.sort(
    (a, b) =>
      dearerBy(price.get(a.offer)!, price.get(b.offer)!) ||
      dearer(a) - dearer(b) ||
      ordinal(offerKey(a.offer), offerKey(b.offer)),
  );
  for (const candidate of usable) {
    const winner = winners.get(candidate.hotelUrn);
    if (winner === undefined) winners.set(candidate.hotelUrn, candidate);
    else candidate.winner ??= winner.offer;
  }
  return [...winners.values()];
};

/** Two that cannot be compared are as dear as each other. */
const dearerBy = (price: number, other: number): number => (price === other ? 0 : price - other);

/** One text per offer, for an order that does not depend on which vendor answered first. */
export const offerKey = (offer: HotelOffer): string =>
  [offer.vendor, offer.providerHotelId, offer.providerOfferId].join("\n");

const take = ({ group, candidate }: Placement, openHotels: Set<string>): void => {
  const rooms = roomsNeeded(group, candidate.offer);
  takeFrom(candidate.stock, rooms, accessibleRoomsNeeded(group));
  candidate.groupsTaken += 1;
  candidate.roomsTaken += rooms;
  openHotels.add(candidate.hotelUrn);
};

const takeFrom = (stock: Stock, rooms: number, accessible: number): void => {
  stock.rooms -= rooms;
  stock.accessible = Math.min(stock.accessible - accessible, stock.rooms);
};
