/** Owns an allocation from groups and offers to a wave's content; searching, holding and booking the rooms is left to others. */
import type {
  Allocation,
  AllocationResult,
  GroupNeed,
  RankingInput,
  Unplaced,
} from "../../../schemas/allocation.ts";
import { distanceKmBetween } from "../../../schemas/distance.ts";
import type { Coordinates, HotelOffer } from "../../../schemas/hotel.ts";
import { hotelUrns, ordinal } from "../../../schemas/hotel-identity.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import { assign } from "./assign.ts";
import { canHold, count, money, roomsNeeded, stockOf } from "./gates.ts";
import type { Assign } from "./packing.ts";
import { type Audience, offerKey, type Placement, type Ranked, runPass, type StockedOffer } from "./pass.ts";

export interface AllocationInput {
  groups: readonly GroupNeed[];
  offers: readonly HotelOffer[];
  /** Undefined: no policy matches the tier; its groups are held. */
  policyOf: (tier: Tier) => ResolvedPolicy | undefined;
  airport: Coordinates;
  /** Hotels to try beside the one that a group gets; default 5. */
  alternativesMax?: number;
}

/** In this order, each over the rooms that the one before left (contract, "Allocation wave"). */
export const tierPasses: readonly { name: string; tiers: readonly Tier[] }[] = [
  { name: "FIRST_BUSINESS", tiers: ["FIRST", "BUSINESS"] },
  { name: "PREMIUM_ECONOMY", tiers: ["PREMIUM_ECONOMY"] },
  { name: "ECONOMY", tiers: ["ECONOMY"] },
  { name: "CREW", tiers: ["CREW"] },
];

const alternativesDefault = 5;
/** The same hotel from another vendor comes first, but leaves places for other hotels: the hotel itself may be full. */
const sameHotelAlternativesMax = 2;
/** Of the alternatives, where there are any: a vendor that refuses one room may refuse them all, and must not take the group's every chance. */
const otherVendorAlternativesMin = 2;

/**
 * Assigns whole groups to hotels, pass by pass: most rooms placed first, then the least weighted objective of cost,
 * distance and number of hotels. Within a pass those with priority come first. A group is one item throughout, so a family stays in one hotel, and its rooms hold
 * nobody else, so strangers never share.
 *
 * Pure, and independent of the order of groups and offers: whichever vendor answers first, the wave is the same.
 * Allocations and unplaced stand in the order of `groups`; rankingInputs hold every offer once per pass that has
 * groups (once per policy where FIRST and BUSINESS have different ones).
 *
 * @param solve another solver of the same problem, e.g. an exact one.
 */
export const allocate = (input: AllocationInput, solve: Assign = assign): AllocationResult => {
  const urns = hotelUrns(input.offers);
  const offers = input.offers
    .map(
      (offer, index): StockedOffer => ({
        offer,
        hotelUrn: urns[index]!,
        distanceKm: distanceKmBetween(input.airport, offer.coordinates),
        stock: stockOf(offer),
      }),
    )
    .sort((a, b) => ordinal(offerKey(a.offer), offerKey(b.offer)));
  const groups = [...input.groups].sort((a, b) => ordinal(a.groupId, b.groupId));
  const placements = new Map<GroupNeed, Placement>();
  const reasons = new Map<GroupNeed, string>();
  const rankingInputs: RankingInput[] = [];
  const openHotels = new Set<string>();
  let objective = 0;
  for (const pass of tierPasses.flatMap((pass) => inTurn(pass, groups))) {
    const audiences = audiencesOf(pass.groups, input.policyOf);
    if (audiences.length === 0) continue;
    const result = runPass(pass.name, audiences, offers, openHotels, solve);
    for (const placement of result.placements) placements.set(placement.group, placement);
    for (const { group, reason } of result.unplaced) reasons.set(group, reason);
    rankingInputs.push(...result.rankingInputs);
    objective += result.objective;
  }
  const allocations = input.groups.flatMap((group) => {
    const placement = placements.get(group);
    return placement === undefined
      ? []
      : [allocationOf(placement, input.alternativesMax ?? alternativesDefault)];
  });
  return {
    allocations,
    unplaced: input.groups
      .filter((group) => !placements.has(group))
      .map(
        (group): Unplaced => ({
          groupId: group.groupId,
          subCaseId: group.subCaseId,
          rooms: group.rooms,
          reason: reasons.get(group) ?? `No policy covers ${group.tier}.`,
        }),
      ),
    rankingInputs,
    totals: totalsOf(allocations),
    objective,
  };
};

/** Who goes first has the tier's rooms to choose from before the others see them. */
const inTurn = (
  { name, tiers }: (typeof tierPasses)[number],
  groups: readonly GroupNeed[],
): { name: string; groups: GroupNeed[] }[] => {
  const ofTiers = groups.filter(({ tier }) => tiers.includes(tier));
  const first = ofTiers.filter(({ priority }) => priority === true);
  const others = ofTiers.filter(({ priority }) => priority !== true);
  return [
    { name: `${name}_PRIORITY`, groups: first },
    { name, groups: others },
  ].filter((pass) => pass.groups.length > 0);
};

