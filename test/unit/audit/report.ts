// Reports of changes as the runtime's messages carry them, and an airline's trail on a document server of the test's own.
import { MongoClient } from "mongodb";
import type { Test } from "tap";
import { type Report, reportOf } from "../../../actors/audit/entry.ts";
import { auditIndexes } from "../../../actors/audit/queries.ts";
import { Appender, type Trail, trailOf } from "../../../actors/audit/trail.ts";
import type { Faults } from "../../../actors/runtime/faults.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { startDocuments } from "../../harness/processes.ts";

export const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const began = Date.UTC(2026, 10, 21, 22);

/** The n-th change of a night, a minute after the one before. */
export const eventOf = (n: number, more: Partial<EventRecord> = {}, data: object = {}): EventRecord => ({
  urn: `urn:event:XN-01KAMVW9G0${String(n).padStart(16, "0")}`,
  type: "audit.recorded",
  occurred_at: new Date(began + n * 60_000).toISOString(),
  tenant: "urn:airline:XN",
  case_urn: `urn:case:${caseId}`,
  correlation_urn: `urn:correlation:${n}`,
  traceparent: "",
  ...more,
  data: {
    entityUrn: `urn:case:${caseId}`,
    action: "case.close",
    principal: "urn:user:ana",
    surface: "operator",
    role: "OPS_SUPERVISOR",
    airport: "JFK",
    reason: `Change ${n}`,
    before: { status: "OPEN", n },
    after: { status: "CLOSED", n },
    ...data,
  },
});

export const report = (n: number, more: Partial<EventRecord> = {}, data: object = {}): Report => {
  const made = reportOf(eventOf(n, more, data));
  if (made === undefined) throw new Error("no report");
  return made;
};

export interface TrailUnderTest {
  client: MongoClient;
  databasePrefix: string;
  trail: Trail;
  /** One process's. */
  appender(faults?: Faults): Appender;
  /** Of the case `caseId` unless told. */
  write(reports: readonly Report[]): Promise<void>;
  clear(): Promise<void>;
}

export async function openTrail(t: Test): Promise<TrailUnderTest> {
  const { url, databasePrefix } = await startDocuments(t);
  const client = await MongoClient.connect(url, { ignoreUndefined: true });
  t.teardown(() => client.close());
  const database = client.db(`${databasePrefix}_XN`);
  const documents = { tenant: "XN", collection: (name: string) => database.collection(name) } as never;
  const trail = trailOf(documents);
  await trail.entries.createIndexes([...auditIndexes] as never);
  const appender: TrailUnderTest["appender"] = (faults = () => undefined) =>
    new Appender(() => documents, faults);
  return {
    client,
    databasePrefix,
    trail,
    appender,
    write: async (reports) => {
      const writer = appender();
      await Promise.all(reports.map((one) => writer.append("XN", one)));
    },
    clear: async () => {
      await trail.entries.deleteMany({});
      await trail.heads.deleteMany({});
    },
  };
}
