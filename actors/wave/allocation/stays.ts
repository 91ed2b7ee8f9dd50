/** Owns the allocation of a wave's groups, stay by stay: groups of other dates take other rooms. */
import type { AllocationResult, GroupNeed } from "../../../schemas/allocation.ts";
import type { Coordinates, HotelOffer } from "../../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import { allocate } from "./allocate.ts";
import { assignHere } from "./assign.ts";
import type { Assign, Prove } from "./packing.ts";

/** All that an allocation is made of, as plain data. */
export interface StaysInput {
  stays: readonly { groups: GroupNeed[]; search: { offers: HotelOffer[] } }[];
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  airport: Coordinates;
}

/** A wave is one document with all that it sends: in one of many groups each takes fewer hotels to try along. */
const manyGroups = 500;
const alternativesOfMany = 3;

/** @param prove asked where the search for small problems has proven nothing */
export const allocateStays = (
  { stays, policies, airport }: StaysInput,
  prove?: Prove,
): AllocationResult[] => {
  const isLarge = stays.reduce((sum, { groups }) => sum + groups.length, 0) > manyGroups;
  const share = isLarge ? { alternativesMax: alternativesOfMany } : {};
  return stays.map(({ groups, search }) => {
    let gap: number | undefined = 0;
    const assign: Assign = (problem) => {
      const here = assignHere(problem);
      if (here.proven) return here.assignment;
      const proven = prove?.(problem, here.assignment);
      gap = proven === undefined || gap === undefined ? undefined : gap + proven.gap;
      return proven?.assignment ?? here.assignment;
    };
    const policyOf = (tier: Tier): ResolvedPolicy | undefined => policies[tier];
    const result = allocate({ groups, offers: search.offers, policyOf, airport, ...share }, assign);
    return gap === undefined ? result : { ...result, gap };
  });
};
