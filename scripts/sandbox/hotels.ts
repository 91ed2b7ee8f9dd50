/** Owns the hotels that exist around an airport and what each vendor sells of them: a pure function of seed and airport. */
import { type Airport, airport as airportOf } from "../../schemas/airports.ts";
import { currencyOfCountry, minorUnitDigits } from "../../schemas/currency.ts";
import type { Coordinates } from "../../schemas/hotel.ts";
import { type Amenity, amenities, type PaymentMethod } from "../../schemas/vocabulary.ts";
import { chains, independentNames, localAmount, streetsIn } from "./hotel-names.ts";
import { type Draw, drawFor } from "./seeded.ts";

/** A kind of room as one vendor sells it. */
export interface RoomKind {
  /** The vendor's id of hotel and kind in one, unique over all airports. */
  rateKey: string;
  code: string;
  name: string;
  maxOccupancy: number;
  nightlyRateMinor: number;
  currency: string;
  /** Most rooms in any night. */
  capacity: number;
  accessible: number;
  /** False: cancelling costs the first night from the start. */
  freeCancellation: boolean;
}

/** A hotel as one vendor lists it. */
export interface Listing {
  hotelCode: string;
  masterHotelId: string | undefined;
  name: string;
  street: string;
  city: string;
  country: string;
  coordinates: Coordinates;
  stars: number | undefined;
  chain: string | undefined;
  amenities: Amenity[];
  payments: PaymentMethod[];
  rooms: RoomKind[];
}

/** How the two listings of a hotel that both vendors sell can be told to be one (contract, "Allocation wave"). */
type Sameness = "master-id" | "coordinates" | "name-and-address";
const samenesses: readonly Sameness[] = ["master-id", "coordinates", "name-and-address"];

interface Hotel extends Omit<Listing, "hotelCode" | "rooms"> {
  index: number;
  soldBy: readonly string[];
  sameness: Sameness | undefined;
  nightlyDollars: number;
  capacity: number;
}

export const hotelVendors = ["stayhub", "roomlink"] as const;

/** They sell part of the same hotels; what the first two sell is the same with them and without. */
const laterVendors: readonly string[] = ["hotelbeds", "rapid"];

const sells = (seed: string, vendor: string, airport: string, { index, soldBy }: Hotel): boolean =>
  laterVendors.includes(vendor)
    ? drawFor(seed, "sells", vendor, airport, index).chance(index < 3 ? 1 : 0.6)
    : soldBy.includes(vendor);

const earthRadiusKm = 6371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle distance in kilometres. */
export const distanceKm = (one: Coordinates, other: Coordinates): number => {
  const half = (a: number, b: number): number => Math.sin(radians(b - a) / 2) ** 2;
  const chord =
    half(one.latitude, other.latitude) +
    Math.cos(radians(one.latitude)) *
      Math.cos(radians(other.latitude)) *
      half(one.longitude, other.longitude);
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(chord));
};

/** The place `km` away in the direction `bearing` (radians from north); good to a metre or so at these distances. */
const moved = (from: Coordinates, km: number, bearing: number): Coordinates => {
  const turn = km / earthRadiusKm;
  const latitude = radians(from.latitude);
  const target = Math.asin(
    Math.sin(latitude) * Math.cos(turn) + Math.cos(latitude) * Math.sin(turn) * Math.cos(bearing),
  );
  const east = Math.atan2(
    Math.sin(bearing) * Math.sin(turn) * Math.cos(latitude),
    Math.cos(turn) - Math.sin(latitude) * Math.sin(target),
  );
  const longitude = from.longitude + (east * 180) / Math.PI;
  return {
    latitude: Number(((target * 180) / Math.PI).toFixed(6)),
    longitude: Number((((longitude + 540) % 360) - 180).toFixed(6)),
  };
};

/** Far enough from every other hotel that only the overlaps made on purpose look like one hotel. */
const freePlace = (draw: Draw, around: Airport, taken: Coordinates[]): Coordinates => {
  const far = draw.chance(0.2);
  for (;;) {
    const km = far ? 15 + draw.unit() * 44 : 0.6 + draw.unit() ** 2 * 14;
    const place = moved(around, km, draw.unit() * 2 * Math.PI);
    if (taken.every((other) => distanceKm(place, other) > 0.6)) return place;
  }
};

