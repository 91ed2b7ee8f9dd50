/** Owns what a resolved review item does to its case: groups are tried again, or count as settled by hand. */
import type { Stage } from "../../schemas/group-note.ts";
import type { ReviewSettled } from "../../schemas/review.ts";
import { resolutionMeans } from "../../schemas/review.ts";
import type { CaseStatus, ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { askFor, type DemandTerms, type Policies, requested, stayOf } from "./planning.ts";
import { consequences } from "./progress.ts";
import { type CaseEvent, type CaseState, evolve } from "./state.ts";

/** What a resolved item has changed: who is tried again or settled, whom another item is needed for. */
export interface ReviewNoted {
  reviewId: string;
  progress: string;
  /** Still without what they need, though the item says that they were taken care of. */
  remaining: { category: ReviewCategory; groups: string[] } | undefined;
  /** Sub-cases whose stuck rollback is tried again. */
  retryRollback: string[];
  /** Sub-cases that a person has seen to: no wave's choice is for them any more. */
  settled: string[];
  status: CaseStatus;
}

/** Which letters an item of this kind is about; undefined: it concerns nobody's room. */
const concerned = ({ category, origin }: ReviewSettled): string | undefined => {
  if (category === "ALLOCATION_FAILED" || category === "POLICY_VIOLATION" || category === "MIXED_TIER_GROUP")
    return "H";
  if (category !== "BOOKING_FAILED") return undefined;
  return origin === "booking" ? "F" : origin === "rollback" ? "U" : undefined;
};

/**
 * A person's word settles a group (contract, "Manual review item": the case returns to normal flow): with a room found by
 * hand, without one, or by another try. Whoever is still held then gets another item: nobody is left between two desks.
 */
export const decideNoteReview = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const item = command.data as ReviewSettled;
  const freeze = (gathered as DemandTerms | undefined)?.freeze;
  const letters = concerned(item);
  if (letters === undefined) return [];
  const affected = new Set(item.affectedGroups);
  const isDone =
    resolutionMeans(item.resolution) === "housed" || resolutionMeans(item.resolution) === "settled";
  // Whom a person has seen to needs nothing any more, also when a wave is looking for a room meanwhile.
  const matched = isDone ? `${letters}W` : letters;
  const isConcerned = (i: number) =>
    affected.has(state.groups[i]?.groupId as string) && matched.includes(state.progress[i] as string);
  if (!state.groups.some((_, i) => isConcerned(i))) return statusAfter(state, item, []);
  const replanned =
    item.category === "POLICY_VIOLATION"
      ? replan(state, isConcerned, (gathered as DemandTerms).policies)
      : [];
  const planned = replanned.reduce<CaseState>(evolve, state);
  return [...replanned, ...settle(planned, command, { item, freeze, isConcerned })];
};

/** The groups whose tiers have a policy by now. */
const replan = (state: CaseState, isConcerned: (i: number) => boolean, found: Policies): CaseEvent[] => {
  const known = Object.fromEntries(Object.entries(found).filter(([, policy]) => policy !== null));
  const policies = { ...known, ...state.policies };
  const stays = state.groups.map((group, i) =>
    isConcerned(i) && group.stay === undefined ? stayOf(state, group, policies) : undefined,
  );
  if (stays.every((stay) => stay === undefined)) return [];
  const progress = state.groups.map((_, i) => (stays[i]?.nights === 0 ? "N" : state.progress[i])).join("");
  return [{ type: "case.replanned", data: { policies, stays, progress } }];
};

interface Settlement {
  item: ReviewSettled;
  freeze: DemandTerms["freeze"];
  isConcerned: (i: number) => boolean;
}

const settle = (
  state: CaseState,
  command: Received,
  { item, freeze, isConcerned }: Settlement,
): CaseEvent[] => {
  const letter = (i: number): Stage => {
    const stage = state.progress[i] as Stage;
    if (stage === "N" || !isConcerned(i)) return stage;
    const meaning = resolutionMeans(item.resolution);
    if (meaning === "housed") return "M";
    if (meaning === "settled" || (meaning === "other" && stage !== "H")) return "X";
    return stage !== "U" && state.groups[i]?.stay !== undefined ? "W" : stage;
  };
  const progress = state.groups.map((_, i) => letter(i)).join("");
  const still = state.groups
    .filter((_, i) => isConcerned(i) && progress[i] === "H")
    .map(({ groupId }) => groupId);
  const retryRollback = state.groups
    .filter((_, i) => isConcerned(i) && progress[i] === "U")
    .map(({ subCaseId }) => subCaseId);
  const settled = state.groups
    .filter((_, i) => "MX".includes(progress[i] ?? "") && progress[i] !== state.progress[i])
    .map(({ subCaseId }) => subCaseId);
  const noted: CaseEvent = {
    type: "case.review-noted",
    data: { ...statusData(state, item, still), progress, retryRollback, settled },
  };
  const after = evolve(state, noted);
  const rooms = unasked(after, isConcerned);
  const events = [noted, ...consequences(after, command.now)];
  if (item.category !== "POLICY_VIOLATION" || rooms === 0) return events;
  const type = after.demands.some((demand) => demand.type === "INITIAL" && demand.state !== "REJECTED")
    ? "INCREMENTAL"
    : "INITIAL";
  return [...events, ...askFor(after, command, requested(command, after, type, rooms), freeze)];
};

const unasked = (state: CaseState, isConcerned: (i: number) => boolean): number =>
  state.groups.reduce(
    (sum, { stay }, i) => sum + (isConcerned(i) && state.progress[i] === "W" ? (stay?.rooms ?? 0) : 0),
    0,
  );

const statusData = (
  state: CaseState,
  item: ReviewSettled,
  still: string[],
): Omit<ReviewNoted, "progress" | "retryRollback" | "settled"> => {
  const cleared =
    item.category === "POLICY_VIOLATION" && still.length === 0 && state.status === "MANUAL_REVIEW";
  return {
    reviewId: item.reviewId,
    status: cleared ? "OPEN" : state.status,
    remaining: still.length === 0 ? undefined : { category: item.category as ReviewCategory, groups: still },
  };
};

const statusAfter = (state: CaseState, item: ReviewSettled, still: string[]): CaseEvent[] => {
  const { status, ...rest } = statusData(state, item, still);
  if (status === state.status) return [];
  return [
    {
      type: "case.review-noted",
      data: { ...rest, status, progress: state.progress, retryRollback: [], settled: [] },
    },
  ];
};
