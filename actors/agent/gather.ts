/** Owns reading what a planner is told: the item, its groups' needs, the newest wave, and what the hotels offer now. Reads only. */

import type { TriageBody } from "../../schemas/agent.ts";
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { CaseListItem } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { HotelSearchView } from "../../schemas/hotel-search.ts";
import { pageLimitMax } from "../../schemas/page.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf } from "../../schemas/urn.ts";
import { priorities } from "../../schemas/vocabulary.ts";
import type { WaveView } from "../../schemas/wave.ts";
import type { AdmittedProposal } from "./admit.ts";
import {
  attemptedOf,
  type Facts,
  type FormerProposal,
  hotelFacts,
  needsRoom,
  type Search,
  searchesFor,
  waveFacts,
} from "./facts.ts";
import { isHopeless, type Read } from "./reads.ts";
import type { TimeBox } from "./time-box.ts";

/** Different stays and tiers of one item that are looked into, those of most rooms first. */
const searchesMax = 3;
const hotelsMax = 200;
/** As far as a search looks by itself. */
const radiusKmDefault = 50;
const roomsMax = 1000;
/** Each group of a hotel's choice is rehearsed with reads of its own: of a large aircraft's some stand for all. */
const rehearsedMax = 5;

/** The item that is meant. */
export interface Subject {
  item: ReviewItemView;
  airport: string;
  /** The case's other items on the desks. Absent: the item was named itself. */
  others?: string[];
}

/** @throws Problem validation/body, not-found/resource, auth/foreign-airport; conflict/state where there is nothing to triage */
export const subjectOf = async (read: Read, asked: TriageBody): Promise<Subject> => {
  const { reviewUrn, caseUrn } = asked;
  if (reviewUrn === undefined && caseUrn === undefined)
    throw wrong("/reviewUrn", "is required, or `caseUrn`");
  if (reviewUrn === undefined) return mostPressing(read, caseUrn as string);
  const item = await read<ReviewItemView>("review.item", { reviewUrn });
  if (caseUrn !== undefined && idOf(caseUrn) !== idOf(item.caseUrn))
    throw wrong("/caseUrn", "is not the case of this item");
  if (item.state === "RESOLVED")
    throw new Problem("conflict/state", `This item was resolved as ${item.resolution}.`, {
      state: item.state,
    });
  const { airport } = await read<CaseListItem>("case.head", { caseUrn: item.caseUrn });
  return { item, airport };
};

