/** Owns how a group takes other dates: its hotel is asked for them, another one is sought when it cannot, and without a night all goes back. */
import type { StayAmended } from "../../schemas/reaccommodate.ts";
import { isNextShape } from "./regroup.ts";
import { release } from "./release.ts";
import { runAmend, type Story } from "./saga.ts";

/** A saga under way goes on to its end first, with the dates that it has begun with. */
export const amendStay = (story: Story, amended: StayAmended): void => {
  if (!isNextShape(story, amended.shape)) return;
  story.tell({ type: "subcase.stay-amended", data: amended });
  if (amended.stay?.nights === 0) release(story, "LOCAL_RESIDENT");
  else followStay(story);
};

/** Asks the hotel of a group that stands for the dates that it should have; while anything is under way, or the case is closed, later. */
export const followStay = (story: Story): void => {
  const { status, call, closedAt, wanted } = story.state;
  if (call !== undefined || closedAt !== undefined || wanted === undefined) return;
  if (status === "OFFER_READY" || status === "RESOLVED") runAmend(story);
};
