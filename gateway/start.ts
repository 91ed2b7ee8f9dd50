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
import type { VerifyToken } from "./auth/verify-jwt.ts";
import { createCrossOrigin } from "./checks/cross-origin.ts";
import { createReplays } from "./checks/replay.ts";
import { type CompiledRoute, compileRoute } from "./compile-route.ts";
import { createDispatch, type Dispatch, type StageCommand } from "./dispatch.ts";
import { createAnalyzeContract } from "./handlers/analyze-contract.ts";
import { createExchangeMagicLink } from "./handlers/exchange-magic-link.ts";
import { createExportAudit } from "./handlers/export-audit.ts";
import { createRouteHandler, type Handlers } from "./handlers/handlers.ts";
import { createIssueAccessToken } from "./handlers/issue-access-token.ts";
import { createLogIn } from "./handlers/log-in.ts";
import { createOpenSession } from "./handlers/open-session.ts";
import { createReceiveVendorWebhook } from "./handlers/receive-vendor-webhook.ts";
import {
  createReportReadiness,
  createShowDescription,
  createShowKeySet,
  type Readiness,
  reportLiveness,
} from "./handlers/service-facts.ts";
import { showPassengerTemplate } from "./handlers/show-passenger-template.ts";
import { createStreamMyEvents } from "./handlers/stream-my-events.ts";
import { createTakePassengerFile } from "./handlers/take-passenger-file.ts";
import { createShowWebhookKit } from "./handlers/webhook-kit.ts";
import { listen } from "./http/exchange.ts";
import { type Channel, type ChannelParts, openChannel } from "./live/channel.ts";
import type { LiveLog } from "./live/log.ts";
import { openPassengerStreams } from "./live/passenger-open.ts";
import type { ReadPast } from "./live/passenger-past.ts";
import type { PassengerStreams } from "./live/passenger-streams.ts";
import { describeSurface } from "./openapi.ts";
import { createPassengerFileReader } from "./passenger-file/reader.ts";
import { createPipeline } from "./pipeline.ts";
import { createProblemTeller, type TellProblem } from "./problem-response.ts";
import { createPartnerAlerts } from "./rates/partner-alerts.ts";
import { createPartnerTally } from "./rates/partner-tally.ts";
import { Rates } from "./rates/rates.ts";
import { shareRates } from "./rates/share.ts";
import { type DocumentedSurface, pathsOf, type Route } from "./route.ts";
import { Router } from "./router.ts";
import { allRoutes } from "./routes/all.ts";
import { createStageText } from "./stage.ts";

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
  /** What live channels are told from; undefined: there are none. Closed by whoever opened it. */
  live?: LiveLog;
  /** What passengers have missed longer ago than `live` remembers. */
  readPast?: ReadPast;
  /** What operators' live channel keeps and hears elsewhere; undefined, or without `live`: there is none. */
  channel?: Pick<ChannelParts, "sessions" | "watchGateways">;
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
  const passengerStreams = streamsOf(parts, dispatch);
  const handlers = createHandlers(parts, dispatch, keys, passengerStreams);
  const verifiers = createVerifiers(config, keys, now);
  const tellProblem = createProblemTeller(config.ERRORS_BASE);
  const rates = new Rates(config.rates, parts.partnerTiers.of);
  const self = randomUUID();
  const tally = createPartnerTally({ dispatch, tiers: parts.partnerTiers, self, now, log });
  const pipeline = createPipeline({
    router: createRouter(parts.routes ?? allRoutes),
    tenants,
    closedCases,
    revocations,
    verifiers,
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
  const channel = await channelOf(parts, dispatch, verifiers.operator, tellProblem);
  const attach = channel?.attach;
  const server = await listen(config.HOST, config.PORT, pipeline, {
    proxies: config.trustedProxies,
    attach,
  }).catch(async (error) => {
    passengerStreams?.close();
    await channel?.close();
    keys.close();
    await tally.close();
    throw error;
  });
  const openLine = parts.openGatewayLine;
  const stopSharing = shareRates({ rates, openLine, self, now, log });
  log.info({ host: config.HOST, port: server.port }, "gateway listens");
  return {
    port: server.port,
    close: async () => {
      passengerStreams?.close();
      await channel?.close();
      await server.close();
      await tally.close();
      stopSharing();
      keys.close();
    },
  };
};

const channelOf = async (
  parts: GatewayParts,
  dispatch: Dispatch,
  verify: VerifyToken,
  tellProblem: TellProblem,
): Promise<Channel | undefined> => {
  const { live, channel, config, tenants, revocations, now, log } = parts;
  if (live === undefined || channel === undefined) return undefined;
  const origins = new Set([...config.CORS_ORIGINS.split(","), new URL(config.BASE_URL).origin]);
  const beatMs = config.LIVE_BEAT_MS;
  const leaseMs = config.LOCK_LEASE_MS;
  const wiring = { dispatch, verify, tellProblem, origins, proxies: config.trustedProxies, beatMs, leaseMs };
  return openChannel({ ...channel, ...wiring, live, tenants, revocations, now, log });
};

const streamsOf = (parts: GatewayParts, dispatch: Dispatch): PassengerStreams | undefined => {
  const { live, readPast, closedCases, revocations, now, log } = parts;
  return live === undefined || readPast === undefined
    ? undefined
    : openPassengerStreams(dispatch, { live, readPast, closedCases, revocations, now, log });
};

const createHandlers = (
  parts: GatewayParts,
  dispatch: Dispatch,
  keys: SurfaceKeys,
  passengerStreams: PassengerStreams | undefined,
): Handlers => {
  const { config, tenants, closedCases, now, log } = parts;
  const signSession = createPassengerSigner(config, keys.passenger.signing, now);
  const signToken = createPartnerSigner(config, keys.partner.signing, now);
  const openSession = createOpenSession(closedCases, signSession);
  return {
    logIn: createLogIn(dispatch, tenants, createCaptchaVerifier(config), openSession),
    exchangeMagicLink: createExchangeMagicLink(dispatch, closedCases, openSession, log),
    issueAccessToken: createIssueAccessToken(dispatch, tenants, config.PARTNER_AUDIENCE, signToken),
    receiveVendorWebhook: createReceiveVendorWebhook(dispatch, config.BASE_URL),
    streamMyEvents: createStreamMyEvents(passengerStreams),
    exportAudit: createExportAudit(dispatch),
    analyzeContract: createAnalyzeContract(dispatch, createStageText(parts.broker)),
    takePassengerFile: createTakePassengerFile(dispatch, createPassengerFileReader(), parts.stage),
    showPassengerTemplate,
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
