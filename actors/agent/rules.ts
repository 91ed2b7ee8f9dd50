/** Owns the embedded planner: proposals by rule, from what is on offer. It reads no text that a passenger, vendor or operator has written. */
import { classify } from "./classify.ts";
import type { Facts, HotelFacts } from "./facts.ts";
import { fullestFirst, mostFirst, type Placement } from "./fit.ts";
import { fieldsOf, type Option, optionsOf } from "./options.ts";
import { type Draft, draftsMax, type Planner } from "./planner.ts";

/** What speaks for a hotel within the policy, and for loosening one limit, where all rooms are found. */
const viabilityOf = { rebook: 0.9, relaxPolicy: 0.7 } as const;
/** For each limit more that would have to be loosened. */
const perFurtherField = 0.15;
/** Between proposals of one kind: the next best is a little less viable. */
const perPlace = 0.02;
const perKind = 4;

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const rulesPlanner: Planner = {
  name: "rules-1",
  plan: (facts) => ({ ...classify(facts), drafts: draftsOf(facts) }),
};

/** One of the options that another planner would rather have, with its words for it. */
export interface Choice {
  option: Option;
  words: string;
  /** Whose it is. */
  planner: string;
}

/**
 * The most viable first.
 * @param options all that could be proposed
 * @param choices of them, the dearest to their planner first: each goes before what is as viable by rule, and before nothing else
 */
export const draftsOf = (
  facts: Facts,
  options = optionsOf(facts),
  choices: readonly Choice[] = [],
): Draft[] =>
  facts.searches
    .flatMap((search) => {
      const here = options.filter((option) => option.search === search);
      const first = choices.filter(({ option }) => option.search === search);
      return [
        ...inPlaces(rebookings(here), first, "rebook"),
        ...inPlaces(relaxations(here), first, "relaxPolicy"),
      ];
    })
    .sort((a, b) => b.viability - a.viability)
    .slice(0, draftsMax);

const inPlaces = (byRule: readonly Option[], choices: readonly Choice[], kind: Option["action"]): Draft[] => {
  const places: (Partial<Choice> & { option: Option })[] = [];
  for (const one of [
    ...choices.filter(({ option }) => option.action === kind),
    ...byRule.map((option) => ({ option })),
  ])
    if (!places.some(({ option }) => isSame(option, one.option))) places.push(one);
  return places.slice(0, perKind).map((one, place) => draftOf(one, place));
};

/** Two relaxations of one value are one proposal, whichever hotel stands for it. */
const isSame = (a: Option, b: Option): boolean =>
  a.action === b.action &&
  (a.action === "rebook" ? a.hotel === b.hotel : JSON.stringify(a.value) === JSON.stringify(b.value));

const draftOf = ({ option, ...chosen }: Partial<Choice> & { option: Option }, place: number): Draft => {
  const { action, hotel, placement, value } = option;
  const said = chosen.words ? ` The model: “${chosen.words}”` : "";
  return {
    action,
    hotelUrn: hotel.hotelUrn,
    groupIds: placement.groupIds,
    ...(value === undefined ? {} : { value }),
    reason: `${why(option)}${said}`,
    viability: Math.max(0, Math.round(1000 * (worthOf(option) - perPlace * place)) / 1000),
    ...(chosen.planner === undefined ? {} : { planner: chosen.planner }),
  };
};

const why = ({ hotel, placement, value }: Option): string =>
  value === undefined
    ? `Within the policy, ${roomsAt(hotel, placement)}.`
    : `${Object.keys(value).join(", ")} keeps out what has rooms: ${roomsAt(hotel, placement)}.`;

/** In the first place of its kind: what speaks for it, times the share of the search's groups that it houses. */
const worthOf = (option: Option): number => {
  const { action, search, placement } = option;
  const base = viabilityOf[action] - perFurtherField * Math.max(0, fieldsOf(option).length - 1);
  return Math.max(0, base) * (placement.groupIds.length / search.groups.length);
};

const roomsAt = ({ distanceKm }: HotelFacts, { offer, groupIds, rooms }: Placement): string =>
  `${distanceKm} km from the airport, ${counted(offer.roomsLeft, "room")} left for ${counted(groupIds.length, "group")} in ${counted(rooms, "room")}`;

const rebookings = (options: readonly Option[]): Option[] =>
  options.filter(({ action }) => action === "rebook").sort((a, b) => fullestFirst(a.placement, b.placement));

/** Of each set of limits the way that needs the least of it; the ways of most worth first, of as much worth those of fewest limits. */
const relaxations = (options: readonly Option[]): Option[] => {
  const best = new Map<string, Option>();
  for (const one of options) {
    if (one.action !== "relaxPolicy") continue;
    const fields = fieldsOf(one).join();
    const known = best.get(fields);
    if (known === undefined || leastFirst(one, known) < 0) best.set(fields, one);
  }
  return [...best.values()].sort(
    (a, b) => worthOf(b) - worthOf(a) || fieldsOf(a).length - fieldsOf(b).length || leastFirst(a, b),
  );
};

/** Of as many groups in as many rooms the one that loosens the distance least, where it does at all, then the cheapest. */
export const leastFirst = (a: Option, b: Option): number =>
  mostFirst(a.placement, b.placement) ||
  (a.value?.maxDistanceKm ?? 0) - (b.value?.maxDistanceKm ?? 0) ||
  a.placement.cost.amountMinor - b.placement.cost.amountMinor;
