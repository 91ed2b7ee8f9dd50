/** Owns which of a hotel vendor's offers are believed, and how many: what a wrong or hostile answer says must not decide a night. */
import { isCurrency } from "../../schemas/currency.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelOffer, HotelSearch } from "../../schemas/hotel.ts";

/** Of one vendor in one search: every offer is ranked in each tier pass and kept with the wave. */
export const offersMax = 500;
/** Characters of all that an offer says in a vendor's own words: a wave hands every group its hotels. */
const wordsMax = 1000;
/** No room costs more in any currency; times all rooms and nights of a flight it is still a whole number. */
const nightlyRateMinorMax = 10_000_000_000;
const roomsMax = 10_000;

/**
 * Left out: rates below zero or beyond belief, currencies that don't exist, hotels outside the radius asked for (or nowhere on
 * earth), offers of very many words, and one that is told twice, whose rooms would count twice. Of more than {@link offersMax}
 * those stay that are their hotel's cheapest, the nearest hotels', before its second cheapest, and so on; else they stand in the
 * vendor's order.
 */
export const soundOffers = (offers: readonly HotelOffer[], search: HotelSearch): HotelOffer[] => {
  const told = new Map<string, Told>();
  for (const offer of offers) {
    const distanceKm = distanceKmBetween(search.coordinates, offer.coordinates);
    const key = `${offer.providerHotelId}\n${offer.providerOfferId}`;
    // A place that is none has no distance, and NaN is within nothing.
    if (!(distanceKm <= search.radiusKm) || !hasPrice(offer) || wordsOf(offer) > wordsMax || told.has(key))
      continue;
    told.set(key, { offer: withPossibleRooms(offer), distanceKm });
  }
  const sound = [...told.values()];
  return (sound.length > offersMax ? hotelByHotel(sound) : sound)
    .slice(0, offersMax)
    .map(({ offer }) => offer);
};

interface Told {
  offer: HotelOffer;
  distanceKm: number;
}

const hotelByHotel = (told: Told[]): Told[] => {
  const cheapestFirst = [...told].sort((a, b) => a.offer.nightlyRateMinor - b.offer.nightlyRateMinor);
  const seen = new Map<string, number>();
  const ranked = cheapestFirst.map((one) => {
    const rank = seen.get(one.offer.providerHotelId) ?? 0;
    seen.set(one.offer.providerHotelId, rank + 1);
    return { one, rank };
  });
  // Of hotels as near as each other the cheapest, for the sort keeps the order.
  return ranked.sort((a, b) => a.rank - b.rank || a.one.distanceKm - b.one.distanceKm).map(({ one }) => one);
};

const wordsOf = ({ providerOfferId, providerHotelId, masterHotelId, name, address, chain }: HotelOffer) =>
  [providerOfferId, providerHotelId, masterHotelId, name, address, chain].reduce(
    (sum, words) => sum + (words?.length ?? 0),
    0,
  );

const hasPrice = ({ nightlyRateMinor, currency }: HotelOffer): boolean =>
  nightlyRateMinor >= 0 && nightlyRateMinor <= nightlyRateMinorMax && isCurrency(currency);

const withPossibleRooms = (offer: HotelOffer): HotelOffer => {
  if (offer.roomsLeft <= roomsMax && offer.accessibleRooms <= roomsMax) return offer;
  const { roomsLeft, accessibleRooms } = offer;
  return {
    ...offer,
    roomsLeft: Math.min(roomsLeft, roomsMax),
    accessibleRooms: Math.min(accessibleRooms, roomsMax),
  };
};
