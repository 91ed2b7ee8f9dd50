/** Owns which generation of buckets counts, and how far a rebuild of the next one has come. */
import type { Collection } from "mongodb";
import type { TenantDocuments } from "../runtime/documents.ts";

/** The streams that facts come from. */
export const logs = ["EVENTS", "INTERNAL"] as const;
export type LogName = (typeof logs)[number];
/** The last sequence whose facts stand, of each. */
export type Positions = Record<LogName, number>;

/** A rebuild under way. `log`: the next generation is being filled; `tail`: it counts, and what came meanwhile is looked through. */
export interface RebuildState {
  generation: number;
  phase: "log" | "tail";
  /** The first hour that the log still has as a whole; buckets of earlier ones are taken over as they stand. */
  wholeFrom: Date;
  takenOver: boolean;
  positions: Positions;
  startedAt: Date;
}

export interface Head {
  _id: "head";
  generation: number;
  rebuild?: RebuildState;
}

export const headsOf = (documents: TenantDocuments): Collection<Head> =>
  documents.collection<Head>("metricsHeads");

/** One that was never rebuilt has its first generation and no document. */
export const headOf = async (documents: TenantDocuments): Promise<Head> =>
  (await headsOf(documents).findOne({ _id: "head" })) ?? { _id: "head", generation: 1 };
