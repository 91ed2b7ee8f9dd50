/** Owns writing the trail: entries are appended to their chains, whoever else appends, and never changed. Reading is `queries.ts`. */
import type { Collection } from "mongodb";
import { Batches, doneTogether } from "../runtime/batches.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import type { Faults } from "../runtime/faults.ts";
import { type ChainHead, chainOf, linkTo, origin, type Tip } from "./chain.ts";
import type { AuditEntry, Report } from "./entry.ts";

const duplicateKey = 11000;
/** Entries that are bound and written in one go. */
const batchMax = 64;
/** Each lost race means that another process went on; past this many the report is delivered again. */
const racesMax = 50;

export interface Trail {
  entries: Collection<AuditEntry>;
  heads: Collection<ChainHead>;
}

export const trailOf = (documents: TenantDocuments): Trail => ({
  entries: documents.collection<AuditEntry>("audit"),
  heads: documents.collection<ChainHead>("auditHeads"),
});

/** Of one process: what comes for the same chain while it is written to is written together next. */
export class Appender {
  readonly #batches = new Batches<Report>(batchMax);
  readonly #documents: (tenant: string) => TenantDocuments;
  readonly #faults: Faults;

  constructor(documents: (tenant: string) => TenantDocuments, faults: Faults) {
    this.#documents = documents;
    this.#faults = faults;
  }

  /** Resolves once the entry stands and its chain's head knows of it. The same report again changes nothing. */
  append(tenant: string, report: Report): Promise<void> {
    const chain = chainOf(tenant, report);
    return this.#batches.add(
      `${tenant}/${chain}`,
      report,
      doneTogether((reports) => appendAll(trailOf(this.#documents(tenant)), chain, reports, this.#faults)),
    );
  }
}

/**
 * Binds each report to the entry before it and inserts it; then tells the head, which heals what a process left that died
 * in between.
 */
const appendAll = async (
  trail: Trail,
  chain: string,
  reports: readonly Report[],
  faults: Faults,
): Promise<void> => {
  for (let race = 0; race < racesMax; race++) {
    const fresh = await notYetThere(trail, reports);
    const tip = await tipOf(trail, chain);
    const entries = boundTo(tip, chain, fresh);
    if (!(await insertAll(trail, entries))) continue;
    faults("after-commit", "audit.recorded");
    await tellHead(trail, chain, entries.at(-1) ?? tip);
    return;
  }
  throw new Error(`others keep appending to ${chain}`);
};

const notYetThere = async ({ entries }: Trail, reports: readonly Report[]): Promise<Report[]> => {
  const byId = new Map(reports.map((report) => [report._id, report]));
  const standing = entries.find({ _id: { $in: [...byId.keys()] } }, { projection: { _id: 1 } });
  for (const { _id } of await standing.toArray()) byId.delete(_id);
  return [...byId.values()];
};

/** Where a head is ahead of the entries, some were cut off: going on behind the head keeps the gap to be seen. */
const tipOf = async ({ entries, heads }: Trail, chain: string): Promise<Tip> => {
  const [head, last] = await Promise.all([
    heads.findOne({ _id: chain }),
    entries.findOne(
      { chain },
      { sort: { sequence: -1 }, projection: { sequence: 1, digest: 1 }, hint: "chain" },
    ),
  ]);
  const told = head ?? origin;
  return last === null || last.sequence < told.sequence ? told : last;
};

const boundTo = (tip: Tip, chain: string, reports: readonly Report[]): AuditEntry[] => {
  let before = tip;
  return reports.map((report) => {
    const entry = linkTo(before, chain, report);
    before = entry;
    return entry;
  });
};

/** False when another process was first at a place, or with the same report; what comes before that in the order stands. */
const insertAll = async ({ entries }: Trail, bound: readonly AuditEntry[]): Promise<boolean> => {
  if (bound.length === 0) return true;
  try {
    await entries.insertMany([...bound], { ordered: true });
    return true;
  } catch (error) {
    if ((error as { code?: number }).code !== duplicateKey) throw error;
    return false;
  }
};

/** Forwards only. */
const tellHead = async ({ heads }: Trail, chain: string, { sequence, digest }: Tip): Promise<void> => {
  if (sequence === 0) return;
  const forward = async (): Promise<boolean> => {
    const behind = { _id: chain, sequence: { $lt: sequence } };
    return (await heads.updateOne(behind, { $set: { sequence, digest } })).matchedCount === 1;
  };
  if (await forward()) return;
  try {
    await heads.insertOne({ _id: chain, sequence, digest });
  } catch (error) {
    if ((error as { code?: number }).code !== duplicateKey) throw error;
    // It stands: as far already, or set this moment by another process that has not come as far.
    await forward();
  }
};
