/** Owns carrying out the replays that run: one consumer for each, shared by all processes, one event after another. */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { EventRecord } from "../../schemas/command.ts";
import { idOf, tenantOfId, urn } from "../../schemas/urn.ts";
import {
  type Consuming,
  consume,
  type Delivery,
  type Disposition,
  done,
  forget,
  leftOf,
} from "../../streams/consume.ts";
import { typeFilter } from "../../streams/subjects.ts";
import { causedId, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { systemCommand } from "../runtime/send.ts";
import { attemptReplayed, recipientOf, typesOf } from "./attempt.ts";
import type { Sender } from "./effects.ts";
import { loadSubscription, type Subscription } from "./queries.ts";
import { Reconciling } from "./reconciling.ts";
import type { EndReplay, NoteReplayed } from "./replay-decide.ts";
import { loadReplay, type Replay, runningReplays } from "./replay-queries.ts";

/** At most so many events a second over all processes, whatever the receiver could take. */
const eventsPerSecondMax = 50;
/** Until the lane of a subscription that was paused meanwhile is closed. */
const pausedDelayMs = 1000;
/** The position stands in the document: a durable that nobody asks is not worth keeping. */
const forgottenAfterMs = 5 * 60_000;

const durableOf = (replayId: string): string => `hookreplay_${replayId}`;

/** All replays that this process has a part in, over all airlines. */
export class ReplayLanes {
  readonly #context: ActorContext;
  readonly #sender: Sender;
  readonly #log: Logger;
  readonly #lanes = new Map<string, Consuming>();
  readonly #reconciling: Reconciling;

  constructor(context: ActorContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
    this.#log = context.log.child({ actor: "webhook" });
    this.#reconciling = new Reconciling(context, this.#log, {
      name: "replays",
      types: ["webhook.replay-changed", "webhook.subscription-changed"],
      changed: (tenant, { replay }) =>
        replay === undefined ? this.#sweepTenant(tenant) : this.#reconcile(tenant, idOf(String(replay))),
      sweep: (tenant) => this.#sweepTenant(tenant),
    });
  }

  start(): Promise<void> {
    return this.#reconciling.start();
  }

  async #sweepTenant(tenant: string): Promise<void> {
    const running = await runningReplays(this.#context.documents.tenant(tenant));
    const open = [...this.#lanes.keys()].filter((id) => tenantOfId(id) === tenant);
    const ids = new Set([...running.map(({ id }) => id), ...open]);
    await Promise.all([...ids].map((id) => this.#reconcile(tenant, id)));
  }

  /** Makes the lane what the documents say now: open while the replay runs and its subscription is not paused. */
  #reconcile(tenant: string, id: string): Promise<void> {
    return this.#reconciling.bring(id, async () => {
      const { replay, subscription } = await this.#load(tenant, id);
      if (replay?.state.status !== "RUNNING") return this.#close(tenant, id, replay);
      const filters = filtersOf(tenant, replay, subscription);
      // Its end is told like any other, and closes the lane.
      if (filters.length === 0) await this.#end(tenant, replay, "STOPPED");
      else if (subscription?.state.status !== "ACTIVE") await this.#close(tenant, id, replay);
      else await this.#keepOpen(tenant, replay, filters);
    });
  }

  /**
   * A durable that the server has forgotten brings nothing more: it begins anew behind the position. What the stream no
   * longer keeps is never brought, and would be waited for without an end.
   */
  async #keepOpen(tenant: string, replay: Replay, filters: string[]): Promise<void> {
    const left = (): Promise<number | undefined> =>
      leftOf(this.#context.streams, "EVENTS", durableOf(replay.id));
    if (this.#lanes.has(replay.id) && (await left()) === undefined)
      await this.#close(tenant, replay.id, replay);
    if (!this.#lanes.has(replay.id)) await this.#open(tenant, replay, filters);
    if ((await left()) === 0) await this.#end(tenant, replay, "COMPLETED");
  }

  /** Of one that is over nobody needs the durable: each process that had a part in it takes it away. */
  async #close(tenant: string, id: string, replay: Replay | undefined): Promise<void> {
    const lane = this.#lanes.get(id);
    if (lane === undefined) return;
    this.#lanes.delete(id);
    await lane.stop();
    const { clientId, status } = replay?.state ?? {};
    if (status !== "RUNNING") await forget(this.#context.streams, "EVENTS", durableOf(id));
    this.#log.info({ tenant, replay: id, clientId, status }, "replay lane closed");
  }

  async #load(
    tenant: string,
    id: string,
  ): Promise<{ replay: Replay | undefined; subscription: Subscription | undefined }> {
    const documents = this.#context.documents.tenant(tenant);
    const replay = await loadReplay(documents, id);
    const subscription =
      replay === undefined
        ? undefined
        : await loadSubscription(documents, { id: replay.state.subscriptionId });
    return { replay, subscription };
  }

  async #open(tenant: string, { id, state }: Replay, filterSubjects: string[]): Promise<void> {
    const consuming = await consume(this.#context.streams, {
      stream: "EVENTS",
      durable: durableOf(id),
      filterSubjects,
      owner: "webhook",
      begin: { afterSequence: state.position },
      inOrder: true,
      forgottenAfterMs,
      concurrency: 1,
      ackWaitMs: this.#context.config.ACK_WAIT_MS,
      handle: (delivery) => this.#replayOne(tenant, id, delivery),
      log: this.#log,
    });
    this.#lanes.set(id, consuming);
    this.#log.info({ tenant, replay: id, clientId: state.clientId }, "replay lane open");
  }

  /** The documents are read for each event: a new secret signs at once, and nothing is sent to a paused receiver. */
  async #replayOne(tenant: string, id: string, delivery: Delivery): Promise<Disposition> {
    const began = performance.now();
    const { replay, subscription } = await this.#load(tenant, id);
    if (replay?.state.status !== "RUNNING") return done;
    if (delivery.sequence > replay.state.upTo) {
      await this.#end(tenant, replay, "COMPLETED");
      return done;
    }
    if (subscription?.state.status !== "ACTIVE") return { kind: "later", delayMs: pausedDelayMs };
    const { config } = this.#context;
    const parts = { ...this.#context, sender: this.#sender };
    const recipient = recipientOf(tenant, subscription, config.sealKey);
    const event = delivery.json() as EventRecord;
    const { sequence } = delivery;
    const { outcome, disposition } = await attemptReplayed(parts, recipient, event, {
      replayId: id,
      sequence,
    });
    if (outcome === undefined) return disposition;
    const data: NoteReplayed = { sequence, eventUrn: event.urn, outcome, isLast: delivery.left === 0 };
    await this.#command(tenant, replay, "note-replayed", sequence, data);
    const eventMsMin = 1000 / Math.min(eventsPerSecondMax, config.WEBHOOK_RATE_PER_SECOND);
    const leftMs = eventMsMin - (performance.now() - began);
    if (outcome !== "skipped" && leftMs > 0) await delay(leftMs);
    return disposition;
  }

  #end(tenant: string, replay: Replay, status: EndReplay["status"]): Promise<unknown> {
    const data: EndReplay = { status };
    return this.#command(tenant, replay, "end-replay", replay.state.upTo, data);
  }

  #command(tenant: string, { id }: Replay, verb: string, cause: number, data: unknown): Promise<unknown> {
    const { clock, call } = this.#context;
    const name = `webhook.${verb}`;
    const following = { tenant, correlationUrn: urn("correlation", id), traceparent: mintTraceparent() };
    return call(
      name,
      systemCommand("webhook", following, {
        id: causedId(id, verb, cause),
        name,
        entity: id,
        data,
        now: clock.now(),
      }),
    );
  }

  /** Takes nothing more and waits for what is under way, which the sender's closing interrupts. */
  async stop(): Promise<void> {
    await this.#reconciling.stop();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.stop()));
  }
}

/** Of its types those that its subscription may still hear of; empty: none. */
const filtersOf = (tenant: string, { state }: Replay, subscription: Subscription | undefined): string[] => {
  const allowed = subscription === undefined ? [] : typesOf(subscription.state);
  return state.types.filter((type) => allowed.includes(type)).map((type) => typeFilter("evt", type, tenant));
};
