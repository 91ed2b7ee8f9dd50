// One whole instance for scenario and fault tests: NATS, documents, keys, service processes and (unless left out) the
// sandbox, on free ports and temporary folders, with the demo's airlines provisioned. What is asked of it is the tests'.

import { writeFileSync } from "node:fs";
import type { Test } from "tap";
import { type Documents, openDocuments } from "../../actors/runtime/documents.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";
import { type InstanceClient, openClient } from "../../scripts/administration/client.ts";
import { raisedRates } from "../../scripts/benchmarks/raised-rates.ts";
import { type Answer, type Asked, expectStatus, request } from "../../scripts/demonstration/http.ts";
import {
  type DemoAirline,
  operatorToken,
  provisionAirlines,
  putVendors,
} from "../../scripts/demonstration/provision.ts";
import type { SandboxVendor } from "../../scripts/sandbox/remote-part.ts";
import { defaultParts } from "../../scripts/sandbox/vendors/index.ts";
import {
  developmentInstance,
  type Instance,
  issuerEnvironment,
  serviceEnvironment,
  writeInstance,
} from "../../scripts/supervisor/environment.ts";
import { ensureDevelopmentKeys } from "../../scripts/supervisor/keys.ts";
import { ownPort } from "../../scripts/supervisor/own-port.ts";
import { openStreams, type Streams } from "../../streams/connection.ts";
import { EventLog } from "./event-log.ts";
import {
  type ControlledProcess,
  type ControlledScript,
  startControlledScript,
  startDocuments,
  startNatsServer,
  temporaryFolder,
} from "./processes.ts";

type Scope = Pick<Test, "teardown" | "comment" | "passing">;

const host = "127.0.0.1";

export interface ServiceProcess extends ControlledScript {
  /** Its environment: what is put here holds from its next `restart` on; an empty text is as if unset. */
  readonly settings: Record<string, string | undefined>;
}

export interface InstanceOptions {
  /** Settings of all service processes (config/config.ts). */
  settings?: Record<string, string>;
  /** One service process each, by its settings beside the common ones; default: a single one with every role. */
  services?: Record<string, string>[];
  /** False: neither sandbox nor vendors; the airlines, partners and policies stand all the same. */
  sandbox?: boolean;
  /** True: operators can sign in at `instance.operatorIssuer` (by SMS too, with a sandbox). Tokens of `operatorToken` are as good. */
  issuer?: boolean;
}

/** One thing that a vendor of the sandbox holds. */
export interface LedgerEntry {
  kind: string;
  id: string;
  reference: string;
  idempotencyKey: string;
  state: string;
  details: Record<string, unknown>;
}

export interface Ledger {
  counts: Record<string, number>;
  entries: LedgerEntry[];
  /** The newest first. */
  requests: {
    at: string;
    operation: string;
    idempotencyKey: string | null;
    status: number | null;
    repeated: boolean;
  }[];
  /** What it has told by webhooks, each with the last answer to it; of vendors that send some. */
  webhooks?: { id: string; attempts: number; status: number | null; isTaken: boolean }[];
}

