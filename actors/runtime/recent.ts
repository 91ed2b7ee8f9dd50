/** Owns what this process has last written of its entities, so that commands that follow each other needn't read it again. */
import { LRUCache } from "lru-cache";
import type { Loaded } from "./store.ts";

/**
 * It may be older than the document, since other processes write, too. A commit on it is safe: the compare-and-set fails
 * then. Whatever else a decision says of it has to be asked of the document itself.
 */
export class Recent<State extends object> {
  readonly #entities: LRUCache<string, Loaded<State>> | undefined;

  /** Of the entities written last, so many; what falls out is read from its document. */
  constructor(entitiesMax: number) {
    this.#entities = entitiesMax === 0 ? undefined : new LRUCache({ max: entitiesMax });
  }

  /** Is no longer kept: whoever took it puts back what it has written. */
  take(tenant: string, entity: string): Loaded<State> | undefined {
    const key = `${tenant}/${entity}`;
    const found = this.#entities?.get(key);
    this.#entities?.delete(key);
    return found;
  }

  put(tenant: string, loaded: Loaded<State>): void {
    this.#entities?.set(`${tenant}/${loaded.meta._id}`, loaded);
  }

  /** Entries of the outbox that are in their streams are not for the next relay to bring. */
  published(tenant: string, entity: string, upTo: number): void {
    const key = `${tenant}/${entity}`;
    const found = this.#entities?.peek(key);
    if (found === undefined) return;
    const outbox = found.meta.outbox.filter(({ n }) => n > upTo);
    this.#entities?.set(key, { ...found, meta: { ...found.meta, outbox } });
  }
}
