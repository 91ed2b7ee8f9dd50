/** Owns the buckets' documents: the only writes to them, and reading a figure out of them. */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "mongodb";
import type { KpiName } from "../../schemas/metrics.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import { cameInAt, type Facts, join, type Noted } from "./facts.ts";
import { type Figures, figuresOf, measures } from "./figures.ts";
import { headOf } from "./generations.ts";

/** What one case adds to one hour at its airport. */
export interface Bucket {
  _id: string;
  generation: number;
  hour: Date;
  /** Absent until an event has named it. */
  airport?: string;
  caseId: string;
  facts: Facts;
  figures: Figures;
  /** Guards the write. */
  revision: number;
}

/** By generation and hour a series is read; its airport is looked at in what that finds. */
export const bucketIndexes = [{ name: "hours", key: { generation: 1, hour: 1, airport: 1 } }] as const;

const duplicateKey = 11000;
/** Each lost race means that another process went on; past this many the event is delivered again. */
const racesMax = 50;

export const bucketsOf = (documents: TenantDocuments): Collection<Bucket> =>
  documents.collection<Bucket>("metricsBuckets");

/** Facts with the same key belong to the same bucket. */
export const bucketKey = ({ hour, caseId }: Pick<Noted, "hour" | "caseId">): string =>
  `${hour.toISOString()}/${caseId}`;

/**
 * Joins facts into their bucket, in one write that only counts on the state it has read; facts that stand change nothing.
 * @param noted of one bucket; not empty
 * @returns whether anything was new
 */
export const joinInto = async (
  documents: TenantDocuments,
  generation: number,
  noted: readonly Noted[],
): Promise<boolean> => {
  const [first] = noted as [Noted];
  const { caseId, hour } = first;
  const buckets = bucketsOf(documents);
  const _id = `${generation}/${bucketKey(first)}`;
  const told = noted.find((one) => one.airport !== undefined)?.airport;
  for (let race = 0; race < racesMax; race++) {
    const found = await buckets.findOne({ _id });
    const facts = noted.reduce<Facts>((all, one) => join(all, one.facts), found?.facts ?? {});
    const airport = found?.airport ?? told;
    if (found !== null && airport === found.airport && isDeepStrictEqual(facts, found.facts)) return false;
    const figures = figuresOf(facts, cameInAt(caseId) as Date);
    const place = airport === undefined ? {} : { airport };
    if (found === null) {
      const bucket = { _id, generation, hour, ...place, caseId, facts, figures, revision: 1 };
      if (await inserted(buckets, bucket)) return true;
      continue;
    }
    const { matchedCount } = await buckets.updateOne(
      { _id, revision: found.revision },
      { $set: { facts, figures, ...place, revision: found.revision + 1 } },
    );
    if (matchedCount === 1) return true;
  }
  throw new Error(`others keep writing to the bucket ${_id}`);
};

const inserted = async (buckets: Collection<Bucket>, bucket: Bucket): Promise<boolean> => {
  try {
    await buckets.insertOne(bucket);
    return true;
  } catch (error) {
    if ((error as { code?: number }).code !== duplicateKey) throw error;
    return false;
  }
};

/** @param from the first hour @param to not this one any more */
export interface Span {
  from: Date;
  to: Date;
  airport?: string;
}

/** As much of each bucket as the figure needs. A rebuild that ends meanwhile takes the buckets away: then it is read again. */
export const readBuckets = async (
  documents: TenantDocuments,
  kpi: KpiName,
  { from, to, airport }: Span,
): Promise<Pick<Bucket, "hour" | "figures">[]> => {
  const fields = measures[kpi].reads.map((name) => [`figures.${name}`, 1] as const);
  const filter = { hour: { $gte: from, $lt: to }, ...(airport === undefined ? {} : { airport }) };
  for (;;) {
    const { generation } = await headOf(documents);
    const found = await bucketsOf(documents)
      .find({ generation, ...filter }, { hint: "hours", batchSize: 1000 })
      .project<Pick<Bucket, "hour" | "figures">>({ _id: 0, hour: 1, ...Object.fromEntries(fields) })
      .toArray();
    if ((await headOf(documents)).generation === generation) return found;
  }
};
