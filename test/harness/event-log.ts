// Every event of an instance, public and internal, in the order of their streams, and promises of those to come.
import { DeliverPolicy } from "@nats-io/jetstream";
import type { EventRecord } from "../../schemas/command.ts";
import type { Streams } from "../../streams/connection.ts";

export interface Logged extends EventRecord {
  stream: "EVENTS" | "INTERNAL";
  sequence: number;
}

/** Reads from the streams' beginning and goes on by itself after a lost connection. */
export class EventLog {
  readonly all: Logged[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #stops: (() => void)[] = [];

  static async open(streams: Streams): Promise<EventLog> {
    const log = new EventLog();
    for (const stream of ["EVENTS", "INTERNAL"] as const) {
      const consumer = await streams.jetstream.consumers.get(stream, { deliver_policy: DeliverPolicy.All });
      const messages = await consumer.consume({ idle_heartbeat: 1000 });
      log.#stops.push(() => messages.stop());
      void (async () => {
        for await (const message of messages)
          log.#add({ ...message.json<EventRecord>(), stream, sequence: message.seq });
      })();
    }
    return log;
  }

  #add(event: Logged): void {
    this.all.push(event);
    for (const look of this.#waiting) look();
  }

  of(type: string, caseUrn?: string): Logged[] {
    return this.all.filter(
      (event) => event.type === type && (caseUrn === undefined || event.case_urn === caseUrn),
    );
  }

  /** @throws Error after `withinMs`, with what was there instead */
  until(what: string, holds: () => boolean, withinMs = 30_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`${what}: not within ${withinMs} ms; events were ${this.summary()}`));
      }, withinMs);
      const look = () => {
        if (!holds()) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** How many of each type, for a failure's message. */
  summary(): string {
    const counts: Record<string, number> = {};
    for (const { type } of this.all) counts[type] = (counts[type] ?? 0) + 1;
    return JSON.stringify(counts);
  }

  /** Waits for `count` different events of this type (of this case). */
  async untilCount(
    type: string,
    count: number,
    options: { caseUrn?: string; withinMs?: number } = {},
  ): Promise<Logged[]> {
    const found = () => this.of(type, options.caseUrn);
    const different = () => new Set(found().map(({ urn }) => urn)).size;
    await this.until(`${count} × ${type}`, () => different() >= count, options.withinMs);
    return found();
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}