export interface TestInstance {
  readonly instance: Instance;
  /** As `--data` of the scripts: `instance.json` and the keys. */
  readonly dataDir: string;
  readonly databasePrefix: string;
  readonly nats: ControlledProcess;
  /** Undefined with MONGODB_URL. */
  readonly documentServer: ControlledProcess | undefined;
  /** The first holds the gateway at `instance.baseUrl`. */
  readonly services: readonly ServiceProcess[];
  /** Undefined without a sandbox. */
  readonly sandbox: ControlledScript | undefined;
  /** Undefined unless asked for. */
  readonly issuer: ControlledScript | undefined;
  /** XN and QZ, as the demo has them. */
  readonly airlines: readonly [DemoAirline, DemoAirline];
  /** Of the sandbox, as both airlines have them: with the secrets of their webhooks, which are sent nowhere until `control` says so. */
  readonly vendors: readonly SandboxVendor[];
  /** The tests' own connections. */
  readonly streams: Streams;
  readonly documents: Documents;
  /** Commands and queries as a Moleculer node. */
  readonly client: InstanceClient;
  /** Every event of the instance since its start. */
  readonly events: EventLog;
  /** HTTP to the gateway. */
  ask(asked: Asked): Promise<Answer>;
  /** Cached for the test. */
  operatorToken(airline: string, role: string): Promise<string>;
  partnerToken(airline: DemoAirline): Promise<string>;
  /** A session of the traveller's group, by PNR and name. */
  passengerToken(airline: DemoAirline, traveller: { pnr: string; lastName: string }): Promise<string>;
  /** Pushes as the airline's partner; the case as the push answers it. */
  push(airline: DemoAirline, body: DisruptionPushBody): Promise<{ caseUrn: string; subCaseCount: number }>;
  /** One more service process, e.g. of another role. */
  startService(settings?: Record<string, string>): Promise<ServiceProcess>;
  /** What a vendor or the receiver has sold, sent, received or told. */
  ledger(name: string): Promise<Ledger>;
  /** Settings of the sandbox: `{ "<name>" or "*": … }` (scripts/sandbox/README.md). */
  control(settings: Record<string, unknown>): Promise<void>;
  /** What happens at the desk of a hotel vendor's guests (scripts/sandbox/README.md). */
  desk(vendor: string, told: Record<string, string>): Promise<void>;
  /** A reader answers, or writes by themselves: `POST /reply/<vendor>` of the sandbox. */
  reply(vendor: string, told: Record<string, string>): Promise<void>;
  /** Uses a card of a payment vendor's: `POST /spend/<vendor>` of the sandbox. */
  spend(vendor: string, spending: Record<string, string | number>): Promise<{ authorization: string }>;
}

export async function startInstance(t: Scope, options: InstanceOptions = {}): Promise<TestInstance> {
  const dataDir = temporaryFolder(t);
  const [nats, documentServer, sandbox, port] = await Promise.all([
    startNatsServer(t),
    startDocuments(t),
    options.sandbox === false ? undefined : startSandbox(t),
    ownPort(),
    ensureDevelopmentKeys(`${dataDir}/keys`),
  ]);
  const baseUrl = `http://${host}:${port}`;
  const place = { baseUrl, dataDir, natsUrl: nats.url, mongodbUrl: documentServer.url };
  const issuerPort = options.issuer === true ? await ownPort() : undefined;
  const issued = issuerPort === undefined ? {} : { operatorIssuer: `http://localhost:${issuerPort}` };
  const instance = developmentInstance({ ...place, ...issued });
  writeInstance(dataDir, instance);
  const { databasePrefix } = documentServer;
  const common = { LOG_LEVEL: "warn", DATABASE_PREFIX: databasePrefix, ...raisedRates, ...options.settings };
  const services: ServiceProcess[] = [];
  const startService = async (settings: Record<string, string> = {}): Promise<ServiceProcess> => {
    const at = services.length === 0 ? port : await ownPort();
    const service = await startProcess(t, instance, at, { ...common, ...settings });
    services.push(service);
    return service;
  };
  const startServices = async (): Promise<void> => {
    for (const settings of options.services ?? [{}]) await startService(settings);
    await untilReady(baseUrl);
  };
  const both = [openParts(t, instance, databasePrefix), startServices()] as const;
  // A test that ends as one of them fails ends the other, too.
  await Promise.allSettled(both);
  const [parts] = await Promise.all(both);
  const surface = surfaceOf(instance, dataDir, sandbox?.url);
  const announced = await surface.announced();
  const provisioning = { instance, dataDir, client: parts.client, ...announced };
  const [provisioned, issuer] = await Promise.all([
    provisionAirlines(provisioning),
    issuerPort === undefined ? undefined : startIssuer(t, instance, issuerPort, common, announced.vendors),
  ]);
  const airlines = provisioned as [DemoAirline, DemoAirline];
  await putVendors(provisioning);
  if (sandbox !== undefined) await surface.control({ receiver: { secrets: secretsOf(airlines) } });
  const { process } = documentServer;
  const made = {
    instance,
    dataDir,
    databasePrefix,
    nats,
    documentServer: process,
    services,
    sandbox,
    issuer,
  };
  return { ...made, airlines, vendors: announced.vendors, ...parts, ...surface, startService };
}

