/** Owns what a wave gives a group: its stay, the hotels to try, and the terms its saga works by. */
import type { Coordinates, HotelOffer } from "./hotel.ts";
import type { VendorChoice } from "./vendor-call.ts";
import type { Money, PaymentMethod, Tier, VehicleType } from "./vocabulary.ts";

export interface Stay {
  /** Local dates at the airport, `YYYY-MM-DD`; check-out is exclusive. */
  checkIn: string;
  checkOut: string;
  nights: number;
}

/** One hotel to try. `rooms` may differ between hotels: their rooms hold more or fewer. */
export interface HotelCandidate {
  hotelUrn: string;
  /** Where a hotel was named by hand nobody may know its place. */
  offer: Omit<HotelOffer, "coordinates"> & { coordinates?: Coordinates };
  rooms: number;
  /** What the policy lets a room cost a night; absent: no limit. */
  nightlyMax?: Money;
  /** Straight line from the airport; absent where the place is not known. */
  distanceKm?: number;
  /** Of a direct contract as the wave chose it first: what the market asked there and then for a room and night. */
  marketNightlyMinor?: number;
  /** How this hotel is paid: against the airline's guarantee, or with a card issued for the stay. */
  payment: PaymentMethod;
}

/** What a saga needs to know beside the hotel; a copy, so a policy changed later doesn't change a night under way. */
export interface SagaTerms {
  airport: { code: string; name: string; coordinates: Coordinates };
  airlineName: string;
  /** Where passengers of the airline look at their offer; empty: not known. */
  passengerHost: string;
  vehicleType: VehicleType;
  /** Of every way that the group is driven. */
  rides: {
    /** Before the departure of the next flight, from the hotel. */
    minutesBeforePickup: number;
    /** The most passengers in one vehicle: what the policy allows, and no more than the vendor's vehicles take. */
    seats: Record<VehicleType, number>;
    /** Whether passengers may ask for a ride themselves. */
    onDemand: boolean;
  };
  /** Card balance for the whole group and stay, minor units; 0: no card. */
  incidentalsMinor: number;
  currency: string;
  vendors: VendorChoice;
}

/** What `wave.terms` works out terms from: a group that is to have a room which no wave has found. */
export interface TermsAsked {
  airport: string;
  tier: Tier;
  passengers: number;
  nights: number;
  needs: string[];
  /** Of the room's price, and of the card. */
  currency: string;
  /** Of a drill's or shadow case's group. */
  drill: boolean;
}

/** The data of `sub-case.assign`. */
export interface Assignment {
  waveId: string;
  /** The group's as the wave knew it; absent: whatever it is. */
  shape?: number;
  stay: Stay;
  /** Best first; never empty. */
  candidates: HotelCandidate[];
  terms: SagaTerms;
  /** False: the group waits for book-rooms. */
  book: boolean;
}
