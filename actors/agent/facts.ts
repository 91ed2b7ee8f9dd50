/** Owns what a planner is told of a review item: figures, codes and ids. No passenger, no contact detail; gathering it is `gather.ts`. */
import { isDeepStrictEqual } from "node:util";
import type { ProposalKind } from "../../schemas/agent.ts";
import type { DiscardReason, GroupNeed } from "../../schemas/allocation.ts";
import type { HotelFound, HotelSearchView } from "../../schemas/hotel-search.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { amenities as amenityWords, type ReviewCategory, type Tier } from "../../schemas/vocabulary.ts";
import type { WaveView } from "../../schemas/wave.ts";

/** A hotel without its name and address: texts of others, by which nothing is decided. */
export type HotelFacts = Omit<HotelFound, "name" | "address" | "coordinates">;

/** Groups of one tier and stay, and what there is for them. */
export interface Search {
  tier: Tier;
  checkIn: string;
  nights: number;
  groups: GroupNeed[];
  hotels: HotelFacts[];
  /** Vendors that did not answer. */
  silent: string[];
}

/** A proposal for the item that has been decided on or tried: it is not made again. */
export interface FormerProposal {
  action: ProposalKind;
  hotelUrn?: string;
  value?: RelaxedFields;
}

export interface Facts {
  category: ReviewCategory;
  /** The step or person that raised the item. */
  origin: string;
  airport: string;
  /** Hotels that were tried in vain, with the code that each gave; a reason that is no code is left out. */
  attempted: { hotelUrn: string; code?: string }[];
  affectedGroups: string[];
  /** Of these the ones that still need a room, or another one. Absent: not known, or the item is about no room. */
  left?: string[];
  /** What the newest wave said of the hotels it looked at. Absent: no wave has looked for a room for these groups. */
  wave?: { reasons: { reason: DiscardReason | "SELECTED"; hotels: number }[]; silent: string[] };
  /** With what is relaxed for the case. */
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  searches: Search[];
  former: FormerProposal[];
  /** What an operator has said besides, in their own words. */
  note?: string;
}

/** Items for which another hotel is what is missing. */
export const needsRoom = ({ category, origin }: Pick<ReviewItemView, "category" | "origin">): boolean =>
  category === "ALLOCATION_FAILED" || ["booking", "demand", "amendment", "override"].includes(origin ?? "");

/** Whether this was decided on or tried before. A relaxation is the same one whichever hotel stands for it. */
export const isFormer = (
  { former }: Pick<Facts, "former">,
  one: Pick<FormerProposal, "action" | "hotelUrn" | "value">,
): boolean =>
  former.some(
    ({ action, hotelUrn, value }) =>
      action === one.action &&
      (action === "rebook" ? hotelUrn === one.hotelUrn : isDeepStrictEqual(value, one.value)),
  );

/** Reasons are the vendors' own texts, but for codes. */
const code = /^[A-Z][A-Z0-9_]{1,39}$/;

export const attemptedOf = ({ attemptedHotels }: ReviewItemView): Facts["attempted"] =>
  attemptedHotels.map(({ hotelUrn, reason }) =>
    code.test(reason) ? { hotelUrn, code: reason } : { hotelUrn },
  );

/** Hotels by what was said of them, each hotel once for each reason; the most frequent first. */
export const waveFacts = ({ rankingInputs, partialFailures }: WaveView): NonNullable<Facts["wave"]> => {
  const hotels = new Map<DiscardReason | "SELECTED", Set<string>>();
  for (const { reason, candidate } of rankingInputs)
    hotels.set(reason, (hotels.get(reason) ?? new Set()).add(candidate.hotelUrn));
  const reasons = [...hotels].map(([reason, urns]) => ({ reason, hotels: urns.size }));
  return {
    reasons: reasons.sort((a, b) => b.hotels - a.hotels || (a.reason < b.reason ? -1 : 1)),
    silent: partialFailures.map(({ failedDomain }) => failedDomain),
  };
};

/** Groups of one tier and stay go to one search; those of most rooms first. */
export const searchesFor = (
  groups: readonly GroupNeed[],
): Pick<Search, "tier" | "checkIn" | "nights" | "groups">[] => {
  const searches = new Map<string, GroupNeed[]>();
  for (const group of groups) {
    const key = `${group.tier} ${group.checkIn} ${group.nights}`;
    searches.set(key, [...(searches.get(key) ?? []), group]);
  }
  const roomsOf = (some: readonly GroupNeed[]): number => some.reduce((sum, { rooms }) => sum + rooms, 0);
  return [...searches.values()]
    .sort((a, b) => roomsOf(b) - roomsOf(a))
    .map((some) => {
      const { tier, checkIn, nights } = some[0] as GroupNeed;
      return { tier, checkIn, nights, groups: some };
    });
};

const knownAmenities: ReadonlySet<string> = new Set(amenityWords);

/** A chain or an amenity counts only in words of ours or of the airline's policy. */
export const hotelFacts = (
  { hotels }: HotelSearchView,
  policy: Pick<ResolvedPolicy, "excludedChains"> | undefined,
): HotelFacts[] =>
  hotels.map(({ name: _n, address: _a, coordinates: _c, chain, amenities, ...facts }) => {
    const excluded = policy?.excludedChains.find((one) => one.toLowerCase() === chain?.toLowerCase());
    return {
      ...facts,
      amenities: amenities.filter((one) => knownAmenities.has(one)),
      ...(excluded === undefined ? {} : { chain: excluded }),
    };
  });
