// What is kept of a case's groups is never older than what stands, on a real document server.
import type { Document } from "mongodb";
import t from "tap";
import { openDocuments } from "../../../actors/runtime/documents.ts";
import { CaseViews } from "../../../actors/sub-case/case-views.ts";
import type { SubCaseState } from "../../../actors/sub-case/state.ts";
import { evening, folded } from "../../harness/given.ts";
import { startDocuments } from "../../harness/processes.ts";
import { caseId, opened, rules } from "./group-story.ts";

const server = await startDocuments(t);
const documents = await openDocuments(server.url, server.databasePrefix);
t.teardown(() => documents.close());
const collection = documents.tenant("XN").collection<Document>("subCases");

const stand = async (groupId: string, ofCase = caseId) => {
  const _id = `XN-${groupId}`;
  const state = folded(rules, [opened()]) as SubCaseState;
  const meta = { _id, revision: 1, version: 1, schemaVersion: 1, handled: [], outbox: [], outboxCount: 0 };
  await collection.insertOne({ ...state, ...meta, caseId: ofCase, groupId } as never);
};
const statuses = async (views: CaseViews) =>
  (await views.of(collection, caseId, evening)).map(
    ({ group }) => `${group.groupId} ${group.operationalStatus}`,
  );

t.test("a read shows what stands, however often it was read before", async (t) => {
  await Promise.all([stand("B"), stand("A"), stand("C", "XN-OTHER")]);
  const views = new CaseViews(1);
  t.strictSame(await statuses(views), ["A PENDING", "B PENDING"], "of this case alone, in the order of ids");
  t.strictSame(await statuses(views), ["A PENDING", "B PENDING"], "from what is kept");

  const change = { $set: { status: "NOT_REQUIRED", revision: 2 } };
  await collection.updateOne({ _id: "XN-A" as never }, change);
  t.strictSame(await statuses(views), ["A LOCAL_RESIDENT", "B PENDING"], "a change is seen at once");

  await stand("D");
  await collection.deleteOne({ _id: "XN-B" as never });
  t.strictSame(await statuses(views), ["A LOCAL_RESIDENT", "D PENDING"], "what came and what went, too");
  t.strictSame(
    await statuses(new CaseViews(1)),
    ["A LOCAL_RESIDENT", "D PENDING"],
    "another process sees the same",
  );
});

t.test("a case of more groups than are kept is shown whole", async (t) => {
  await stand("E");
  const views = new CaseViews(1, 2);
  const all = ["A LOCAL_RESIDENT", "D PENDING", "E PENDING"];
  for (const time of ["first", "second", "third"]) t.strictSame(await statuses(views), all, time);
});
