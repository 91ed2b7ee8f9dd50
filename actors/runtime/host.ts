/** Owns hosting: makes a Moleculer service and the JetStream consumers of an actor out of its deciders and queries. */

import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { Document, IndexDescription } from "mongodb";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { Command, Query, Reply } from "../../schemas/command.ts";
import { publicEventTypes } from "../../schemas/events.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import type { Consuming, Delivery } from "../../streams/consume.ts";
import { outageOf } from "../../streams/outage.ts";
import type { LiveTenantDirectory } from "../../streams/tenant-directory.ts";
import { answering } from "../../streams/turns.ts";
import type { Clock } from "./clock.ts";
import { consumeCommands, consumeReactions } from "./consume.ts";
import { type Decider, type DomainEvent, NotYet, type Reactions } from "./decider.ts";
import { type Documents, ensureIndexes } from "./documents.ts";
import type { Faults } from "./faults.ts";
import type { Handled } from "./fold.ts";
import { createHandler, type Handler } from "./handle.ts";
import { Relay } from "./relay.ts";
import { fetchStaged } from "./staging.ts";
import { runtimeIndexes } from "./store.ts";
import { Timers } from "./timers.ts";
import { tryUntilDone } from "./try-until.ts";

// biome-ignore lint/suspicious/noExplicitAny: a host holds deciders of every state and event; each is typed where it is written
export type AnyDecider = Decider<any, any>;

/** What an actor is given to reach the world with. */
export interface ActorContext {
  config: Config;
  documents: Documents;
  streams: Streams;
  tenants: LiveTenantDirectory;
  clock: Clock;
  faults: Faults;
  log: Logger;
  /**
   * Calls another actor's query or command. A problem in its reply is thrown as one.
   * @throws Problem the other's refusal, or `upstream/unavailable` when it can't be reached
   */
  call<View>(name: string, envelope: Query | Command): Promise<View>;
}

/** Sends a command through one of the actor's own deciders, chosen by the verb. */
export type Dispatch = (verb: string, command: Command) => Promise<Reply>;
/** Commands of a kind that no single entity decides (a batch, a look-up with a side effect). */
export type CommandFunction = (command: Command, dispatch: Dispatch, delivery?: Delivery) => Promise<Reply>;
export type QueryFunction = (query: Query) => Promise<unknown>;

/** An actor as its folder's `service.ts` describes it. */
export interface Actor {
  name: string;
  deciders: readonly AnyDecider[];
  queries?: Readonly<Record<string, QueryFunction>>;
  commands?: Readonly<Record<string, CommandFunction>>;
  /** Indexes of collections beside the deciders' own. */
  collections?: Readonly<Record<string, readonly IndexDescription[]>>;
  /** Commands worked on at once, per tenant and process. Default 32. */
  concurrency?: number;
  /** Started with the actor, for what is neither command nor reaction; returns what stops it. */
  start?(): Promise<() => Promise<void>>;
}

export type ActorFactory = (context: ActorContext) => Actor;

