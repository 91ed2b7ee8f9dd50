/** Owns what an allocation wave keeps: every candidate with its scores, who went where, and who could not be placed. */
import type { AllocationResult, RankingInput, Unplaced } from "../../schemas/allocation.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import type { Tier } from "../../schemas/vocabulary.ts";

/** Offers stand once in `offers`; rankings and allocations point to them, or a wave of a large aircraft would not fit a document. */
type Pointing<T extends { offer: HotelOffer }> = Omit<T, "offer"> & { offer: number };

export interface KeptAllocation {
  groupId: string;
  subCaseId: string;
  tier: Tier;
  hotelUrn: string;
  offer: number;
  rooms: number;
  nights: number;
  totalMinor: number;
  currency: string;
  reason: string;
}

export interface WaveState {
  caseId: string;
  demandId: string;
  airport: string;
  policies: { tier: Tier; policyId: string; version: number }[];
  offers: HotelOffer[];
  rankingInputs: Pointing<RankingInput>[];
  allocations: KeptAllocation[];
  unplaced: Unplaced[];
  totals: AllocationResult["totals"];
  objective: number;
  partialFailures: { failedDomain: string; detail: string }[];
  createdAt: Date;
  completedAt: Date;
}

/** A wave is made in one go: what it would need to continue after a crash is asked for again. */
export type WaveEvent = { type: "wave.completed"; data: WaveState };

export const evolve = (_state: WaveState | undefined, event: WaveEvent): WaveState => event.data;

/** An allocation's result as a wave keeps it. */
export const keptResult = (
  result: AllocationResult,
): Pick<WaveState, "offers" | "rankingInputs" | "allocations" | "unplaced" | "totals" | "objective"> => {
  const offers: HotelOffer[] = [];
  const indexes = new Map<HotelOffer, number>();
  const pointer = (offer: HotelOffer): number => {
    const known = indexes.get(offer);
    if (known !== undefined) return known;
    indexes.set(offer, offers.length);
    return offers.push(offer) - 1;
  };
  return {
    rankingInputs: result.rankingInputs.map((input) => ({ ...input, offer: pointer(input.offer) })),
    allocations: result.allocations.map(({ alternatives: _, ...kept }) => ({
      ...kept,
      offer: pointer(kept.offer),
    })),
    unplaced: result.unplaced,
    totals: result.totals,
    objective: result.objective,
    offers,
  };
};
