/** Owns the shapes that an allocation takes in and gives out, as a wave keeps and shows them. */
import type { HotelOffer } from "./hotel.ts";
import type { Tier } from "./vocabulary.ts";

/** A group that needs rooms. It never splits across hotels. */
export interface GroupNeed {
  groupId: string;
  /** How often the group was changed; an assignment for another shape than it has is nothing. */
  shape?: number;
  subCaseId: string;
  tier: Tier;
  passengers: number;
  rooms: number;
  nights: number;
  /** Local dates at the airport, `YYYY-MM-DD`. */
  checkIn: string;
  checkOut: string;
  needs: string[];
  /** It goes first within its tier pass. */
  priority?: true;
}

/** A policy's gates: a candidate that one of them refuses might be taken under another policy. */
export const policyGates = [
  "BELOW_MIN_STARS",
  "UNRATED",
  "TOO_FAR",
  "RATE_TOO_HIGH",
  "CURRENCY_MISMATCH",
  "MISSING_AMENITY",
  "EXCLUDED_CHAIN",
  "PAYMENT_NOT_ACCEPTED",
  "PROVIDER_NOT_ALLOWED",
] as const;

/** Why a candidate was left out; the first gate that refuses it names it. */
export const discardReasons = [
  ...policyGates,
  "NO_ROOMS",
  "NO_ACCESSIBLE_ROOM",
  "DUPLICATE_DEARER",
  "NOT_CHOSEN",
] as const;
export type DiscardReason = (typeof discardReasons)[number];

/** One candidate hotel in one tier pass, with why it was taken or left (contract, "Allocation wave"). */
export interface RankingInput {
  pass: string;
  hotelUrn: string;
  offer: HotelOffer;
  distanceKm: number;
  /** 0–1, higher is better; absent for a candidate that a gate refused. */
  scores?: { cost: number; distance: number; consolidation: number };
  finalScore?: number;
  outcome: "SELECTED" | "DISCARDED";
  reason: DiscardReason | "SELECTED";
  /** A sentence a duty manager understands, with both figures (`3 stars, the policy asks for 4`). */
  detail: string;
}

/** Where one group goes, and what to try next when the hotel refuses: best first. */
export interface Allocation {
  groupId: string;
  subCaseId: string;
  tier: Tier;
  hotelUrn: string;
  offer: HotelOffer;
  rooms: number;
  nights: number;
  totalMinor: number;
  currency: string;
  reason: string;
  alternatives: { hotelUrn: string; offer: HotelOffer }[];
}

/** SAME_HOTEL: the cheapest vendor's offer of this hotel. SAME_STARS: the median of the vendors' hotels with as many stars. */
export const marketBases = ["SAME_HOTEL", "SAME_STARS"] as const;
export type MarketBasis = (typeof marketBases)[number];

/** What the market asked in the same wave for what a contract gave. */
export interface Market {
  /** The same rooms and nights, in the allocation's currency. */
  marketTotalMinor: number;
  marketBasis: MarketBasis;
}

export interface Unplaced {
  groupId: string;
  subCaseId: string;
  rooms: number;
  reason: string;
}

export interface AllocationResult {
  allocations: Allocation[];
  unplaced: Unplaced[];
  rankingInputs: RankingInput[];
  /** Per currency, minor units. */
  totals: { currency: string; amountMinor: number }[];
  /** Weighted objective over all passes, lower is better; comparable between runs on the same input. */
  objective: number;
  /**
   * How much lower the objective could be at most, as far as is proven: 0 for the best there is. Absent: nothing is proven.
   * Tier passes are proven one by one, each over what the one before has left.
   */
  gap?: number;
}