const wrong = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors`.", { errors: [{ pointer, detail }] });

const mostPressing = async (read: Read, caseUrn: string): Promise<Subject> => {
  const { airport } = await read<CaseListItem>("case.head", { caseUrn });
  const onDesk = await Promise.all(["OPEN", "CLAIMED"].map((state) => itemsIn(read, caseUrn, state)));
  const [item, ...others] = onDesk.flat().sort(mostPressingFirst);
  if (item === undefined)
    throw new Problem("conflict/state", "Nothing of this case lies on the review desk.", {
      state: "NO_OPEN_ITEM",
    });
  return { item, airport, others: others.map(({ urn }) => urn) };
};

/** All of them: the most pressing one may be the oldest. */
const itemsIn = async (read: Read, caseUrn: string, state: string): Promise<ReviewItemView[]> => {
  const all: ReviewItemView[] = [];
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const asked = { caseUrn, state, limit: pageLimitMax, ...from };
    const { items, nextCursor }: Page<ReviewItemView> = await read("review.list", asked);
    all.push(...items);
    cursor = nextCursor;
  } while (cursor !== null);
  return all;
};

const mostPressingFirst = (a: ReviewItemView, b: ReviewItemView): number =>
  priorities.indexOf(a.priority) - priorities.indexOf(b.priority) ||
  Date.parse(a.dueAt ?? a.createdAt) - Date.parse(b.dueAt ?? b.createdAt) ||
  (a.urn < b.urn ? -1 : 1);

/** What the case tells of groups that need rooms. */
interface Needs {
  policies: Facts["policies"];
  groups: GroupNeed[];
}

/** What cannot be read in time is left out, and named by the box. */
export const gatherFacts = async (
  read: Read,
  box: TimeBox,
  { item, airport }: Subject,
  { former, note }: { former: FormerProposal[]; note: string | undefined },
): Promise<Facts> => {
  const { category, origin = "", affectedGroups, caseUrn } = item;
  const facts: Facts = {
    category,
    origin,
    airport,
    attempted: attemptedOf(item),
    affectedGroups,
    policies: {},
    searches: [],
    former,
    ...(note === undefined ? {} : { note }),
  };
  if (!needsRoom(item) || affectedGroups.length === 0) return facts;
  const caseId = idOf(caseUrn);
  const [housed, wave] = await Promise.all([housedOf(read, box, item), newestWave(read, box, item)]);
  if (housed === undefined) return facts;
  const left = affectedGroups.filter((groupId) => !housed.includes(groupId));
  if (wave?.demandUrn === undefined || left.length === 0) return { ...facts, left };
  const demandId = idOf(wave.demandUrn);
  const needs = await box.part("case", () =>
    read<Needs>("case.allocation-input", { caseId, demandId, groupIds: left }),
  );
  const known = { ...facts, left, wave: waveFacts(wave) };
  if (needs === undefined) return known;
  const searches = await Promise.all(
    searchesFor(needs.groups)
      .slice(0, searchesMax)
      .map((search) => searched(read, box, search, { caseUrn, policy: needs.policies[search.tier] })),
  );
  return { ...known, policies: needs.policies, searches: searches.flatMap((search) => search ?? []) };
};

/** An item about another hotel is of groups that have a room. */
const housedOf = async (read: Read, box: TimeBox, item: ReviewItemView): Promise<string[] | undefined> => {
  if (item.origin === "amendment" || item.origin === "override") return [];
  const asked = { caseId: idOf(item.caseUrn), groupIds: item.affectedGroups };
  return box.part("case", () => read<string[]>("case.housed-groups", asked));
};

const newestWave = (read: Read, box: TimeBox, { caseUrn, affectedGroups }: ReviewItemView) =>
  box.part("wave", async () => {
    const asked = { caseId: idOf(caseUrn), groupIds: affectedGroups };
    const waveUrn = await read<string | null>("wave.newest-of", asked);
    return waveUrn === null ? undefined : read<WaveView>("wave.detail", { waveUrn });
  });

const searched = async (
  read: Read,
  box: TimeBox,
  search: Omit<Search, "hotels" | "silent">,
  { caseUrn, policy }: { caseUrn: string; policy: Facts["policies"][Search["tier"]] },
): Promise<Search | undefined> => {
  const { checkIn, nights, groups } = search;
  const rooms = Math.min(
    roomsMax,
    groups.reduce((sum, group) => sum + group.rooms, 0),
  );
  const wider = policy?.maxDistanceKm ?? 0;
  const found = await box.part("hotels", () =>
    read<HotelSearchView>("wave.search-hotels", {
      caseUrn,
      checkIn,
      nights,
      rooms,
      limit: hotelsMax,
      ...(wider > radiusKmDefault ? { constraints: { maxDistanceKm: wider } } : {}),
    }),
  );
  if (found === undefined) return undefined;
  return {
    ...search,
    hotels: hotelFacts(found, policy),
    silent: found.partialFailures.map(({ failedDomain }) => failedDomain),
  };
};

/** The first of them that those who would carry them out would not turn down. @param most how many */
export const standing = async (
  read: Read,
  box: TimeBox,
  { item }: Subject,
  { proposals, most }: { proposals: readonly AdmittedProposal[]; most: number },
): Promise<AdmittedProposal[]> => {
  const kept: AdmittedProposal[] = [];
  for (const proposal of proposals) {
    if (kept.length === most) break;
    if (!(await isTurnedDown(read, box, idOf(item.caseUrn), proposal))) kept.push(proposal);
  }
  return kept;
};

const isTurnedDown = async (
  read: Read,
  box: TimeBox,
  caseId: string,
  { action, groupIds, hotelUrn, value, reason }: AdmittedProposal,
): Promise<boolean> => {
  const ask = (): Promise<unknown> =>
    action === "rebook"
      ? read("wave.choosable", {
          caseId,
          groupIds: groupIds.slice(0, rehearsedMax),
          hotelUrn,
          reason,
          withinPolicy: true,
        })
      : read("case.rehearse", {
          entity: caseId,
          name: "case.relax",
          data: { fields: value, groupIds, reason },
        });
  const answer = await box.part("rehearsal", async () => {
    try {
      await ask();
      return false;
    } catch (error) {
      if (error instanceof Problem && error.status === 409) return isHopeless(error);
      if (error instanceof Problem && error.status === 422) return true;
      throw error;
    }
  });
  return answer ?? false;
};
