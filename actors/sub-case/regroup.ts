/** Owns how a sub-case takes a change of its group: others in it, or nobody left. What is wanted, and whether it may be, the case has decided. */
import type { Regrouped } from "../../schemas/regroup.ts";
import { NotYet } from "../runtime/decider.ts";
import { release } from "./release.ts";
import type { Story } from "./saga.ts";

/**
 * Changes of a group count up: an earlier one that comes late is nothing.
 * @throws NotYet while the one before has not arrived
 */
export const isNextShape = ({ state }: Story, shape: number): boolean => {
  const standing = state.shape ?? 0;
  if (shape > standing + 1) throw new NotYet("The change before this one has not arrived.");
  return shape === standing + 1;
};

/**
 * In a race with an operator's compensation a saga may have begun: it goes on for those who are left in the group. What it
 * has sought for fewer than are in it now, or for nobody, is given back.
 */
export const regroup = (story: Story, regrouped: Regrouped): void => {
  if (!isNextShape(story, regrouped.shape)) return;
  const { status } = story.state;
  const before = new Set(story.state.passengers.map(({ urn }) => urn));
  story.tell({ type: "subcase.regrouped", data: regrouped });
  const hasNewcomers = regrouped.passengers.some(({ urn }) => !before.has(urn));
  if (regrouped.mergedInto !== undefined) release(story, "MERGED");
  else if (hasNewcomers && housing.has(status)) release(story, "REGROUPED");
};

/** A room is had or sought. */
const housing: ReadonlySet<string> = new Set(["PROCESSING", "OFFER_READY", "RESOLVED"]);
