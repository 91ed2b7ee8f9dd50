/** Owns the contract of an airline's own that runs under load have beside their vendors: a cheap block of rooms near JFK. */
import type { ContractBody } from "../../schemas/contract.ts";

const dayMs = 86_400_000;
const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Good enough for every tier, and cheaper than any vendor's hotel: who is placed first gets it. */
export const jfkBlock = (now: Date, roomsPerNight: number): ContractBody => {
  const validFrom = dateOf(now.getTime() - 2 * dayMs);
  const validUntil = dateOf(now.getTime() + 120 * dayMs);
  return {
    name: "Runway House, block",
    hotel: {
      hotelUrn: "urn:hotel:runway-house-jfk",
      name: "Runway House",
      address: "1 Runway Road, New York, US",
      coordinates: { latitude: 40.6413, longitude: -73.7781 },
      stars: 5,
      amenities: ["24H_RECEPTION", "AIRPORT_SHUTTLE", "BREAKFAST", "WIFI"],
    },
    airport: "JFK",
    validFrom,
    validUntil,
    rates: [{ from: validFrom, until: validUntil, nightlyRateMinor: 900 }],
    currency: "USD",
    maxOccupancy: 2,
    accessibleRooms: Math.min(2, roomsPerNight),
    acceptedPayments: ["GUARANTEE", "CARD"],
    block: { roomsPerNight },
  };
};
