/** Runs the service: gateway, actors or both in one process, as ROLE says; configured by the environment alone. */
import { ServiceBroker } from "moleculer";
import type { Logger } from "pino";
import { openDocuments } from "../actors/runtime/documents.ts";
import { actorFactories, startActors } from "../actors/start.ts";
import { type Config, Environment, readConfig } from "../config/config.ts";
import { reachesAll } from "../gateway/dispatch.ts";
import { openLiveLog } from "../gateway/live/log.ts";
import { createReadPast } from "../gateway/live/passenger-past.ts";
import { actionOf } from "../gateway/route.ts";
import { allRoutes } from "../gateway/routes/all.ts";
import { createStage } from "../gateway/stage.ts";
import { type Gateway, startGateway } from "../gateway/start.ts";
import { openClosedCases } from "../streams/closed-cases.ts";
import { openStreams } from "../streams/connection.ts";
import { gatewayLineOver } from "../streams/gateway-line.ts";
import { openKeptAnswers } from "../streams/kept-answers.ts";
import { liveGatewaysOver } from "../streams/live-gateways.ts";
import { openLiveSessions } from "../streams/live-sessions.ts";
import { watchPartnerTiers } from "../streams/partner-tiers.ts";
import { openRevocations } from "../streams/revocations.ts";
import { openTenantDirectory } from "../streams/tenant-directory.ts";
import { runAsProcess, type Serving } from "./supervisor/own-process.ts";

/** A gateway without the actors behind its routes would refuse what others could answer. */
const actionsServed = new Set(allRoutes.map(actionOf).filter((name) => name !== undefined));

interface Role {
  gateway: boolean;
  actors: readonly string[];
}

const roleOf = (role: string): Role => {
  const every = Object.keys(actorFactories);
  if (role === "all") return { gateway: true, actors: every };
  if (role === "gateway") return { gateway: true, actors: [] };
  return { gateway: false, actors: role === "actors" ? every : role.slice("actors=".length).split(",") };
};

const createBroker = (config: Config, log: Logger): ServiceBroker =>
  new ServiceBroker({
    transporter: { type: "NATS", options: { servers: config.NATS_URL.split(",") } },
    requestTimeout: 15_000,
    // In seconds: until then a process that was killed is still called, and each call of it waits in vain.
    heartbeatInterval: 2,
    heartbeatTimeout: 6,
    registry: { preferLocal: true },
    logger: { type: "Pino", options: { pino: { options: { level: "warn", base: log.bindings() } } } },
    skipProcessEventRegistration: true,
  });

/** Starts what the role names, in the order in which each needs the others; returns the way to stop it all. */
const start = async (config: Config, log: Logger): Promise<Serving> => {
  const role = roleOf(config.ROLE);
  const streams = await openStreams(config.NATS_URL, `stopover-${config.ROLE}`);
  const tenants = await openTenantDirectory(streams, log);
  const closedCases = role.gateway ? await openClosedCases(streams, log) : undefined;
  const revocations = role.gateway ? await openRevocations(streams, log) : undefined;
  const live = role.gateway ? await openLiveLog(streams, log) : undefined;
  const partnerTiers = role.gateway ? await watchPartnerTiers(streams, log) : undefined;
  const broker = createBroker(config, log);
  const documents =
    role.actors.length > 0 ? await openDocuments(config.MONGODB_URL, config.DATABASE_PREFIX) : undefined;
  const actors =
    documents &&
    (await startActors({ config, broker, streams, documents, tenants, log, names: role.actors }));
  if (actors === undefined) await broker.start();
  let streamsUp = true;
  void (async () => {
    for await (const { type } of streams.connection.status()) {
      if (type === "disconnect") streamsUp = false;
      if (type === "reconnect") streamsUp = true;
    }
  })();
  const readiness = () => {
    const checks = {
      streams: streamsUp,
      broker: broker.started,
      tenants: tenants.live(),
      ...(role.gateway ? { actors: reachesAll(broker, actionsServed) } : {}),
      ...(closedCases === undefined ? {} : { closedCases: closedCases.live() }),
      ...(revocations === undefined ? {} : { revocations: revocations.live() }),
      ...(live === undefined ? {} : { live: live.live() }),
      ...(documents === undefined ? {} : { documents: documents.reachable() }),
    };
    return { ready: Object.values(checks).every(Boolean), checks };
  };
  let gateway: Gateway | undefined;
  if (closedCases !== undefined && revocations !== undefined && partnerTiers !== undefined) {
    const remote = role.actors.length === 0 ? { stage: createStage(broker) } : {};
    gateway = await startGateway({
      config,
      broker,
      tenants,
      closedCases,
      revocations,
      keptAnswers: await openKeptAnswers(streams),
      ...(live === undefined ? {} : { live, readPast: createReadPast(streams) }),
      channel: { sessions: await openLiveSessions(streams), watchGateways: liveGatewaysOver(streams, log) },
      partnerTiers,
      openGatewayLine: gatewayLineOver(streams),
      log,
      now: () => new Date(),
      readiness,
      ...remote,
    });
  }
  return {
    address: config.BASE_URL.replace(/:0(\/|$)/, `:${gateway?.port ?? 0}$1`),
    stop: async () => {
      await gateway?.close();
      await actors?.stop();
      await broker.stop();
      tenants.close();
      closedCases?.close();
      revocations?.close();
      partnerTiers?.close();
      await live?.close();
      await documents?.close();
      await streams.close();
    },
  };
};

await runAsProcess({
  name: "the service",
  settings: Environment,
  readConfig,
  roleOf: ({ ROLE }) => ROLE,
  readyWord: "ready",
  start,
});
