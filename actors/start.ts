/** Starts the actors of this process on one broker; which ones is the role's choice. */
import type { ServiceBroker } from "moleculer";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Streams } from "../streams/connection.ts";
import type { LiveTenantDirectory } from "../streams/tenant-directory.ts";
import { agentActor } from "./agent/service.ts";
import { auditActor } from "./audit/service.ts";
import { caseActor } from "./case/service.ts";
import { contractActor } from "./contract/service.ts";
import { flightActor } from "./flight/service.ts";
import { identityActor } from "./identity/service.ts";
import { messageActor } from "./message/service.ts";
import { metricsActor } from "./metrics/service.ts";
import { policyActor } from "./policy/service.ts";
import { reviewActor } from "./review/service.ts";
import { systemClock } from "./runtime/clock.ts";
import type { Documents } from "./runtime/documents.ts";
import { faultsOf } from "./runtime/faults.ts";
import { type ActorContext, type ActorFactory, callThrough, hostActor } from "./runtime/host.ts";
import { stagingService } from "./runtime/staging.ts";
import { subCaseActor } from "./sub-case/service.ts";
import { transportActor } from "./transport/service.ts";
import { vendorAdapterActor } from "./vendor-adapter/service.ts";
import { waveActor } from "./wave/service.ts";
import { webhookActor } from "./webhook/service.ts";

/** Every actor by its name on the wire. */
export const actorFactories: Readonly<Record<string, ActorFactory>> = {
  identity: identityActor,
  audit: auditActor,
  metrics: metricsActor,
  policy: policyActor,
  contract: contractActor,
  flight: flightActor,
  case: caseActor,
  "sub-case": subCaseActor,
  wave: waveActor,
  review: reviewActor,
  transport: transportActor,
  message: messageActor,
  webhook: webhookActor,
  agent: agentActor,
  "vendor-adapter": vendorAdapterActor,
};

export interface StartedActors {
  /** Takes nothing more in, and finishes what is under way. */
  stop(): Promise<void>;
}

export interface ActorsOptions {
  config: Config;
  broker: ServiceBroker;
  streams: Streams;
  documents: Documents;
  tenants: LiveTenantDirectory;
  log: Logger;
  /** Names from {@link actorFactories}. */
  names: readonly string[];
}

/**
 * Registers the services, starts the broker, then starts to consume: actors can call each other from their first
 * message on.
 */
export const startActors = async (options: ActorsOptions): Promise<StartedActors> => {
  const { config, broker, streams, documents, tenants, log, names } = options;
  const context: ActorContext = {
    config,
    documents,
    streams,
    tenants,
    clock: systemClock,
    faults: faultsOf(config.KILL_POINT),
    log,
    call: callThrough(broker),
  };
  const hosted = names.map((name) => {
    const factory = actorFactories[name];
    if (factory === undefined) {
      throw new Error(`ROLE: no actor ${name}; there are ${Object.keys(actorFactories).join(", ")}`);
    }
    return hostActor(context, factory(context));
  });
  for (const actor of hosted) broker.createService(actor.schema);
  broker.createService(stagingService(documents, systemClock));
  await broker.start();
  await Promise.all(hosted.map((actor) => actor.start()));
  return {
    stop: async () => {
      await Promise.all(hosted.map((actor) => actor.stop()));
    },
  };
};
