/** Owns the wire shape of a case's progress: how far each group's saga is, and what it waits for. */
import Type, { type Static } from "typebox";
import { LockFacts } from "./lock.ts";
import { Urn } from "./urn.ts";
import { caseStatuses, subCaseStatuses, Timestamp } from "./vocabulary.ts";

const Count = Type.Integer({ minimum: 0 });
const StepName = Type.String({ examples: ["book"] });

const StepView = Type.Object({
  stepUrn: Urn("step"),
  name: StepName,
  startedAt: Timestamp,
  completedAt: Type.Optional(Timestamp),
  result: Type.Optional(
    Type.Enum(["DONE", "REFUSED", "SKIPPED", "FAILED"], { description: "Absent: under way." }),
  ),
  detail: Type.Optional(Type.String({ description: "Why it was not done, in the vendor's words." })),
});

const WaitingForView = Type.Object({
  step: StepName,
  vendor: Type.String({ examples: ["stayhub"] }),
  tries: Type.Integer({ minimum: 1, description: "How often the vendor was asked." }),
  inDoubt: Type.Boolean({ description: "The vendor may have done it without an answer; it is looked up." }),
  since: Timestamp,
});

export const SubCaseProgress = Type.Object({
  subCaseUrn: Urn("sub-case"),
  groupId: Type.String(),
  status: Type.Enum([...subCaseStatuses]),
  progress: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "The share of its saga's steps that are behind it; 1 once nothing runs any more.",
  }),
  steps: Type.Array(StepView, { description: "As they were begun; a step at each hotel that was tried." }),
  waitingFor: Type.Optional(WaitingForView),
  ...LockFacts,
});
export type SubCaseProgress = Static<typeof SubCaseProgress>;

export const StepTotals = Type.Object(
  {
    name: StepName,
    started: Count,
    underWay: Count,
    done: Count,
    refused: Count,
    skipped: Count,
    failed: Count,
  },
  { description: "Of all groups; a step that ran at two hotels counts twice." },
);
export type StepTotals = Static<typeof StepTotals>;

export const CaseProgressView = Type.Object(
  {
    caseUrn: Urn("case"),
    status: Type.Enum([...caseStatuses]),
    groups: Type.Array(Type.Object({ status: Type.Enum([...subCaseStatuses]), count: Count }), {
      description: "Statuses that no group has are left out.",
    }),
    steps: Type.Array(StepTotals, { description: "In the saga's order; steps never begun are left out." }),
    items: Type.Array(SubCaseProgress),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: "Opaque; null on the last page." }),
    hasMore: Type.Boolean(),
  },
  { title: "CaseProgress" },
);
export type CaseProgressView = Static<typeof CaseProgressView>;
