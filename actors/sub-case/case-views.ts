/** Owns what a case's readers see of its sub-cases, kept by revision: a case on a wall screen is read far more often than it changes. */
import { LRUCache } from "lru-cache";
import type { Collection, Document } from "mongodb";
import type { CaseView, ReservationView } from "../../schemas/case.ts";
import { isLive } from "../../schemas/lock.ts";
import { loadedOf } from "../runtime/store.ts";
import type { SubCaseState } from "./state.ts";
import { groupView, reservationView } from "./view.ts";

interface Kept {
  revision: number;
  group: CaseView["passengerGroups"][number];
  reservation: ReservationView | undefined;
}

/** A few kilobytes each; the largest manifest that is taken, and the rest of an airport's worst night beside it. */
const viewsMax = 12_000;

/** A lock may have lapsed since, and its timer not have come by. */
const asOf = (now: Date, kept: Kept): Kept => {
  const { lockExpiresAt } = kept.group;
  if (typeof lockExpiresAt !== "string" || isLive({ expiresAt: lockExpiresAt }, now)) return kept;
  return { ...kept, group: { ...kept.group, lockedBy: null, lockExpiresAt: null } };
};

export class CaseViews {
  readonly #kept: LRUCache<string, Kept>;
  readonly #schemaVersion: number;

  /** @param max groups that are kept; a case of more is read in part each time, and shown whole */
  constructor(schemaVersion: number, max = viewsMax) {
    this.#kept = new LRUCache({ max });
    this.#schemaVersion = schemaVersion;
  }

  /** In the order of ids. Which revisions stand is always asked; only what has changed is read whole. */
  async of(collection: Collection<Document>, caseId: string, now: Date): Promise<Kept[]> {
    const heads = await collection
      .find({ caseId }, { projection: { revision: 1 } })
      .sort({ _id: 1 })
      .toArray();
    // Taken out before anything is read: what is kept then may push others of this case out.
    const views = new Map<string, Kept>();
    const changed: unknown[] = [];
    for (const { _id, revision } of heads) {
      const kept = this.#kept.get(String(_id));
      if (kept !== undefined && kept.revision === revision) views.set(String(_id), kept);
      else changed.push(_id);
    }
    if (changed.length > 0) {
      const ids = changed as never[];
      const found = collection.find({ _id: { $in: ids } }, { projection: { handled: 0, outbox: 0 } });
      for await (const document of found) views.set(String(document._id), this.#keep(document, now));
    }
    return heads.flatMap(({ _id }) => {
      const kept = views.get(String(_id));
      return kept === undefined ? [] : [asOf(now, kept)];
    });
  }

  #keep(document: Document, now: Date): Kept {
    const { state, meta } = loadedOf<SubCaseState>(document, { schemaVersion: this.#schemaVersion });
    const group = groupView(state, now);
    const kept = { revision: meta.revision, group, reservation: reservationView(state) };
    this.#kept.set(meta._id, kept);
    return kept;
  }
}
