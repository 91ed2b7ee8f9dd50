/** Owns bringing noted facts into the generation that counts: what comes for a bucket while it is written to is written together next. */
import type { TenantDocuments } from "../runtime/documents.ts";
import type { Faults } from "../runtime/faults.ts";
import { bucketKey, joinInto } from "./buckets.ts";
import type { Noted } from "./facts.ts";
import { headOf } from "./generations.ts";

/** Facts that are written in one go. */
const batchMax = 256;

interface Waiting {
  noted: Noted;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Of one process. */
export class Projector {
  readonly #lines = new Map<string, Waiting[]>();
  readonly #documents: (tenant: string) => TenantDocuments;
  readonly #faults: Faults;

  constructor(documents: (tenant: string) => TenantDocuments, faults: Faults) {
    this.#documents = documents;
    this.#faults = faults;
  }

  /** Resolves once the facts stand. The same ones again change nothing. */
  note(tenant: string, noted: Noted): Promise<void> {
    const key = `${tenant}/${bucketKey(noted)}`;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { noted, resolve, reject };
      const line = this.#lines.get(key);
      if (line !== undefined) {
        line.push(waiting);
        return;
      }
      this.#lines.set(key, [waiting]);
      void this.#work(key, this.#documents(tenant));
    });
  }

  /** Never rejects: a failure is told to each who waits. */
  async #work(key: string, documents: TenantDocuments): Promise<void> {
    const line = this.#lines.get(key) ?? [];
    while (line.length > 0) {
      const batch = line.splice(0, batchMax);
      try {
        // Asked for each batch: a rebuild that has ended looks once more through all that was delivered before.
        const { generation } = await headOf(documents);
        const isNew = await joinInto(
          documents,
          generation,
          batch.map(({ noted }) => noted),
        );
        if (isNew) this.#faults("after-commit", "metrics.note");
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#lines.delete(key);
  }
}
