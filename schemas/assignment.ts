/** Owns what a wave gives a group: its stay, the hotels to try, and the terms its saga works by. */
import type { Coordinates, HotelOffer } from "./hotel.ts";
import type { VendorChoice } from "./vendor-call.ts";
import type { PaymentMethod, VehicleType } from "./vocabulary.ts";

export interface Stay {
  /** Local dates at the airport, `YYYY-MM-DD`; check-out is exclusive. */
  checkIn: string;
  checkOut: string;
  nights: number;
}

/** One hotel to try. `rooms` may differ between hotels: their rooms hold more or fewer. */
export interface HotelCandidate {
  hotelUrn: string;
  offer: HotelOffer;
  rooms: number;
  /** Straight line from the airport. */
  distanceKm: number;
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
  /** Card balance for the whole group and stay, minor units; 0: no card. */
  incidentalsMinor: number;
  currency: string;
  vendors: VendorChoice;
}

/** The data of `sub-case.assign`. */
export interface Assignment {
  waveId: string;
  stay: Stay;
  /** Best first; never empty. */
  candidates: HotelCandidate[];
  terms: SagaTerms;
  /** False: the group waits for book-rooms. */
  book: boolean;
}
