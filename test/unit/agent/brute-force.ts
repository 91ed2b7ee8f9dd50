// What a search through everything finds for an item: each hotel, each of its offers, each set of limits lifted, each set of groups. It
// shares no rule with the planner; beside it, items drawn from a seed.
import type { Facts, HotelFacts, Search } from "../../../actors/agent/facts.ts";
import type { GroupNeed } from "../../../schemas/allocation.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import type { Amenity, Tier } from "../../../schemas/vocabulary.ts";
import { facts, group, hotel, policy } from "./night.ts";

type Offer = HotelFacts["offers"][number];

/** Whether an offer is within one limit of the policy. */
const limits: Readonly<Record<string, (policy: ResolvedPolicy, hotel: HotelFacts, offer: Offer) => boolean>> =
  {
    minStars: ({ minStars = 0 }, { stars = -1 }) => stars >= minStars,
    maxDistanceKm: ({ maxDistanceKm = 1e9 }, { distanceKm }) => distanceKm <= maxDistanceKm,
    maxNightlyRate: ({ maxNightlyRate }, _, { nightlyRateMinor }) =>
      maxNightlyRate === undefined || nightlyRateMinor <= maxNightlyRate.amountMinor,
    requiredAmenities: ({ requiredAmenities }, { amenities }) =>
      requiredAmenities.every((one) => amenities.includes(one)),
    excludedChains: ({ excludedChains }, { chain }) => !excludedChains.includes(chain ?? ""),
    acceptedPayments: ({ acceptedPayments }, _, offer) =>
      offer.acceptedPayments.some((one) => acceptedPayments.includes(one)),
    allowProviders: ({ allowProviders }, _, { vendor }) =>
      allowProviders === undefined || allowProviders.includes(vendor),
  };
const names = Object.keys(limits);

/** One thing that could be done. */
export interface Feasible {
  action: "rebook" | "relaxPolicy";
  hotelUrn: string;
  fields: number;
  groups: number;
  /** As the planner ranks (README of `actors/agent`): by what has to be loosened, times the share of the groups that get a room. */
  worth: number;
  costMinor: number;
}

const wheelchairs = ({ needs }: GroupNeed): number => needs.filter((need) => need === "WHEELCHAIR").length;

/** The largest set of whole groups that the rooms are enough for; of two the one in fewer rooms. */
const mostGroups = ({ groups }: Search, { roomsLeft, accessibleRooms, maxOccupancy }: Offer) => {
  let best = { groups: 0, rooms: 0 };
  for (let set = 1; set < 1 << groups.length; set++) {
    const some = groups.filter((_, i) => (set & (1 << i)) !== 0);
    const rooms = some.reduce(
      (sum, one) => sum + Math.max(one.rooms, Math.ceil(one.passengers / maxOccupancy)),
      0,
    );
    const accessible = some.reduce((sum, one) => sum + Math.min(one.rooms, wheelchairs(one)), 0);
    if (rooms > roomsLeft || accessible > Math.min(accessibleRooms, roomsLeft)) continue;
    if (some.length > best.groups || (some.length === best.groups && rooms < best.rooms))
      best = { groups: some.length, rooms };
  }
  return best;
};

