/** Owns the embedded planner: proposals by rule, from what is on offer. It reads no text that a passenger, vendor or operator has written. */
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import { classify, untried } from "./classify.ts";
import { type Facts, type HotelFacts, isFormer, type Search } from "./facts.ts";
import { mostRoomsFirst, type Placement, placementAt, relaxationsAt } from "./fit.ts";
import { type Draft, draftsMax, type Planner } from "./planner.ts";

/** What speaks for a hotel within the policy, and for loosening one limit, where all rooms are found. */
const viabilityOf = { rebook: 0.9, relaxPolicy: 0.7 } as const;
/** For each limit more that would have to be loosened. */
const perFurtherField = 0.15;
/** Between proposals of one kind: the next best is a little less viable. */
const perPlace = 0.02;
const perKind = 4;

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const rulesPlanner: Planner = {
  name: "rules-1",
  plan: (facts) => ({ ...classify(facts), drafts: draftsOf(facts) }),
};

const draftsOf = (facts: Facts): Draft[] =>
  facts.searches
    .flatMap((search) => {
      const policy = facts.policies[search.tier];
      return policy === undefined
        ? []
        : [...rebookings(facts, search, policy), ...relaxations(facts, search, policy)];
    })
    .sort((a, b) => b.viability - a.viability)
    .slice(0, draftsMax);

/** How much of the search's need a placement meets, 0 to 1. */
const share = ({ groupIds }: Placement, groups: readonly GroupNeed[]): number =>
  groupIds.length / groups.length;

const score = (base: number, placement: Placement, { groups }: Search, place: number): number =>
  Math.max(0, Math.round(1000 * (base * share(placement, groups) - perPlace * place)) / 1000);

const rebookings = (facts: Facts, search: Search, policy: ResolvedPolicy): Draft[] =>
  untried(facts, search.hotels)
    .filter(({ hotelUrn }) => !isFormer(facts, { action: "rebook", hotelUrn }))
    .flatMap((hotel) => {
      const placement = placementAt(hotel, search.groups, policy);
      return placement === undefined ? [] : [{ hotel, placement }];
    })
    .sort((a, b) => mostRoomsFirst(a.placement, b.placement))
    .slice(0, perKind)
    .map(({ hotel, placement }, place) => ({
      action: "rebook",
      hotelUrn: hotel.hotelUrn,
      groupIds: placement.groupIds,
      reason: `Within the policy, ${roomsAt(hotel, placement)}.`,
      viability: score(viabilityOf.rebook, placement, search, place),
    }));

const roomsAt = ({ distanceKm }: HotelFacts, { offer, groupIds, rooms }: Placement): string =>
  `${distanceKm} km from the airport, ${counted(offer.roomsLeft, "room")} left for ${counted(groupIds.length, "group")} in ${counted(rooms, "room")}`;

interface Relaxation {
  hotel: HotelFacts;
  value: RelaxedFields;
  placement: Placement;
}

/** Of each set of limits the way that needs the least of it: fewest limits, most rooms, then the cheapest. */
const relaxations = (facts: Facts, search: Search, policy: ResolvedPolicy): Draft[] => {
  const best = new Map<string, Relaxation>();
  const found = untried(facts, search.hotels).flatMap((hotel) =>
    relaxationsAt(hotel, search.groups, policy).map((one) => ({ hotel, ...one })),
  );
  for (const one of found) {
    const fields = Object.keys(one.value).sort().join();
    const known = best.get(fields);
    if (isFormer(facts, { action: "relaxPolicy", hotelUrn: one.hotel.hotelUrn, value: one.value })) continue;
    if (known === undefined || leastFirst(one, known) < 0) best.set(fields, one);
  }
  return [...best.values()]
    .sort((a, b) => fieldsOf(a) - fieldsOf(b) || leastFirst(a, b))
    .slice(0, perKind)
    .map((one, place) => relaxationDraft(search, one, place));
};

const fieldsOf = ({ value }: Relaxation): number => Object.keys(value).length;

/** Of as many rooms the one that loosens the distance least, where it does at all, then the cheapest. */
const leastFirst = (a: Relaxation, b: Relaxation): number =>
  b.placement.rooms - a.placement.rooms ||
  (a.value.maxDistanceKm ?? 0) - (b.value.maxDistanceKm ?? 0) ||
  a.placement.cost.amountMinor - b.placement.cost.amountMinor;

const relaxationDraft = (search: Search, one: Relaxation, place: number): Draft => {
  const { hotel, value, placement } = one;
  const base = viabilityOf.relaxPolicy - perFurtherField * (fieldsOf(one) - 1);
  return {
    action: "relaxPolicy",
    hotelUrn: hotel.hotelUrn,
    groupIds: placement.groupIds,
    value,
    reason: `${Object.keys(value).join(", ")} keeps out what has rooms: ${roomsAt(hotel, placement)}.`,
    viability: score(base, placement, search, place),
  };
};
