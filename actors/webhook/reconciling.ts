/** Owns bringing something of this process in line with what documents say: at the start, after every change, and now and then all of it. */
import type { Logger } from "pino";
import type { EventRecord } from "../../schemas/command.ts";
import { idOf } from "../../schemas/urn.ts";
import type { Consuming } from "../../streams/consume.ts";
import { follow } from "../../streams/follow.ts";
import { typeFilter } from "../../streams/subjects.ts";
import type { ActorContext } from "../runtime/host.ts";
import { KeyedQueue } from "../runtime/serial.ts";

export interface Reconciled {
  /** In a log: "webhook lanes". */
  name: string;
  /** Internal events that tell of changes. */
  types: readonly string[];
  changed(tenant: string, data: Record<string, unknown>): Promise<void>;
  /** Everything of an airline: what failed to be brought in line is then tried again. */
  sweep(tenant: string): Promise<void>;
}

export class Reconciling {
  readonly #context: ActorContext;
  readonly #what: Reconciled;
  readonly #log: Logger;
  /** What is done to one of them is done one after another. */
  readonly #queue = new KeyedQueue();
  readonly #underWay = new Set<Promise<void>>();
  #following: Consuming | undefined;
  #forget: (() => void) | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(context: ActorContext, log: Logger, what: Reconciled) {
    this.#context = context;
    this.#log = log;
    this.#what = what;
  }

  /** Follows changes first and looks second, so that nothing falls between. */
  async start(): Promise<void> {
    const { streams, tenants, config } = this.#context;
    this.#following = await follow(streams, {
      stream: "INTERNAL",
      filterSubjects: this.#what.types.map((type) => typeFilter("int", type)),
      log: this.#log,
      handle: (message) => {
        const { tenant, data } = message.json() as EventRecord;
        this.#track(this.#what.changed(idOf(tenant), data));
      },
    });
    this.#forget = tenants.onEach(({ code }) => this.#track(this.#what.sweep(code)));
    this.#sweeper = setInterval(() => {
      for (const { code } of tenants.all()) this.#track(this.#what.sweep(code));
    }, config.SWEEP_INTERVAL_MS);
    await Promise.all(this.#underWay);
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error) =>
        this.#log.error({ err: error }, `${this.#what.name} not brought up to date; tried again`),
      )
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /** Brings one in line, unless everything stops. */
  bring(id: string, work: () => Promise<void>): Promise<void> {
    return this.#queue.run(id, async () => {
      if (!this.#stopping) await work();
    });
  }

  /** Takes nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#forget?.();
    clearInterval(this.#sweeper);
    await this.#following?.stop();
    await Promise.all(this.#underWay);
  }
}
