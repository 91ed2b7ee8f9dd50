/** Owns which rule answers which command to a sub-case; the saga's rules stand in `saga.ts`. */
import type { Assignment } from "../../schemas/assignment.ts";
import type { KnownStage } from "../../schemas/group-note.ts";
import { Problem } from "../../schemas/problems.ts";
import type { StayAmended } from "../../schemas/reaccommodate.ts";
import type { Regrouped } from "../../schemas/regroup.ts";
import type { RideNote } from "../../schemas/transport.ts";
import type { OddBooking, StayReport, VendorAnswer } from "../../schemas/vendor-call.ts";
import type { CardTransaction } from "../../schemas/wallet.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { amendStay, followStay } from "./amend.ts";
import { recordCardTransaction } from "./card-use.ts";
import { checkIn } from "./check-in.ts";
import { compensate } from "./compensate.ts";
import { giveBackLock, type LockSettings, lapseLock, releaseLock, takeLock } from "./lock.ts";
import { reserveManually } from "./manual-reservation.ts";
import { noteOddity } from "./odd-bookings.ts";
import { bookAllocated, type OverrideOrder, override } from "./override.ts";
import { regroup } from "./regroup.ts";
import { reportProblem } from "./report-problem.ts";
import { noteReveal } from "./reveal-card.ts";
import { isRideNews } from "./ride.ts";
import { leaveNotice, reissueCall, resume, runFrom, type SagaSettings, Story, takeAnswer } from "./saga.ts";
import { rollbackSteps, type SubCaseEvent, type SubCaseState } from "./state.ts";
import { recordStay, resumeStay } from "./stay.ts";

export const commands = [
  "assign",
  "book",
  "override",
  "mark-not-required",
  "compensate",
  "record-answer",
  "reissue-call",
  "record-stay",
  "note-oddity",
  "note-ride",
  "reserve-manually",
  "accept-offer",
  "decline-offer",
  "check-in",
  "report-problem",
  "reveal-card",
  "record-card-transaction",
  "settle",
  "regroup",
  "amend-stay",
  "suspend",
  "resume",
  "lock",
  "unlock",
  "release-lock",
  "lapse-lock",
] as const;

/** What a closed case's group still takes: what comes late is put on record, and the case may open again. */
const takenWhenClosed: ReadonlySet<string> = new Set([
  "override",
  "mark-not-required",
  "record-answer",
  "record-stay",
  "note-oddity",
  "record-card-transaction",
  "note-ride",
  "settle",
  "regroup",
  "amend-stay",
  "suspend",
  "resume",
  "unlock",
  "release-lock",
  "lapse-lock",
]);

/** What vendors tell comes of what the group has asked them for: one that is not there has asked for nothing, and waiting helps nobody. */
const toldByVendors: ReadonlySet<string> = new Set([
  "sub-case.record-stay",
  "sub-case.note-oddity",
  "sub-case.record-card-transaction",
]);

export const deciderOf =
  (settings: SagaSettings & LockSettings) =>
  (state: SubCaseState | undefined, command: Received, gathered?: unknown): SubCaseEvent[] => {
    if (state === undefined && toldByVendors.has(command.name))
      throw new Problem("not-found/resource", "There is no such sub-case.");
    if (state === undefined) throw new NotYet("The sub-case does not exist yet.");
    requireAirport(command.principal, state.airport);
    const story = new Story(state.subCaseId, state, command.now, settings);
    const verb = command.name.slice("sub-case.".length) as (typeof commands)[number];
    if (state.closedAt !== undefined && !takenWhenClosed.has(verb)) {
      if (command.principal.surface === "system") return kept(story, verb);
      throw new Problem("conflict/state", "The case is closed and takes no further change.", {
        state: "CLOSED",
      });
    }
    switch (verb) {
      case "assign":
        assign(story, command.data as Assignment);
        break;
      case "book":
        bookAllocated(story, command.data as { waveId: string });
        break;
      case "override":
        override(story, command.data as OverrideOrder);
        break;
      case "mark-not-required":
        if (state.status === "PENDING") story.tell({ type: "subcase.not-required", data: {} });
        break;
      case "compensate":
        compensate(story, command);
        break;
      case "reserve-manually":
        reserveManually(story, command, gathered);
        break;
      case "record-answer":
        takeAnswer(story, command.data as VendorAnswer);
        break;
      case "reissue-call":
        reissueCall(story);
        break;
      case "record-stay":
        recordStay(story, command.data as StayReport);
        break;
      case "note-oddity":
        noteOddity(story, command.data as OddBooking);
        break;
      case "note-ride":
        if (isRideNews(state, command.data as RideNote))
          story.tell({ type: "subcase.ride-noted", data: command.data as RideNote });
        break;
      case "suspend":
      case "resume":
        changeStanding(story, verb, command.data as Standing);
        break;
      case "settle":
        if (state.status === "PENDING" || state.status === "FAILED")
          story.tell({ type: "subcase.settled", data: {} });
        break;
      case "regroup":
        regroup(story, command.data as Regrouped);
        break;
      case "amend-stay":
        amendStay(story, command.data as StayAmended);
        break;
      case "accept-offer":
        accept(story);
        break;
      case "decline-offer":
        decline(story, (command.data as { reason?: string }).reason);
        break;
      case "check-in":
        checkIn(story);
        break;
      case "report-problem":
        reportProblem(story, command);
        break;
      case "reveal-card":
        noteReveal(story);
        break;
      case "record-card-transaction":
        recordCardTransaction(story, command.data as CardTransaction);
        break;
      case "lock":
        takeLock(story, command, settings);
        break;
      case "unlock":
        giveBackLock(story, command);
        break;
      case "release-lock":
        releaseLock(story, command);
        break;
      case "lapse-lock":
        lapseLock(story, command);
        break;
      default:
        verb satisfies never;
    }
    return story.events;
  };

