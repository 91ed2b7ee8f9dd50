/** Owns when a group needs nobody's work any more, and what that does to an item: a room was found, or its case has changed. */
import type { Received } from "../runtime/decider.ts";
import { fromPassengers } from "./reports.ts";
import type { ReviewEvent, ReviewItem } from "./state.ts";

/** Only these are about a room; a card or a ride is missing all the same. */
export const isAboutRooms = ({ category, origin }: Pick<ReviewItem, "category" | "origin">): boolean =>
  category === "ALLOCATION_FAILED" || origin === "booking" || origin === "demand";

/** Why nobody need work on a group any more. `SPLIT`: its cabins are no trouble now; `MERGED`: nobody is left in it. */
export interface GroupSettled {
  groupId: string;
  /** Absent: it has a room after all. */
  resolution?: "SPLIT" | "MERGED" | "LOCAL_RESIDENT" | "NEXT_FLIGHT_KNOWN";
  /** ISO 8601: when that came to be. Absent: when the case sent it. */
  at?: string;
}

const settledBy = {
  HOUSED: "A later allocation has housed every group of this item.",
  SPLIT: "The group was split.",
  LOCAL_RESIDENT: "Nobody of this item has a night to bridge any more.",
  NEXT_FLIGHT_KNOWN: "The next flight is known.",
  MERGED: "The groups of this item were merged into others.",
} as const;

const concerns = (item: ReviewItem, resolution: GroupSettled["resolution"]): boolean => {
  if (resolution === undefined) return isAboutRooms(item);
  // What they have reported has happened to them, whichever group they are in now.
  if (item.origin === fromPassengers) return false;
  if (item.origin === "next-flight") return resolution !== "SPLIT";
  if (resolution === "NEXT_FLIGHT_KNOWN") return false;
  if (resolution === "LOCAL_RESIDENT") return isAboutRooms(item) || item.origin === "planning";
  return resolution === "MERGED" || item.category === "MIXED_TIER_GROUP";
};

/**
 * Automation or a regrouping has settled it: when that holds for each group there is nothing left for a person to do. What is older
 * than the item is of an earlier try: a room that the group may have lost since.
 */
export const noteHoused = (state: ReviewItem, command: Received<GroupSettled>): ReviewEvent[] => {
  const { groupId, resolution, at = command.issuedAt } = command.data;
  if (state.status === "RESOLVED" || !concerns(state, resolution)) return [];
  if (state.arisenAt !== undefined && new Date(at) < state.arisenAt) return [];
  return groupSettled(state, command, groupId, resolution);
};

export const groupSettled = (
  state: ReviewItem,
  { principal, now }: Received,
  groupId: string,
  resolution?: GroupSettled["resolution"],
): ReviewEvent[] => {
  if (!state.affectedGroups.includes(groupId) || state.housedGroups.includes(groupId)) return [];
  const noted: ReviewEvent = { type: "review.group-housed", data: { groupId } };
  const left = state.affectedGroups.filter((one) => one !== groupId && !state.housedGroups.includes(one));
  if (left.length > 0) return [noted];
  const by = principal.urn;
  const how = resolution ?? "HOUSED";
  return [noted, { type: "review.resolved", data: { by, resolution: how, reason: settledBy[how], at: now } }];
};
