/** Owns what makes a hotel offer unusable, for a policy or for one group, and the sentence that says so; ranking what passes is left to scores. */
import type { DiscardReason, GroupNeed } from "../../../schemas/allocation.ts";
import { decimalFromMinor } from "../../../schemas/currency.ts";
import { minorIn, ratesAsOf } from "../../../schemas/exchange-rates.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";

export interface Refusal {
  reason: DiscardReason;
  /** A sentence with both figures: what the hotel has and what was asked for. */
  detail: string;
}

/** What is left of an offer; both are counted down as groups take rooms. */
export interface Stock {
  rooms: number;
  /** Part of `rooms`, never on top of them. */
  accessible: number;
}

/** What of a policy an offer is held against. */
export type Gates = Pick<
  ResolvedPolicy,
  | "minStars"
  | "maxDistanceKm"
  | "maxNightlyRate"
  | "requiredAmenities"
  | "excludedChains"
  | "acceptedPayments"
  | "allowProviders"
>;

/**
 * The first gate of the policy that refuses the offer (contract, "Policy", constraints); undefined: it passes.
 * Chains are compared without regard to case, for they are ids. A restriction to providers holds for `direct` too.
 */
export const policyRefusal = (offer: HotelOffer, policy: Gates, distanceKm: number): Refusal | undefined =>
  starsRefusal(offer, policy) ??
  distanceRefusal(distanceKm, policy) ??
  rateRefusal(offer, policy) ??
  sellerRefusal(offer, policy);

const starsRefusal = (offer: HotelOffer, policy: Gates): Refusal | undefined => {
  if (policy.minStars === undefined) return undefined;
  const asked = `the policy asks for ${policy.minStars}`;
  if (offer.stars === undefined) return { reason: "UNRATED", detail: `No star rating, ${asked}.` };
  if (offer.stars >= policy.minStars) return undefined;
  return { reason: "BELOW_MIN_STARS", detail: `${count(offer.stars, "star")}, ${asked}.` };
};

const distanceRefusal = (distanceKm: number, policy: Gates): Refusal | undefined =>
  policy.maxDistanceKm === undefined || distanceKm <= policy.maxDistanceKm
    ? undefined
    : {
        reason: "TOO_FAR",
        detail: `${farther(distanceKm, policy.maxDistanceKm)} km from the airport, the policy allows ${policy.maxDistanceKm} km.`,
      };

/** One decimal, or as many as it takes not to read "8.0 km, the policy allows 8 km". */
const farther = (distanceKm: number, limitKm: number): string => {
  const short = distanceKm.toFixed(1);
  return Number(short) > limitKm ? short : distanceKm.toFixed(3);
};

const rateRefusal = (offer: HotelOffer, policy: Gates): Refusal | undefined => {
  const limit = policy.maxNightlyRate;
  if (limit === undefined) return undefined;
  const asked = money(offer.nightlyRateMinor, offer.currency);
  const allowed = money(limit.amountMinor, limit.currency);
  const rate = rateIn(limit.currency, offer);
  if (rate === undefined)
    return {
      reason: "CURRENCY_MISMATCH",
      detail: `Priced at ${asked} a night, the policy's limit is ${allowed}: not comparable.`,
    };
  if (rate <= limit.amountMinor) return undefined;
  const converted =
    offer.currency === limit.currency ? "" : ` (${money(rate, limit.currency)} by the rates of ${ratesAsOf})`;
  return { reason: "RATE_TOO_HIGH", detail: `${asked}${converted} a night, the policy allows ${allowed}.` };
};

/** What a room costs a night, in minor units of a currency; undefined: there is no exchange rate to it. */
export const rateIn = (currency: string, offer: HotelOffer): number | undefined =>
  minorIn(currency, { amountMinor: offer.nightlyRateMinor, currency: offer.currency });

