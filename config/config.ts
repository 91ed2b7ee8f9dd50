/** Owns the configuration: the only reader of the environment. Every value is checked at the start; a bad one stops it with its name. */
import type { BlockList } from "node:net";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import Type, { type Static, type TObject } from "typebox";
import { ConfigError, checkSigningKeys, readSealKey, readText } from "./key-files.ts";
import {
  proxiesOf,
  type Rate,
  type RatePair,
  rateForm,
  ratePairForm,
  ratePairOf,
  singleRateOf,
} from "./limits.ts";
import { type LoginAttemptLimits, loginAttemptLimits, loginAttemptSettings } from "./login-attempts.ts";
import { type MailServer, mailServerForm, mailServerOf } from "./mail-server.ts";
import { type ModelServer, modelServerOf, modelSettings } from "./model-server.ts";
import { partnerWriteSettings } from "./partner-writes.ts";

export { ConfigError, readSealKey };

const Url = Type.String({ format: "uri", maxLength: 500 });
const File = Type.String({ minLength: 1, maxLength: 1000 });

/** Reads and writes a minute, and how many times that at once after a rest (contract, "Limits"). */
const ratePair = (byDefault: string, whose: string) =>
  Type.String({
    pattern: ratePairForm,
    default: byDefault,
    description: `Reads a minute, writes a minute and burst ${whose}.`,
  });