/** Tiers of one pass that share a policy are judged together. */
const audiencesOf = (groups: readonly GroupNeed[], policyOf: AllocationInput["policyOf"]): Audience[] => {
  const audiences = new Map<string, Audience>();
  for (const group of groups) {
    const policy = policyOf(group.tier);
    if (policy === undefined) continue;
    const key = `${policy.policyId}@${policy.version}`;
    const audience = audiences.get(key) ?? { tiers: [], policy, groups: [], ranked: [] };
    if (!audience.tiers.includes(group.tier)) audience.tiers.push(group.tier);
    audience.groups.push(group);
    audiences.set(key, audience);
  }
  return [...audiences.values()];
};

const allocationOf = (placement: Placement, alternativesMax: number): Allocation => {
  const { group, candidate } = placement;
  const rooms = roomsNeeded(group, candidate.offer);
  const { offer } = candidate;
  const others = candidate.groupsTaken - 1;
  return {
    groupId: group.groupId,
    subCaseId: group.subCaseId,
    tier: group.tier,
    hotelUrn: candidate.hotelUrn,
    offer,
    rooms,
    nights: group.nights,
    totalMinor: offer.nightlyRateMinor * rooms * group.nights,
    currency: offer.currency,
    reason:
      `Score ${candidate.score.toFixed(2)}: ${money(offer.nightlyRateMinor, offer.currency)} a night, ` +
      `${candidate.distanceKm.toFixed(1)} km from the airport` +
      `${others > 0 ? `, together with ${count(others, "other group")}` : ""}.`,
    alternatives: alternativesOf(placement, alternativesMax),
  };
};

/**
 * What to try when the hotel refuses, best first: the same hotel from another vendor, then other hotels by score, of which some
 * are other vendors'.
 * All pass the policy and, after the whole wave, still have the rooms.
 */
const alternativesOf = (
  { group, audience, candidate: taken }: Placement,
  alternativesMax: number,
): Allocation["alternatives"] => {
  const same: Allocation["alternatives"] = [];
  const others = new Map<string, Allocation["alternatives"][number]>();
  for (const { hotelUrn, offer, stock } of bestFirst(audience)) {
    if (offer === taken.offer || !canHold(group, offer, stock)) continue;
    if (hotelUrn === taken.hotelUrn) {
      if (same.length < sameHotelAlternativesMax) same.push({ hotelUrn, offer });
    } else if (!others.has(hotelUrn) && others.size < alternativesMax)
      others.set(hotelUrn, { hotelUrn, offer });
  }
  const best = [...same, ...others.values()].slice(0, alternativesMax);
  return withOtherVendors(best, { group, audience, candidate: taken }, alternativesMax);
};

/** The same, the last ones making way for the best of other vendors where too few are among them. */
const withOtherVendors = (
  best: Allocation["alternatives"],
  { group, audience, candidate: taken }: Placement,
  alternativesMax: number,
): Allocation["alternatives"] => {
  const isOther = ({ offer }: { offer: HotelOffer }): boolean => offer.vendor !== taken.offer.vendor;
  const others = best.filter(isOther);
  const missing = otherVendorAlternativesMin - others.length;
  if (missing <= 0) return best;
  const hotels = new Set(others.map(({ hotelUrn }) => hotelUrn));
  const found: Allocation["alternatives"] = [];
  for (const ranked of bestFirst(audience)) {
    const { hotelUrn, offer, stock } = ranked;
    if (!isOther(ranked) || hotels.has(hotelUrn) || !canHold(group, offer, stock)) continue;
    hotels.add(hotelUrn);
    if (found.push({ hotelUrn, offer }) === missing) break;
  }
  const own = best.filter((one) => !isOther(one)).slice(0, alternativesMax - others.length - found.length);
  return [...best.filter((one) => isOther(one) || own.includes(one)), ...found];
};

const sorted = new WeakMap<Audience, Ranked[]>();

/** Sorted once per audience, not once per group. */
const bestFirst = (audience: Audience): Ranked[] => {
  const known = sorted.get(audience);
  if (known !== undefined) return known;
  const ranked = audience.ranked
    .filter(({ refusal }) => refusal === undefined)
    .sort((a, b) => b.score - a.score || ordinal(offerKey(a.offer), offerKey(b.offer)));
  sorted.set(audience, ranked);
  return ranked;
};

const totalsOf = (allocations: readonly Allocation[]): AllocationResult["totals"] => {
  const totals = new Map<string, number>();
  for (const { currency, totalMinor } of allocations)
    totals.set(currency, (totals.get(currency) ?? 0) + totalMinor);
  return [...totals]
    .sort(([a], [b]) => ordinal(a, b))
    .map(([currency, amountMinor]) => ({ currency, amountMinor }));
};
