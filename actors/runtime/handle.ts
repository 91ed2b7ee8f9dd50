/** Owns the way of commands through an actor: load → decide → evolve → commit, again when another writer was first. */
import type { Collection, Document } from "mongodb";
import type { Logger } from "pino";
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { Batches } from "./batches.ts";
import type { Clock } from "./clock.ts";
import type { Change, Decider, DomainEvent, Timer } from "./decider.ts";
import type { TenantDocuments } from "./documents.ts";
import type { Faults } from "./faults.ts";
import { decideInTurn, type Fold, type Handled } from "./fold.ts";
import { messagesOf } from "./messages.ts";
import { Recent } from "./recent.ts";
import type { Relay } from "./relay.ts";
import { commit, type Loaded, loadedOf } from "./store.ts";

/** Lost races in a row before the caller is told to come back. In one process the line prevents them altogether. */
const racesMax = 25;
/** Commands on one entity that wait for each other and are then written together. */
const foldMax = 32;

/** @throws Problem a refusal @throws NotYet the entity or its predecessor isn't there yet */
export type Handler<State> = (command: Command) => Promise<Handled<State>>;

export interface HandlerOptions<State extends object, Event extends DomainEvent> {
  decider: Decider<State, Event>;
  documents(tenant: string): TenantDocuments;
  relay(tenant: string): Relay;
  /** Told of every state's timers after a commit. */
  scheduleTimers(tenant: string, entity: string, timers: Timer[]): void;
  clock: Clock;
  faults: Faults;
  log: Logger;
}

/** Commands on one entity are handled in the order they come in; what comes while one is being written is written together next. */
export const createHandler = <State extends object, Event extends DomainEvent>(
  options: HandlerOptions<State, Event>,
): Handler<State> => {
  const lines = new Batches<Command, Handled<State>>(foldMax);
  const handling = new Handling(options);
  return (command) => {
    const place = command.entity || JSON.stringify(options.decider.locate?.(command) ?? command.id);
    return lines.add(`${command.tenant}/${place}`, command, (batch) => handling.handle(batch));
  };
};

class Handling<State extends object, Event extends DomainEvent> {
  readonly #options: HandlerOptions<State, Event>;
  readonly #recent: Recent<State>;

  constructor(options: HandlerOptions<State, Event>) {
    this.#options = options;
    this.#recent = new Recent<State>(options.decider.remembered ?? 0);
  }

  /** What has come of the first, and of those behind it that were written in the same go. Never throws. */
  async handle(line: readonly Command[]): Promise<PromiseSettledResult<Handled<State>>[]> {
    // Commands that name no entity may find one each time: only the document of the first can tell.
    const together = line[0]?.entity ? line : line.slice(0, 1);
    try {
      return (await this.#settle(together)).results;
    } catch (reason) {
      // One that cannot be written spoils no other.
      return together.length > 1 ? this.handle(together.slice(0, 1)) : [{ status: "rejected", reason }];
    }
  }

  /** @returns the fold that holds: each result was decided on what the document said when it was written, or read */
  async #settle(commands: readonly Command[]): Promise<Fold<State, Event>> {
    const { tenant, entity, name } = commands[0] as Command;
    const remembered = this.#recent.take(tenant, entity);
    const opens = this.#options.decider.opens?.(commands[0] as Command) === true;
    if (remembered !== undefined || opens) {
      const fold = await this.#foldOn(commands, remembered);
      // That nothing is to do, or refused, has to be asked of the document: another process may have written.
      if (fold !== undefined && fold.changes.length > 0) return fold;
    }
    let unfound = 0;
    for (let race = 0; race < racesMax; race++) {
      const before = await this.#load(commands[0] as Command);
      const fold = await this.#foldOn(commands, before);
      if (fold !== undefined) return fold;
      // What cannot be made, and is not found, meets another's unique name: looking again finds it no more.
      if (before === undefined && ++unfound > 1) break;
      this.#options.log.debug({ command: name, race }, "lost a race, deciding again");
    }
    throw new Problem("conflict/concurrent-write", "Others keep changing it. Load it again and repeat.");
  }

  async #load(command: Command): Promise<Loaded<State> | undefined> {
    const { decider } = this.#options;
    const filter = command.entity ? { _id: command.entity as never } : decider.locate?.(command);
    const document = filter === undefined ? null : await this.#collection(command.tenant).findOne(filter);
    return document === null ? undefined : loadedOf(document, decider);
  }

  #collection(tenant: string): Collection<Document> {
    const { decider, documents } = this.#options;
    return documents(tenant).collection<Document>(decider.collection);
  }

  /** Undefined when another writer was first. */
  async #foldOn(
    commands: readonly Command[],
    before: Loaded<State> | undefined,
  ): Promise<Fold<State, Event> | undefined> {
    const { decider, clock, relay } = this.#options;
    const { tenant } = commands[0] as Command;
    const fold = await decideInTurn(decider, commands, before, () => clock.now());
    if (fold.changes.length > 0) return (await this.#commit(tenant, fold, before)) ? fold : undefined;
    const isRepeat = fold.results.some((result) => result.status === "fulfilled" && result.value.repeated);
    // It comes again because a process died with it: what that one had yet to publish needn't wait for the sweep.
    if (isRepeat && before !== undefined && before.meta.outbox.length > 0)
      void relay(tenant).relay(before.meta);
    return fold;
  }

  /** One write for all that follows from the decisions; false when another writer was first. */
  async #commit(
    tenant: string,
    fold: Fold<State, Event>,
    before: Loaded<State> | undefined,
  ): Promise<boolean> {
    const { decider, faults, relay, scheduleTimers } = this.#options;
    const { changes, handled, version } = fold;
    const { id: entity, after, command } = changes.at(-1) as Change<State, Event>;
    this.#recent.take(tenant, entity);
    const timers = decider.timers?.(after) ?? [];
    const meta = await commit(this.#collection(tenant), decider.schemaVersion, {
      ...{ entity, now: command.now, before, after, version, handled, timers },
      entries: changes.flatMap((change) => messagesOf(decider, change)),
    });
    if (meta === undefined) return false;
    for (const change of changes) faults("after-commit", change.command.name);
    this.#recent.put(tenant, { meta, state: after, stored: after });
    void relay(tenant)
      .relay(meta)
      .then((whole) => {
        // What could not be published the sweep will bring, and nobody tells of it: the document has to be asked again.
        if (whole) this.#recent.published(tenant, entity, meta.outboxCount);
        else this.#recent.take(tenant, entity);
      });
    scheduleTimers(tenant, entity, timers);
    return true;
  }
}