/** A person's order to try a stuck rollback again waits for the case to be open; its item is resolved and does not come back. */
const kept = (story: Story, verb: (typeof commands)[number]): SubCaseEvent[] => {
  if (verb === "compensate" && story.state.status === "COMPENSATION_FAILED")
    story.tell({ type: "subcase.retry-ordered", data: {} });
  return story.events;
};

/**
 * A wave's choice for a group that has no room and none under way. Of two waves the later one counts: its id is the
 * greater one, however their commands arrive.
 */
const assign = (story: Story, { book, ...assignment }: Assignment): void => {
  const { status, assignment: standing, settled, cameBack } = story.state;
  if (settled) return;
  const fits = fitsShape(story, assignment);
  if (status !== "PENDING" && status !== "FAILED") return;
  if (standing !== undefined && assignment.waveId <= standing.waveId) return;
  if (!fits) {
    story.tell({ type: "subcase.choice-outgrown", data: { waveId: assignment.waveId } });
    return;
  }
  story.tell({ type: "subcase.assigned", data: { assignment } });
  // A group that came back from a saga because others took its rooms goes on with it, whoever has set it going.
  if (!book && !(status === "PENDING" && cameBack)) return;
  story.tell({ type: "subcase.processing", data: { candidate: 0 } });
  runFrom(story, "hold");
};

/**
 * Whether the wave sought rooms for the group as it is; of one that it has outgrown the case hears.
 * @throws NotYet while the group has not heard of the change that the wave knew of
 */
const fitsShape = ({ state }: Story, { shape }: Pick<Assignment, "shape">): boolean => {
  const standing = state.shape ?? 0;
  if (shape !== undefined && shape > standing)
    throw new NotYet("The change before this wave has not arrived.");
  return shape === undefined || shape === standing;
};

interface Standing {
  changedAt: string;
  known?: KnownStage;
}

/**
 * The case was closed or opened again. Both may come late, twice, or after what followed them: the newest counts.
 * @throws NotYet while a change that came before the opening has not arrived: what the group would tell is of before it
 */
const changeStanding = (story: Story, verb: "suspend" | "resume", { changedAt, known }: Standing): void => {
  const at = new Date(changedAt);
  const { standingSince, closedAt, retryOrdered, status } = story.state;
  if (standingSince !== undefined && at <= standingSince) return;
  if (verb === "suspend") {
    story.tell({ type: "subcase.suspended", data: { at } });
    return;
  }
  if ((known?.shape ?? 0) > (story.state.shape ?? 0))
    throw new NotYet("The change before this opening has not arrived.");
  story.tell({ type: "subcase.resumed", data: { at, ...(known === undefined ? {} : { known }) } });
  if (closedAt === undefined) return;
  if (retryOrdered && status === "COMPENSATION_FAILED") {
    story.tell({ type: "subcase.processing", data: {} });
    runFrom(story, rollbackSteps[0]);
    return;
  }
  resume(story);
  resumeStay(story);
  followStay(story);
};

/** Contract, "Sub-case (saga)": accepting what is accepted gives the same answer and no second event. */
const accept = (story: Story): void => {
  if (story.state.left?.offer.state === "ACCEPTED") return;
  const { state } = story.state.offer;
  if (state === "ACCEPTED") return;
  if (state !== "READY") throw undecidable(state);
  story.tell({ type: "subcase.resolved", data: { at: story.now } });
};

const decline = (story: Story, reason: string | undefined): void => {
  const { state } = story.state.offer;
  if (state !== "READY") throw undecidable(state);
  leaveNotice(story);
  if (story.state.call !== undefined)
    throw new Problem("conflict/state", "The stay is being changed. Try again in a moment.", { state });
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
