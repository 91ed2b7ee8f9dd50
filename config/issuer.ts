/** Owns the settings of the embedded operators' issuer, a program of its own (scripts/embedded/issuer.ts). */
import type { JsonWebKey } from "node:crypto";
import type { BlockList } from "node:net";
import Type, { type Static } from "typebox";
import { ConfigError, checkedSettings, Environment, readProxies, readSealKey } from "./config.ts";
import { readText } from "./key-files.ts";
import { parseSigningKeys } from "./signing-keys.ts";

const shared = Environment.properties;
const uris = (description: string, byDefault: string) =>
  Type.String({ pattern: "^[a-z][a-z0-9+.-]*://\\S+(,\\S+)*$", default: byDefault, description });

/** The reference of every setting; those without a description here mean what they mean to the service. */
export const IssuerEnvironment = Type.Object({
  ISSUER_HOST: Type.String({ default: "127.0.0.1", description: "Address to listen on." }),
  ISSUER_PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 8081,
    description: "Port to listen on; 0: any free one.",
  }),
  OPERATOR_ISSUER: Type.String({
    pattern: "^https?://[^\\s/?#]+$",
    description: "The issuer's own origin as browsers and the service reach it: scheme, host, port.",
  }),
  OPERATOR_SIGNING_KEY_FILE: Type.String({
    minLength: 1,
    description:
      "RS256 keys of operators' tokens: a private JWK, or a JWK Set of them of which the first signs and all are published. Read at the start.",
  }),
  OPERATOR_AUDIENCE: shared.OPERATOR_AUDIENCE,
  CLAIM_NAMESPACE: shared.CLAIM_NAMESPACE,
  NATS_URL: shared.NATS_URL,
  MONGODB_URL: shared.MONGODB_URL,
  DATABASE_PREFIX: Type.String({
    ...shared.DATABASE_PREFIX,
    description: "As the service has it: the issuer's own database is `<prefix>_issuer`.",
  }),
  SEAL_KEY_FILE: shared.SEAL_KEY_FILE,
  ISSUER_REDIRECT_URIS: uris(
    "Where the console takes its code, comma separated. A loopback address stands for all of its ports.",
    ["127.0.0.1", "localhost", "[::1]"]
      .flatMap((host) => [`http://${host}/callback`, `http://${host}/console/callback`])
      .join(","),
  ),
  ISSUER_LOGOUT_URIS: uris(
    "Where the console may ask to be sent after a logout, comma separated.",
    ["127.0.0.1", "localhost", "[::1]"]
      .flatMap((host) => [`http://${host}/`, `http://${host}/console/`])
      .join(","),
  ),
  TRUSTED_PROXIES: shared.TRUSTED_PROXIES,
  ISSUER_SMS_URL: Type.Optional(
    Type.String({
      format: "uri",
      maxLength: 500,
      description: "A messaging vendor of SendWell's dialect, for codes by SMS; without it there are none.",
    }),
  ),
  ISSUER_SMS_KEY_FILE: Type.Optional(
    Type.String({ minLength: 1, description: "Holds the messaging vendor's key." }),
  ),
  LOG_LEVEL: shared.LOG_LEVEL,
});

/** With its `kid`, for RS256. */
export type PrivateSigningKey = JsonWebKey & { kid?: string };

export interface IssuerConfig extends Readonly<Static<typeof IssuerEnvironment>> {
  /** At least one; the first signs. */
  readonly signingKeys: readonly PrivateSigningKey[];
  /** 32 bytes. */
  readonly sealKey: Buffer;
  /** Undefined: none. */
  readonly trustedProxies: BlockList | undefined;
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
  /** Undefined: no codes by SMS. */
  readonly sms: { baseUrl: string; apiKey: string } | undefined;
}

/** @throws ConfigError naming each setting that is missing or wrong */
export const readIssuerConfig = (
  environment: Record<string, string | undefined> = process.env,
): IssuerConfig => {
  const settings = checkedSettings(IssuerEnvironment, environment);
  return Object.freeze({
    ...settings,
    signingKeys: readSigningKeys(settings.OPERATOR_SIGNING_KEY_FILE),
    sealKey: readSealKey(settings.SEAL_KEY_FILE),
    trustedProxies: readProxies(settings.TRUSTED_PROXIES),
    redirectUris: settings.ISSUER_REDIRECT_URIS.split(","),
    logoutUris: settings.ISSUER_LOGOUT_URIS.split(","),
    sms: readSms(settings),
  });
};

const readSms = ({
  ISSUER_SMS_URL: baseUrl,
  ISSUER_SMS_KEY_FILE: keyFile,
}: Static<typeof IssuerEnvironment>) => {
  if (baseUrl === undefined) return undefined;
  if (keyFile === undefined)
    throw new ConfigError("Configuration: ISSUER_SMS_KEY_FILE: is missing beside ISSUER_SMS_URL");
  return { baseUrl: baseUrl.replace(/\/$/, ""), apiKey: readText("ISSUER_SMS_KEY_FILE", keyFile) };
};

const readSigningKeys = (file: string): PrivateSigningKey[] => {
  const name = "OPERATOR_SIGNING_KEY_FILE";
  const text = readText(name, file);
  try {
    parseSigningKeys(text, "RS256");
  } catch (error) {
    throw new ConfigError(`Configuration: ${name}: ${file} ${(error as Error).message}`);
  }
  const { keys, ...only } = JSON.parse(text) as { keys?: PrivateSigningKey[] } & PrivateSigningKey;
  return (keys ?? [only])
    .filter(({ d }) => d !== undefined)
    .map(({ kty, kid, n, e, d, p, q, dp, dq, qi }) => ({ kty, kid, n, e, d, p, q, dp, dq, qi }));
};