/** The reference of every setting: name, form, default, meaning. */
export const Environment = Type.Object({
  HOST: Type.String({ default: "127.0.0.1", description: "Address to listen on." }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8080,
    description: "Port to listen on; 0: any free one.",
  }),
  ROLE: Type.String({
    pattern: "^(all|gateway|actors(=[a-z-]+(,[a-z-]+)*)?)$",
    default: "all",
    description: "`all`, `gateway`, `actors`, or `actors=case,sub-case`.",
  }),
  NATS_URL: Type.String({ minLength: 1, description: "NATS servers with JetStream, comma separated." }),
  MONGODB_URL: Type.String({
    pattern: "^mongodb(\\+srv)?://",
    description: "MongoDB 6 or later, or the embedded document server.",
  }),
  DATABASE_PREFIX: Type.String({
    pattern: "^[a-z][a-z0-9]{0,20}$",
    default: "stopover",
    description: "Databases are `<prefix>_platform` and `<prefix>_<airline code>`.",
  }),
  BASE_URL: Type.Optional(Url),
  AUTH_URL: Type.Optional(Url),
  CORS_ORIGINS: Type.String({
    // An origin as browsers send it: scheme, host and, where it is not the usual one, port.
    pattern: "^$|^https?://[a-z0-9.:[\\]-]+(,https?://[a-z0-9.:[\\]-]+)*$",
    default: "",
    description:
      "Origins, comma separated, whose pages may call the service from a browser, with credentials; none by default.",
  }),
  CLAIM_NAMESPACE: Type.String({
    format: "uri",
    default: "https://stopover.example/claims",
    description: "Prefix of the namespaced claims, without the slash.",
  }),
  ERRORS_BASE: Type.String({
    format: "uri",
    default: "https://stopover.example/problems",
    description: "Base of problem type identifiers.",
  }),
  OPERATOR_AUDIENCE: Type.String({ default: "stopover-operator" }),
  PASSENGER_AUDIENCE: Type.String({ default: "stopover-passenger" }),
  PARTNER_AUDIENCE: Type.String({ default: "stopover-partner" }),
  OPERATOR_ISSUER: Type.String({ minLength: 1, description: "`iss` of operators' tokens." }),
  OPERATOR_JWKS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "The issuer's key set: an http(s) address or a file. Default: found in what the issuer says of itself (OpenID Connect Discovery).",
    }),
  ),
  PARTNER_SIGNING_KEY_FILE: Type.String({
    ...File,
    description:
      "RS256 keys of partners' tokens: a private JWK, or a JWK Set whose first private key signs and of which all are accepted. A changed file counts within seconds.",
  }),
  PASSENGER_SIGNING_KEY_FILE: Type.String({
    ...File,
    description: "Ed25519 keys of passengers' sessions, likewise.",
  }),
  SEAL_KEY_FILE: Type.String({
    ...File,
    description: "32 bytes in base64; seals secrets that must be read back.",
  }),
  CAPTCHA_VERIFY_URL: Type.Optional(
    Type.String({ ...Url, pattern: "^https?://", description: "Of the captcha provider's siteverify." }),
  ),
  CAPTCHA_SECRET_FILE: Type.Optional(File),
  CAPTCHA_DEVELOPMENT_TOKEN: Type.Optional(
    Type.String({
      minLength: 8,
      description: "Accepted instead of a real challenge; never set it in production.",
    }),
  ),
  RATE_OPERATOR: ratePair("600/120x1.5", "of an airline's operators on one route"),
  RATE_PASSENGER: ratePair("300/30x2", "of an airline's passengers on one route"),
  RATE_SESSION: ratePair("30/10x1", "of one passenger's session on all routes"),
  RATE_PARTNER_TIER1: ratePair("1200/240x1", "of one partner of tier 1 on all routes"),
  RATE_PARTNER_TIER2: ratePair("600/120x1", "of one partner of tier 2 on all routes"),
  RATE_PARTNER_TIER3: ratePair("60/10x1", "of one partner of tier 3 (or not known yet) on all routes"),
  RATE_ADDRESS: Type.String({
    pattern: rateForm,
    default: "600x1.5",
    description:
      "Requests a minute and burst of one client address on public routes, or refused before the caller was known.",
  }),
  ...partnerWriteSettings,
  ...loginAttemptSettings,
  TRUSTED_PROXIES: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        "Addresses and networks, comma separated, of the proxies in front: only their X-Forwarded-For is believed.",
    }),
  ),
  WEBHOOK_ALLOW_LOOPBACK: Type.Enum(["true", "false"], {
    default: "false",
    description: "Development: allows http and loopback targets.",
  }),
  WEBHOOK_RETRY_SCALE: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description: "Shortens the delays of the retry schedule in tests.",
  }),
  WEBHOOK_RATE_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 500,
    description:
      "Deliveries a second to one webhook, from each process that sends them; a second's worth at once.",
  }),
  VENDOR_TIMEOUT_MS: Type.Integer({ minimum: 50, maximum: 60_000, default: 8000 }),
  VENDOR_SETTLE_MS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description:
        "For so long after a booking without an answer a hotel vendor that promises nothing about it may still make it: until then it is looked up, and not asked for again. Default: what the vendor's documentation says (hotelbeds 90 s, rapid 120 s).",
    }),
  ),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: mailServerForm,
      maxLength: 500,
      description:
        "The mail server that carries e-mail to passengers, `smtp://user:password@host:587` or `smtps://…:465`. Nothing is handed over without TLS where there is a user name or the host is not this machine; `?requireTLS=false`: TLS only where it is offered. `?connections=10`: connections at once of each process, 1 to 100. Default: e-mail goes to the airline's message vendor.",
    }),
  ),
  SMTP_FROM: Type.Optional(
    Type.String({
      format: "email",
      maxLength: 254,
      description: "Who mails come from; the airline's name stands before it. Needed with SMTP_URL.",
    }),
  ),
  SMTP_CA_FILE: Type.Optional(
    Type.String({
      ...File,
      description:
        "Certificates (PEM) of the authority behind the mail server's, where it is not one that everybody knows.",
    }),
  ),
  ...modelSettings,
  HOTEL_SEARCH_MS: Type.Integer({
    minimum: 50,
    maximum: 10_000,
    default: 2000,
    description: "Time-box of the scatter-gather over hotel vendors.",
  }),
  HOTEL_SILENCE_MS: Type.Integer({
    minimum: 0,
    maximum: 3_600_000,
    default: 120_000,
    description:
      "While no hotel vendor answers a wave is tried again for this long; then its groups go to a person.",
  }),
  ALLOCATION_PROOF_MS: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 300,
    description:
      "For this long an exact solver may prove or improve a wave of more than 16 groups, in a process of its own; 0: never.",
  }),
  RECONCILE_INTERVAL_MS: Type.Integer({
    minimum: 200,
    maximum: 3_600_000,
    default: 900_000,
    description:
      "How often a hotel vendor is asked what has changed at its desks, unless the vendor is configured otherwise.",
  }),
  STEP_DEADLINE_MS: Type.Integer({
    minimum: 200,
    maximum: 600_000,
    default: 30_000,
    description: "After this long without an answer a step is issued again.",
  }),
  LOCK_LEASE_MS: Type.Integer({
    minimum: 500,
    maximum: 3_600_000,
    default: 300_000,
    description: "How long an operator's lock on a group lasts unless it is renewed.",
  }),
  LIVE_BEAT_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 5000,
    description:
      "How often gateways tell each other that they live; after three that are missed the locks of a dead one's operators are given back.",
  }),
  SWEEP_INTERVAL_MS: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 15_000,
    description: "How often a process looks for work that a dead one left.",
  }),
  ACK_WAIT_MS: Type.Integer({
    minimum: 500,
    maximum: 300_000,
    default: 30_000,
    description: "Without a sign of life for this long a message goes to another process.",
  }),
  COMMAND_PATIENCE_MS: Type.Integer({
    minimum: 500,
    maximum: 86_400_000,
    default: 900_000,
    description:
      "A command whose entity has not appeared after trying for this long is put aside as a dead letter.",
  }),
  KILL_POINT: Type.Optional(
    Type.String({ description: "Fault tests: the process kills itself at this named point." }),
  ),
  LOG_LEVEL: Type.Enum(["trace", "debug", "info", "warn", "error", "silent"], { default: "info" }),
});
type Environment = Static<typeof Environment>;