/** A gateway of its own hears of the actors' processes moments after they are ready. */
const untilReady = async (baseUrl: string): Promise<void> => {
  const asked = { method: "GET", path: "/health/ready" } as const;
  for (let answer = await request(baseUrl, asked); answer.status !== 200; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer = await request(baseUrl, asked);
  }
};

const startSandbox = (t: Scope): Promise<ControlledScript> =>
  startControlledScript(t, {
    script: "scripts/sandbox/main.ts",
    // All in one process: six start several times as slowly, and no test takes one away alone.
    args: (port, folder) => [
      ...["--dir", `${folder}/sandbox`, "--port", String(port ?? 0)],
      ...["--only", defaultParts.join(",")],
    ],
    readyLine: /^listening (http:\S+)/,
  });

const startProcess = async (
  t: Scope,
  instance: Instance,
  port: number,
  own: Record<string, string>,
): Promise<ServiceProcess> => {
  const place = { host, port, role: "all" };
  const address = { ...instance, baseUrl: `http://${host}:${port}` };
  const settings: Record<string, string | undefined> = { ...serviceEnvironment(address, place), ...own };
  const script = await startControlledScript(t, {
    script: "scripts/service.ts",
    env: settings as Record<string, string>,
    readyLine: /^ready (\S+)/,
  });
  return Object.defineProperty(script, "settings", { value: settings }) as ServiceProcess;
};

const startIssuer = (
  t: Scope,
  instance: Instance,
  port: number,
  common: Record<string, string>,
  vendors: readonly SandboxVendor[],
): Promise<ControlledScript> => {
  const messages = vendors.find(({ name }) => name === "sendwell");
  const keyFile = `${instance.keysDir}/sendwell.key`;
  if (messages !== undefined) writeFileSync(keyFile, messages.apiKey, { mode: 0o600 });
  const sms = messages && { ISSUER_SMS_URL: messages.baseUrl, ISSUER_SMS_KEY_FILE: keyFile };
  return startControlledScript(t, {
    script: "scripts/embedded/issuer.ts",
    env: { ...issuerEnvironment(instance, { host, port }), ...common, ...sms } as Record<string, string>,
    readyLine: /^listening (\S+)/,
  });
};

const openParts = async (t: Scope, { natsUrl, mongodbUrl }: Instance, databasePrefix: string) => {
  const streams = await openStreams(natsUrl, "test");
  const events = await EventLog.open(streams);
  const documents = await openDocuments(mongodbUrl, databasePrefix);
  const client = await openClient(natsUrl);
  t.teardown(async () => {
    events.close();
    await Promise.all([client.close(), documents.close(), streams.close()]);
  });
  return { streams, events, documents, client };
};

const secretsOf = (airlines: readonly DemoAirline[]) =>
  Object.fromEntries(
    airlines.flatMap(({ partners }) =>
      partners.map(({ clientId, webhookSecret }) => [clientId, { current: webhookSecret }]),
    ),
  );

