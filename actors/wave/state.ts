/** Owns what an allocation wave keeps: every candidate with its scores, who went where, and who could not be placed. */
import type { AllocationResult, Market, RankingInput, Unplaced } from "../../schemas/allocation.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import { evolveOverride, type KeptOverride, type OverrideEvent } from "./override-state.ts";

/** Offers stand once in `offers`; rankings and allocations point to them, or a wave of a large aircraft would not fit a document. */
type Pointing<T extends { offer: HotelOffer }> = Omit<T, "offer"> & { offer: number };

/** Of a direct contract with the market that it is compared with, if there was one. */
export interface KeptAllocation extends Partial<Market> {
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
  /** Set: a drill's or shadow case's. */
  kind?: CaseKind;
  policies: { tier: Tier; policyId: string; version: number }[];
  /** What of them was relaxed for the case, in order. Absent: nothing. */
  relaxed?: RelaxedFields[];
  offers: HotelOffer[];
  rankingInputs: Pointing<RankingInput>[];
  allocations: KeptAllocation[];
  unplaced: Unplaced[];
  totals: AllocationResult["totals"];
  objective: number;
  /** How much lower it could be at most, as far as is proven. Absent: nothing is. */
  gap?: number;
  partialFailures: { failedDomain: string; detail: string }[];
  /** How many stays of other dates its groups have: offers are of one. */
  stays?: number;
  /** Hotels that supervisors have chosen since, in their order. */
  overrides?: KeptOverride[];
  createdAt: Date;
  completedAt: Date;
}

/** A wave is made in one go: what it would need to continue after a crash is asked for again. Only choices by hand come after it. */
export type WaveEvent = { type: "wave.completed"; data: WaveState } | OverrideEvent;

export const evolve = (state: WaveState | undefined, event: WaveEvent): WaveState =>
  event.type === "wave.completed" ? event.data : evolveOverride(state as WaveState, event);

/** An allocation's result as a wave keeps it. @param markets by group, of those that are on a direct contract */
export const keptResult = (
  result: AllocationResult,
  markets: ReadonlyMap<string, Market>,
): Pick<
  WaveState,
  "offers" | "rankingInputs" | "allocations" | "unplaced" | "totals" | "objective" | "gap"
> => {
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
      ...markets.get(kept.groupId),
      offer: pointer(kept.offer),
    })),
    unplaced: result.unplaced,
    totals: result.totals,
    objective: result.objective,
    ...(result.gap === undefined ? {} : { gap: result.gap }),
    offers,
  };
};
