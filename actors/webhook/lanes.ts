/** Owns which subscriptions this process sends for: one lane each, started, changed and stopped as their documents say. */
import type { Logger } from "pino";
import { idOf, urn } from "../../schemas/urn.ts";
import { type Consuming, consume, type Delivery } from "../../streams/consume.ts";
import { internalSubject, typeFilter } from "../../streams/subjects.ts";
import { causedId, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { Pace } from "../runtime/pace.ts";
import { systemCommand } from "../runtime/send.ts";
import { attemptAgain, attemptFirst, type Recipient, recipientOf, typesOf } from "./attempt.ts";
import type { Sender } from "./effects.ts";
import { allSubscriptions, loadSubscription, type Subscription } from "./queries.ts";
import { Reconciling } from "./reconciling.ts";

/** Attempts under way to one partner from this process: a partner that hangs holds these and nothing else. */
const firstAttemptsAtOnce = 8;
const retriesAtOnce = 4;
/** How often a subscription's position is written to its document. */
const notePositionEveryMs = 60_000;
/** A stop waits this long for attempts under way, then interrupts them. */
const stopGraceMs = 1500;

interface Lane {
  /** Where what it tells of stands. */
  stream: "EVENTS" | "INTERNAL";
  /** What it was made from; see {@link wantedOf}. */
  wanted: string | undefined;
  recipient: Recipient;
  /** The filters that its consumer was started with. */
  filters: string[];
  consuming: Consuming[];
  /** Something was attempted since the position was last noted. */
  moved: boolean;
  notedAt: Date;
  /** The newest event that may have been attempted before: of what is behind it, the first hand-out is the first attempt. */
  furthest: number;
}

const durableOf = (clientId: string): string => `hook_${clientId}`;
const retryDurableOf = (clientId: string): string => `hookretry_${clientId}`;

/** All lanes of this process, over all airlines. */
export class Lanes {
  readonly #context: ActorContext;
  readonly #sender: Sender;
  readonly #log: Logger;
  readonly #lanes = new Map<string, Lane>();
  readonly #reconciling: Reconciling;

  constructor(context: ActorContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
    this.#log = context.log.child({ actor: "webhook" });
    this.#reconciling = new Reconciling(context, this.#log, {
      name: "webhook lanes",
      types: ["webhook.subscription-changed"],
      changed: (tenant, { subscription }) => this.#reconcile(tenant, idOf(String(subscription))),
      sweep: (tenant) => this.#sweepTenant(tenant),
    });
  }

  start(): Promise<void> {
    return this.#reconciling.start();
  }

  /** Most lanes are as they should be: only the others are looked at again, in their turn. */
  async #sweepTenant(tenant: string): Promise<void> {
    const found = await allSubscriptions(this.#context.documents.tenant(tenant));
    await Promise.all(
      found.map((subscription) => {
        const lane = this.#lanes.get(subscription.id);
        if (lane?.wanted !== wantedOf(subscription)) return this.#reconcile(tenant, subscription.id);
        return lane === undefined ? undefined : this.#notePosition(lane, notePositionEveryMs);
      }),
    );
  }

  /** Makes the lane what the document says now. */
  #reconcile(tenant: string, id: string): Promise<void> {
    return this.#reconciling.bring(id, async () => {
      const found = await loadSubscription(this.#context.documents.tenant(tenant), { id });
      const wanted = found === undefined ? undefined : wantedOf(found);
      const lane = this.#lanes.get(id);
      if (lane?.wanted === wanted) return;
      if (found === undefined || wanted === undefined) {
        if (lane !== undefined) await this.#close(id, lane, found);
        return;
      }
      const recipient = recipientOf(tenant, found, this.#context.config.sealKey);
      const filters = filtersOf(tenant, found);
      if (lane !== undefined && lane.filters.join() === filters.join()) {
        Object.assign(lane, { recipient, wanted });
        this.#log.info({ tenant, clientId: recipient.clientId }, "webhook lane changed");
        return;
      }
      if (lane !== undefined) await this.#close(id, lane, found);
      await this.#open(found, { recipient, filters, wanted, stream: streamOf(found) });
    });
  }

  async #open(
    subscription: Subscription,
    as: Pick<Lane, "recipient" | "filters" | "wanted" | "stream">,
  ): Promise<void> {
    const { streams, clock } = this.#context;
    const { recipient, filters } = as;
    const { clientId } = recipient;
    const { state } = await streams.manager.streams.info(as.stream);
    const lane: Lane = { ...as, consuming: [], moved: false, notedAt: clock.now(), furthest: state.last_seq };
    const parts = { ...this.#context, sender: this.#sender };
    const pace = new Pace(this.#context.config.WEBHOOK_RATE_PER_SECOND);
    const common = { owner: "webhook", ackWaitMs: this.#context.config.ACK_WAIT_MS, log: this.#log };
    this.#lanes.set(recipient.id, lane);
    try {
      lane.consuming.push(
        await consume(streams, {
          ...common,
          stream: as.stream,
          durable: durableOf(clientId),
          filterSubjects: filters,
          begin: beginOf(subscription, state.last_seq),
          concurrency: firstAttemptsAtOnce,
          handle: async (delivery) => {
            lane.moved = true;
            const isNew = isGivenOutFirst(lane, delivery);
            lane.furthest = Math.max(lane.furthest, delivery.sequence);
            await pace.turn();
            return attemptFirst(parts, lane.recipient, delivery, isNew);
          },
        }),
      );
      lane.consuming.push(
        await consume(streams, {
          ...common,
          stream: "INTERNAL",
          durable: retryDurableOf(clientId),
          filterSubjects: [dueFilter(recipient)],
          begin: { time: subscription.state.createdAt },
          concurrency: retriesAtOnce,
          handle: async (delivery) => {
            await pace.turn();
            return attemptAgain(parts, lane.recipient, delivery);
          },
        }),
      );
    } catch (error) {
      this.#lanes.delete(recipient.id);
      await Promise.all(lane.consuming.map((consuming) => consuming.stop()));
      throw error;
    }
    this.#log.info({ tenant: recipient.tenant, clientId }, "webhook lane open");
  }

  /** Waits for attempts under way. Events stay in the stream, and their place with the durable consumer. */
  async #close(id: string, lane: Lane, subscription: Subscription | undefined): Promise<void> {
    this.#lanes.delete(id);
    await Promise.all(lane.consuming.map((consuming) => consuming.stop()));
    await this.#notePosition(lane, 0);
    const { tenant, clientId } = lane.recipient;
    const state = subscription?.state;
    if (state?.status === "PAUSED") {
      this.#log.warn(
        { tenant, clientId, reason: state.pauseReason },
        "webhook subscription paused: its events wait until a test delivery succeeds",
      );
    } else this.#log.info({ tenant, clientId }, "webhook lane closed");
  }

  /** The durable's own position, which counts the work of every process. */
  async #notePosition(lane: Lane, everyMs: number): Promise<void> {
    const { clock, streams, call } = this.#context;
    const now = clock.now();
    if (!lane.moved || now.getTime() - lane.notedAt.getTime() < everyMs) return;
    lane.moved = false;
    lane.notedAt = now;
    const { id, tenant, clientId } = lane.recipient;
    const info = await streams.manager.consumers.info(lane.stream, durableOf(clientId));
    const sequence = info.ack_floor.stream_seq;
    const trace = { tenant, correlationUrn: urn("correlation", id), traceparent: mintTraceparent() };
    await call(
      "webhook.note-position",
      systemCommand("webhook", trace, {
        id: causedId(id, "note-position", sequence),
        name: "webhook.note-position",
        entity: id,
        data: { sequence },
        now,
      }),
    );
  }

  /** Takes nothing more; what is under way may finish for a moment, the rest is interrupted and made again later. */
  async stop(): Promise<void> {
    const grace = setTimeout(() => void this.#sender.close(), stopGraceMs);
    await this.#reconciling.stop();
    const closed = [...this.#lanes].map(([id, lane]) => this.#close(id, lane, undefined));
    const results = await Promise.allSettled(closed);
    clearTimeout(grace);
    await this.#sender.close();
    for (const result of results) {
      if (result.status === "rejected")
        this.#log.warn(
          { error: String(result.reason) },
          "a webhook lane was closed without noting its position",
        );
    }
  }
}