/** From and to, in dollars a night; unrated first. */
const nightlyDollarsByStars: readonly (readonly [number, number])[] = [
  [48, 80],
  [38, 58],
  [55, 85],
  [82, 130],
  [120, 190],
  [210, 390],
];

const drawAmenities = (draw: Draw, stars: number): Amenity[] =>
  amenities.filter((amenity) => {
    if (amenity === "WIFI") return draw.chance(0.97);
    if (amenity === "24H_RECEPTION") return draw.chance(stars >= 3 ? 0.95 : 0.6);
    if (amenity === "ACCESSIBLE_ROOMS") return draw.chance(stars >= 3 ? 0.8 : 0.45);
    return draw.chance(0.25 + stars * 0.12);
  });

/** The first three are sold by both vendors, one for each way of telling so. */
const drawSellers = (draw: Draw, index: number): Pick<Hotel, "soldBy" | "sameness"> => {
  const forced = samenesses[index];
  if (forced !== undefined) return { soldBy: hotelVendors, sameness: forced };
  if (draw.chance(0.3)) return { soldBy: hotelVendors, sameness: draw.pick(samenesses) };
  return { soldBy: [draw.pick(hotelVendors)], sameness: undefined };
};

const drawHotel = (
  draw: Draw,
  around: Airport,
  index: number,
  taken: Coordinates[],
  usedNames: Set<string>,
): Hotel => {
  const chain = draw.chance(0.5) ? draw.pick(chains) : undefined;
  const stars = chain?.stars ?? (draw.chance(0.2) ? undefined : draw.between(1, 5));
  const coordinates = freePlace(draw, around, taken);
  const place = distanceKm(around, coordinates) < 5 ? `${around.city} Airport` : around.city;
  const plain = chain === undefined ? draw.pick(independentNames) : `${chain.name} ${place}`;
  let name = plain;
  for (let number = 2; usedNames.has(name); number += 1) name = `${plain} ${number}`;
  const [low, high] = nightlyDollarsByStars[stars ?? 0]!;
  const sellers = drawSellers(draw, index);
  const hasMasterId = sellers.sameness === undefined ? draw.chance(0.6) : sellers.sameness === "master-id";
  return {
    ...sellers,
    index,
    name,
    coordinates,
    stars,
    chain: chain?.id,
    city: around.city,
    country: around.country,
    street: `${draw.between(1, 240)} ${draw.pick(streetsIn(around.country))}`,
    masterHotelId: hasMasterId ? `GIATA-${draw.between(100_000, 999_999)}` : undefined,
    amenities: drawAmenities(draw, stars ?? 1),
    payments: draw.chance(0.85) ? ["GUARANTEE", "CARD"] : [draw.pick(["GUARANTEE", "CARD"] as const)],
    nightlyDollars: low + draw.unit() * (high - low),
    capacity: draw.between(10, 48),
  };
};

const hotelsAround = (seed: string, around: Airport): Hotel[] => {
  const count = drawFor(seed, around.code, "count").between(10, 25);
  const hotels: Hotel[] = [];
  for (let index = 0; index < count; index += 1) {
    const draw = drawFor(seed, around.code, "hotel", index);
    const taken = hotels.map((hotel) => hotel.coordinates);
    hotels.push(drawHotel(draw, around, index, taken, new Set(hotels.map((hotel) => hotel.name))));
  }
  return hotels;
};

/** Whole units where the currency has cents, hundreds where it has none: as hotels print their rates. */
const rateMinor = (dollars: number, currency: string): number => {
  const amount = localAmount(dollars, currency);
  const digits = minorUnitDigits(currency);
  const step = amount > 2000 ? 100 : 1;
  return Math.max(1, Math.round(amount / step)) * step * 10 ** digits;
};

