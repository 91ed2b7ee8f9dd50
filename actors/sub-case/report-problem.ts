/** Owns passengers' reports of a problem: how many a group may make, and the word of them to the operators' desk. */
import { createHash } from "node:crypto";
import {
  type PassengerReport,
  type ProblemReported,
  type ReportProblemBody,
  readable,
} from "../../schemas/passenger-problem.ts";
import { isSessionOf } from "../../schemas/passenger-session.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import type { PassengerEvent, ReportedProblem } from "./passenger-state.ts";
import type { Story } from "./saga.ts";
import type { SubCaseState } from "./state.ts";

const dayMs = 86_400_000;
/** Of one group in a day: who has more to say needs a person on the phone. */
const reportsMax = 10;

const digestOf = ({ category, text }: ReportProblemBody): string =>
  createHash("sha256")
    .update(`${category}\n${readable(text)}`)
    .digest("base64url")
    .slice(0, 22);

const ofLastDay = ({ problems = [] }: Pick<SubCaseState, "problems">, now: Date): ReportedProblem[] =>
  problems.filter(({ at }) => at.getTime() > now.getTime() - dayMs);

/**
 * The same words again within a day are the same report.
 * @throws Problem validation/body, rate/exceeded
 */
export const reportProblem = (story: Story, { data, principal }: Received): void => {
  const body = data as ReportProblemBody;
  const text = readable(body.text);
  if (text === "")
    throw new Problem("validation/body", "Say in a few words what the problem is.", {
      errors: [{ pointer: "/text", detail: "holds nothing that can be read" }],
    });
  const { state, now } = story;
  const digest = digestOf(body);
  const recent = ofLastDay(state, now);
  if (recent.some((one) => one.digest === digest)) return;
  const [first] = recent;
  if (first !== undefined && recent.length >= reportsMax)
    throw new Problem(
      "rate/exceeded",
      "Your reports are being worked on. Call your airline if it is urgent.",
      {
        retryAfterSeconds: Math.ceil((first.at.getTime() + dayMs - now.getTime()) / 1000),
      },
    );
  const who = state.passengers.find(({ urn }) => isSessionOf(principal.urn, urn));
  const problems = [...recent, { at: now, category: body.category, digest }];
  story.tell({
    type: "subcase.problem-reported",
    data: { problems, text, ...(who === undefined ? {} : { passengerUrn: who.urn }) },
  });
};

/** To the desk of the case's airport. */
export const problemReported = (
  { subCaseId, caseId, groupId, airport, kind }: SubCaseState,
  { problems, text, passengerUrn }: Extract<PassengerEvent, { type: "subcase.problem-reported" }>["data"],
): Outgoing[] => {
  const { at, category, digest } = problems.at(-1) as ReportedProblem;
  const data: PassengerReport = {
    reportId: `${subCaseId}.${at.getTime()}.${digest}`,
    caseId,
    airport,
    ...(kind === undefined ? {} : { kind }),
    groupId,
    category,
    text,
    ...(passengerUrn === undefined ? {} : { passengerUrn }),
    at: at.toISOString(),
  };
  return [{ to: "command", name: "review.report-problem", entity: "", data }];
};

/** The answer, also to the same words said again. */
export const reportView = (state: SubCaseState, { data }: { data: unknown }, now: Date): ProblemReported => {
  const body = data as ReportProblemBody;
  const digest = digestOf(body);
  const { at } = (state.problems ?? []).findLast((one) => one.digest === digest) ?? { at: now };
  return { category: body.category, reportedAt: at.toISOString() };
};
