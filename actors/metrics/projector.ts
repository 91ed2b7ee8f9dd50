/** Owns bringing noted facts into the generation that counts: what comes for a bucket within a moment is written together. */
import { Batches, doneTogether } from "../runtime/batches.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import type { Faults } from "../runtime/faults.ts";
import { bucketKey, joinInto } from "./buckets.ts";
import type { Noted } from "./facts.ts";
import { headOf } from "./generations.ts";

/** Facts that are written in one go. */
const batchMax = 256;
/** One write for a bucket in so long: figures are looked at by people. */
const gatherMs = 250;

/** Of one process. */
export class Projector {
  readonly #batches = new Batches<Noted>(batchMax, gatherMs);
  readonly #documents: (tenant: string) => TenantDocuments;
  readonly #faults: Faults;

  constructor(documents: (tenant: string) => TenantDocuments, faults: Faults) {
    this.#documents = documents;
    this.#faults = faults;
  }

  /** Resolves once the facts stand. The same ones again change nothing. */
  note(tenant: string, noted: Noted): Promise<void> {
    return this.#batches.add(
      `${tenant}/${bucketKey(noted)}`,
      noted,
      doneTogether(async (batch) => {
        const documents = this.#documents(tenant);
        // Asked for each batch: a rebuild that has ended looks once more through all that was delivered before.
        const { generation } = await headOf(documents);
        const isNew = await joinInto(documents, generation, batch);
        if (isNew) this.#faults("after-commit", "metrics.note");
      }),
    );
  }
}
