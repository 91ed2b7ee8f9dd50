/** Owns watching a case from the event streams and telling what happened when, counted from the push. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { EventRecord } from "../../schemas/command.ts";
import type { Streams } from "../../streams/connection.ts";

interface Seen {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** Counts an airline's events by what they are, and lets others wait for a count. */
export class Timeline {
  readonly #seen = new Map<string, Seen>();
  readonly #waiting = new Set<() => void>();
  readonly #stops: (() => void)[] = [];
  #startedAt = 0;

  /** Watches from now on. */
  async watch(streams: Streams, airline: string): Promise<void> {
    for (const [stream, subject] of [
      ["EVENTS", `evt.${airline}.>`],
      ["INTERNAL", `int.${airline}.>`],
    ] as const) {
      const consumer = await streams.jetstream.consumers.get(stream, {
        filter_subjects: [subject],
        deliver_policy: DeliverPolicy.New,
      });
      const messages = await consumer.consume();
      this.#stops.push(() => messages.stop());
      void (async () => {
        for await (const message of messages) this.#note(message.json<EventRecord>());
      })();
    }
  }

  start(): void {
    this.#startedAt = Date.now();
  }

  get elapsedMs(): number {
    return Date.now() - this.#startedAt;
  }

  #note(event: EventRecord): void {
    const step = event.type.startsWith("graph.") ? ` ${String(event.data.name)}` : "";
    const name = `${event.type}${step}`;
    const ms = this.elapsedMs;
    const seen = this.#seen.get(name) ?? { count: 0, firstMs: ms, lastMs: ms };
    this.#seen.set(name, { count: seen.count + 1, firstMs: seen.firstMs, lastMs: ms });
    for (const check of this.#waiting) check();
  }

  count(name: string): number {
    return this.#seen.get(name)?.count ?? 0;
  }

  seen(name: string): Seen | undefined {
    return this.#seen.get(name);
  }

  /** Resolves when the condition holds; looks again with each event. */
  until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      check();
    });
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
