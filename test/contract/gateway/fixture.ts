/** Owns what the gateway's tests share: a real gateway on a free port, a real broker whose services stand for the actors, and tokens. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { pino } from "pino";
import { type Config, readConfig } from "../../../config/config.ts";
import type { Route } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { type GatewayParts, startGateway } from "../../../gateway/start.ts";
import type { Command, Query, Reply } from "../../../schemas/command.ts";
import type { Role } from "../../../schemas/vocabulary.ts";
import { raisedRates } from "../../../scripts/benchmarks/raised-rates.ts";
import type { KnownClosing } from "../../../streams/closed-cases.ts";
import type { KeptAnswers, KeptEntry } from "../../../streams/kept-answers.ts";
import { EndedSessions, RevocationList } from "../../../streams/revocations.ts";
import type { Tenant, TenantDirectory } from "../../../streams/tenant-directory.ts";

export const claims = "https://stopover.example/claims";
export const captcha = "development-captcha";
export const ulid = "01JD0000000000000000000000";
export const passengerHost = "stay.xn.example";

const airlines: Tenant[] = [
  { code: "XN", name: "Xenon Air", passengerHosts: [passengerHost], homeCountry: "US" },
  { code: "YB", name: "Yttrium", passengerHosts: ["stay.yb.example"], homeCountry: "DE" },
];

export const tenants: TenantDirectory = {
  byCode: (code) => airlines.find((airline) => airline.code === code),
  byPassengerHost: (host) => airlines.find((airline) => airline.passengerHosts.includes(host)),
  all: () => airlines,
  onEach: (callback) => {
    airlines.forEach(callback);
    return () => {};
  },
};

export interface Keys {
  operator: CryptoKey;
  partner: CryptoKey;
  passenger: CryptoKey;
  /** Known to nobody. */
  foreign: CryptoKey;
  public: { operator: JWK };
}

export interface Answered {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every route
  json: any;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What an action answers; it may throw. */
export type Act = (envelope: Command & Query, name: string) => Reply | Promise<Reply>;

export interface TestGateway {
  config: Config;
  keys: Keys;
  port: number;
  /** Every envelope that reached an actor, in order. */
  received: { name: string; envelope: Command & Query }[];
  /** Replaces what one action answers, until `act` is called again with the same name. */
  act(name: string, act: Act): void;
  /** Lets the gateway's clock run ahead by this much. */
  skewMs(ms: number): void;
  logged: string[];
  /** Closed and reopened cases by id, as this gateway knows them. */
  closings: Map<string, KnownClosing>;
  /** Withdrawn access, as this gateway knows it. */
  revoked: RevocationList;
  ended: EndedSessions;
  ask(path: string, asked?: Asked): Promise<Answered>;
  close(): Promise<void>;
}

/** Without an action of its own here, a name of the route tables answers with a version of 3 and its own name. */
const echo: Act = (_envelope, name) => ({
  ok: { answeredBy: name, html: `<p>${name}</p>`, items: [], nextCursor: null },
  version: 3,
});

/** @param leaveOut actors that are not there at all */
export const startTestGateway = async (
  settings: Record<string, string> = {},
  leaveOut: readonly string[] = [],
  more: Partial<
    Pick<
      GatewayParts,
      | "stage"
      | "closedCases"
      | "now"
      | "revocations"
      | "partnerTiers"
      | "openGatewayLine"
      | "keptAnswers"
      | "routes"
    >
  > = {},
): Promise<TestGateway> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-"));
  const { keys, files } = await writeKeys(folder);
  const config = readConfig({
    PORT: "0",
    NATS_URL: "nats://unused",
    MONGODB_URL: "mongodb://unused",
    OPERATOR_ISSUER: "https://login.example/",
    CAPTCHA_DEVELOPMENT_TOKEN: captcha,
    BASE_URL: "https://stopover.test",
    ...files,
    ...raisedRates,
    ...settings,
  });
  const acts = new Map<string, Act>();
  const received: TestGateway["received"] = [];
  const broker = new ServiceBroker({ logger: false });
  for (const service of standIns(more.routes ?? allRoutes, leaveOut, acts, received))
    broker.createService(service);
  await broker.start();
  let aheadMs = 0;
  const logged: string[] = [];
  const closings: TestGateway["closings"] = new Map();
  const revoked = new RevocationList();
  const ended = new EndedSessions();
  const gateway = await startGateway({
    config,
    broker,
    tenants,
    closedCases: {
      standing: (caseId) => closings.get(caseId),
      untilOpen: async (caseId) => closings.get(caseId)?.open !== false,
      onChange: () => () => {},
    },
    revocations: {
      withdrawalOf: (token) => (revoked.holds(token) ? "revoked" : ended.hold(token) ? "ended" : undefined),
      onWithdrawal: () => () => {},
    },
    keptAnswers: keptInMemory(),
    partnerTiers: { of: () => undefined },
    log: pino({ level: "warn" }, { write: (line: string) => logged.push(line) }),
    now: () => new Date(Date.now() + aheadMs),
    readiness: () => ({ ready: aheadMs === 0, checks: { clock: aheadMs === 0 } }),
    ...more,
  });
  const agent = new Agent({ keepAlive: true });
  return {
    config,
    keys,
    port: gateway.port,
    received,
    logged,
    closings,
    revoked,
    ended,
    act: (name, act) => acts.set(name, act),
    skewMs: (ms) => {
      aheadMs = ms;
    },
    ask: (path, asked) => ask(agent, gateway.port, path, asked),
    close: async () => {
      agent.destroy();
      await gateway.close();
      await broker.stop();
      rmSync(folder, { recursive: true });
    },
  };
};

