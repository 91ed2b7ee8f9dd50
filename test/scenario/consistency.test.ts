// `scripts/admin check` at an instance after a real night, and after its documents were tampered with: silent about what has an
// owner, and naming each passenger who has none and each thing that is left lying.
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { Document } from "mongodb";
import t from "tap";
import type { GroupHead } from "../../actors/case/state.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Consistency } from "../../scripts/administration/consistency.ts";
import { publish } from "../../streams/publish.ts";
import { commandSubject, deadSubject } from "../../streams/subjects.ts";
import { untilQuiet } from "../fault/agreement.ts";
import { smallFlight, startInstance } from "../harness/instance.ts";

const run = promisify(execFile);
const program = resolve(import.meta.dirname, "../../scripts/admin.ts");
const night = await startInstance(t);
const [xn] = night.airlines;
const { caseUrn } = await night.push(xn, smallFlight("XN", "check", 8));
await night.events.untilCount("subcase.offer-ready", 8, { caseUrn });
await untilQuiet(night, "XN");
const stored = (name: string) => night.documents.tenant("XN").collection<Document & { _id: string }>(name);

interface Checked {
  code: number;
  stdout: string;
}
/** With nothing else in its environment: --data and the prefix alone say where. */
const check = async (...args: string[]): Promise<Checked> => {
  const environment = ["-i", `DATABASE_PREFIX=${night.databasePrefix}`];
  const command = [...environment, process.execPath, program, "check", "--data", night.dataDir, ...args];
  try {
    return { code: 0, stdout: (await run("/usr/bin/env", command)).stdout };
  } catch (error) {
    if (typeof (error as Checked).code !== "number") throw error;
    return error as Checked;
  }
};
const checked = async (): Promise<{ code: number; result: Consistency }> => {
  const { code, stdout } = await check("--json");
  return { code, result: JSON.parse(stdout) as Consistency };
};
const found = ({ findings }: Consistency): string[] =>
  findings.map(({ kind, tenant, about, detail }) => `${kind} ${tenant} ${about}: ${detail}`).sort();

t.test("after a night that went well nothing is found", async (t) => {
  const { code, result } = await checked();
  t.strictSame(result, { findings: [], seen: { tenants: 2, openCases: 1, passengers: 11 } });
  t.equal(code, 0);
  t.strictSame(await check(), {
    code: 0,
    stdout: "consistent: 2 airlines, 1 open cases, 11 passengers\n",
  });
});

t.test("what is missing or left lying is named, each by itself", async (t) => {
  await night.services[0]?.stop();
  const kept = await stored("cases").findOne({ _id: idOf(caseUrn) });
  const groups = (kept?.groups ?? []) as GroupHead[];
  t.equal(groups.length, 8);
  const [removed, failed, asleep, short, waiting, outbox, timer] = groups.map(
    ({ subCaseId }) => subCaseId,
  ) as [string, string, string, string, string, string, string];
  const tamper = (_id: string, change: Document) => stored("subCases").updateOne({ _id }, change);
  const longAgo = new Date(Date.now() - 120_000);
  await stored("subCases").deleteOne({ _id: removed });
  await tamper(failed, { $set: { status: "FAILED" } });
  await tamper(asleep, { $set: { status: "PROCESSING" }, $unset: { nextDueAt: "" } });
  await tamper(short, {
    $set: { passengers: [(await stored("subCases").findOne({ _id: short }))?.passengers[0]] },
  });
  await tamper(waiting, { $set: { status: "PENDING" }, $unset: { assignment: "" } });
  await tamper(outbox, { $set: { pendingSince: longAgo } });
  await tamper(timer, { $set: { nextDueAt: longAgo } });
  await publish(night.streams, {
    subject: deadSubject("XN", "case", "note-group"),
    payload: "{}",
    messageId: "dead of the test",
    headers: {
      "Stopover-Subject": commandSubject("XN", "case.note-group", idOf(caseUrn)),
      "Stopover-Reason": "It is broken.",
      "Stopover-Consumer": "case",
    },
  });
  const ofGroup = (index: number, detail: string) =>
    `no-owner XN ${urn("case", idOf(caseUrn))} group ${groups[index]?.groupId}: ${detail}`;
  const lying = [
    `dead-letter XN dead letter 1: case put aside cmd.XN.case.note-group.${idOf(caseUrn)}: It is broken.`,
    `outbox XN subCases ${outbox}: messages wait in its outbox since ${longAgo.toISOString()}.`,
    `timer XN subCases ${timer}: a timer was due at ${longAgo.toISOString()}.`,
  ];
  const lost = [
    ofGroup(0, "2 passengers: handed over by the case, and no sub-case has them."),
    ofGroup(3, "2 passengers: the case counts 2, the sub-case 1."),
  ];
  const unowned = [
    ofGroup(1, "1 passenger: FAILED without a review item."),
    ofGroup(2, "1 passenger: PROCESSING, and nothing will wake the sub-case."),
    ofGroup(4, "1 passenger: PENDING, and neither planning, a demand, a wave nor a person is at work on it."),
  ];
  const tampered = await checked();
  t.strictSame(found(tampered.result), [...lying, ...lost, ...unowned].sort());
  t.equal(tampered.code, 1, "findings are a failure");
  const { stdout } = await check();
  t.match(stdout, /^WHAT +AIRLINE +WHERE +DETAIL\n/);
  t.match(stdout, /\n8 findings in 2 airlines, 1 open cases, 11 passengers\n$/);

  // An owner that is only on its way is one.
  const opening = { data: { caseId: idOf(caseUrn), affectedGroups: [groups[1]?.groupId] } };
  const subject = commandSubject("XN", "review.open", "");
  await tamper(failed, { $push: { outbox: { n: 999, subject, payload: JSON.stringify(opening) } } });
  await tamper(asleep, { $set: { nextDueAt: new Date(Date.now() + 600_000) } });
  const assign = {
    subject: commandSubject("XN", "sub-case.assign", waiting),
    payload: "{}",
    messageId: "assign",
  };
  await publish(night.streams, assign);
  t.strictSame(found((await checked()).result), [...lying, ...lost].sort());
});
