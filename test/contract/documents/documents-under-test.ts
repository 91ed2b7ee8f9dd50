/** Owns which document server the contract suite runs on: the embedded one, or the one that MONGODB_URL names. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Db, type Document, MongoClient } from "mongodb";
import { startDocumentServer } from "../../../scripts/embedded/documents/server.ts";
import { mongodbUrl } from "../../harness/environment.ts";

/** `documentdb` is PostgreSQL's DocumentDB extension behind a gateway, which has gaps of its own. */
export type Kind = "embedded" | "mongodb" | "documentdb";

/** Documents whose ids the tests choose. */
export interface AnyDocument extends Document {
  _id?: number | string;
}

export interface DocumentsUnderTest {
  url: string;
  kind: Kind;
  client: MongoClient;
  /** A database of this run alone. */
  database: Db;
}

interface Test {
  teardown(fn: () => Promise<void>): void;
}

/** Opens the server under test for the length of `t`; its database is dropped at the end. */
export async function openDocuments(t: Test, ttlMs?: number): Promise<DocumentsUnderTest> {
  const dir = mongodbUrl ? undefined : mkdtempSync(path.join(tmpdir(), "stopover-documents-"));
  const server = dir ? await startDocumentServer({ dir, port: 0, ...(ttlMs ? { ttlMs } : {}) }) : undefined;
  const url = mongodbUrl ?? server!.url;
  const client = await new MongoClient(url, { maxPoolSize: 40 }).connect();
  const database = client.db(`contract_${randomUUID().replaceAll("-", "")}`);
  t.teardown(async () => {
    await database.dropDatabase();
    await client.close();
    await server?.close();
    if (dir) rmSync(dir, { recursive: true });
  });
  return { url, kind: await kindOf(client), client, database };
}

async function kindOf(client: MongoClient): Promise<Kind> {
  const build = await client.db("admin").command({ buildInfo: 1 });
  if (build.embeddedDocumentServer) return "embedded";
  return JSON.stringify(build).includes("documentdb") ? "documentdb" : "mongodb";
}

/** The stages of a plan from the outermost in, each as its name and, where it has one, its index. */
export function stagesOf(explained: Document): string[] {
  const stages: string[] = [];
  for (let plan = explained.queryPlanner.winningPlan; plan; plan = plan.inputStage) {
    stages.push(plan.indexName ? `${plan.stage} ${plan.indexName}` : plan.stage);
  }
  return stages;
}

/** The index that a find reads, `_id_` for the collection's own, undefined if it reads everything. */
export function indexOf(explained: Document): string | undefined {
  const stages = stagesOf(explained);
  if (stages.some((stage) => /^(IDHACK|CLUSTERED_IXSCAN|EXPRESS_IXSCAN)/.test(stage))) return "_id_";
  return stages.find((stage) => stage.startsWith("IXSCAN "))?.slice("IXSCAN ".length);
}

/** The error of an operation that must fail. */
export async function errorOf(operation: Promise<unknown>): Promise<Document> {
  try {
    await operation;
  } catch (error) {
    return error as Document;
  }
  throw new Error("the operation was expected to fail");
}