/** What tests ask of the instance and its sandbox over HTTP. */
const surfaceOf = (instance: Instance, dataDir: string, controlUrl: string | undefined) => {
  const tokens = new Map<string, Promise<string>>();
  const cached = (key: string, mint: () => Promise<string>): Promise<string> => {
    const token = tokens.get(key) ?? mint();
    tokens.set(key, token);
    return token;
  };
  const ask = (asked: Asked): Promise<Answer> => request(instance.baseUrl, asked);
  const sandbox = async (path: string, body?: unknown): Promise<unknown> => {
    if (controlUrl === undefined) throw new Error("this instance has no sandbox");
    const method = body === undefined ? "GET" : "POST";
    const answer = await request(controlUrl, { method, path, body });
    return expectStatus(answer, 200, `${method} ${path} of the sandbox`).body;
  };
  const partnerToken = (airline: DemoAirline) =>
    cached(airline.code, () => clientCredentials(instance, airline));
  return {
    ask,
    partnerToken,
    operatorToken: (airline: string, role: string) =>
      cached(`${airline} ${role}`, () => operatorToken(dataDir, airline, role)),
    passengerToken: async (airline: DemoAirline, { pnr, lastName }: { pnr: string; lastName: string }) => {
      const body = { pnr, lastName, captcha: instance.captcha };
      const asked = {
        method: "POST",
        path: "/v1/auth/pnr-login",
        host: airline.passengerHost,
        body,
      } as const;
      const login = expectStatus(await ask(asked), 200, `logging in as ${pnr}`);
      return (login.body as { sessionToken: string }).sessionToken;
    },
    push: async (airline: DemoAirline, body: DisruptionPushBody) => {
      const token = await partnerToken(airline);
      const pushed = await ask({ method: "POST", path: "/partner/v1/disruptions", token, body });
      return expectStatus(pushed, 202, "pushing").body as { caseUrn: string; subCaseCount: number };
    },
    ledger: async (name: string) => (await sandbox(`/ledger/${name}`)) as Ledger,
    control: async (settings: Record<string, unknown>) => {
      await sandbox("/control", settings);
    },
    desk: async (vendor: string, told: Record<string, string>) => {
      await sandbox(`/stay/${vendor}`, told);
    },
    /** Uses a card of a payment vendor's. */
    spend: async (vendor: string, spending: Record<string, string | number>) =>
      (await sandbox(`/spend/${vendor}`, spending)) as { authorization: string },
    reply: async (vendor: string, told: Record<string, string>) => {
      await sandbox(`/reply/${vendor}`, told);
    },
    /** Without a sandbox there are no vendors, and webhooks go where nobody listens. */
    announced: async () =>
      (controlUrl === undefined
        ? { vendors: [], receiverUrl: `http://${host}:9/hooks` }
        : await sandbox("/")) as { vendors: SandboxVendor[]; receiverUrl: string },
  };
};

const clientCredentials = async (instance: Instance, { partners }: DemoAirline): Promise<string> => {
  const { clientId, clientSecret } = partners[0] as DemoAirline["partners"][number];
  const body = {
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    audience: instance.audiences.partner,
  };
  const answer = await request(instance.authUrl, { method: "POST", path: "/oauth/token", body });
  return (expectStatus(answer, 200, "getting a partner token").body as { access_token: string }).access_token;
};

/**
 * A cancelled flight from JFK tomorrow evening with this many bookings of one or two in economy, all contactable.
 * @param name tells flights of one test apart: event id, flight number and PNRs follow from it
 */
export const smallFlight = (airline: string, name: string, bookings: number): DisruptionPushBody => {
  const now = new Date();
  const departure = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, 0, 40));
  const passengers = Array.from({ length: bookings }, (_, i) => bookingOf(name, i)).flat();
  return {
    externalEventId: `${airline}-${name}`,
    airlineUrn: `urn:airline:${airline}`,
    flight: {
      iataDesignator: `${airline}482`,
      originAirport: "JFK",
      destinationAirport: "LIS",
      scheduledDeparture: departure.toISOString(),
    },
    disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: now.toISOString() },
    passengers,
    nextFlight: {
      iataDesignator: `${airline}484`,
      scheduledDeparture: new Date(departure.getTime() + 14.5 * 3_600_000).toISOString(),
    },
  };
};

const bookingOf = (name: string, index: number): PassengerInput[] => {
  const pnr = `${name}${index}`
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, "")
    .slice(-6)
    .padStart(6, "A");
  const person = (firstName: string): PassengerInput => ({
    pnr,
    firstName,
    lastName: `Traveller${index}`,
    cabinClass: "ECONOMY",
    loyaltyTier: "STANDARD",
    passengerType: "ADULT",
  });
  const lead = {
    ...person("Ada"),
    contact: { email: `${pnr.toLowerCase()}@example.com`, language: "en" as const },
  };
  return index % 3 === 0 ? [lead, person("Bruno")] : [lead];
};

/** One traveller of each booking of a flight, to log in with. */
export { travellersOf } from "../../scripts/demonstration/passengers.ts";
