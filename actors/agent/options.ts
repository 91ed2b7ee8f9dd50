/** Owns what could be proposed at all: every hotel found that would take some of the groups, within the policy or past it. Which are, and in what order, is `rules.ts`. */
import type { ProposalKind } from "../../schemas/agent.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import { untried } from "./classify.ts";
import { type Facts, type HotelFacts, isFormer, type Search } from "./facts.ts";
import { type Placement, placementAt, relaxationsAt } from "./fit.ts";

export interface Option {
  action: ProposalKind;
  search: Search;
  hotel: HotelFacts;
  placement: Placement;
  /** Of a relaxation, alone: the least that lets the hotel in. */
  value?: RelaxedFields;
}

/** A hotel that has refused is none, nor what was decided on or tried before. @returns in no order that means anything */
export const optionsOf = (facts: Facts): Option[] =>
  facts.searches
    .flatMap((search) => untried(facts, search.hotels).flatMap((hotel) => optionsAt(facts, search, hotel)))
    .filter(({ action, hotel: { hotelUrn }, value }) => {
      const one = { action, hotelUrn, ...(value === undefined ? {} : { value }) };
      return !isFormer(facts, one);
    });

const optionsAt = ({ policies }: Facts, search: Search, hotel: HotelFacts): Option[] => {
  const policy = policies[search.tier];
  if (policy === undefined) return [];
  const within = placementAt(hotel, search.groups, policy);
  const past = relaxationsAt(hotel, search.groups, policy);
  return [
    ...(within === undefined ? [] : [{ action: "rebook" as const, search, hotel, placement: within }]),
    ...past.map((one) => ({ action: "relaxPolicy" as const, search, hotel, ...one })),
  ];
};

/** Of the policy, that it would loosen, sorted. Empty: none. */
export const fieldsOf = ({ value = {} }: Pick<Option, "value">): (keyof RelaxedFields)[] =>
  (Object.keys(value) as (keyof RelaxedFields)[]).sort();