/** How often whom may call. */
export interface Rates {
  /** Per airline and route. */
  readonly operator: RatePair;
  /** Per airline and route. */
  readonly passenger: RatePair;
  /** Per passenger's session, over all routes. */
  readonly session: RatePair;
  /** Per client id, over all routes, by tier. */
  readonly partner: Readonly<Record<1 | 2 | 3, RatePair>>;
  /** Per client address, of whoever is not known. */
  readonly address: Rate;
}

export interface Config extends Readonly<Environment> {
  readonly BASE_URL: string;
  readonly AUTH_URL: string;
  /** 32 bytes. */
  readonly sealKey: Buffer;
  readonly captchaSecret: string | undefined;
  /** Undefined: no mail server. */
  readonly mail: MailServer | undefined;
  /** Undefined: rules alone. */
  readonly model: ModelServer | undefined;
  readonly rates: Rates;
  readonly loginAttempts: LoginAttemptLimits;
  /** Undefined: none. */
  readonly trustedProxies: BlockList | undefined;
}

const ajv = addFormats.default(
  new Ajv({ coerceTypes: true, useDefaults: true, removeAdditional: true, allErrors: true }),
);

/**
 * A program's settings: what the schema names of the environment, checked and completed by the defaults.
 * @throws ConfigError naming each setting that is missing or wrong
 */
export const checkedSettings = <Schema extends TObject>(
  schema: Schema,
  environment: Record<string, string | undefined>,
): Static<Schema> => {
  const validate = ajv.compile<Static<Schema>>({ ...schema, additionalProperties: false });
  const present = Object.entries(environment).filter(
    ([name, value]) => name in schema.properties && value !== "",
  );
  const settings: unknown = Object.fromEntries(present);
  if (validate(settings)) return settings;
  const wrong = (validate.errors ?? []).map((e) => {
    const name = e.instancePath.slice(1) || (e.params as { missingProperty?: string }).missingProperty || "?";
    return `${name}: ${e.keyword === "required" ? "is missing" : e.message}`;
  });
  throw new ConfigError(`Configuration: ${[...new Set(wrong)].join("; ")}`);
};

/**
 * Reads and checks the settings, and the key files they name.
 * @throws ConfigError naming each setting that is missing or wrong
 */
