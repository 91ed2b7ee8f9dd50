/** Owns putting the gateway together and starting it: what can be done once is done here, before the first request. */
import type { ServiceBroker } from "moleculer";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { ClosedCases } from "../streams/closed-cases.ts";
import type { TenantDirectory } from "../streams/tenant-directory.ts";
import { createCaptchaVerifier } from "./auth/captcha.ts";
import { createOperatorVerifier } from "./auth/operator-token.ts";
import { createPartnerSigner, createPartnerVerifier, partnerKeySet } from "./auth/partner-token.ts";
import { createPassengerSigner, createPassengerVerifier } from "./auth/passenger-token.ts";
import { type CompiledRoute, compileRoute } from "./compile-route.ts";
import { createDispatch, type Dispatch, type StageCommand } from "./dispatch.ts";
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
import { listen } from "./http/exchange.ts";
import { describeSurface } from "./openapi.ts";
import { createPipeline } from "./pipeline.ts";
import { createProblemTeller } from "./problem-response.ts";
import { type DocumentedSurface, pathsOf } from "./route.ts";
import { Router } from "./router.ts";
import { allRoutes } from "./routes/all.ts";

export interface GatewayParts {
  config: Config;
  /** Started; the gateway calls actions on it and registers none. */
  broker: ServiceBroker;
  tenants: TenantDirectory;
  /** Knows every closing when the gateway starts: one that does not would let dead sessions in. */
  closedCases: ClosedCases;
  log: Logger;
  now: () => Date;
  readiness: () => Readiness;
  /** Keeps bodies that are too large for a message; undefined where every actor is in this process. */
  stage?: StageCommand;
}

export interface Gateway {
  /** The port really listened on. */
  readonly port: number;
  /** Stops listening, lets what is under way finish (at most 3 s), then closes every connection. */
  close(): Promise<void>;
}

/** @throws ListenError when the port is taken; ConfigError when the operators' key set cannot be read */
export const startGateway = async (parts: GatewayParts): Promise<Gateway> => {
  const { config, broker, tenants, closedCases, log, now } = parts;
  const dispatch = createDispatch(broker);
  const handlers = await createHandlers(parts, dispatch);
  const pipeline = createPipeline({
    router: createRouter(),
    tenants,
    closedCases,
    verifiers: {
      operator: createOperatorVerifier(config, now),
      passenger: createPassengerVerifier(config, now),
      partner: createPartnerVerifier(config, now),
    },
    handle: createRouteHandler(dispatch, handlers, parts.stage),
    tellProblem: createProblemTeller(config.ERRORS_BASE),
    now,
    log,
  });
  const server = await listen(config.HOST, config.PORT, pipeline);
  log.info({ host: config.HOST, port: server.port }, "gateway listens");
  return server;
};

const createHandlers = async (parts: GatewayParts, dispatch: Dispatch): Promise<Handlers> => {
  const { config, tenants, closedCases, now } = parts;
  const signSession = await createPassengerSigner(config, now);
  const signToken = await createPartnerSigner(config, now);
  return {
    logIn: createLogIn(dispatch, closedCases, createCaptchaVerifier(config), signSession),
    issueAccessToken: createIssueAccessToken(dispatch, tenants, config.PARTNER_AUDIENCE, signToken),
    showKeySet: createShowKeySet(partnerKeySet(config)),
    showDescription: createShowDescription(describeAll(config)),
    reportLiveness,
    reportReadiness: createReportReadiness(parts.readiness),
  };
};

const createRouter = (): Router<CompiledRoute> => {
  const router = new Router<CompiledRoute>();
  for (const route of allRoutes) {
    const compiled = compileRoute(route);
    for (const path of pathsOf(route)) router.add(route.method.toUpperCase(), path, compiled);
  }
  return router;
};

const describeAll = (config: Config): ReadonlyMap<string, Buffer> => {
  const settings = { baseUrl: config.BASE_URL, authUrl: config.AUTH_URL, errorsBase: config.ERRORS_BASE };
  const surfaces: DocumentedSurface[] = ["operator", "passenger", "partner"];
  return new Map(
    surfaces.map((surface) => [
      surface,
      Buffer.from(JSON.stringify(describeSurface(surface, allRoutes, settings))),
    ]),
  );
};
