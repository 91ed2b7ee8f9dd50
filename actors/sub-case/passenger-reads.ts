/**
 * Owns the read that passengers' answers are made of: one of the group's document, which brings the document only where it is another than
 * the one that this process was brought last. They look twice a minute at what changes a few times a night.
 */
import { LRUCache } from "lru-cache";
import type { Collection, Document } from "mongodb";
import type { Principal } from "../../schemas/command.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { documentOf, movedTo } from "./sessions.ts";
import type { SubCaseState } from "./state.ts";

/** Some twenty kilobytes each. */
const keptMax = 500;
/** Nothing of how things came about is shown to them. */
const projection = { handled: 0, outbox: 0, steps: 0, compensations: 0, attemptedHotels: 0 };

export class PassengerReads {
  readonly #kept = new LRUCache<string, Loaded<SubCaseState>>({ max: keptMax });
  readonly #schemaVersion: number;

  constructor(schemaVersion: number) {
    this.#schemaVersion = schemaVersion;
  }

  /**
   * As it stands now: what is kept is only ever shown when the document says that it is still that. Groups are never deleted, so one that
   * is not found with another revision has the same.
   * @throws Problem not-found/resource
   */
  async of(subCases: Collection<Document>, principal: Principal): Promise<Loaded<SubCaseState>> {
    const { tenant, caseId, groupId, urn } = principal;
    const key = `${tenant}/${caseId}/${groupId}`;
    const kept = this.#kept.get(key);
    const changed = kept === undefined ? {} : { revision: { $ne: kept.meta.revision } };
    const found = await subCases.findOne({ caseId, groupId, ...changed }, { projection });
    const loaded = found === null ? kept : this.#load(found);
    // Who has moved, and who is in no group that is known, is looked for from the beginning.
    if (loaded === undefined || movedTo(loaded.state, urn) !== undefined)
      return this.#load(await documentOf(subCases, principal, projection));
    this.#kept.set(key, loaded);
    return loaded;
  }

  #load(document: Document): Loaded<SubCaseState> {
    return loadedOf<SubCaseState>(document, { schemaVersion: this.#schemaVersion });
  }
}
