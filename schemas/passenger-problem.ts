/** Owns what passengers report as a problem (contract, `POST /v1/me/problem`), and how it travels to the operators' desk. */
import Type, { type Static } from "typebox";
import type { CaseKind } from "./drill.ts";
import { Timestamp } from "./vocabulary.ts";

export const problemCategories = [
  "ROOM",
  "HOTEL_DESK",
  "TRANSPORT",
  "CARD",
  "ACCESSIBILITY",
  "SAFETY",
  "OTHER",
] as const;
export type ProblemCategory = (typeof problemCategories)[number];

/** Nobody with one of these waits for an hour. */
export const urgentProblems: ReadonlySet<ProblemCategory> = new Set(["ACCESSIBILITY", "SAFETY"]);

export const ReportProblemBody = Type.Object({
  category: Type.Enum([...problemCategories], { examples: ["ROOM"] }),
  text: Type.String({
    minLength: 1,
    maxLength: 1000,
    pattern: "\\S",
    examples: ["The desk has no room under our name."],
    description: "Read by the airline's staff.",
  }),
});
export type ReportProblemBody = Static<typeof ReportProblemBody>;

export const ProblemReported = Type.Object(
  {
    category: Type.Enum([...problemCategories]),
    reportedAt: Timestamp,
  },
  { title: "ProblemReported" },
);
export type ProblemReported = Static<typeof ProblemReported>;

/** Marks that turn the text round, and others that nobody sees (Unicode 15, bidirectional formatting). */
const invisible = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** As operators are shown it: composed, without marks that hide or turn what is written. */
export const readable = (text: string): string => text.normalize("NFC").replace(invisible, "").trim();

/** The data of `review.report-problem`. */
export interface PassengerReport {
  reportId: string;
  caseId: string;
  airport: string;
  kind?: CaseKind;
  groupId: string;
  category: ProblemCategory;
  text: string;
  /** Whose session it was; absent: of nobody who is in the group. */
  passengerUrn?: string;
  /** ISO 8601 UTC. */
  at: string;
}
