/** Owns waking entities: a due timer becomes a command, and a sweep finds what a dead process left behind. */
import type { Collection, Document } from "mongodb";
import type { Logger } from "pino";
import { urn } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { type Clock, mintTraceparent } from "./clock.ts";
import type { Decider, DomainEvent, Timer } from "./decider.ts";
import type { Relay } from "./relay.ts";
import { sendCommand, systemCommand } from "./send.ts";
import { loadedOf } from "./store.ts";

/** Timers due later than this are left to the sweep, which comes by often enough. */
const horizonMs = 60_000;
const sweepBatch = 200;
/** Outboxes in a row that could not be published, after which the sweep takes NATS to be away. */
const relayFailuresMax = 3;

/**
 * How often a timer that is still due has been sent: the gaps double from one second on. Under one message id for all,
 * the server would drop what is sent again after a process with a slower clock has found it not due yet.
 */
const sendingOf = (overdueMs: number): number => Math.floor(Math.log2(1 + Math.max(0, overdueMs) / 1000));

interface TimerOptions<State extends object> {
  decider: Decider<State, DomainEvent>;
  streams: Streams;
  clock: Clock;
  log: Logger;
  sweepIntervalMs: number;
}

/** The timers of one actor's entities in this process, over all its tenants. */
export class Timers<State extends object> {
  readonly #options: TimerOptions<State>;
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  readonly #tenants = new Map<string, { collection: Collection<Document>; relay: Relay }>();
  #sweeping: Promise<void> | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: TimerOptions<State>) {
    this.#options = options;
  }

  /** From now on this tenant's entities are swept too. */
  watch(tenant: string, collection: Collection<Document>, relay: Relay): void {
    this.#tenants.set(tenant, { collection, relay });
    this.#sweeper ??= setInterval(() => this.sweepSoon(), this.#options.sweepIntervalMs);
    this.sweepSoon();
  }

  /** Arms the earliest timer of an entity in place of what was armed before. */
  schedule(tenant: string, entity: string, timers: Timer[]): void {
    clearTimeout(this.#waiting.get(entity));
    this.#waiting.delete(entity);
    if (timers.length === 0 || this.#stopped) return;
    const next = timers.reduce((first, timer) => (timer.dueAt < first.dueAt ? timer : first));
    const inMs = next.dueAt.getTime() - this.#options.clock.now().getTime();
    if (inMs > horizonMs) return;
    const armed = setTimeout(
      () => {
        this.#waiting.delete(entity);
        void this.#wake(tenant, entity, next);
      },
      Math.max(0, inMs),
    );
    this.#waiting.set(entity, armed);
  }

  async #wake(tenant: string, entity: string, timer: Timer): Promise<void> {
    const { decider, streams, clock, log } = this.#options;
    const name = `${decider.actor}.${timer.name}`;
    const id = `${urn(decider.kind, entity)}:${timer.name}:${timer.dueAt.toISOString()}`;
    const following = { tenant, correlationUrn: urn("correlation", entity), traceparent: mintTraceparent() };
    const data = { dueAt: timer.dueAt.toISOString() };
    const now = clock.now();
    const messageId = `${id}:${sendingOf(now.getTime() - timer.dueAt.getTime())}`;
    try {
      const command = systemCommand(decider.actor, following, { id, name, entity, data, now });
      await sendCommand(streams, command, messageId);
    } catch (error) {
      log.warn({ entity, timer: timer.name, error: String(error) }, "timer not sent; the sweep will send it");
    }
  }

  /** One at a time: a sweep that servers keep waiting is not followed by all those that came due meanwhile. */
  sweepSoon(): void {
    this.#sweeping ??= this.#sweepAll().finally(() => {
      this.#sweeping = undefined;
    });
  }

  async #sweepAll(): Promise<void> {
    for (const [tenant, { collection, relay }] of this.#tenants) {
      if (this.#stopped) return;
      try {
        await this.#sweep(tenant, collection, relay);
      } catch (error) {
        this.#options.log.warn({ tenant, error: String(error) }, "sweep interrupted");
      }
    }
  }

  /** Relays old outboxes and wakes what is due now or will be before the next sweep. */
  async #sweep(tenant: string, collection: Collection<Document>, relay: Relay): Promise<void> {
    const { clock, decider, sweepIntervalMs } = this.#options;
    const now = clock.now().getTime();
    const old = new Date(now - Math.min(10_000, sweepIntervalMs));
    const left = collection.find({ pendingSince: { $lte: old } }).limit(sweepBatch);
    let failures = 0;
    for await (const document of left) {
      failures = (await relay.relay(loadedOf(document, decider).meta)) ? 0 : failures + 1;
      if (this.#stopped) return;
      if (failures >= relayFailuresMax) break;
    }
    const due = collection.find({ nextDueAt: { $lte: new Date(now + sweepIntervalMs) } }).limit(sweepBatch);
    for await (const document of due) {
      const { state, meta } = loadedOf<State>(document, decider);
      if (!this.#waiting.has(meta._id)) this.schedule(tenant, meta._id, decider.timers?.(state) ?? []);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweeper);
    for (const armed of this.#waiting.values()) clearTimeout(armed);
    this.#waiting.clear();
    await this.#sweeping;
  }
}
