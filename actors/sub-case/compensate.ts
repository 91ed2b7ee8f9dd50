/** Owns compensation as operators submit it: what it sets going in each state, and how a repeat is told from a new one. */
import { createHash } from "node:crypto";
import type { Command } from "../../schemas/command.ts";
import { requireUnlocked } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { groupLock } from "./lock.ts";
import { runFrom, type Story } from "./saga.ts";
import { rollbackSteps, type SubCaseState } from "./state.ts";

/** The data of `sub-case.compensate`; `hotelUrn`: where to begin, one of the hotels that the group's wave found for it. */
interface Compensation {
  hotelUrn?: string;
  reason?: string;
}

/** The same payload, with the same version seen, is the same compensation (contract, "Endpoints": compensate). */
const payloadHash = ({ data, expectedVersion }: Command): string => {
  const members = Object.entries(data as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([members, expectedVersion ?? null]))
    .digest("base64url");
};

/** The newest compensation of this payload. */
export const submittedAs = (
  state: SubCaseState,
  command: Command,
): SubCaseState["compensations"][number] | undefined => {
  const hash = payloadHash(command);
  return state.compensations.findLast((compensation) => compensation.hash === hash);
};

/**
 * The compensation that this command repeats; undefined: it is a new one. One that named no version is a new one as soon
 * as what it set going has failed.
 */
const repeatedBy = (
  state: SubCaseState,
  command: Command,
): SubCaseState["compensations"][number] | undefined => {
  const found = submittedAs(state, command);
  const failed = state.status === "FAILED" || state.status === "COMPENSATION_FAILED";
  return failed && command.expectedVersion === undefined ? undefined : found;
};

/**
 * Runs the saga of a group that waits, or has failed; a rollback that is stuck is tried again.
 * @throws Problem conflict/state where nothing can be run, validation/body for a hotel that the wave did not find, and of its lock
 */
export const compensate = (story: Story, command: Received): void => {
  const { state } = story;
  if (repeatedBy(state, command) !== undefined) return;
  requireUnlocked([groupLock(state)], command, story.now);
  const { hotelUrn } = command.data as Compensation;
  const { status } = state;
  if (status !== "PENDING" && status !== "FAILED" && status !== "COMPENSATION_FAILED") throw cannot(status);
  const candidate = status === "COMPENSATION_FAILED" ? undefined : startOf(state, hotelUrn);
  const submitted = { hash: payloadHash(command), correlationUrn: command.correlationUrn };
  story.tell({ type: "subcase.compensation-submitted", data: submitted });
  story.tell({ type: "subcase.processing", data: candidate === undefined ? {} : { candidate } });
  runFrom(story, candidate === undefined ? rollbackSteps[0] : "hold");
};

const startOf = (state: SubCaseState, hotelUrn: string | undefined): number => {
  const candidates = state.assignment?.candidates ?? [];
  if (candidates.length === 0) {
    throw new Problem(
      "conflict/state",
      "No hotel is allocated to this group yet. Start an allocation first.",
      {
        state: state.status,
      },
    );
  }
  if (hotelUrn === undefined) return 0;
  const named = candidates.findIndex((candidate) => candidate.hotelUrn === hotelUrn);
  if (named >= 0) return named;
  throw new Problem("validation/body", "The group's wave did not find this hotel for it.", {
    errors: [{ pointer: "/hotelUrn", detail: `one of ${candidates.map((one) => one.hotelUrn).join(", ")}` }],
  });
};

const cannot = (status: SubCaseState["status"]): Problem => {
  const underWay = status === "PROCESSING" || status === "ROLLING_BACK";
  return new Problem(
    "conflict/state",
    underWay
      ? "A saga is under way for this group. Wait for its outcome."
      : `The group is ${status}; there is nothing to compensate.`,
    { state: status },
  );
};
