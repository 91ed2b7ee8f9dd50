/** Owns how a hotel fits groups and a policy, from what a search tells: which groups it can take, at what cost, and what it would take to allow it. */
import type { GroupNeed } from "../../schemas/allocation.ts";
import { minorUnitDigits } from "../../schemas/currency.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { Money } from "../../schemas/vocabulary.ts";
import type { HotelFacts } from "./facts.ts";

type Offer = HotelFacts["offers"][number];

/** As a wave counts them: a room that holds fewer passengers than the demand reckoned with takes more rooms. */
const roomsOf = (group: GroupNeed, { maxOccupancy }: Offer): number =>
  Math.max(1, group.rooms, Math.ceil(group.passengers / Math.max(1, maxOccupancy)));

const accessibleOf = ({ needs, rooms }: GroupNeed): number => {
  const times = (need: string): number => needs.filter((one) => one === need).length;
  return Math.min(Math.max(1, rooms), Math.max(times("WHEELCHAIR"), times("REDUCED_MOBILITY")));
};

/** What an offer can do for groups. */
export interface Placement {
  offer: Offer;
  groupIds: string[];
  rooms: number;
  cost: Money;
}

/** Groups that the offer has rooms for: as many as can be, of these those of most rooms; a group is never split. Undefined: none. */
const placedIn = (offer: Offer, groups: readonly GroupNeed[]): Placement | undefined => {
  const smallFirst = [...groups].sort(
    (a, b) => roomsOf(a, offer) - roomsOf(b, offer) || accessibleOf(a) - accessibleOf(b),
  );
  const most = (a: GroupNeed[], b: GroupNeed[]): GroupNeed[] =>
    b.length > a.length || (b.length === a.length && roomsIn(b) > roomsIn(a)) ? b : a;
  const roomsIn = (some: readonly GroupNeed[]): number =>
    some.reduce((sum, group) => sum + roomsOf(group, offer), 0);
  const freely = smallFirst.filter((group) => accessibleOf(group) === 0);
  const placed = [smallFirst, [...smallFirst].reverse(), freely]
    .map((order) => takenIn(offer, order))
    .reduce(most);
  if (placed.length === 0) return undefined;
  const rooms = roomsIn(placed);
  const nights = placed[0]?.nights ?? 1;
  return {
    offer,
    groupIds: placed.map(({ groupId }) => groupId).sort(),
    rooms,
    cost: { amountMinor: offer.nightlyRateMinor * rooms * nights, currency: offer.currency },
  };
};

/** One after the other, while there are rooms. */
const takenIn = (offer: Offer, groups: readonly GroupNeed[]): GroupNeed[] => {
  const stock = { rooms: offer.roomsLeft, accessible: Math.min(offer.accessibleRooms, offer.roomsLeft) };
  return groups.filter((group) => {
    if (roomsOf(group, offer) > stock.rooms || accessibleOf(group) > stock.accessible) return false;
    stock.rooms -= roomsOf(group, offer);
    stock.accessible -= accessibleOf(group);
    return true;
  });
};

/**
 * The best that the hotel can do for groups of one stay under a policy: most groups, most rooms, then the least cost. Undefined: nothing.
 * @param policy with what is to be relaxed
 */
export const placementAt = (
  hotel: HotelFacts,
  groups: readonly GroupNeed[],
  policy: ResolvedPolicy,
): Placement | undefined =>
  hotel.offers
    .flatMap((offer) => {
      const misfit = misfitOf(hotel, offer, policy);
      return misfit !== undefined && Object.keys(misfit).length === 0 ? (placedIn(offer, groups) ?? []) : [];
    })
    .sort(fullestFirst)[0];

export const fullestFirst = (a: Placement, b: Placement): number =>
  mostFirst(a, b) || a.cost.amountMinor - b.cost.amountMinor;

/** Most groups, then most rooms. */
export const mostFirst = (a: Placement, b: Placement): number =>
  b.groupIds.length - a.groupIds.length || b.rooms - a.rooms;

/** What would have to be looser for each offer that has the rooms; offers that nothing can allow are left out. */
export const relaxationsAt = (
  hotel: HotelFacts,
  groups: readonly GroupNeed[],
  policy: ResolvedPolicy,
): { value: RelaxedFields; placement: Placement }[] =>
  hotel.offers.flatMap((offer) => {
    const value = misfitOf(hotel, offer, policy);
    const placement = placedIn(offer, groups);
    if (value === undefined || placement === undefined || Object.keys(value).length === 0) return [];
    return [{ value, placement }];
  });

/** Of the policy, as loose as the offer needs it. Empty: it fits. Undefined: no relaxation helps. */
const misfitOf = (hotel: HotelFacts, offer: Offer, policy: ResolvedPolicy): RelaxedFields | undefined => {
  const { minStars, maxDistanceKm, maxNightlyRate, allowProviders } = policy;
  const value: RelaxedFields = {};
  if (minStars !== undefined && (hotel.stars === undefined || hotel.stars < minStars))
    value.minStars = hotel.stars ?? null;
  if (maxDistanceKm !== undefined && hotel.distanceKm > maxDistanceKm)
    value.maxDistanceKm = atLeastKm(hotel.distanceKm);
  if (maxNightlyRate !== undefined) {
    if (offer.currency !== maxNightlyRate.currency) return undefined;
    if (offer.nightlyRateMinor > maxNightlyRate.amountMinor)
      value.maxNightlyRate = Math.ceil(offer.nightlyRateMinor / 10 ** minorUnitDigits(offer.currency));
  }
  return { ...value, ...soldOtherwise(hotel, offer, policy, allowProviders) };
};

/** A search rounds distances to 100 m. */
const atLeastKm = (distanceKm: number): number => Math.ceil(distanceKm + 0.05);

const soldOtherwise = (
  { amenities, chain }: HotelFacts,
  { acceptedPayments, vendor }: Offer,
  policy: ResolvedPolicy,
  allowProviders: ResolvedPolicy["allowProviders"],
): RelaxedFields => {
  const fields: { -readonly [Name in keyof RelaxedFields]: unknown } = {};
  const had = policy.requiredAmenities.filter((amenity) => amenities.includes(amenity));
  if (had.length < policy.requiredAmenities.length) fields.requiredAmenities = had;
  const others = policy.excludedChains.filter((one) => one.toLowerCase() !== chain?.toLowerCase());
  if (others.length < policy.excludedChains.length) fields.excludedChains = others;
  if (!acceptedPayments.some((method) => policy.acceptedPayments.includes(method)))
    fields.acceptedPayments = [...new Set([...policy.acceptedPayments, ...acceptedPayments])];
  if (allowProviders !== undefined && !allowProviders.includes(vendor))
    fields.allowProviders = [...allowProviders, vendor];
  return fields as RelaxedFields;
};
