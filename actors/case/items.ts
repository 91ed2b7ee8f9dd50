/** Owns the review items that a case opens: for whom, of which category, and what they say. */
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Outgoing } from "../runtime/decider.ts";
import type { ReviewNoted } from "./review-notes.ts";
import type { CaseEvent, CaseState, GroupHead } from "./state.ts";

interface About {
  category: ReviewCategory;
  origin: string;
  detail: string;
  groups: string[];
  /** Tells it apart from one of the same cause and groups that is resolved. */
  occurrence?: string;
}

export const item = (state: CaseState, caseId: string, { groups, ...about }: About): Outgoing => {
  const data = {
    caseId,
    airport: state.airport,
    ...(state.kind === undefined ? {} : { kind: state.kind }),
    ...about,
    attemptedHotels: [],
    affectedGroups: groups,
  };
  return { to: "command", name: "review.open", entity: "", data };
};

/** Incomplete passengers are housed all the same; somebody completes what is missing. @param newcomers default: all groups */
export const incompleteItems = (
  state: CaseState,
  caseId: string,
  newcomers?: { shaped: readonly { head: GroupHead }[]; occurrence: string },
): Outgoing[] => {
  const among = newcomers?.shaped.map(({ head }) => head) ?? state.groups;
  const incomplete = among.filter(({ missing }) => missing.length > 0);
  const fields = [...new Set(incomplete.flatMap(({ missing }) => missing))].join(", ");
  const groups = incomplete.map(({ groupId }) => groupId);
  const category = "DATA_INCOMPLETE";
  const occurrence = newcomers === undefined ? {} : { occurrence: newcomers.occurrence };
  const items: Outgoing[] = [];
  if (groups.length > 0) {
    const detail = `The manifest leaves out: ${fields}.`;
    items.push(item(state, caseId, { category, origin: "manifest", detail, groups, ...occurrence }));
  }
  if (state.nextFlight === undefined && among.length > 0) {
    const detail = "No next flight is known; one night was assumed for everybody.";
    const all = among.map(({ groupId }) => groupId);
    items.push(item(state, caseId, { category, origin: "next-flight", detail, groups: all, ...occurrence }));
  }
  return items;
};

interface Held {
  groupId: string;
  tier?: string;
}

const mixedItem = (held: Held[]): Omit<About, "occurrence"> => ({
  category: "MIXED_TIER_GROUP",
  origin: "planning",
  detail: "Passengers of one booking travel in different cabins; split the group or override.",
  groups: held.map(({ groupId }) => groupId),
});

const violationItem = ({ airport }: CaseState, held: Held[]): Omit<About, "occurrence"> => ({
  category: "POLICY_VIOLATION",
  origin: "planning",
  detail: `No active policy covers ${[...new Set(held.map(({ tier }) => tier))].join(", ")} at ${airport}.`,
  groups: held.map(({ groupId }) => groupId),
});

const unplacedItem = (held: Held[]): Omit<About, "occurrence"> => ({
  category: "ALLOCATION_FAILED",
  origin: "allocation",
  detail: "No hotel within the policy has rooms for these groups.",
  groups: held.map(({ groupId }) => groupId),
});

/** Of the groups that the planning holds. @param among those that were planned just now; default all */
export const heldItems = (
  state: CaseState,
  caseId: string,
  among?: { groups: ReadonlySet<string>; occurrence: string },
): Outgoing[] => {
  const held = state.groups.filter(
    ({ groupId }, i) => state.progress[i] === "H" && (among?.groups.has(groupId) ?? true),
  );
  const mixed = held.filter(({ tier }) => tier === undefined);
  const unmatched = held.filter(({ tier, stay }) => tier !== undefined && stay === undefined);
  const about = [
    ...(mixed.length === 0 ? [] : [mixedItem(mixed)]),
    ...(unmatched.length === 0 ? [] : [violationItem(state, unmatched)]),
  ];
  const occurrence = among === undefined ? {} : { occurrence: among.occurrence };
  return about.map((one) => item(state, caseId, { ...one, ...occurrence }));
};

/** Contract, "Demand": a PARTIAL demand has its item. */
export const partialItem = (
  state: CaseState,
  caseId: string,
  { demandId, state: settled, lacking }: Extract<CaseEvent, { type: "demand.settled" }>["data"],
): Outgoing[] => {
  if (settled !== "PARTIAL") return [];
  const detail = "Some groups of this demand have their rooms, others could not be placed or booked.";
  const about: About = {
    category: "PARTIAL_FULFILLMENT",
    origin: "demand",
    detail,
    groups: lacking,
    occurrence: demandId,
  };
  return [item(state, caseId, about)];
};

/** For those whose hotel has not the dates that they need: they keep the room that they have. */
export const unmovedItem = (state: CaseState, caseId: string, waveId: string, groups: string[]): Outgoing =>
  item(state, caseId, {
    category: "BOOKING_FAILED",
    origin: "amendment",
    detail:
      "Neither their hotel nor another one has rooms for the dates that these groups need now; arrange it by hand.",
    groups,
    occurrence: waveId,
  });

/** For those whom a resolved item has left as they were. */
export const afterReviewItems = (
  state: CaseState,
  caseId: string,
  { reviewId, remaining }: ReviewNoted,
): Outgoing[] => {
  if (remaining === undefined) return [];
  const held = state.groups.filter(({ groupId }) => remaining.groups.includes(groupId));
  const about =
    remaining.category === "MIXED_TIER_GROUP"
      ? mixedItem(held)
      : remaining.category === "POLICY_VIOLATION"
        ? violationItem(state, held)
        : unplacedItem(held);
  return [item(state, caseId, { ...about, occurrence: reviewId })];
};

/** For those who wait and for whom nothing is under way: no approved demand has rooms for them. */
export const strandedItem = (
  state: CaseState,
  caseId: string,
  { groups, occurrence }: Extract<CaseEvent, { type: "case.groups-stranded" }>["data"],
): Outgoing =>
  item(state, caseId, {
    category: "ALLOCATION_FAILED",
    origin: "capacity",
    detail:
      frozenDetail(state) ??
      "No approved demand has rooms for these groups. Ask for an INCREMENTAL one, or settle them by hand.",
    groups,
    occurrence,
  });

const sentence = (text: string): string => `${text.replace(/[.\s]+$/, "")}.`;

const frozenDetail = ({ airport, demands }: CaseState): string | undefined => {
  const last = demands.at(-1);
  return last?.frozen
    ? `Demand at ${airport} is frozen: ${sentence(last.reason ?? "")} Ask for rooms again once it is lifted, or settle these groups by hand.`
    : undefined;
};