const roomKindsOf = (draw: Draw, hotel: Hotel, hotelCode: string, factor: number): RoomKind[] => {
  const currency = currencyOfCountry(hotel.country) ?? "USD";
  const accessible = hotel.amenities.includes("ACCESSIBLE_ROOMS") ? draw.between(1, 4) : 0;
  const standard: RoomKind = {
    rateKey: `${hotelCode}.STD`,
    code: "STD",
    name: "Standard double",
    maxOccupancy: 2,
    nightlyRateMinor: rateMinor(hotel.nightlyDollars * factor, currency),
    currency,
    capacity: hotel.capacity,
    accessible,
    freeCancellation: draw.chance(0.75),
  };
  if (!hotel.amenities.includes("FAMILY_ROOMS")) return [standard];
  const family: RoomKind = {
    ...standard,
    rateKey: `${hotelCode}.FAM`,
    code: "FAM",
    name: "Family room",
    maxOccupancy: 4,
    nightlyRateMinor: rateMinor(hotel.nightlyDollars * factor * 1.45, currency),
    capacity: draw.between(2, 8),
    accessible: 0,
  };
  return [standard, family];
};

/** The second vendor's listing differs as its sameness allows: another spelling, or another pin on the map. */
const restyled = (draw: Draw, hotel: Hotel): Pick<Listing, "name" | "street" | "coordinates"> => {
  const bearing = draw.unit() * 2 * Math.PI;
  const { name, street, coordinates } = hotel;
  if (hotel.sameness === "name-and-address") {
    return { name, street, coordinates: moved(coordinates, 0.15 + draw.unit() * 0.1, bearing) };
  }
  if (hotel.sameness === undefined) return { name, street, coordinates };
  return {
    name: `${name.replace(/^(Hotel|The) (.*)$/, "$2 $1")} (${hotel.city})`,
    street: street.replace(/^(\d+) (.*)$/, "$2, No. $1"),
    coordinates: moved(coordinates, 0.02 + draw.unit() * 0.05, bearing),
  };
};

/** What this vendor sells around the airport; empty for an airport that doesn't exist. */
export const listingsOf = (seed: string, vendor: string, airportCode: string): Listing[] => {
  const around = airportOf(airportCode);
  if (around === undefined) return [];
  return hotelsAround(seed, around)
    .filter((hotel) => sells(seed, vendor, airportCode, hotel))
    .map((hotel) => {
      const draw = drawFor(seed, vendor, airportCode, hotel.index);
      const hotelCode = `${airportCode}${String(hotel.index + 1).padStart(3, "0")}`;
      // The second vendor is always a few per cent off, dearer or cheaper, so that a dearest and a cheapest exist.
      const factor = vendor === hotelVendors[0] ? 1 : draw.chance(0.5) ? 0.9 : 1.09;
      const rooms = roomKindsOf(draw, hotel, hotelCode, factor);
      const { masterHotelId, city, country, stars, chain, amenities: offered, payments } = hotel;
      const { name, street, coordinates } = vendor === hotelVendors[0] ? hotel : restyled(draw, hotel);
      return {
        hotelCode,
        masterHotelId,
        name,
        street,
        city,
        country,
        coordinates,
        stars,
        chain,
        amenities: offered,
        payments,
        rooms,
      };
    });
};

/** Rooms of this kind that other guests of the night leave to us. */
export const roomsInNight = (seed: string, vendor: string, room: RoomKind, night: string): number => {
  const others = drawFor(seed, vendor, room.rateKey, night).between(0, Math.floor(room.capacity * 0.4));
  return room.capacity - others;
};

/** Our hotel codes in figures, for vendors whose codes are numbers: both ways. */
export const numberOfCode = (hotelCode: string): number =>
  [...hotelCode.slice(0, 3)].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 65, 0) * 1000 +
  Number(hotelCode.slice(3));
export const codeOfNumber = (number: number): string => {
  const place = Math.floor(number / 1000);
  const letters = [Math.floor(place / 676) % 26, Math.floor(place / 26) % 26, place % 26];
  return `${String.fromCharCode(...letters.map((letter) => letter + 65))}${String(number % 1000).padStart(3, "0")}`;
};

/** The airport inside a hotel code or rate key of ours. */
export const airportOfCode = (code: string): string => code.slice(0, 3);
