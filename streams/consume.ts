/** Owns consuming from JetStream: a durable pull consumer, bounded concurrency, acknowledgement last, delayed redelivery, dead letters. */
import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiError,
  type JsMsg,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Streams } from "./connection.ts";
import { outageOf } from "./outage.ts";
import { publish } from "./publish.ts";
import { deadSubject, parseSubject } from "./subjects.ts";
import type { StreamName } from "./topology.ts";
import { takeTurn } from "./turns.ts";

/** What becomes of a message. `later` is redelivered after the delay; `dead` is put aside with its reason. */
export type Disposition =
  | { kind: "done" }
  | { kind: "later"; delayMs: number }
  | { kind: "dead"; reason: string };
export const done: Disposition = { kind: "done" };

export interface Delivery {
  subject: string;
  json(): unknown;
  /** Position in the stream. */
  sequence: number;
  /** Milliseconds since the message was published. */
  ageMs: number;
  /** 1 for the first; kills and redeliveries raise it. */
  attempt: number;
  /** Messages of the consumer that stood behind this one, none of them given out yet, when it was given out. */
  left: number;
}

export interface Consumption {
  stream: StreamName;
  /** Unique in the stream; processes that give the same name share the work. */
  durable: string;
  /** Never empty: the server would take that for everything. */
  filterSubjects: string[];
  /** The actor that dead letters are filed under. */
  owner: string;
  /** Where a durable that doesn't exist yet begins. Default: the oldest message kept. One that exists goes on. */
  begin?: { afterSequence: number } | { time: Date };
  /** Messages worked on at once by this process. */
  concurrency: number;
  /** Without a sign of life for this long a message is given to another process. Default: 30 s. */
  ackWaitMs?: number;
  /** One after another over all processes, in the stream's order: none is given out before the one ahead is settled. */
  inOrder?: boolean;
  /** The server forgets the durable, and its position, once nobody has asked for messages for this long. Default: never. */
  forgottenAfterMs?: number;
  handle(delivery: Delivery): Promise<Disposition>;
  /** Milliseconds until the next try after this many thrown errors. Default: {@link backoffMs}. */
  delayMs?(failures: number): number;
  log: Logger;
  /** Called just before a message is acknowledged; fault tests die here. */
  beforeAck?(delivery: Delivery): void;
}

export interface Consuming {
  /** Takes no more messages and waits for those under way. */
  stop(): Promise<void>;
}

const defaultAckWaitMs = 30_000;
/** Thrown errors after which a message is put aside. Counted here: a delivery count also rises with each kill. */
const errorsMax = 8;
/** Messages whose errors are counted; one that is forgotten is tried a little more often. */
const countedMax = 10_000;
/**
 * Messages asked for ahead of those that are worked on. Nothing shows the server that one of these is still wanted, so
 * that each that waits for longer than the ack wait is worked on twice: few, and enough for a round trip.
 */
const aheadMax = 8;

/** JetStream's error codes (JSConsumerAlreadyExists, JSConsumerNotFoundErr). */
const consumerAlreadyExists = 10_148;
const consumerNotFound = 10_014;

/** No message is to blame for an outage: it waits, and is never counted towards a dead letter, however long it takes. */
const outageDelayMs = 2000;

/** 200 ms, 400 ms … at most 10 s. */
export const backoffMs = (failures: number): number => Math.min(200 * 2 ** (failures - 1), 10_000);

/**
 * Starts consuming. The consumer is created if it isn't there; its filters are widened or narrowed to those given.
 * `max_deliver` stays unlimited: past it a message would be neither delivered nor counted.
 * @throws TypeError for an empty filter
 */
export const consume = async (streams: Streams, consumption: Consumption): Promise<Consuming> => {
  if (consumption.filterSubjects.length === 0)
    throw new TypeError(`${consumption.durable} has an empty filter, which would let everything through`);
  await ensureConsumer(streams, consumption);
  const worker = new Worker(streams, consumption);
  await worker.start();
  return { stop: () => worker.stop() };
};

const ensureConsumer = async (streams: Streams, consumption: Consumption): Promise<void> => {
  const { stream, durable, filterSubjects, concurrency } = consumption;
  const adjustable = {
    filter_subjects: filterSubjects,
    ack_wait: nanos(consumption.ackWaitMs ?? defaultAckWaitMs),
    max_deliver: -1,
    max_ack_pending: consumption.inOrder === true ? 1 : Math.max(256, concurrency * 4),
    ...(consumption.forgottenAfterMs === undefined
      ? {}
      : { inactive_threshold: nanos(consumption.forgottenAfterMs) }),
  };
  const { consumers } = streams.manager;
  try {
    const start = startOf(consumption);
    await consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ...start,
      ...adjustable,
    });
  } catch (error) {
    // It stands with other settings: those that may differ are changed, its start and position stay its own.
    if (!(error instanceof JetStreamApiError) || error.code !== consumerAlreadyExists) throw error;
    await consumers.update(stream, durable, adjustable);
  }
};

/** Messages that a durable has still to give out or to hear of; undefined: the server does not know it. */
export const leftOf = async (
  streams: Streams,
  stream: StreamName,
  durable: string,
): Promise<number | undefined> => {
  const info = await unlessUnknown(streams.manager.consumers.info(stream, durable));
  return info === undefined ? undefined : info.num_pending + info.num_ack_pending;
};

/** Takes a durable and its position from the server; one that it doesn't know is gone already. */
export const forget = async (streams: Streams, stream: StreamName, durable: string): Promise<void> => {
  await unlessUnknown(streams.manager.consumers.delete(stream, durable));
};