const sellerRefusal = (offer: HotelOffer, policy: Gates): Refusal | undefined => {
  const missing = policy.requiredAmenities.filter((amenity) => !offer.amenities.includes(amenity));
  if (missing.length > 0)
    return {
      reason: "MISSING_AMENITY",
      detail: `Lacks ${missing.join(", ")}; it has ${list(offer.amenities)}.`,
    };
  const chain = offer.chain?.toLowerCase();
  if (chain !== undefined && policy.excludedChains.some((excluded) => excluded.toLowerCase() === chain))
    return { reason: "EXCLUDED_CHAIN", detail: `Belongs to ${offer.chain}, which the policy excludes.` };
  if (!offer.acceptedPayments.some((method) => policy.acceptedPayments.includes(method)))
    return {
      reason: "PAYMENT_NOT_ACCEPTED",
      detail: `Takes ${list(offer.acceptedPayments)}, the policy pays by ${list(policy.acceptedPayments)}.`,
    };
  if (policy.allowProviders !== undefined && !policy.allowProviders.includes(offer.vendor))
    return {
      reason: "PROVIDER_NOT_ALLOWED",
      detail: `Sold by ${offer.vendor}, the policy allows ${list(policy.allowProviders)}.`,
    };
  return undefined;
};

/** Whether the stock can hold at least one of the groups; a refusal names the figure that comes closest. `groups` is not empty. */
export const stockRefusal = (
  offer: HotelOffer,
  stock: Stock,
  groups: readonly GroupNeed[],
): Refusal | undefined => {
  if (groups.some((group) => canHold(group, offer, stock))) return undefined;
  const smallest = Math.min(...groups.map((group) => roomsNeeded(group, offer)));
  if (stock.rooms < smallest || stock.rooms <= 0)
    return {
      reason: "NO_ROOMS",
      detail: `${count(stock.rooms, "room")} left, the smallest group needs ${smallest}.`,
    };
  if (groups.every((group) => accessibleRoomsNeeded(group) > stock.accessible))
    return {
      reason: "NO_ACCESSIBLE_ROOM",
      detail: `${count(stock.accessible, "accessible room")} left, the group needs ${Math.min(...groups.map(accessibleRoomsNeeded))}.`,
    };
  return {
    reason: "NO_ROOMS",
    detail: `${count(stock.rooms, "room")} left, ${stock.accessible} of them accessible: no group fits.`,
  };
};

/**
 * Rooms that the group takes at this hotel: what its demand says, or more where a room holds fewer passengers than
 * that reckoned with. Rooms belong to one group, so strangers never share one.
 */
export const roomsNeeded = (group: GroupNeed, offer: HotelOffer): number =>
  Math.max(1, group.rooms, Math.ceil(group.passengers / Math.max(1, offer.maxOccupancy)));

/**
 * Rooms of the group that must be accessible. A need listed twice is two passengers'; WHEELCHAIR beside
 * REDUCED_MOBILITY may be one passenger's.
 *
 * The other needs gate nothing: a service animal is admitted by law in most places whatever the hotel's pet policy,
 * and cots, visual or hearing aids are asked of the hotel with the booking, for no vendor counts them.
 */
export const accessibleRoomsNeeded = (group: GroupNeed): number => {
  const times = (need: string): number => group.needs.filter((one) => one === need).length;
  return Math.min(Math.max(1, group.rooms), Math.max(times("WHEELCHAIR"), times("REDUCED_MOBILITY")));
};

export const canHold = (group: GroupNeed, offer: HotelOffer, stock: Stock): boolean =>
  roomsNeeded(group, offer) <= stock.rooms && accessibleRoomsNeeded(group) <= stock.accessible;

export const stockOf = (offer: HotelOffer): Stock => ({
  rooms: Math.max(0, offer.roomsLeft),
  accessible: Math.max(0, Math.min(offer.accessibleRooms, offer.roomsLeft)),
});

/** `129.00 USD`, with the decimals that the currency has. */
export const money = (amountMinor: number, currency: string): string =>
  `${decimalFromMinor(amountMinor, currency)} ${currency}`;

/** `1 room`, `2 rooms`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

const list = (words: readonly string[]): string => (words.length === 0 ? "nothing" : words.join(", "));
