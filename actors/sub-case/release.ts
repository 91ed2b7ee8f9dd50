/** Owns how a group is let go that needs no room any more, or whose passengers are in another one: what it has is given back. */
import { leaveNotice, runFrom, type Story } from "./saga.ts";
import { type Released, rollbackSteps } from "./state.ts";

/**
 * Ends with NOT_REQUIRED, or waiting again for a group that needs another room. A call under way is waited for first: what
 * it brings is given back, too.
 */
export const release = (story: Story, cause: Released): void => {
  leaveNotice(story);
  const { status, call } = story.state;
  switch (status) {
    case "PENDING":
    case "FAILED":
      story.tell({ type: "subcase.not-required", data: {} });
      return;
    case "PROCESSING":
    case "OFFER_READY":
    case "RESOLVED":
    case "ROLLING_BACK":
    case "COMPENSATION_FAILED":
      story.tell({ type: "subcase.released", data: { at: story.now, cause } });
      if (
        status !== "ROLLING_BACK" &&
        status !== "COMPENSATION_FAILED" &&
        call === undefined &&
        story.state.closedAt === undefined
      )
        runFrom(story, rollbackSteps[0]);
      return;
    case "DECLINED":
    case "NOT_REQUIRED":
      return;
    default:
      status satisfies never;
  }
};
