/** Owns the checks of an operator's access token, whoever issued it (contract, "Operator"). Issuing is the identity provider's. */
import type { JWTPayload } from "jose";
import type { Config } from "../../config/config.ts";
import type { Principal } from "../../schemas/command.ts";
import { type Role, roles } from "../../schemas/vocabulary.ts";
import type { KeySource } from "./key-ring.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<
  Config,
  "OPERATOR_AUDIENCE" | "PASSENGER_AUDIENCE" | "PARTNER_AUDIENCE" | "OPERATOR_ISSUER" | "CLAIM_NAMESPACE"
>;

/** The contract's issuer gives 15 minutes; another's may give more, and a token for ever is nobody's. */
const lifetimeSecondsMax = 24 * 3600;

export const createOperatorVerifier = (config: Settings, keys: KeySource, now: () => Date): VerifyToken => {
  const namespace = config.CLAIM_NAMESPACE;
  return createVerifier({
    algorithm: "RS256",
    keys,
    issuer: config.OPERATOR_ISSUER,
    audience: config.OPERATOR_AUDIENCE,
    foreignAudiences: [config.PASSENGER_AUDIENCE, config.PARTNER_AUDIENCE],
    // Issuers differ in whether they follow RFC 9068.
    types: ["at+jwt", "jwt"],
    lifetimeSeconds: lifetimeSecondsMax,
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
  const { sub } = claims;
  const principal: Principal = {
    surface: "operator",
    tenant: airline.id,
    urn: operator.text,
    ...(sub === undefined || sub === operator.id ? {} : { subject: sub }),
    role: role as Role,
  };
  if (airport === undefined) return principal;
  // A scope that cannot be read must not turn into no scope.
  if (typeof airport !== "string" || !/^[A-Z]{3}$/.test(airport)) throw claimMissing(`${namespace}/airport`);
  return { ...principal, airport };
};