/** One process's memory in place of a bucket. */
const keptInMemory = (): KeptAnswers => {
  const held = new Map<string, { entry: KeptEntry; revision: number }>();
  let revisions = 0;
  return {
    read: async (key) => held.get(key),
    write: async (key, entry, revision) => {
      if ((held.get(key)?.revision ?? 0) !== revision) return undefined;
      revisions += 1;
      held.set(key, { entry, revision: revisions });
      return revisions;
    },
  };
};

/** What the gateway calls beside what its routes name. */
const behindTheGateway = [
  "identity.pnr-login",
  "identity.authenticate-partner",
  "identity.note-limit-exceeded",
  "audit.begin-export",
  "audit.end-export",
  "vendor-adapter.receive-webhook",
  "case.add-passengers",
  "contract.analyze",
  "staging.put",
];

const standIns = (
  routes: readonly Route[],
  leaveOut: readonly string[],
  acts: ReadonlyMap<string, Act>,
  received: TestGateway["received"],
): ServiceSchema[] => {
  const names = routes.flatMap((route) =>
    "command" in route ? [route.command] : "query" in route ? [route.query] : [],
  );
  const services = new Map<string, ServiceSchema>();
  for (const name of [...names, ...behindTheGateway]) {
    const [actor = "", verb = ""] = name.split(".");
    if (leaveOut.includes(actor)) continue;
    const service = services.get(actor) ?? { name: actor, actions: {} };
    services.set(actor, service);
    service.actions = {
      ...service.actions,
      [verb]: (ctx: { params: Command & Query }) => {
        received.push({ name, envelope: ctx.params });
        return (acts.get(name) ?? echo)(ctx.params, name);
      },
    };
  }
  return [...services.values()];
};

const rsa = () => generateKeyPair("RS256", { extractable: true });
/** Made once per test file: they are slow to make, and every gateway of it may share them. */
const keyPairs = Promise.all([rsa(), rsa(), rsa(), generateKeyPair("EdDSA", { extractable: true })]);