/** Everything, the best first. */
export const bruteForce = ({ searches, policies, attempted }: Facts): Feasible[] => {
  const found: Feasible[] = [];
  const refused = new Set(attempted.map(({ hotelUrn }) => hotelUrn));
  for (const search of searches) {
    const held = policies[search.tier] as ResolvedPolicy;
    for (const one of search.hotels.filter(({ hotelUrn }) => !refused.has(hotelUrn)))
      for (const offer of one.offers.filter(({ currency }) => currency === held.maxNightlyRate?.currency)) {
        const { groups, rooms } = mostGroups(search, offer);
        const costMinor = offer.nightlyRateMinor * rooms * search.nights;
        for (let lifted = 0; groups > 0 && lifted < 1 << names.length; lifted++) {
          const isWithin = names.every((name, i) => lifted & (1 << i) || limits[name]?.(held, one, offer));
          const isNeedless = names.some((name, i) => lifted & (1 << i) && limits[name]?.(held, one, offer));
          if (!isWithin || isNeedless) continue;
          const fields = names.filter((_, i) => lifted & (1 << i)).length;
          const action = fields === 0 ? "rebook" : "relaxPolicy";
          const base = fields === 0 ? 0.9 : Math.max(0, 0.85 - 0.15 * fields);
          const worth = base * (groups / search.groups.length);
          found.push({ action, hotelUrn: one.hotelUrn, fields, groups, worth, costMinor });
        }
      }
  }
  return found.sort((a, b) => b.worth - a.worth || a.costMinor - b.costMinor);
};

/** An item of a night: one or two stays, up to six groups, up to thirty hotels, a policy of any strictness. */
export const drawnItem = (random: () => number): Facts => {
  const from = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  const some = <T>(all: readonly T[], chance: number): T[] => all.filter(() => random() < chance);
  const amenities: Amenity[] = ["WIFI", "BREAKFAST", "PARKING"];
  const held = policy({
    minStars: from(1, 4),
    maxDistanceKm: from(1, 30),
    maxNightlyRate: { amountMinor: from(60, 250) * 100, currency: "USD" },
    requiredAmenities: some(amenities, 0.2),
    excludedChains: some(["Grim", "Aurel"], 0.3),
    acceptedPayments: random() < 0.7 ? ["GUARANTEE", "CARD"] : ["GUARANTEE"],
    allowProviders: random() < 0.7 ? undefined : ["stayhub"],
  });
  const drawnOffer = (name: string, i: number): Offer => ({
    ...(hotel(name).offers[0] as Offer),
    vendor: random() < 0.5 ? "stayhub" : "roomlink",
    providerOfferId: `${name}-${i}`,
    nightlyRateMinor: from(40, 300) * 100,
    currency: random() < 0.95 ? "USD" : "EUR",
    roomsLeft: from(0, 12),
    accessibleRooms: from(0, 2),
    maxOccupancy: from(1, 3),
    acceptedPayments: random() < 0.8 ? ["GUARANTEE", "CARD"] : ["CARD"],
  });
  const drawnHotel = (name: string): HotelFacts => {
    const chain = some(["Grim", "Aurel"], 0.2)[0];
    return hotel(name, {
      distanceKm: from(5, 450) / 10,
      ...(random() < 0.9 ? { stars: from(1, 5) } : { stars: undefined as never }),
      amenities: some(amenities, 0.7),
      ...(chain === undefined ? {} : { chain }),
      offers: Array.from({ length: from(1, 3) }, (_, i) => drawnOffer(name, i)),
    });
  };
  const tiers: Tier[] = random() < 0.7 ? ["ECONOMY"] : ["ECONOMY", "BUSINESS"];
  const searches = tiers.map((tier, of): Search => {
    const groups = Array.from({ length: from(1, 6) }, (_, i) => {
      const rooms = from(1, 3);
      const needs = random() < 0.1 ? (["WHEELCHAIR"] as GroupNeed["needs"]) : [];
      return group(`G${of}${i}`, { tier, rooms, passengers: from(rooms, 2 * rooms), needs });
    });
    const hotels = Array.from({ length: from(0, 30) }, (_, i) => drawnHotel(`t${of}-${i}`));
    return { tier, checkIn: "2026-11-21", nights: from(1, 2), groups, hotels, silent: [] };
  });
  const attempted = searches.flatMap(({ hotels }) => some(hotels, 0.1));
  return facts({
    searches,
    policies: { ECONOMY: held, BUSINESS: { ...held, minStars: 4 } },
    attempted: attempted.map(({ hotelUrn }) => ({ hotelUrn, code: "SOLD_OUT" })),
  });
};
