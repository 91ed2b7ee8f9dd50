/** Owns putting the gateway together and starting it: what can be done once is done here, before the first request. */
import { randomUUID } from "node:crypto";
import type { ServiceBroker } from "moleculer";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { ClosedCases } from "../streams/closed-cases.ts";
import type { OpenGatewayLine } from "../streams/gateway-line.ts";
import type { KeptAnswers } from "../streams/kept-answers.ts";
import type { PartnerTiers } from "../streams/partner-tiers.ts";
import type { Revocations } from "../streams/revocations.ts";
import type { TenantDirectory } from "../streams/tenant-directory.ts";
import { createCaptchaVerifier } from "./auth/captcha.ts";
import { createPartnerSigner } from "./auth/partner-token.ts";
import { createPassengerSigner } from "./auth/passenger-token.ts";
import { createVerifiers, openSurfaceKeys, type SurfaceKeys } from "./auth/surfaces.ts";
import { createCrossOrigin } from "./checks/cross-origin.ts";
import { createReplays } from "./checks/replay.ts";
import { type CompiledRoute, compileRoute } from "./compile-route.ts";
import { createDispatch, type Dispatch, type StageCommand } from "./dispatch.ts";
import { createExportAudit } from "./handlers/export-audit.ts";
import { createRouteHandler, type Handlers } from "./handlers/handlers.ts";
import { createIssueAccessToken } from "./handlers/issue-access-token.ts";
import { createLogIn } from "./handlers/log-in.ts";
import {
  createReportReadiness,
  createShowDescription,
  createShowKeySet,
  type Readiness,
  reportLiveness,
} from "./handlers/service-facts.ts";
import { createShowWebhookKit } from "./handlers/webhook-kit.ts";
import { listen } from "./http/exchange.ts";
import { describeSurface } from "./openapi.ts";
import { createPipeline } from "./pipeline.ts";
import { createProblemTeller } from "./problem-response.ts";
import { createPartnerAlerts } from "./rates/partner-alerts.ts";
import { createPartnerTally } from "./rates/partner-tally.ts";
import { Rates } from "./rates/rates.ts";
import { shareRates } from "./rates/share.ts";
import { type DocumentedSurface, pathsOf, type Route } from "./route.ts";
import { Router } from "./router.ts";
import { allRoutes } from "./routes/all.ts";

export interface GatewayParts {
  config: Config;
  /** Started; the gateway calls actions on it and registers none. */
  broker: ServiceBroker;
  tenants: TenantDirectory;
  /** Knows every closing when the gateway starts: one that does not would let dead sessions in. */
  closedCases: ClosedCases;
  /** Knows every entry when the gateway starts, likewise. */
  revocations: Revocations;
  keptAnswers: KeptAnswers;
  partnerTiers: PartnerTiers;
  /** Where gateways tell each other what they let through; undefined: this one is alone. */
  openGatewayLine?: OpenGatewayLine;
  log: Logger;
  now: () => Date;
  readiness: () => Readiness;
  /** Default: the service's own. */
  routes?: readonly Route[];
  /** Keeps bodies that are too large for a message; undefined where every actor is in this process. */
  stage?: StageCommand;
}

export interface Gateway {
  /** The port really listened on. */
  readonly port: number;
  /** Stops listening, lets what is under way finish (at most 3 s), then closes every connection. */
  close(): Promise<void>;
}

/** @throws ListenError when the port is taken; ConfigError when a key file cannot be read */
export const startGateway = async (parts: GatewayParts): Promise<Gateway> => {
  const { config, broker, tenants, closedCases, revocations, log, now } = parts;
  const dispatch = createDispatch(broker);
  const keys = openSurfaceKeys(config, log);
  const handlers = createHandlers(parts, dispatch, keys);
  const tellProblem = createProblemTeller(config.ERRORS_BASE);
  const rates = new Rates(config.rates, parts.partnerTiers.of);
  const self = randomUUID();
  const tally = createPartnerTally({ dispatch, tiers: parts.partnerTiers, self, now, log });
  const pipeline = createPipeline({
    router: createRouter(parts.routes ?? allRoutes),
    tenants,
    closedCases,
    revocations,
    verifiers: createVerifiers(config, keys, now),
    handle: createRouteHandler(dispatch, handlers, parts.stage),
    replays: createReplays(parts.keptAnswers, tellProblem, now, log),
    rates,
    alertPartner: createPartnerAlerts(dispatch, log),
    tally,
    tellProblem,
    crossOrigin: createCrossOrigin(config.CORS_ORIGINS),
    now,
    log,
  });
  const server = await listen(config.HOST, config.PORT, pipeline, { proxies: config.trustedProxies }).catch(
    async (error) => {
      keys.close();
      await tally.close();
      throw error;
    },
  );
  const openLine = parts.openGatewayLine;
  const stopSharing = shareRates({ rates, openLine, self, now, log });
  log.info({ host: config.HOST, port: server.port }, "gateway listens");
  return {
    port: server.port,
    close: async () => {
      await server.close();
      await tally.close();
      stopSharing();
      keys.close();
    },
  };
};

const createHandlers = (parts: GatewayParts, dispatch: Dispatch, keys: SurfaceKeys): Handlers => {
  const { config, tenants, closedCases, now } = parts;
  const signSession = createPassengerSigner(config, keys.passenger.signing, now);
  const signToken = createPartnerSigner(config, keys.partner.signing, now);
  return {
    logIn: createLogIn(dispatch, closedCases, createCaptchaVerifier(config), signSession),
    issueAccessToken: createIssueAccessToken(dispatch, tenants, config.PARTNER_AUDIENCE, signToken),
    exportAudit: createExportAudit(dispatch),
    showKeySet: createShowKeySet(keys),
    showDescription: createShowDescription(surfaces, describing(config, parts.routes ?? allRoutes)),
    showWebhookKit: createShowWebhookKit(config.BASE_URL),
    reportLiveness,
    reportReadiness: createReportReadiness(parts.readiness),
  };
};

const createRouter = (routes: readonly Route[]): Router<CompiledRoute> => {
  const router = new Router<CompiledRoute>();
  for (const route of routes) {
    const compiled = compileRoute(route);
    for (const [i, path] of pathsOf(route).entries())
      router.add(route.method.toUpperCase(), path, compiled[i]!, route.rate !== "write");
  }
  return router;
};

const surfaces: readonly DocumentedSurface[] = ["operator", "passenger", "partner"];

const describing = (config: Config, routes: readonly Route[]) => {
  const settings = { baseUrl: config.BASE_URL, authUrl: config.AUTH_URL, errorsBase: config.ERRORS_BASE };
  return (surface: DocumentedSurface): Buffer =>
    Buffer.from(JSON.stringify(describeSurface(surface, routes, settings)));
};
