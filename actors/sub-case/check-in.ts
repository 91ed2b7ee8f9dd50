/** Owns passengers' own word that they have arrived at their hotel: when it is taken. What follows from an arrival stands in `stay.ts`. */
import { airport as airportOf } from "../../schemas/airports.ts";
import { isoDate, localDay } from "../../schemas/local-day.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Story } from "./saga.ts";
import { resumeStay } from "./stay.ts";

const cannot = (detail: string, state: string): Problem => new Problem("conflict/state", detail, { state });

/**
 * Said again it changes nothing. From the day of check-in to that of check-out, in local time at the airport.
 * @throws Problem conflict/state
 */
export const checkIn = (story: Story): void => {
  const { reservation, offer, assignment, airport, left } = story.state;
  if (left !== undefined)
    throw cannot("Your hotel is being changed. Try again in a moment.", story.state.status);
  const room = reservation?.status;
  if (room === "CHECKED_IN" && offer.state === "ACCEPTED") return;
  if (offer.state === "PENDING")
    throw cannot("Your room is not ready yet. You will be told when it is.", offer.state);
  const isOffered = offer.state === "READY" || offer.state === "ACCEPTED";
  if (!isOffered || room !== "CONFIRMED" || assignment === undefined)
    throw cannot("There is no room to check in to. Load /v1/me/offer again.", room ?? offer.state);
  const timeZone = airportOf(airport)?.timeZone ?? "UTC";
  const today = isoDate(localDay(story.now.getTime(), timeZone, 0));
  const { checkIn: from, checkOut: until } = assignment.stay;
  if (today < from) throw cannot(`Your room is yours from ${from} on.`, room);
  if (today > until) throw cannot(`Your stay was until ${until}.`, room);
  story.tell({ type: "subcase.stay-noted", data: { status: "CHECKED_IN", at: story.now, bySelf: true } });
  resumeStay(story);
};
