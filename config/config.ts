/** Owns the configuration: the only reader of the environment. Every value is checked at the start; a bad one stops it with its name. */
import type { JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import Type, { type Static } from "typebox";

const Url = Type.String({ format: "uri", maxLength: 500 });
const File = Type.String({ minLength: 1, maxLength: 1000 });

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
  OPERATOR_JWKS: Type.String({
    minLength: 1,
    description: "The issuer's key set: an http(s) address or a file.",
  }),
  PARTNER_SIGNING_KEY_FILE: Type.String({
    ...File,
    description: "Private JWK (RS256) that signs partners' tokens.",
  }),
  PASSENGER_SIGNING_KEY_FILE: Type.String({
    ...File,
    description: "Private JWK (Ed25519) that signs passengers' sessions.",
  }),
  SEAL_KEY_FILE: Type.String({
    ...File,
    description: "32 bytes in base64; seals secrets that must be read back.",
  }),
  CAPTCHA_VERIFY_URL: Type.Optional(Url),
  CAPTCHA_SECRET_FILE: Type.Optional(File),
  CAPTCHA_DEVELOPMENT_TOKEN: Type.Optional(
    Type.String({
      minLength: 8,
      description: "Accepted instead of a real challenge; never set it in production.",
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
  VENDOR_TIMEOUT_MS: Type.Integer({ minimum: 50, maximum: 60_000, default: 8000 }),
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

export interface Config extends Readonly<Environment> {
  readonly BASE_URL: string;
  readonly AUTH_URL: string;
  readonly partnerSigningKey: JsonWebKey & { kid: string };
  readonly passengerSigningKey: JsonWebKey & { kid: string };
  /** 32 bytes. */
  readonly sealKey: Buffer;
  readonly captchaSecret: string | undefined;
}

/** A setting that is missing or wrong. The message names it and says what it may be. */
export class ConfigError extends Error {}

const ajv = addFormats.default(
  new Ajv({ coerceTypes: true, useDefaults: true, removeAdditional: true, allErrors: true }),
);
const validate = ajv.compile<Environment>({ ...Environment, additionalProperties: false });

/**
 * Reads and checks the settings, and the key files they name.
 * @throws ConfigError naming each setting that is missing or wrong
 */
export const readConfig = (environment: Record<string, string | undefined> = process.env): Config => {
  const present = Object.entries(environment).filter(
    ([name, value]) => name in Environment.properties && value !== "",
  );
  const settings = Object.fromEntries(present) as unknown as Environment;
  if (!validate(settings)) {
    const wrong = (validate.errors ?? []).map((e) => {
      const name =
        e.instancePath.slice(1) || (e.params as { missingProperty?: string }).missingProperty || "?";
      return `${name}: ${e.keyword === "required" ? "is missing" : e.message}`;
    });
    throw new ConfigError(`Configuration: ${[...new Set(wrong)].join("; ")}`);
  }
  if (settings.CAPTCHA_VERIFY_URL !== undefined && settings.CAPTCHA_DEVELOPMENT_TOKEN !== undefined) {
    throw new ConfigError(
      "Configuration: CAPTCHA_DEVELOPMENT_TOKEN: would pass by CAPTCHA_VERIFY_URL; set one of them",
    );
  }
  const baseUrl = settings.BASE_URL ?? `http://${settings.HOST}:${settings.PORT}`;
  return Object.freeze({
    ...settings,
    BASE_URL: baseUrl,
    AUTH_URL: settings.AUTH_URL ?? baseUrl,
    partnerSigningKey: readKey("PARTNER_SIGNING_KEY_FILE", settings.PARTNER_SIGNING_KEY_FILE),
    passengerSigningKey: readKey("PASSENGER_SIGNING_KEY_FILE", settings.PASSENGER_SIGNING_KEY_FILE),
    sealKey: readSealKey(settings.SEAL_KEY_FILE),
    captchaSecret:
      settings.CAPTCHA_SECRET_FILE && readText("CAPTCHA_SECRET_FILE", settings.CAPTCHA_SECRET_FILE),
  });
};

const readText = (name: string, file: string): string => {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(
      `Configuration: ${name}: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};

const readKey = (name: string, file: string): JsonWebKey & { kid: string } => {
  const text = readText(name, file);
  try {
    const key = JSON.parse(text) as JsonWebKey & { kid?: string };
    if (typeof key.kid !== "string" || typeof key.d !== "string") throw new Error();
    return key as JsonWebKey & { kid: string };
  } catch {
    throw new ConfigError(`Configuration: ${name}: ${file} is not a private JWK with a kid`);
  }
};

/** @throws ConfigError when it cannot be read, or is not 32 bytes in base64 */
export const readSealKey = (file: string): Buffer => {
  const key = Buffer.from(readText("SEAL_KEY_FILE", file), "base64");
  if (key.length !== 32)
    throw new ConfigError(`Configuration: SEAL_KEY_FILE: ${file} must hold 32 bytes in base64`);
  return key;
};
