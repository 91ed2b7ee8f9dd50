/** Owns what is made of the same rooms offered for two guests and for four, where a vendor is asked by occupancy. */
import type { HotelOffer } from "../../../schemas/hotel.ts";

/** Adults in one room that are asked for: what our groups are split into. */
export const occupanciesAsked = [2, 4] as const;

/**
 * A kind of room that takes four is offered for four, and not for two as well: its rooms would count twice.
 * @param offers whose ids begin with the hotel's and the kind's, parted by a slash
 */
export const largestRooms = (offers: readonly HotelOffer[]): HotelOffer[] => {
  const kindOf = ({ providerOfferId }: HotelOffer): string => providerOfferId.split("/", 2).join("/");
  const largest = new Map<string, number>();
  for (const offer of offers) {
    const kind = kindOf(offer);
    largest.set(kind, Math.max(largest.get(kind) ?? 0, offer.maxOccupancy));
  }
  return offers.filter((offer) => offer.maxOccupancy === largest.get(kindOf(offer)));
};
