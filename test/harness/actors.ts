// Actors of a test's choice in this process, on real servers of the test's own, and what a test does to them: send, ask, watch
// the streams, move the clock. What they must answer is the tests' business.
import type { NatsConnection } from "@nats-io/transport-node";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { pino } from "pino";
import type { Test } from "tap";
import { openDocuments } from "../../actors/runtime/documents.ts";
import { type ActorContext, type ActorFactory, callThrough, hostActor } from "../../actors/runtime/host.ts";
import { readConfig } from "../../config/config.ts";
import type { Command, Principal } from "../../schemas/command.ts";
import {
  developmentInstance,
  serviceEnvironment,
  writeInstance,
} from "../../scripts/supervisor/environment.ts";
import { ensureDevelopmentKeys } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { startDocuments, startNatsServer, temporaryFolder } from "./processes.ts";

export const trace = {
  correlationUrn: "urn:correlation:test",
  traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
};

/** An administrator's tool, acting for the airline XN. */
export const administrator: Principal = { surface: "system", tenant: "XN", urn: "urn:user:admin-ana" };

export interface ActorsUnderTest {
  context: ActorContext;
  broker: ServiceBroker;
  /** Holds the instance.json and the keys by which scripts find and trust this instance. */
  dataDir: string;
  /** Moves the clock that decisions and timers read; the streams keep real time. */
  advance(ms: number): void;
  /** Of the administrator, for XN, unless `more` says otherwise. Each has an id of its own. */
  commandOf(name: string, data: unknown, more?: Partial<Command>): Command;
  /** @throws Problem the actor's refusal */
  send<View>(name: string, data: unknown, more?: Partial<Command>): Promise<View>;
  /** @throws Problem the actor's refusal */
  ask<View>(name: string, params: Record<string, unknown>, principal?: Principal): Promise<View>;
}

/**
 * Starts them and, as plain services, the neighbours that the test plays itself. All of it ends with the test.
 * Sweeps run every 100 ms.
 */
export async function startActorsUnderTest(
  t: Test,
  factories: readonly ActorFactory[],
  neighbours: readonly ServiceSchema[] = [],
): Promise<ActorsUnderTest> {
  const [nats, documentServer] = await Promise.all([startNatsServer(t), startDocuments(t)]);
  const dataDir = temporaryFolder(t);
  const instance = developmentInstance({
    baseUrl: "http://127.0.0.1:8080",
    dataDir,
    natsUrl: nats.url,
    mongodbUrl: documentServer.url,
  });
  await ensureDevelopmentKeys(instance.keysDir);
  writeInstance(dataDir, instance);
  const streams = await openStreams(nats.url, "test");
  const documents = await openDocuments(documentServer.url, documentServer.databasePrefix);
  const tenants = await openTenantDirectory(streams, pino({ level: "silent" }));
  const broker = new ServiceBroker({
    nodeID: "under-test",
    transporter: { type: "NATS", options: { servers: [nats.url] } },
    logger: false,
    skipProcessEventRegistration: true,
  });
  let aheadMs = 0;
  const context: ActorContext = {
    config: readConfig({
      ...serviceEnvironment(instance, { host: "127.0.0.1", port: 8080, role: "all" }),
      DATABASE_PREFIX: documentServer.databasePrefix,
      SWEEP_INTERVAL_MS: "100",
    }),
    documents,
    streams,
    tenants,
    clock: { now: () => new Date(Date.now() + aheadMs) },
    faults: () => undefined,
    log: pino({ level: "silent" }),
    call: callThrough(broker),
  };
  const actors = factories.map((factory) => hostActor(context, factory(context)));
  for (const schema of [...neighbours, ...actors.map((actor) => actor.schema)]) broker.createService(schema);
  t.teardown(async () => {
    await Promise.all(actors.map((actor) => actor.stop()));
    await broker.stop();
    tenants.close();
    await streams.close();
    await documents.close();
  });
  await broker.start();
  await Promise.all(actors.map((actor) => actor.start()));

  let commands = 0;
  const commandOf: ActorsUnderTest["commandOf"] = (name, data, more = {}) => ({
    id: `command-${++commands}`,
    name,
    tenant: "XN",
    entity: "",
    principal: administrator,
    ...trace,
    issuedAt: context.clock.now().toISOString(),
    data,
    ...more,
  });
  return {
    context,
    broker,
    dataDir,
    advance: (ms) => {
      aheadMs += ms;
    },
    commandOf,
    send: (name, data, more) => context.call(name, commandOf(name, data, more)),
    ask: (name, params, principal = administrator) =>
      context.call(name, { tenant: principal.tenant, principal, ...trace, params }),
  };
}

interface SeenMessage {
  subject: string;
  text: string;
}

export interface Watch {
  readonly seen: SeenMessage[];
  /** Resolves once they are as wanted. */
  until(isEnough: (messages: SeenMessage[]) => boolean): Promise<SeenMessage[]>;
}

/** All messages on a subject from now on, acknowledgements (`$JS.ACK.<stream>.<durable>.>`) included. */
export async function watch(connection: NatsConnection, subject: string): Promise<Watch> {
  const seen: SeenMessage[] = [];
  const looking = new Set<() => void>();
  connection.subscribe(subject, {
    callback: (_, message) => {
      seen.push({ subject: message.subject, text: message.string() });
      for (const look of looking) look();
    },
  });
  await connection.flush();
  const until: Watch["until"] = (isEnough) =>
    new Promise((found) => {
      const look = () => {
        if (!isEnough(seen)) return;
        looking.delete(look);
        found(seen);
      };
      looking.add(look);
      look();
    });
  return { seen, until };
}

/** Of messages on `$JS.ACK.…`: whether the consumer is done with its message. */
export const isAck = ({ text }: SeenMessage): boolean => text === "+ACK";