/**
 * Where the durable begins when the server doesn't know it: at the registration, or behind the position kept in the
 * document. A stream that is shorter than that position is another one, and is read from the registration on.
 */
const beginOf = (
  { state }: Subscription,
  lastSequence: number,
): { time: Date } | { afterSequence: number } =>
  state.lastSequence === 0 || lastSequence < state.lastSequence
    ? { time: state.createdAt }
    : { afterSequence: state.lastSequence };

/** Of an event behind the lane's opening and behind all that it has seen: a durable that the server has lost begins further back. */
const isGivenOutFirst = ({ furthest }: Lane, { attempt, sequence }: Delivery): boolean =>
  attempt === 1 && sequence > furthest;

const streamOf = ({ state }: Subscription): Lane["stream"] =>
  state.kind === "alerts" ? "INTERNAL" : "EVENTS";

const filtersOf = (tenant: string, { state }: Subscription): string[] =>
  typesOf(state).map((type) => typeFilter(state.kind === "alerts" ? "int" : "evt", type, tenant));

/**
 * What of a subscription a lane depends on, to tell a change; the secrets in it are sealed. Undefined: no lane, because
 * it is paused or its scopes let the partner hear nothing.
 */
const wantedOf = ({ state }: Subscription): string | undefined =>
  state.status === "PAUSED" || typesOf(state).length === 0
    ? undefined
    : JSON.stringify([state.url, state.scopes, state.secret.sealed, state.previousSecret]);

/** `webhook.attempt-due` of this subscription. */
const dueFilter = ({ tenant, id }: Recipient): string => internalSubject(tenant, "webhook.attempt-due", id);
