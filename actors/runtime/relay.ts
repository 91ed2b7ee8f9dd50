/** Owns the way from outbox to JetStream: in number order, stopping at the first failure, then drained in batches. */
import type { Collection, Document } from "mongodb";
import type { Logger } from "pino";
import type { Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import type { Faults } from "./faults.ts";
import type { Meta, OutboxEntry } from "./store.ts";

const drainEveryMs = 40;
const drainAtOnce = 200;

/** Publishes and drains the outboxes of one actor's entities of one tenant. */
export class Relay {
  readonly #streams: Streams;
  readonly #collection: Collection<Document>;
  readonly #urnOf: (entity: string) => string;
  readonly #log: Logger;
  readonly #faults: Faults;
  /** Per entity: the chain that keeps order, while something is on its way. */
  readonly #lanes = new Map<string, Promise<boolean>>();
  /** Per entity: the last number known to be published, until the outbox is drained of it. */
  readonly #publishedUpTo = new Map<string, number>();
  readonly #drainable = new Map<string, number>();
  #drainTimer: NodeJS.Timeout | undefined;
  #draining: Promise<void> = Promise.resolve();

  constructor(options: {
    streams: Streams;
    collection: Collection<Document>;
    urnOf: (entity: string) => string;
    log: Logger;
    faults: Faults;
  }) {
    this.#streams = options.streams;
    this.#collection = options.collection;
    this.#urnOf = options.urnOf;
    this.#log = options.log;
    this.#faults = options.faults;
  }

  /**
   * Publishes what the outbox holds beyond what this process has published already. Never throws: what fails
   * stays in the document and the sweeper brings it back.
   * @returns false when something could not be published
   */
  relay(meta: Pick<Meta, "_id" | "outbox">): Promise<boolean> {
    const before = this.#lanes.get(meta._id) ?? Promise.resolve(true);
    const mine = before.then(() => this.#publishAll(meta._id, meta.outbox));
    this.#lanes.set(meta._id, mine);
    return mine.then((whole) => {
      if (this.#lanes.get(meta._id) === mine) this.#lanes.delete(meta._id);
      return whole;
    });
  }

  async #publishAll(entity: string, entries: OutboxEntry[]): Promise<boolean> {
    const known = this.#publishedUpTo.get(entity) ?? 0;
    for (const run of runsOf(entries.filter(({ n }) => n > known))) {
      const published = await Promise.allSettled(run.map((entry) => this.#publish(entity, entry)));
      const failed = published.findIndex(({ status }) => status === "rejected");
      const sent = failed < 0 ? run : run.slice(0, failed);
      const last = sent.at(-1)?.n;
      if (last !== undefined) this.#publishedUpTo.set(entity, last);
      if (failed >= 0) {
        const { reason } = published[failed] as PromiseRejectedResult;
        this.#log.warn(
          { entity, n: run[failed]?.n, error: String(reason) },
          "outbox entry not published yet",
        );
        return false;
      }
    }
    const last = entries.at(-1)?.n;
    if (last !== undefined) this.#drainLater(entity, last);
    return true;
  }

  async #publish(entity: string, entry: OutboxEntry): Promise<void> {
    await publish(this.#streams, {
      subject: entry.subject,
      payload: entry.payload,
      messageId: `${this.#urnOf(entity)}:${entry.n}`,
    });
    this.#faults("after-publish", entry.subject.split(".").slice(2, 4).join("."));
  }

  #drainLater(entity: string, upTo: number): void {
    this.#drainable.set(entity, Math.max(upTo, this.#drainable.get(entity) ?? 0));
    if (this.#drainable.size >= drainAtOnce) void this.drain();
    else this.#drainTimer ??= setTimeout(() => void this.drain(), drainEveryMs);
  }

  /**
   * Empties the outboxes that are published to the end. One that has grown meanwhile is left to its own relay,
   * so `pendingSince` never goes while something is unpublished.
   */
  drain(): Promise<void> {
    clearTimeout(this.#drainTimer);
    this.#drainTimer = undefined;
    const batch = [...this.#drainable];
    this.#drainable.clear();
    if (batch.length === 0) return this.#draining;
    this.#draining = this.#draining.then(async () => {
      try {
        await this.#collection.bulkWrite(
          batch.map(([entity, upTo]) => ({
            updateOne: {
              filter: { _id: entity as never, outboxCount: upTo },
              update: { $pull: { outbox: { n: { $lte: upTo } } } as never, $unset: { pendingSince: "" } },
            },
          })),
          { ordered: false },
        );
        for (const [entity, upTo] of batch) {
          if (this.#publishedUpTo.get(entity) === upTo) this.#publishedUpTo.delete(entity);
        }
      } catch (error) {
        // Published entries that stay are sent once more by the sweeper and dropped by their message id.
        this.#log.warn({ entities: batch.length, error: String(error) }, "outboxes not drained yet");
      }
    });
    return this.#draining;
  }

  /** Publishes nothing more; waits for what is under way and drains it. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#lanes.values());
    await this.drain();
  }
}

/**
 * Entries that may be on their way at once. An event waits for the one before it; commands that follow each other
 * don't, since order between commands is never assumed: a wave's hundred assignments leave together.
 */
const runsOf = (entries: OutboxEntry[]): OutboxEntry[][] => {
  const runs: OutboxEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    const joins = isCommand(entry) && last?.[0] !== undefined && isCommand(last[0]);
    if (joins) last?.push(entry);
    else runs.push([entry]);
  }
  return runs;
};

const isCommand = ({ subject }: OutboxEntry): boolean => subject.startsWith("cmd.");
