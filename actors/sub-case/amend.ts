/** Owns how a group takes other dates: its hotel is asked for them, another one is sought when it cannot, and without a night all goes back. */
import type { StayAmended } from "../../schemas/reaccommodate.ts";
import { isNextShape } from "./regroup.ts";
import { release } from "./release.ts";
import { leaveNotice, runAmend, type Story } from "./saga.ts";

/** A saga under way goes on to its end first, with the dates that it has begun with. */
export const amendStay = (story: Story, amended: StayAmended): void => {
  const { status, reservation } = story.state;
  if (!isNextShape(story, amended.shape)) return;
  story.tell({ type: "subcase.stay-amended", data: amended });
  const { stay, effect } = amended;
  // What it told before this change the case takes to be late.
  if (stay?.nights === 0 && status === "NOT_REQUIRED") story.tell({ type: "subcase.not-required", data: {} });
  else if (stay?.nights === 0) letGo(story, reservation?.status);
  else if (status === "NOT_REQUIRED" && story.state.status === "PENDING" && effect === "AMENDING")
    // The case takes it to have its room still: it hears that there is none.
    story.tell({ type: "subcase.waits-again", data: { at: story.now } });
  else followStay(story);
};

/** Whose guests are at the hotel, or were, is let go by nobody: a person settles with the hotel when they leave. */
const letGo = (story: Story, stay: string | undefined): void => {
  if (stay === "CHECKED_OUT" || stay === "NO_SHOW") return;
  if (stay === "CHECKED_IN") story.tell({ type: "subcase.outgrown", data: { code: "CHECKED_IN" } });
  else release(story, "LOCAL_RESIDENT");
};

/** Asks the hotel of a group that stands for the dates that it should have; while anything is under way, or the case is closed, later. */
export const followStay = (story: Story): void => {
  leaveNotice(story);
  const { status, call, closedAt, wanted } = story.state;
  if (call !== undefined || closedAt !== undefined || wanted === undefined) return;
  if (status === "OFFER_READY" || status === "RESOLVED") runAmend(story);
};
