/**
 * Owns following a stream live: every process that follows sees every message, none is acknowledged or kept for it. What ends is
 * begun anew after the last message seen.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ConsumerMessages, DeliverPolicy } from "@nats-io/jetstream";
import type { Logger } from "pino";
import type { Streams } from "./connection.ts";
import type { Consuming } from "./consume.ts";
import type { StreamName } from "./topology.ts";

export interface Followed {
  subject: string;
  sequence: number;
  /** When it was published, by the server's clock, in milliseconds since 1970. */
  atMs: number;
  json(): unknown;
}

export interface Following {
  stream: StreamName;
  /** Never empty: the server would take that for everything. */
  filterSubjects: string[];
  /** How much of what was published before is seen too, by the server's clock. Default: nothing. */
  backMs?: number;
  /** Called in the stream's order, once for each message. What it throws is logged and the next message follows. */
  handle(message: Followed): void;
  /** The stream was made anew: what follows is counted from the first on again. */
  onCountedAnew?(): void;
  log: Logger;
}

export interface FollowedStream extends Consuming {
  /** The last sequence before the first that it sees. */
  readonly beginning: number;
  /** False from the end of one reading until the next has begun: nothing is seen meanwhile, and all of it later. */
  live(): boolean;
}

const beginAgainMs = 1000;

/**
 * Sees what is published after the returned promise is settled, and what stood there of the time asked for before it is; catches
 * up by itself after a lost connection, a lost consumer and a lost stream.
 * @throws Error when it cannot be begun; TypeError for an empty filter
 */
export const follow = async (streams: Streams, following: Following): Promise<FollowedStream> => {
  if (following.filterSubjects.length === 0)
    throw new TypeError(`an empty filter would follow all of ${following.stream}`);
  const follower = new Follower(streams, following);
  await follower.start();
  return follower;
};

/** One reading, from the position on. */
interface Reading {
  /** With why it ended, which may be that it was stopped. */
  ended: Promise<unknown>;
}

class Follower implements FollowedStream {
  readonly #streams: Streams;
  readonly #following: Following;
  readonly #stopping = new AbortController();
  #beginning = 0;
  #position = 0;
  #messages: ConsumerMessages | undefined;
  #kept: Promise<void> = Promise.resolve();

  constructor(streams: Streams, following: Following) {
    this.#streams = streams;
    this.#following = following;
  }

  get beginning(): number {
    return this.#beginning;
  }

  live(): boolean {
    return this.#messages !== undefined;
  }

  async start(): Promise<void> {
    this.#beginning = await this.#begin();
    this.#position = this.#beginning;
    const primed = Promise.withResolvers<void>();
    const reading = await this.#read(primed.resolve);
    this.#kept = this.#keep(reading);
    // What ends the first reading is begun anew like every other: then that one catches up.
    await Promise.race([primed.promise, this.#kept]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#messages?.stop();
    await this.#kept;
  }

  /** Always a sequence: after a loss the client would ask from the first on where it has begun with a time. */
  async #begin(): Promise<number> {
    const { stream, backMs = 0 } = this.#following;
    const info = await this.#streams.manager.streams.info(stream);
    const { state } = info;
    if (backMs === 0) return state.last_seq;
    // The server's own time, which the client's types don't know of.
    const since = new Date(Date.parse((info as unknown as { ts: string }).ts) - backMs);
    return state.messages === 0 || Date.parse(state.last_ts) < since.getTime()
      ? state.last_seq
      : this.#lastBefore(since);
  }

  /** The server finds the place of a time only for a consumer. */
  async #lastBefore(time: Date): Promise<number> {
    const consumer = await this.#streams.jetstream.consumers.get(this.#following.stream, {
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: time.toISOString(),
    });
    const { delivered } = await consumer.info(true);
    await consumer.delete();
    return delivered.stream_seq;
  }

  async #read(onPrimed: () => void): Promise<Reading> {
    const { stream, filterSubjects } = this.#following;
    const consumer = await this.#streams.jetstream.consumers.get(stream, {
      filter_subjects: filterSubjects,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#position + 1,
    });
    const { num_pending: pending } = await consumer.info(true);
    if (pending === 0) onPrimed();
    const messages = await consumer.consume({ max_messages: 500, expires: 30_000, idle_heartbeat: 1000 });
    this.#messages = messages;
    if (this.#isOver()) messages.stop();
    const taking = this.#take(messages, pending, onPrimed);
    const lost = (async () => {
      // A lost consumer is made again by the client itself; after a lost stream that would ask for the old one's numbers.
      for await (const { type } of messages.status())
        if (type === "stream_not_found") messages.stop(new Error(`the stream ${stream} is gone`));
    })();
    const ended = Promise.all([taking, lost]).then(
      () => new Error(`following ${stream} ended`),
      (error: unknown) => error,
    );
    return { ended };
  }

  async #take(messages: ConsumerMessages, pending: number, onPrimed: () => void): Promise<void> {
    const { handle, log } = this.#following;
    let left = pending;
    for await (const message of messages) {
      const { subject, seq: sequence } = message;
      if (sequence > this.#position) {
        this.#position = sequence;
        const atMs = Number(message.timestampNanos / 1_000_000n);
        try {
          handle({ subject, sequence, atMs, json: () => message.json() });
        } catch (error) {
          log.error({ subject, err: error }, "a followed message was not taken");
        }
      }
      left -= 1;
      if (left === 0) onPrimed();
    }
  }

  async #keep(first: Reading): Promise<void> {
    const { stream, log } = this.#following;
    for (let reading: Reading | undefined = first; ; reading = await this.#readAgain()) {
      const error = await reading?.ended;
      this.#messages = undefined;
      if (this.#isOver()) return;
      if (reading !== undefined) log.error({ stream, err: error }, "following ended and is begun anew");
      else
        await delay(beginAgainMs, undefined, { ref: false, signal: this.#stopping.signal }).catch(() => {});
    }
  }

  async #readAgain(): Promise<Reading | undefined> {
    if (this.#isOver()) return undefined;
    try {
      const { state } = await this.#streams.manager.streams.info(this.#following.stream);
      // Made anew: its numbers have begun again.
      if (state.last_seq < this.#position) {
        this.#position = 0;
        this.#following.onCountedAnew?.();
      }
      return await this.#read(() => undefined);
    } catch (error) {
      this.#following.log.warn({ stream: this.#following.stream, err: error }, "following cannot begin yet");
      return undefined;
    }
  }

  #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#streams.connection.isClosed();
  }
}
