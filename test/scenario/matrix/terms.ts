// What the airlines of the matrix have agreed and ordered: contracts with hotels, and policies.
import type { ContractBody } from "../../../schemas/contract.ts";
import type { PolicyBody } from "../../../schemas/policy.ts";

export const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const season = { from: dayFromNow(-2), until: dayFromNow(30) };

export const contractBody = (airport: string, name = `House at ${airport}`): ContractBody => ({
  name,
  hotel: {
    name,
    address: "1 Runway Road",
    // Some hundred metres apart: two hotels, not one under two names.
    coordinates:
      airport === "JFK"
        ? { latitude: 40.64, longitude: -73.78 }
        : { latitude: 33.94, longitude: -118.4 - name.length / 1000 },
    stars: 4,
    amenities: ["24H_RECEPTION"],
  },
  airport,
  validFrom: season.from,
  validUntil: season.until,
  rates: [{ ...season, nightlyRateMinor: 9000 }],
  currency: "USD",
  maxOccupancy: 2,
  accessibleRooms: 2,
  block: { roomsPerNight: 60 },
});

export const policyBody = (name: string, context: PolicyBody["context"], more: Partial<PolicyBody> = {}) => ({
  name,
  context,
  tiers: ["ECONOMY"],
  autoApproveDemand: true,
  maxAutomaticRoomsPerWave: 100,
  ...more,
});

/** A ride to the hotel tomorrow evening. @param n minutes past eight, so that none is like another */
export const rideBody = (reservationUrn: string, n: number) => ({
  reservationUrn,
  direction: "AIRPORT_TO_HOTEL",
  scheduledAt: `${dayFromNow(1)}T20:${String(n).padStart(2, "0")}:00Z`,
  vehicleType: "WHEELCHAIR_VAN",
});