const writeKeys = async (folder: string) => {
  const [operator, partner, foreign, passenger] = await keyPairs;
  const publicOperator = { ...(await exportJWK(operator.publicKey)), kid: "operator-1", alg: "RS256" };
  const write = (name: string, content: unknown): string => {
    const file = join(folder, name);
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  };
  return {
    keys: {
      operator: operator.privateKey,
      partner: partner.privateKey,
      passenger: passenger.privateKey,
      foreign: foreign.privateKey,
      public: { operator: publicOperator },
    },
    files: {
      OPERATOR_JWKS: write("operator.jwks", { keys: [publicOperator] }),
      PARTNER_SIGNING_KEY_FILE: write("partner.jwk", {
        ...(await exportJWK(partner.privateKey)),
        kid: "partner-1",
      }),
      PASSENGER_SIGNING_KEY_FILE: write("passenger.jwk", {
        ...(await exportJWK(passenger.privateKey)),
        kid: "passenger-1",
      }),
      SEAL_KEY_FILE: write("seal.key", Buffer.alloc(32, 1).toString("base64")),
    },
  };
};

/** @param path sent exactly as it is */
const ask = async (agent: Agent, port: number, path: string, asked: Asked = {}): Promise<Answered> => {
  const { method = "GET", headers = {}, body } = asked;
  const bytes = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const request = httpRequest({
    port,
    path,
    method,
    agent,
    headers: {
      ...(bytes === undefined
        ? {}
        : {
            "Content-Type": "application/json",
            ...("Transfer-Encoding" in headers ? {} : { "Content-Length": Buffer.byteLength(bytes) }),
          }),
      ...headers,
    },
  });
  request.end(bytes);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = /json/.test(response.headers["content-type"] ?? "") && text !== "";
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
};

const seconds = (): number => Math.floor(Date.now() / 1000);

/** Claims to change, or with `undefined` to leave out. */
export type Changes = Record<string, unknown>;

export interface Signing {
  key?: CryptoKey | Uint8Array;
  alg?: string;
  kid?: string;
  typ?: string;
}

const sign = (payload: Changes, { key, ...header }: Required<Signing>): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader(header).sign(key);

export const operatorToken = (
  { keys, config }: Pick<TestGateway, "keys" | "config">,
  role: Role = "ADMIN",
  changes: Changes = {},
  { key = keys.operator, alg = "RS256", kid = "operator-1", typ = "JWT" }: Signing = {},
): Promise<string> =>
  sign(
    {
      iss: config.OPERATOR_ISSUER,
      sub: "auth0|7",
      aud: config.OPERATOR_AUDIENCE,
      iat: seconds(),
      exp: seconds() + 900,
      scope: "openid profile email",
      [`${claims}/airline`]: "urn:airline:XN",
      [`${claims}/role`]: role,
      [`${claims}/operator_urn`]: "urn:operator:7",
      ...changes,
    },
    { key, alg, kid, typ },
  );

export const partnerToken = (
  { keys, config }: Pick<TestGateway, "keys" | "config">,
  scope: string,
  changes: Changes = {},
  { key = keys.partner, alg = "RS256", kid = "partner-1", typ = "at+jwt" }: Signing = {},
): Promise<string> =>
  sign(
    {
      iss: config.AUTH_URL,
      sub: "XN-tower@clients",
      aud: config.PARTNER_AUDIENCE,
      iat: seconds(),
      exp: seconds() + 3600,
      scope,
      gty: "client-credentials",
      [`${claims}/partner_urn`]: `urn:partner:XN-${ulid}`,
      [`${claims}/tenant_urn`]: "urn:airline:XN",
      ...changes,
    },
    { key, alg, kid, typ },
  );

export const passengerToken = (
  { keys, config }: Pick<TestGateway, "keys" | "config">,
  changes: Changes = {},
  { key = keys.passenger, alg = "EdDSA", kid = "passenger-1", typ = "session+jwt" }: Signing = {},
): Promise<string> =>
  sign(
    {
      iss: config.AUTH_URL,
      sub: "urn:passenger-session:0b5ac3c0-3f5c-4e0e-9a53-d9cbb4f4a0a1",
      aud: config.PASSENGER_AUDIENCE,
      exp: seconds() + 7 * 86_400,
      case_urn: `urn:case:XN-${ulid}`,
      group_id: "K7QX2M",
      tenant: "urn:airline:XN",
      ...changes,
    },
    { key, alg, kid, typ },
  );

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
