/** Owns where the operators' keys come from: a file, an address, or what the issuer says of itself (OpenID Connect Discovery 1.0 §4, RFC 8414). */
import { createPublicKey, type JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
} from "jose";
import type { Logger } from "pino";
import { type Config, ConfigError } from "../../config/config.ts";
import { Problem } from "../../schemas/problems.ts";
import { followFile } from "./followed-file.ts";
import type { KeySource } from "./key-ring.ts";

export interface IssuerKeys extends KeySource {
  close(): void;
}

/** As long as a fetched key set counts. */
const lookedAtAnewMs = 600_000;
const fetchTimeoutMs = 3000;
const wellKnown = "/.well-known/openid-configuration";

/** @throws ConfigError when OPERATOR_JWKS names a file that holds no key set */
export const openIssuerKeys = (
  { OPERATOR_ISSUER: issuer, OPERATOR_JWKS: source }: Pick<Config, "OPERATOR_ISSUER" | "OPERATOR_JWKS">,
  log: Logger,
): IssuerKeys => {
  if (source === undefined) return remoteKeys(() => discover(issuer));
  if (!/^https?:\/\//.test(source)) return fileKeys(source, log);
  return remoteKeys(async () => new URL(source));
};

type RemoteKeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * Fetched when the first token comes, so that a start waits for no issuer; then kept, and fetched again for an unknown kid (every
 * 30 s at most) and every ten minutes.
 */
const remoteKeys = (locate: () => Promise<URL>): IssuerKeys => {
  let opening: Promise<RemoteKeySet> | undefined;
  const resolve = async (header: JWTHeaderParameters, token: FlattenedJWSInput) => {
    opening ??= locate().then((url) => createRemoteJWKSet(url, { timeoutDuration: fetchTimeoutMs }));
    const mine = opening;
    let keySet: RemoteKeySet | undefined;
    try {
      keySet = await mine;
      return await keySet(header, token);
    } catch (error) {
      if (isTokensFault(error)) throw error;
      // What has never worked is looked for anew by the next request.
      if (keySet?.jwks() === undefined && opening === mine) opening = undefined;
      throw unavailable(error);
    }
  };
  // Tokens are looked at anew now and then, or those of a key that was withdrawn would live on in what is remembered.
  const generation = (): number => Math.floor(performance.now() / lookedAtAnewMs);
  return { resolve, generation, close: () => undefined };
};

const isTokensFault = (error: unknown): boolean =>
  [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported].some(
    (kind) => error instanceof kind,
  );

const unavailable = (error: unknown): Problem =>
  new Problem(
    "upstream/unavailable",
    `The identity provider's keys cannot be fetched (${(error as Error).message}).`,
    { failedDomain: "identity-provider", retryAfterSeconds: 30 },
  );

/** The address of the issuer's keys. @throws Error when it says nothing, or something of another issuer */
const discover = async (issuer: string): Promise<URL> => {
  const response = await fetch(issuer.replace(/\/$/, "") + wellKnown, {
    headers: { Accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(fetchTimeoutMs),
  });
  if (!response.ok) throw new Error(`its description: status ${response.status}`);
  const { issuer: named, jwks_uri: address } = (await response.json()) as Record<string, unknown>;
  // Discovery §4.3: else one issuer could have another's tokens accepted.
  if (named !== issuer) throw new Error("its description names another issuer");
  const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== new URL(issuer).protocol)
    throw new Error("its description names no address of its keys");
  return url;
};

/** As development and small installations have it; another file counts within seconds. */
const fileKeys = (file: string, log: Logger): IssuerKeys => {
  let text: string;
  let keySet: ReturnType<typeof createLocalJWKSet>;
  try {
    text = readFileSync(file, "utf8");
    keySet = parsed(text);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "not a key set";
    throw new ConfigError(`Configuration: OPERATOR_JWKS: cannot read ${file} (${reason})`);
  }
  let generation = 0;
  const followed = followFile(
    file,
    text,
    (changed) => {
      keySet = parsed(changed);
      generation += 1;
      log.info("operators' keys changed");
    },
    (error) => log.error({ err: error }, "operators' keys not taken over; the former ones stay"),
  );
  return {
    resolve: (header, token) => keySet(header, token),
    generation: () => generation,
    close: () => followed.close(),
  };
};

/** A key that cannot be read is found now, and not by the first token that it has signed. */
const parsed = (text: string): ReturnType<typeof createLocalJWKSet> => {
  const keys = JSON.parse(text) as JSONWebKeySet;
  const keySet = createLocalJWKSet(keys);
  const usable = keys.keys.filter(({ kty }) => kty === "RSA");
  for (const key of usable) createPublicKey({ key: key as JsonWebKey, format: "jwk" });
  return keySet;
};
