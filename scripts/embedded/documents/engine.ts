/** Owns the order of execution: requests that wait together run in one durable commit, and are answered after it. */
import { Catalog } from "./catalog.ts";
import type { Collection } from "./collection.ts";
import type { Command, CommandContext } from "./command-context.ts";
import { commandFor } from "./commands.ts";
import { Cursors } from "./cursors.ts";
import { CommandError } from "./errors.ts";
import type { Index } from "./indexes.ts";
import { RetryRecords, retryableWriteOf } from "./retry-records.ts";
import type { Store } from "./store.ts";
import { encodeReply, type Request } from "./wire.ts";

/** A request on its way; `answer` is called once, when what it wrote is on disk. */
export interface Job {
  request: Request;
  connectionId: number;
  answer(reply: Buffer): void;
}

/** How many requests share a commit at most: bounds what one failure makes run again. */
const GROUP_MAX = 512;
/** How many documents one TTL pass deletes before others get their turn. */
const EXPIRY_BATCH = 500;

export class Engine {
  readonly #store: Store;
  readonly #catalog: Catalog;
  readonly #cursors = new Cursors();
  readonly #retries: RetryRecords;
  readonly #address: () => string;
  #queue: Job[] = [];
  #isScheduled = false;

  /** @param address where clients reach the server, as `host:port` */
  constructor(store: Store, address: () => string) {
    this.#store = store;
    this.#address = address;
    this.#catalog = new Catalog(store);
    this.#retries = new RetryRecords(store);
  }

  submit(job: Job): void {
    this.#queue.push(job);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After the sockets have been read, so that all that has arrived by now shares the commit.
    setImmediate(() => this.drain());
  }

  /** Runs and answers everything that waits. */
  drain(): void {
    this.#isScheduled = false;
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, GROUP_MAX);
      for (const [i, reply] of this.#runGroup(group).entries()) group[i]!.answer(reply);
    }
  }

  #runGroup(group: readonly Job[]): Buffer[] {
    try {
      return this.#commit(group);
    } catch (error) {
      // Nothing of the group was kept. Alone, each either succeeds or shows that it was the one that fails.
      this.#catalog.reload();
      if (group.length > 1) return group.flatMap((job) => this.#runGroup([job]));
      const message = error instanceof Error ? error.message : String(error);
      return [encodeReply(new CommandError(1, `the embedded document server failed: ${message}`).toReply())];
    }
  }

  #commit(group: readonly Job[]): Buffer[] {
    const run = () => group.map((job) => this.#execute(job));
    return group.some(({ request }) => writes(request)) ? this.#store.commit(run) : run();
  }

  #execute({ request, connectionId }: Job): Buffer {
    const { body, sequences } = request;
    try {
      const command = commandFor(body);
      const database = typeof body.$db === "string" ? body.$db : "admin";
      const address = this.#address();
      const shared = { catalog: this.#catalog, cursors: this.#cursors, address, nowMs: Date.now() };
      return this.#executeOnce(command, { ...shared, connectionId, database, body, sequences });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return encodeReply(error.toReply());
    }
  }

  /** Runs a command, or gives its earlier reply if it was already applied; a refused one left nothing to remember. */
  #executeOnce(command: Command, context: CommandContext): Buffer {
    const write = command.retryable ? retryableWriteOf(context.body) : undefined;
    const earlier = write && this.#retries.find(write);
    if (earlier) return earlier;
    const reply = encodeReply(command.run(context));
    if (write) this.#retries.keep(write, reply, context.nowMs);
    return reply;
  }

  /** Deletes what TTL indexes say is over, cursors nobody reads and retry records nobody asks for. */
  expire(nowMs: number): void {
    this.#cursors.expire(nowMs);
    this.#store.commit(() => this.#retries.expire(nowMs));
    for (const collection of this.#catalog.list()) {
      for (const index of collection.indexes) {
        if (index.specification.expireAfterSeconds !== undefined) this.#expireBy(collection, index, nowMs);
      }
    }
  }

  #expireBy(collection: Collection, index: Index, nowMs: number): void {
    const { key, partialFilterExpression, expireAfterSeconds } = index.specification;
    const before = new Date(nowMs - expireAfterSeconds! * 1000);
    const over = { [Object.keys(key)[0]!]: { $lt: before } };
    const filter = { $and: [over, partialFilterExpression ?? {}] };
    const remove = () => collection.delete(filter, { limit: EXPIRY_BATCH, hint: index.name }).deleted;
    const deleted = this.#store.commit(remove);
    const isStillThere = () =>
      collection.indexes.includes(index) && this.#catalog.get(collection.namespace) === collection;
    if (deleted === EXPIRY_BATCH)
      setImmediate(() => isStillThere() && this.#expireBy(collection, index, nowMs));
  }
}

function writes({ body }: Request): boolean {
  try {
    return commandFor(body).writes === true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
