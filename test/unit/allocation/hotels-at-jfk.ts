// Hotels around JFK for the tables of allocation, and a wave under one policy for everybody.
import { allocate } from "../../../actors/wave/allocation/allocate.ts";
import type { GroupNeed } from "../../../schemas/allocation.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { policy } from "../../harness/policies.ts";

export const airport = { latitude: 40.6413, longitude: -73.7781 };
/** A degree of latitude is 111.195 km on the mean sphere. */
export const north = (km: number) => ({
  latitude: airport.latitude + km / 111.195,
  longitude: airport.longitude,
});

export const offer = (over: Partial<HotelOffer> & { providerHotelId: string }): HotelOffer => ({
  vendor: "stayhub",
  providerOfferId: `offer-${over.vendor ?? "stayhub"}-${over.providerHotelId}`,
  name: `Hotel ${over.providerHotelId}`,
  address: `${over.providerHotelId} Road`,
  coordinates: north(3),
  amenities: [],
  acceptedPayments: ["GUARANTEE"],
  nightlyRateMinor: 10_000,
  currency: "USD",
  roomsLeft: 10,
  maxOccupancy: 2,
  accessibleRooms: 0,
  ...over,
});

export const run = (groups: GroupNeed[], offers: HotelOffer[], over: Partial<ResolvedPolicy> = {}) =>
  allocate({ groups, offers, policyOf: () => policy(over), airport });
