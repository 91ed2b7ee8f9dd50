/** Owns what an airline's own contracts have saved: each room of a contract against what the market asked in the same wave. */
import type { Allocation, Market, MarketBasis, RankingInput } from "../../schemas/allocation.ts";
import { directVendor } from "../../schemas/contract.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";

/**
 * The market of each allocation on a contract, by group; no entry: nothing was offered that compares. Offers that a policy refused
 * count too, for they were on the market; those without a room left, or in another currency, don't.
 * @param candidates every candidate of the allocation's own stay: rates of other nights compare with nothing
 */
export const marketOf = (
  allocations: readonly Allocation[],
  candidates: readonly Pick<RankingInput, "hotelUrn" | "offer">[],
): Map<string, Market> => {
  const vendors = [...new Map(candidates.map((one) => [one.offer, one])).values()].filter(
    ({ offer }) => offer.vendor !== directVendor && offer.roomsLeft > 0,
  );
  const markets = new Map<string, Market>();
  for (const allocation of allocations) {
    if (allocation.offer.vendor !== directVendor) continue;
    const comparable = vendors.filter(({ offer }) => offer.currency === allocation.currency);
    const market = sameHotel(allocation, comparable) ?? sameStars(allocation, comparable);
    if (market === undefined) continue;
    const { rateMinor, marketBasis } = market;
    const marketTotalMinor = rateMinor * allocation.rooms * allocation.nights;
    markets.set(allocation.groupId, { marketTotalMinor, marketBasis });
  }
  return markets;
};

interface Rate {
  /** A room and night. */
  rateMinor: number;
  marketBasis: MarketBasis;
}

type Compared = { hotelUrn: string; offer: HotelOffer };

const sameHotel = ({ hotelUrn }: Allocation, vendors: readonly Compared[]): Rate | undefined => {
  const rates = vendors.filter((one) => one.hotelUrn === hotelUrn).map(({ offer }) => offer.nightlyRateMinor);
  return rates.length === 0 ? undefined : { rateMinor: Math.min(...rates), marketBasis: "SAME_HOTEL" };
};

/** Each hotel by its cheapest offer; of an even number the lower one of the two in the middle, so that nothing is overstated. */
const sameStars = ({ offer: { stars } }: Allocation, vendors: readonly Compared[]): Rate | undefined => {
  if (stars === undefined) return undefined;
  const cheapest = new Map<string, number>();
  for (const { hotelUrn, offer } of vendors.filter((one) => one.offer.stars === stars))
    cheapest.set(
      hotelUrn,
      Math.min(cheapest.get(hotelUrn) ?? Number.POSITIVE_INFINITY, offer.nightlyRateMinor),
    );
  const rates = [...cheapest.values()].sort((a, b) => a - b);
  const median = rates[Math.floor((rates.length - 1) / 2)];
  return median === undefined ? undefined : { rateMinor: median, marketBasis: "SAME_STARS" };
};

/** Per currency, minor units; below zero where contracts were dearer. Empty: no allocation has a market to compare with. */
export const savingsOf = (
  allocations: readonly ({ totalMinor: number; currency: string } & Partial<Market>)[],
): { currency: string; amountMinor: number }[] => {
  const saved = new Map<string, number>();
  for (const { marketTotalMinor, totalMinor, currency } of allocations)
    if (marketTotalMinor !== undefined)
      saved.set(currency, (saved.get(currency) ?? 0) + marketTotalMinor - totalMinor);
  return [...saved].map(([currency, amountMinor]) => ({ currency, amountMinor }));
};
