/** Owns what a hotel vendor's answer looks like once an adapter has put it into our words. */

export interface Coordinates {
  latitude: number;
  longitude: number;
}

/** One vendor's offer of one kind of room in one hotel, for the stay that was asked for. Money in minor units. */
export interface HotelOffer {
  /** The vendor's instance name, e.g. `stayhub`; `direct` for the airline's own contracts. */
  vendor: string;
  /** What the vendor wants back to hold or book this very offer. */
  providerOfferId: string;
  /** The vendor's own hotel code. */
  providerHotelId: string;
  /** Provider-independent id where the vendor gives one (e.g. a GIATA code). */
  masterHotelId?: string;
  name: string;
  address: string;
  coordinates: Coordinates;
  /** 1–5; absent: unrated. */
  stars?: number;
  chain?: string;
  amenities: string[];
  acceptedPayments: string[];
  nightlyRateMinor: number;
  currency: string;
  /** Rooms of this kind that the vendor has left for every night of the stay. */
  roomsLeft: number;
  /** Passengers in one room. */
  maxOccupancy: number;
  accessibleRooms: number;
  freeCancellationUntil?: string;
}

/** What tells which hotel it is, and what is said of it whatever the night. */
export type HotelFacts = Pick<
  HotelOffer,
  | "vendor"
  | "providerHotelId"
  | "masterHotelId"
  | "name"
  | "address"
  | "coordinates"
  | "stars"
  | "chain"
  | "amenities"
>;

export interface HotelSearch {
  airport: string;
  coordinates: Coordinates;
  /** Kilometres around the airport. */
  radiusKm: number;
  /** Local calendar dates at the airport, `YYYY-MM-DD`; check-out is exclusive. */
  checkIn: string;
  checkOut: string;
  rooms: number;
}

/** What a scatter-gather over all hotel vendors brought inside its time-box. */
export interface HotelSearchResult {
  offers: HotelOffer[];
  /** Vendors that answered too late or with an error, by name. */
  partialFailures: { failedDomain: string; detail: string }[];
}

/** Offers that may have been told up to a minute ago: for people who look around, never for booking. */
export interface RecentOffers extends HotelSearchResult {
  vendors: { vendor: string; offers: number; askedAt: string }[];
}
