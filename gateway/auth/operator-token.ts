/** Owns the checks of an operator's access token, whoever issued it (contract, "Operator"). Issuing is the identity provider's. */
import { readFileSync } from "node:fs";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
} from "jose";
import { type Config, ConfigError } from "../../config/config.ts";
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { type Role, roles } from "../../schemas/vocabulary.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<Config, "OPERATOR_AUDIENCE" | "OPERATOR_ISSUER" | "OPERATOR_JWKS" | "CLAIM_NAMESPACE">;

/** @throws ConfigError when OPERATOR_JWKS names a file that holds no key set */
export const createOperatorVerifier = (config: Settings, now: () => Date): VerifyToken => {
  const namespace = config.CLAIM_NAMESPACE;
  return createVerifier({
    algorithm: "RS256",
    key: keySet(config.OPERATOR_JWKS),
    issuer: config.OPERATOR_ISSUER,
    audience: config.OPERATOR_AUDIENCE,
    requiredClaims: ["iat", `${namespace}/airline`, `${namespace}/role`, `${namespace}/operator_urn`],
    principal: (claims) => operatorOf(claims, namespace),
    now,
  });
};

const operatorOf = (claims: JWTPayload, namespace: string): Principal => {
  const airline = urnClaim(claims, `${namespace}/airline`, "airline");
  const operator = urnClaim(claims, `${namespace}/operator_urn`, "operator", "user");
  const role = claims[`${namespace}/role`];
  if (!roles.includes(role as Role)) throw claimMissing(`${namespace}/role`);
  const airport = claims[`${namespace}/airport`];
  const principal: Principal = {
    surface: "operator",
    tenant: airline.id,
    urn: operator.text,
    role: role as Role,
  };
  if (airport === undefined) return principal;
  // A scope that cannot be read must not turn into no scope.
  if (typeof airport !== "string" || !/^[A-Z]{3}$/.test(airport)) throw claimMissing(`${namespace}/airport`);
  return { ...principal, airport };
};

const keySet = (source: string): JWTVerifyGetKey => {
  if (!/^https?:\/\//.test(source)) return localKeySet(source);
  const remote = createRemoteJWKSet(new URL(source));
  return async (header, token) => {
    try {
      return await remote(header, token);
    } catch (error) {
      const tokensFault = [
        errors.JWKSNoMatchingKey,
        errors.JWKSMultipleMatchingKeys,
        errors.JOSENotSupported,
      ];
      if (tokensFault.some((kind) => error instanceof kind)) throw error;
      throw new Problem("upstream/unavailable", "The identity provider's keys cannot be fetched.", {
        failedDomain: "identity-provider",
        retryAfterSeconds: 30,
      });
    }
  };
};

const localKeySet = (file: string): JWTVerifyGetKey => {
  try {
    return createLocalJWKSet(JSON.parse(readFileSync(file, "utf8")) as JSONWebKeySet);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "not a key set";
    throw new ConfigError(`Configuration: OPERATOR_JWKS: cannot read ${file} (${reason})`);
  }
};