/** A hosted actor: register `schema` with a broker, then `start` its consumers; `stop` finishes what is under way. */
export interface HostedActor {
  schema: ServiceSchema;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const hostActor = (context: ActorContext, actor: Actor): HostedActor => {
  const log = context.log.child({ actor: actor.name });
  const relays = new Map<string, Relay>();
  const timersOf = new Map<AnyDecider, Timers<object>>();
  const handlerOf = new Map<AnyDecider, Handler<object>>();
  for (const decider of actor.deciders) {
    const timers = new Timers<object>({
      decider,
      streams: context.streams,
      clock: context.clock,
      log,
      sweepIntervalMs: context.config.SWEEP_INTERVAL_MS,
    });
    timersOf.set(decider, timers);
    handlerOf.set(
      decider,
      createHandler<object, DomainEvent>({
        decider,
        documents: (tenant) => context.documents.tenant(tenant),
        relay: (tenant) => relayOf(decider, tenant),
        scheduleTimers: (tenant, entity, due) => timers.schedule(tenant, entity, due),
        clock: context.clock,
        faults: context.faults,
        log,
      }),
    );
  }

  const relayOf = (decider: AnyDecider, tenant: string): Relay => {
    const key = `${decider.collection}/${tenant}`;
    const found = relays.get(key);
    if (found !== undefined) return found;
    const made = new Relay({
      streams: context.streams,
      collection: context.documents.tenant(tenant).collection<Document>(decider.collection),
      urnOf: (entity) => urn(decider.kind, entity),
      log,
      faults: context.faults,
    });
    relays.set(key, made);
    return made;
  };

  const dispatch: Dispatch = async (verb, command) => {
    const decider = actor.deciders.find((candidate) => candidate.commands.includes(verb));
    const handle = decider && handlerOf.get(decider);
    if (decider === undefined || handle === undefined)
      throw new Error(`${actor.name} takes no command ${verb}`);
    return replyOf(decider, command, await handle(command));
  };

  const execute = async (command: Command, delivery?: Delivery): Promise<Reply> => {
    const verb = command.name.slice(actor.name.length + 1);
    const full = await unstaged(context, command);
    const own = actor.commands?.[verb];
    return own === undefined ? dispatch(verb, full) : own(full, dispatch, delivery);
  };

  const prepare = async (tenant: string): Promise<void> => {
    const documents = context.documents.tenant(tenant);
    for (const decider of actor.deciders) {
      const collection = documents.collection<Document>(decider.collection);
      await ensureIndexes(collection, [...runtimeIndexes, ...decider.indexes]);
    }
    for (const [name, indexes] of Object.entries(actor.collections ?? {})) {
      await ensureIndexes(documents.collection<Document>(name), indexes);
    }
  };

  const consumers: Consuming[] = [];
  const perTenant = new Map<string, Promise<void>>();
  let stopping = false;
  let forget: (() => void) | undefined;
  let stopExtra: (() => Promise<void>) | undefined;
  const wiring = { ...context, log };

  const join = async (tenant: string): Promise<void> => {
    await prepare(tenant);
    for (const decider of actor.deciders) {
      const collection = context.documents.tenant(tenant).collection<Document>(decider.collection);
      timersOf.get(decider)?.watch(tenant, collection, relayOf(decider, tenant));
    }
    if (verbsOf(actor).size === 0) return;
    const concurrency = actor.concurrency ?? 32;
    consumers.push(await consumeCommands(wiring, actor.name, tenant, concurrency, execute));
  };

  /** A tenant that cannot be joined now is tried again until it can: without it, this process would pass it by. */
  const joinAtLast = async (tenant: string): Promise<void> => {
    const onFailure = (error: unknown): void => log.error({ tenant, err: error }, "tenant not joined yet");
    await tryUntilDone(
      () => join(tenant),
      () => stopping,
      onFailure,
    );
  };

  return {
    schema: schemaOf(actor, execute, log),
    start: async () => {
      forget = context.tenants.onEach(({ code }) => void perTenant.set(code, joinAtLast(code)));
      await Promise.all(perTenant.values());
      const reactions = reactionsOf(actor.deciders);
      consumers.push(...(await consumeReactions(wiring, actor.name, reactions, publicEventTypes)));
      stopExtra = await actor.start?.();
    },
    stop: async () => {
      stopping = true;
      forget?.();
      await Promise.allSettled(perTenant.values());
      await stopExtra?.();
      await Promise.allSettled(consumers.map((consumer) => consumer.stop()));
      await Promise.allSettled([...timersOf.values()].map((timers) => timers.stop()));
      await Promise.allSettled([...relays.values()].map((relay) => relay.stop()));
    },
  };
};

/** All deciders' reactions; two to the same event both happen. */
const reactionsOf = (deciders: readonly AnyDecider[]): Reactions => {
  const all: Record<string, Reactions[string]> = {};
  for (const [type, react] of deciders.flatMap(({ reactions }) =>
    Object.entries<Reactions[string]>(reactions ?? {}),
  )) {
    const before = all[type];
    all[type] =
      before === undefined ? react : (event, tenant) => [...before(event, tenant), ...react(event, tenant)];
  }
  return all;
};

const unstaged = async (context: ActorContext, command: Command): Promise<Command> => {
  if (command.staged === undefined) return command;
  const { staged, ...rest } = command;
  return { ...rest, data: await fetchStaged(context.documents.tenant(command.tenant), staged) };
};

const replyOf = (
  decider: AnyDecider,
  command: Command,
  { entity, state, version, repeated }: Handled<object>,
): Reply => ({
  ok: decider.view(state, { id: entity, version, command }),
  version,
  ...(repeated ? { repeated: true } : {}),
});

const verbsOf = (actor: Actor): ReadonlySet<string> =>
  new Set([...actor.deciders.flatMap((decider) => decider.commands), ...Object.keys(actor.commands ?? {})]);

/** Contract, "Errors": 503 with failedDomain and Retry-After. */
const outageProblem = (failedDomain: string): Problem =>
  new Problem("upstream/unavailable", `The ${failedDomain} behind this service do not answer right now.`, {
    failedDomain,
    retryAfterSeconds: 30,
  });

/** Actions answer problems as data, so that a refusal looks the same from this process and from another. */
const schemaOf = (
  actor: Actor,
  execute: (command: Command) => Promise<Reply>,
  log: Logger,
): ServiceSchema => {
  const answer = async (name: string, work: () => Promise<Reply>): Promise<Reply> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Problem) return { problem: error.record() };
      if (error instanceof NotYet)
        return { problem: new Problem("not-found/resource", error.message).record() };
      const away = outageOf(error);
      log.error({ action: name, away, err: error }, "action failed");
      if (away !== undefined) return { problem: outageProblem(away).record() };
      throw error;
    }
  };
  const actions: ServiceSchema["actions"] = {};
  const inTurn = <T>({ principal }: Command | Query, work: () => Promise<T>): Promise<T> =>
    principal.surface === "system" ? work() : answering(work);
  for (const verb of verbsOf(actor)) {
    actions[verb] = (ctx: { params: Command }) =>
      answer(verb, () => inTurn(ctx.params, () => execute(ctx.params)));
  }
  for (const [name, query] of Object.entries(actor.queries ?? {})) {
    actions[name] = (ctx: { params: Query }) =>
      answer(name, () => inTurn(ctx.params, async () => ({ ok: await query(ctx.params) })));
  }
  return { name: actor.name, actions };
};

/** How actors call each other through the broker. */
export const callThrough =
  (broker: ServiceBroker): ActorContext["call"] =>
  async <View>(name: string, envelope: Query | Command): Promise<View> => {
    let reply: Reply<View>;
    try {
      reply = (await broker.call(name, envelope)) as Reply<View>;
    } catch (error) {
      const kind = (error as { type?: string; name?: string }).name ?? "";
      if (!/ServiceNotFound|ServiceNotAvailable|RequestTimeout|RequestRejected|Disconnected/.test(kind))
        throw error;
      const domain = name.slice(0, name.indexOf("."));
      throw new Problem("upstream/unavailable", `${domain} is not reachable right now.`, {
        failedDomain: domain,
      });
    }
    if ("problem" in reply) throw Problem.from(reply.problem);
    return reply.ok;
  };
