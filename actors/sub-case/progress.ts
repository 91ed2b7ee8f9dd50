/** Owns how far a saga is: of one group, in a sentence for whoever waits, and summed up over a case's groups. */
import type { StepTotals, SubCaseProgress } from "../../schemas/orchestration.ts";
import { urn } from "../../schemas/urn.ts";
import { type SubCaseStatus, subCaseStatuses } from "../../schemas/vocabulary.ts";
import { lockFacts } from "./lock.ts";
import {
  amendSteps,
  type Call,
  forwardSteps,
  leaveSteps,
  rollbackSteps,
  type Step,
  type StepRecord,
  type SubCaseState,
} from "./state.ts";

/**
 * From 0 to 1: the share of the saga's steps that are behind the one under way, or begun last; of the rollback's while it
 * rolls back. A step that is left out counts as behind once its turn has passed. It goes back with a hotel that refuses.
 * 1: nothing runs any more, whatever the outcome.
 */
export const progressOf = ({
  status,
  call,
  steps,
}: Pick<SubCaseState, "status" | "call" | "steps">): number => {
  const at = call?.step ?? steps.at(-1)?.name;
  switch (status) {
    case "PENDING":
      return 0;
    case "PROCESSING":
      return shareBefore(forwardSteps, at);
    case "ROLLING_BACK":
      return shareBefore(rollbackSteps, at);
    default:
      return 1;
  }
};

/** 0 for a step of the other list: a saga that has just turned has everything ahead. */
const shareBefore = (steps: readonly Step[], at: Step | undefined): number =>
  at === undefined ? 0 : Math.max(0, steps.indexOf(at)) / steps.length;

/** What the step under way waits for, for a person; names the vendor, never a guest. */
export const stepMessage = ({ vendor, tries, doubt, postponed }: Call): string => {
  const asked = `asked ${tries === 1 ? "once" : tries === 2 ? "twice" : `${tries} times`}`;
  if (!postponed) return `${vendor} has not answered; ${asked}`;
  return doubt
    ? `${vendor} does not say whether it was done; ${asked}`
    : `${vendor} could not take it; ${asked}, and will be asked again`;
};

/** Without what one group's row has no use for: passengers, hotels, answers kept. */
export const progressProjection = { handled: 0, outbox: 0, passengers: 0, assignment: 0 };

/** One group's row. */
export const progressItem = (
  state: Pick<SubCaseState, "subCaseId" | "groupId" | "status" | "call" | "steps" | "lock">,
  now: Date,
): SubCaseProgress => ({
  subCaseUrn: urn("sub-case", state.subCaseId),
  groupId: state.groupId,
  status: state.status,
  progress: progressOf(state),
  steps: state.steps.map(stepView),
  ...waitingFor(state),
  ...lockFacts(state, now),
});

const stepView = ({ stepId, name, startedAt, completedAt, result, detail }: StepRecord) => ({
  stepUrn: urn("step", stepId),
  name,
  startedAt: startedAt.toISOString(),
  ...(completedAt === undefined ? {} : { completedAt: completedAt.toISOString() }),
  ...(result === undefined ? {} : { result }),
  ...(detail === undefined ? {} : { detail }),
});

const waitingFor = ({
  call,
  steps,
}: Pick<SubCaseState, "call" | "steps">): Pick<SubCaseProgress, "waitingFor"> => {
  const begun = steps.findLast(({ name, completedAt }) => name === call?.step && completedAt === undefined);
  if (call === undefined || begun === undefined) return {};
  const { step, vendor, tries, doubt } = call;
  return { waitingFor: { step, vendor, tries, inDoubt: doubt, since: begun.startedAt.toISOString() } };
};

/** What the totals are made of; of thousands of groups nothing else is read. */
export const totalsProjection = { _id: 0, status: 1, "steps.name": 1, "steps.result": 1 };

/** A group as {@link totalsProjection} reads it. */
export interface Tallied {
  status: SubCaseStatus;
  steps: Pick<StepRecord, "name" | "result">[];
}

/** Adds up groups one by one. */
export class ProgressTotals {
  readonly #groups = new Map<SubCaseStatus, number>();
  readonly #steps = new Map<Step, StepTotals>();
  #counted = 0;

  add({ status, steps }: Tallied): void {
    this.#counted++;
    this.#groups.set(status, (this.#groups.get(status) ?? 0) + 1);
    for (const { name, result } of steps) {
      const totals = this.#steps.get(name) ?? emptyTotals(name);
      this.#steps.set(name, totals);
      totals.started++;
      totals[result === undefined ? "underWay" : countedAs[result]]++;
    }
  }

  /** @param groupCount all groups of the case: those without a sub-case yet are PENDING, too */
  of(groupCount: number): { groups: { status: SubCaseStatus; count: number }[]; steps: StepTotals[] } {
    const unprovisioned = Math.max(0, groupCount - this.#counted);
    const inOrder: readonly Step[] = [...forwardSteps, ...amendSteps, ...leaveSteps, ...rollbackSteps];
    return {
      groups: subCaseStatuses.flatMap((status) => {
        const count = (this.#groups.get(status) ?? 0) + (status === "PENDING" ? unprovisioned : 0);
        return count === 0 ? [] : [{ status, count }];
      }),
      steps: inOrder.flatMap((name) => this.#steps.get(name) ?? []),
    };
  }
}

const countedAs = { DONE: "done", REFUSED: "refused", SKIPPED: "skipped", FAILED: "failed" } as const;

const emptyTotals = (name: Step): StepTotals => ({
  name,
  started: 0,
  underWay: 0,
  done: 0,
  refused: 0,
  skipped: 0,
  failed: 0,
});
