// The smallest actor that shows every way of the runtime, and nodes that host it: each is a process of its own as far as the
// servers can tell, with its broker, its connections and its consumers.
import { join } from "node:path";
import { ServiceBroker } from "moleculer";
import { pino } from "pino";
import type { Test } from "tap";
import { systemClock } from "../../actors/runtime/clock.ts";
import { type Decider, NotYet, type Outgoing, type Received } from "../../actors/runtime/decider.ts";
import { openDocuments } from "../../actors/runtime/documents.ts";
import { type ActorContext, callThrough, hostActor } from "../../actors/runtime/host.ts";
import { stagingService } from "../../actors/runtime/staging.ts";
import { readConfig } from "../../config/config.ts";
import { type Command, systemPrincipal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { ensureDevelopmentKeys, keyFiles } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";

export interface CounterState {
  count: number;
  /** Length of the last text that came with an `add`. */
  textLength: number;
  wakeAt?: Date;
  wakes: number;
}

export type CounterEvent =
  | { type: "counter.opened" }
  | { type: "counter.added"; by: number; textLength: number }
  | { type: "counter.snoozed"; until: Date }
  | { type: "counter.woken" };

/** What a test may look at or change while the actor works. */
export interface CounterHooks {
  /** Called with each command that reaches a decision; may throw. */
  deciding?(command: Received): void;
}

const evolve = (state: CounterState | undefined, event: CounterEvent): CounterState => {
  const { wakeAt: _, ...before } = state ?? { count: 0, textLength: 0, wakes: 0 };
  switch (event.type) {
    case "counter.opened":
      return before;
    case "counter.added":
      return { ...before, count: before.count + event.by, textLength: event.textLength };
    case "counter.snoozed":
      return { ...before, wakeAt: event.until };
    case "counter.woken":
      return { ...before, wakes: before.wakes + 1 };
    default:
      return event satisfies never;
  }
};

const decide = (state: CounterState | undefined, command: Received): CounterEvent[] => {
  const data = command.data as { by?: number; text?: string; inMs?: number };
  const verb = command.name.slice("counter.".length);
  if (verb === "open") return state === undefined ? [{ type: "counter.opened" }] : [];
  if (state === undefined) throw new NotYet("The counter does not exist yet.");
  if (verb === "refuse") throw new Problem("conflict/state", "This is never taken.", { state: "OPEN" });
  if (verb === "snooze") {
    return [{ type: "counter.snoozed", until: new Date(command.now.getTime() + (data.inMs ?? 0)) }];
  }
  if (verb === "wake") return state.wakeAt === undefined ? [] : [{ type: "counter.woken" }];
  return [{ type: "counter.added", by: data.by ?? 1, textLength: data.text?.length ?? 0 }];
};

const outgoing = (
  event: CounterEvent,
  { count }: CounterState,
  _command: Received,
  id: string,
): Outgoing[] => [{ to: "internal", type: event.type, id, data: { id, count } }];

/** `counter.opened` comes back to it as the command to add one: an event, a reaction and a command in a row. */
export const counterDecider = (hooks: CounterHooks): Decider<CounterState, CounterEvent> => ({
  actor: "counter",
  kind: "wave",
  collection: "counters",
  schemaVersion: 1,
  commands: ["open", "add", "refuse", "snooze", "wake"],
  indexes: [],
  decide: (state, command) => {
    hooks.deciding?.(command);
    return decide(state, command);
  },
  evolve,
  outgoing,
  timers: ({ wakeAt }) => (wakeAt === undefined ? [] : [{ name: "wake", dueAt: wakeAt }]),
  view: (state) => state,
  reactions: {
    "counter.opened": ({ data }) => [{ name: "counter.add", entity: String(data.id), data: { by: 1 } }],
  },
});

export interface Servers {
  natsUrl: string;
  mongodbUrl: string;
  databasePrefix: string;
  folder: string;
}

export interface CounterNode {
  context: ActorContext;
  broker: ServiceBroker;
  stop(): Promise<void>;
}

let nodes = 0;

/** Hosts the actor for the airlines XN and QZ. Ends with the test, or at `stop`. */
export const startCounterNode = async (
  t: Pick<Test, "teardown">,
  servers: Servers,
  hooks: CounterHooks = {},
  settings: Record<string, string> = {},
): Promise<CounterNode> => {
  await ensureDevelopmentKeys(servers.folder);
  const config = readConfig({
    NATS_URL: servers.natsUrl,
    MONGODB_URL: servers.mongodbUrl,
    DATABASE_PREFIX: servers.databasePrefix,
    OPERATOR_ISSUER: "https://login.example",
    OPERATOR_JWKS: join(servers.folder, keyFiles.operatorJwks),
    PARTNER_SIGNING_KEY_FILE: join(servers.folder, keyFiles.partner),
    PASSENGER_SIGNING_KEY_FILE: join(servers.folder, keyFiles.passenger),
    SEAL_KEY_FILE: join(servers.folder, keyFiles.seal),
    SWEEP_INTERVAL_MS: "200",
    ACK_WAIT_MS: "1000",
    COMMAND_PATIENCE_MS: "60000",
    ...settings,
  });
  const name = `node-${nodes++}`;
  const streams = await openStreams(servers.natsUrl, name);
  const documents = await openDocuments(servers.mongodbUrl, servers.databasePrefix);
  const tenants = await openTenantDirectory(streams, pino({ level: "silent" }));
  await tenants.announce({ code: "XN", name: "Northern Cross", passengerHosts: [], homeCountry: "US" });
  await tenants.announce({ code: "QZ", name: "Quetzal Air", passengerHosts: [], homeCountry: "MX" });
  const broker = new ServiceBroker({
    nodeID: name,
    logger: false,
    transporter: { type: "NATS", options: { servers: [servers.natsUrl] } },
    skipProcessEventRegistration: true,
  });
  const context: ActorContext = {
    config,
    documents,
    streams,
    tenants,
    clock: systemClock,
    faults: () => undefined,
    log: pino({ level: "silent" }),
    call: callThrough(broker),
  };
  const hosted = hostActor(context, { name: "counter", deciders: [counterDecider(hooks)] });
  broker.createService(hosted.schema);
  broker.createService(stagingService(documents, systemClock));
  await broker.start();
  await hosted.start();
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      await hosted.stop();
      await broker.stop();
      tenants.close();
      await documents.close();
      await streams.close();
    })();
    return stopped;
  };
  t.teardown(stop);
  return { context, broker, stop };
};

export const trace = {
  correlationUrn: "urn:correlation:0198c7f2-0000-7000-8000-000000000001",
  traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
};

/** A command of the service itself. @param id the same id is the same command */
export const counterCommand = (id: string, verb: string, entity: string, data: unknown = {}): Command => {
  const tenant = entity.slice(0, 2);
  const issuedAt = new Date().toISOString();
  const principal = systemPrincipal(tenant, "test");
  return { ...trace, id, name: `counter.${verb}`, tenant, entity, principal, issuedAt, data };
};