const unlessUnknown = async <Result>(asked: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === consumerNotFound) return undefined;
    throw error;
  }
};

const startOf = ({
  begin,
}: Consumption): Pick<ConsumerConfig, "deliver_policy" | "opt_start_seq" | "opt_start_time"> => {
  if (begin === undefined) return { deliver_policy: DeliverPolicy.All };
  return "time" in begin
    ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: begin.time.toISOString() }
    : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: begin.afterSequence + 1 };
};

class Worker {
  readonly #streams: Streams;
  readonly #consumption: Consumption;
  /** Made with the first: it holds its places from the beginning, and there is one for each consumer. */
  #errors: LRUCache<number, number> | undefined;
  readonly #running = new Set<Promise<void>>();
  #consumer: Consumer | undefined;
  #messages: ConsumerMessages | undefined;
  #loop: Promise<void> = Promise.resolve();
  #stopping = false;

  constructor(streams: Streams, consumption: Consumption) {
    this.#streams = streams;
    this.#consumption = consumption;
  }

  async start(): Promise<void> {
    this.#consumer = await this.#streams.jetstream.consumers.get(
      this.#consumption.stream,
      this.#consumption.durable,
    );
    this.#messages = await this.#open();
    this.#loop = this.#pull();
  }

  #open(): Promise<ConsumerMessages> {
    if (this.#consumer === undefined) throw new Error("consumer is not started");
    return this.#consumer.consume({
      max_messages: Math.min(this.#consumption.concurrency, aheadMax),
      expires: 30_000,
      idle_heartbeat: 5000,
    });
  }

  /** The iterator ends when the server forgets us; then it is opened again until we are told to stop. */
  async #pull(): Promise<void> {
    while (!this.#stopping) {
      try {
        this.#messages ??= await this.#open();
        for await (const message of this.#messages) await this.#take(message);
      } catch (error) {
        if (this.#stopping) return;
        this.#consumption.log.warn(
          { durable: this.#consumption.durable, error: String(error) },
          "consumer interrupted",
        );
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      this.#messages = undefined;
    }
  }

  /**
   * Waits for a free place and a turn, so that no more than `concurrency` messages are worked on; this one waits, and at
   * most {@link aheadMax} behind it. It is the server's to give to nobody else from here on.
   */
  async #take(message: JsMsg): Promise<void> {
    const { concurrency, ackWaitMs = defaultAckWaitMs } = this.#consumption;
    const alive = setInterval(() => message.working(), ackWaitMs / 3);
    while (this.#running.size >= concurrency) await Promise.race(this.#running);
    await takeTurn();
    const work = this.#work(message).finally(() => {
      clearInterval(alive);
      this.#running.delete(work);
    });
    this.#running.add(work);
  }

  async #work(message: JsMsg): Promise<void> {
    try {
      await this.#settle(message, await this.#handled(message));
    } catch (error) {
      // The connection went away: the message comes again after its ack wait.
      this.#consumption.log.warn({ subject: message.subject, error: String(error) }, "message not settled");
    }
  }

  async #handled(message: JsMsg): Promise<Disposition> {
    const delivery = deliveryOf(message);
    try {
      return await this.#consumption.handle(delivery);
    } catch (error) {
      if (outageOf(error) !== undefined) {
        this.#consumption.log.warn(
          { subject: message.subject, error: String(error) },
          "waiting out an outage",
        );
        return { kind: "later", delayMs: outageDelayMs };
      }
      this.#errors ??= new LRUCache({ max: countedMax });
      const failures = (this.#errors.get(message.seq) ?? 0) + 1;
      this.#errors.set(message.seq, failures);
      this.#consumption.log.error({ subject: message.subject, failures, err: error }, "handling failed");
      if (failures >= errorsMax)
        return { kind: "dead", reason: error instanceof Error ? error.message : String(error) };
      return { kind: "later", delayMs: (this.#consumption.delayMs ?? backoffMs)(failures) };
    }
  }

  async #settle(message: JsMsg, disposition: Disposition): Promise<void> {
    if (disposition.kind === "later") return message.nak(disposition.delayMs);
    if (disposition.kind === "dead") await this.#bury(message, disposition.reason);
    this.#errors?.delete(message.seq);
    this.#consumption.beforeAck?.(deliveryOf(message));
    if (disposition.kind === "dead") message.term(disposition.reason.slice(0, 100));
    else message.ack();
  }

  /** The publish is confirmed before the original is ended, so a crash in between repeats it under the same id. */
  async #bury(message: JsMsg, reason: string): Promise<void> {
    const parsed = parseSubject(message.subject);
    await publish(this.#streams, {
      subject: deadSubject(parsed?.tenant ?? "none", this.#consumption.owner, parsed?.what ?? "unreadable"),
      payload: message.string(),
      messageId: `${this.#consumption.durable}:${message.seq}:dead`,
      headers: {
        "Stopover-Subject": message.subject,
        "Stopover-Reason": reason.slice(0, 500),
        "Stopover-Consumer": this.#consumption.durable,
        "Stopover-Sequence": String(message.seq),
      },
    });
    this.#consumption.log.error({ subject: message.subject, reason }, "message put aside as a dead letter");
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#messages?.stop();
    await this.#loop;
    await Promise.allSettled(this.#running);
  }
}

const deliveryOf = (message: JsMsg): Delivery => ({
  subject: message.subject,
  json: () => message.json(),
  sequence: message.seq,
  ageMs: Math.max(0, Date.now() - message.info.timestampNanos / 1e6),
  attempt: message.info.deliveryCount,
  left: message.info.pending,
});
