// How far a group's saga is, what is said of the step that waits, and a case's sagas as an operator follows them, on a real
// document server.
import type { Document } from "mongodb";
import t from "tap";
import { openDocuments } from "../../../actors/runtime/documents.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { ProgressTotals, progressItem, progressOf, stepMessage } from "../../../actors/sub-case/progress.ts";
import { collection, subCaseIndexes, subCaseQueries } from "../../../actors/sub-case/queries.ts";
import {
  type Call,
  forwardSteps,
  rollbackSteps,
  type Step,
  type StepRecord,
  type SubCaseState,
} from "../../../actors/sub-case/state.ts";
import type { Query } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { startDocuments } from "../../harness/processes.ts";

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 21, 22, 0, second));

const callOf = (step: Step, more: Partial<Call> = {}): Call => ({
  step,
  verb: "hold",
  vendor: "stayhub",
  reference: "XN-1.room.1",
  request: { leadGuest: "Ada" },
  tries: 1,
  doubt: false,
  postponed: false,
  dueAt: at(50),
  ...more,
});

const begun = (name: Step, second = 0): StepRecord => ({
  stepId: `XN-STEP${name}${second}`.toUpperCase(),
  name,
  startedAt: at(second),
});
const ended = (name: Step, result: NonNullable<StepRecord["result"]> = "DONE", second = 0): StepRecord => ({
  ...begun(name, second),
  completedAt: at(second + 1),
  result,
  ...(result === "DONE" ? {} : { detail: "SOLD_OUT" }),
});

type Shown = Pick<SubCaseState, "subCaseId" | "groupId" | "status" | "call" | "steps">;
const groupOf = (status: SubCaseState["status"], steps: StepRecord[], call?: Call): Shown => ({
  subCaseId: "XN-1",
  groupId: "G1",
  status,
  steps,
  ...(call === undefined ? {} : { call }),
});

t.test("how far a saga is", async (t) => {
  for (const [status, steps, call, expected] of [
    ["PENDING", [], undefined, 0],
    ["PROCESSING", [], undefined, 0],
    ["PROCESSING", [begun("hold")], callOf("hold"), 0],
    ["PROCESSING", [ended("hold"), begun("book")], callOf("book"), 2 / 8],
    ["PROCESSING", [ended("hold"), ended("book", "REFUSED"), begun("hold")], callOf("hold"), 0],
    ["PROCESSING", [ended("voucher"), begun("card")], callOf("card"), 4 / 8],
    ["PROCESSING", [ended("card", "REFUSED"), begun("notify")], callOf("notify"), 6 / 8],
    ["PROCESSING", [ended("pay"), begun("cancel-payment")], callOf("cancel-payment"), 0],
    ["PROCESSING", [ended("hold"), ended("book")], undefined, 2 / 8],
    ["OFFER_READY", [ended("notify")], undefined, 1],
    ["ROLLING_BACK", [ended("notify")], undefined, 0],
    ["ROLLING_BACK", [begun("cancel-transport")], callOf("cancel-transport"), 0],
    ["ROLLING_BACK", [ended("void-voucher"), begun("cancel-room")], callOf("cancel-room"), 3 / 5],
    ["RESOLVED", [], undefined, 1],
    ["DECLINED", [ended("cancel-room")], undefined, 1],
    ["FAILED", [ended("hold", "REFUSED")], undefined, 1],
    ["COMPENSATION_FAILED", [ended("cancel-room", "FAILED")], undefined, 1],
    ["NOT_REQUIRED", [], undefined, 1],
  ] as const) {
    const name = `${status} at ${call?.step ?? steps.at(-1)?.name ?? "nothing"}`;
    t.equal(
      progressOf({ status, steps: [...steps], ...(call === undefined ? {} : { call }) }),
      expected,
      name,
    );
  }
  for (const [status, steps] of [
    ["PROCESSING", forwardSteps],
    ["ROLLING_BACK", rollbackSteps],
  ] as const) {
    const shares = steps.map((step) => progressOf(groupOf(status, [begun(step)], callOf(step))));
    t.strictSame(shares, [...shares].sort(), `${status} only goes forward from step to step`);
    t.ok(shares.every((share) => share >= 0 && share < 1));
  }
});

t.test("what is said of a step that waits", async (t) => {
  for (const [more, expected] of [
    [{}, "stayhub has not answered; asked once"],
    [{ tries: 2 }, "stayhub has not answered; asked twice"],
    [{ tries: 3, doubt: true }, "stayhub has not answered; asked 3 times"],
    [{ tries: 1, postponed: true }, "stayhub could not take it; asked once, and will be asked again"],
    [{ tries: 8, doubt: true, postponed: true }, "stayhub does not say whether it was done; asked 8 times"],
  ] as const)
    t.equal(stepMessage(callOf("hold", more)), expected);
});

t.test("a group's row", async (t) => {
  const hold = ended("hold", "REFUSED");
  const again = begun("hold", 2);
  const call = callOf("hold", { tries: 3, doubt: true });
  t.strictSame(progressItem(groupOf("PROCESSING", [hold, again], call), at(3)), {
    subCaseUrn: "urn:sub-case:XN-1",
    groupId: "G1",
    status: "PROCESSING",
    progress: 0,
    steps: [
      {
        stepUrn: "urn:step:XN-STEPHOLD0",
        name: "hold",
        startedAt: at(0).toISOString(),
        completedAt: at(1).toISOString(),
        result: "REFUSED",
        detail: "SOLD_OUT",
      },
      { stepUrn: "urn:step:XN-STEPHOLD2", name: "hold", startedAt: at(2).toISOString() },
    ],
    waitingFor: { step: "hold", vendor: "stayhub", tries: 3, inDoubt: true, since: at(2).toISOString() },
    lockedBy: null,
    lockExpiresAt: null,
  });
  t.notOk(progressItem(groupOf("OFFER_READY", [hold]), at(3)).waitingFor, "nothing is waited for");
});

