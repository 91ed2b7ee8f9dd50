/** Owns which rule answers which command to a sub-case; the saga's rules stand in `saga.ts`. */
import type { Assignment } from "../../schemas/assignment.ts";
import { Problem } from "../../schemas/problems.ts";
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { reissueCall, runFrom, type SagaSettings, Story, takeAnswer } from "./saga.ts";
import { rollbackSteps, type SubCaseEvent, type SubCaseState } from "./state.ts";

export const commands = [
  "assign",
  "mark-not-required",
  "record-answer",
  "reissue-call",
  "accept-offer",
  "decline-offer",
] as const;

export const deciderOf =
  (settings: SagaSettings) =>
  (state: SubCaseState | undefined, command: Received): SubCaseEvent[] => {
    if (state === undefined) throw new NotYet("The sub-case does not exist yet.");
    requireAirport(command.principal, state.airport);
    const story = new Story(state.subCaseId, state, command.now, settings);
    const verb = command.name.slice("sub-case.".length) as (typeof commands)[number];
    switch (verb) {
      case "assign":
        assign(story, command.data as Assignment);
        break;
      case "mark-not-required":
        if (state.status === "PENDING") story.tell({ type: "subcase.not-required", data: {} });
        break;
      case "record-answer":
        takeAnswer(story, command.data as VendorAnswer);
        break;
      case "reissue-call":
        reissueCall(story);
        break;
      case "accept-offer":
        accept(story);
        break;
      case "decline-offer":
        decline(story, (command.data as { reason?: string }).reason);
        break;
      default:
        verb satisfies never;
    }
    return story.events;
  };

/** A wave's choice for the group. A group that has left PENDING has one already. */
const assign = (story: Story, { book, ...assignment }: Assignment): void => {
  const { status, assignment: standing } = story.state;
  if (status !== "PENDING" || standing !== undefined) return;
  story.tell({ type: "subcase.assigned", data: { assignment } });
  if (!book) return;
  story.tell({ type: "subcase.processing", data: {} });
  runFrom(story, "hold");
};

/** Contract, "Sub-case (saga)": accepting what is accepted gives the same answer and no second event. */
const accept = (story: Story): void => {
  const { state } = story.state.offer;
  if (state === "ACCEPTED") return;
  if (state !== "READY") throw undecidable(state);
  story.tell({ type: "subcase.resolved", data: { at: story.now } });
};

const decline = (story: Story, reason: string | undefined): void => {
  const { state } = story.state.offer;
  if (state !== "READY") throw undecidable(state);
  story.tell({
    type: "subcase.declined",
    data: { at: story.now, ...(reason === undefined ? {} : { reason }) },
  });
  runFrom(story, rollbackSteps[0]);
};

const undecidable = (state: string): Problem =>
  state === "PENDING"
    ? new Problem("conflict/state", "The offer is not ready yet. You will be told when it is.", { state })
    : new Problem(
        "conflict/offer-decided",
        `The offer is ${state.toLowerCase()} already. Load /v1/me/offer again.`,
        { state },
      );