export const readConfig = (environment: Record<string, string | undefined> = process.env): Config => {
  const settings = checkedSettings(Environment, environment);
  if (settings.CAPTCHA_VERIFY_URL !== undefined && settings.CAPTCHA_DEVELOPMENT_TOKEN !== undefined) {
    throw new ConfigError(
      "Configuration: CAPTCHA_DEVELOPMENT_TOKEN: would pass by CAPTCHA_VERIFY_URL; set one of them",
    );
  }
  if (settings.CAPTCHA_VERIFY_URL !== undefined && settings.CAPTCHA_SECRET_FILE === undefined) {
    throw new ConfigError("Configuration: CAPTCHA_SECRET_FILE: is missing; CAPTCHA_VERIFY_URL needs it");
  }
  if (settings.OPERATOR_JWKS === undefined && !/^https?:\/\//.test(settings.OPERATOR_ISSUER)) {
    throw new ConfigError(
      "Configuration: OPERATOR_ISSUER: is no address to find its keys at; set OPERATOR_JWKS",
    );
  }
  checkSigningKeys("PARTNER_SIGNING_KEY_FILE", settings.PARTNER_SIGNING_KEY_FILE, "RS256");
  checkSigningKeys("PASSENGER_SIGNING_KEY_FILE", settings.PASSENGER_SIGNING_KEY_FILE, "EdDSA");
  const baseUrl = settings.BASE_URL ?? `http://${settings.HOST}:${settings.PORT}`;
  return Object.freeze({
    ...settings,
    BASE_URL: baseUrl,
    AUTH_URL: settings.AUTH_URL ?? baseUrl,
    sealKey: readSealKey(settings.SEAL_KEY_FILE),
    captchaSecret:
      settings.CAPTCHA_SECRET_FILE && readText("CAPTCHA_SECRET_FILE", settings.CAPTCHA_SECRET_FILE),
    mail: readMailServer(settings),
    model: readModelServer(settings),
    rates: ratesOf(settings),
    loginAttempts: loginAttemptLimits(settings),
    trustedProxies: readProxies(settings.TRUSTED_PROXIES),
  });
};

/** @throws ConfigError when half of it is set, or it is no address */
const readMailServer = ({ SMTP_URL, SMTP_FROM, SMTP_CA_FILE }: Environment): MailServer | undefined => {
  if (SMTP_URL === undefined && SMTP_FROM === undefined) return undefined;
  if (SMTP_URL === undefined || SMTP_FROM === undefined)
    throw new ConfigError(`Configuration: ${SMTP_URL === undefined ? "SMTP_URL" : "SMTP_FROM"}: is missing`);
  const ca = SMTP_CA_FILE && readText("SMTP_CA_FILE", SMTP_CA_FILE);
  try {
    return mailServerOf(SMTP_URL, SMTP_FROM, ca);
  } catch (error) {
    throw new ConfigError(`Configuration: SMTP_URL: ${(error as Error).message}`);
  }
};

/** @throws ConfigError when half of it is set */
const readModelServer = (settings: Environment): ModelServer | undefined => {
  const { MODEL_KEY_FILE: file } = settings;
  try {
    return modelServerOf(settings, file && readText("MODEL_KEY_FILE", file));
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : new ConfigError(`Configuration: ${(error as Error).message}`);
  }
};

const ratesOf = (settings: Environment): Rates => ({
  operator: ratePairOf(settings.RATE_OPERATOR),
  passenger: ratePairOf(settings.RATE_PASSENGER),
  session: ratePairOf(settings.RATE_SESSION),
  partner: {
    1: ratePairOf(settings.RATE_PARTNER_TIER1),
    2: ratePairOf(settings.RATE_PARTNER_TIER2),
    3: ratePairOf(settings.RATE_PARTNER_TIER3),
  },
  address: singleRateOf(settings.RATE_ADDRESS),
});

/** @throws ConfigError when it names something else than addresses and networks */
export const readProxies = (text: string | undefined): BlockList | undefined => {
  try {
    return text === undefined ? undefined : proxiesOf(text);
  } catch (error) {
    throw new ConfigError(`Configuration: TRUSTED_PROXIES: ${(error as Error).message}`);
  }
};