t.test("totals", async (t) => {
  t.strictSame(new ProgressTotals().of(0), { groups: [], steps: [] });
  const totals = new ProgressTotals();
  totals.add(groupOf("ROLLING_BACK", [ended("hold"), ended("book"), begun("cancel-room")]));
  totals.add(groupOf("PROCESSING", [ended("hold", "REFUSED"), ended("hold", "SKIPPED"), begun("hold")]));
  totals.add(groupOf("PENDING", []));
  const none = { underWay: 0, done: 0, refused: 0, skipped: 0, failed: 0 };
  t.strictSame(totals.of(5), {
    groups: [
      { status: "PENDING", count: 3 },
      { status: "PROCESSING", count: 1 },
      { status: "ROLLING_BACK", count: 1 },
    ],
    steps: [
      { ...none, name: "hold", started: 4, underWay: 1, done: 1, refused: 1, skipped: 1 },
      { ...none, name: "book", started: 1, done: 1 },
      { ...none, name: "cancel-room", started: 1, underWay: 1 },
    ],
  });
  t.strictSame(totals.of(2).groups[0], { status: "PENDING", count: 1 }, "a split makes more of them");
});

t.test("a case's progress, page by page", async (t) => {
  const server = await startDocuments(t);
  const documents = await openDocuments(server.url, server.databasePrefix);
  t.teardown(() => documents.close());
  const subCases = documents.tenant("XN").collection<Document>(collection);
  await subCases.createIndexes([...subCaseIndexes]);
  const caseId = "XN-01KAMVW9G0CASECASECASECASE";
  const caseUrn = `urn:case:${caseId}`;
  const stand = (i: number, ofCase: string, { status, steps, call }: Shown): Document => ({
    _id: `XN-${ofCase.slice(-1)}${i}` as never,
    revision: 1,
    version: 1,
    schemaVersion: 1,
    handled: [{ id: "a", at: at(0), version: 1 }],
    outbox: [],
    outboxCount: 0,
    subCaseId: `XN-${ofCase.slice(-1)}${i}`,
    caseId: ofCase,
    groupId: `G${i}`,
    status,
    steps,
    passengers: [{ urn: "urn:passenger:XN-A", lastName: "Lovelace" }],
    ...(call === undefined ? {} : { call }),
  });
  await subCases.insertMany([
    stand(1, caseId, groupOf("OFFER_READY", [ended("hold"), ended("book")])),
    stand(2, caseId, groupOf("PROCESSING", [ended("hold"), begun("book", 3)], callOf("book"))),
    stand(3, caseId, groupOf("PENDING", [])),
    stand(4, "XN-OTHER", groupOf("FAILED", [ended("hold", "REFUSED")])),
  ]);
  const asked: string[] = [];
  const context = {
    documents,
    clock: { now: () => at(60) },
    call: async (name: string, { params }: Query) => {
      asked.push(`${name} ${(params as { caseUrn: string }).caseUrn}`);
      if (params.caseUrn !== caseUrn) throw new Problem("not-found/resource", "No such case.");
      return { urn: caseUrn, status: "OPEN", subCaseCount: 4 };
    },
  } as unknown as ActorContext;
  const { progress } = subCaseQueries(context);
  const ask = (params: Record<string, unknown>) =>
    progress({ tenant: "XN", principal: { surface: "operator", tenant: "XN" }, params } as Query);
  const first = await ask({ caseUrn, limit: 2 });
  const counts = { underWay: 0, refused: 0, skipped: 0, failed: 0 };
  const summary = {
    caseUrn,
    status: "OPEN",
    groups: [
      { status: "PENDING", count: 2 },
      { status: "PROCESSING", count: 1 },
      { status: "OFFER_READY", count: 1 },
    ],
    steps: [
      { ...counts, name: "hold", started: 2, done: 2 },
      { ...counts, name: "book", started: 2, done: 1, underWay: 1 },
    ],
  };
  t.match(first, { ...summary, hasMore: true });
  t.match(first.items, [
    { groupId: "G1", progress: 1, steps: [{ name: "hold", result: "DONE" }, { name: "book" }] },
    { groupId: "G2", progress: 2 / 8, waitingFor: { step: "book", since: at(3).toISOString() } },
  ]);
  t.notMatch(JSON.stringify(first), /Lovelace|leadGuest/, "nothing of the guests");
  const second = await ask({ caseUrn, limit: 2, cursor: first.nextCursor });
  t.match(second, {
    ...summary,
    items: [{ groupId: "G3", steps: [], progress: 0 }],
    nextCursor: null,
    hasMore: false,
  });
  await t.rejects(
    ask({ caseUrn: "urn:case:XN-NONE" }),
    { code: "not-found/resource" },
    "the case's own refusal",
  );
  t.strictSame(asked, [`case.head ${caseUrn}`, `case.head ${caseUrn}`, "case.head urn:case:XN-NONE"]);
});
