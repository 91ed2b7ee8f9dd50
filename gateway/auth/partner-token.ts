/** Owns partners' access tokens: signing after a client has proved its secret, checking, and the public key (contract, "Partner"). */
import { createLocalJWKSet, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import type { Config } from "../../config/config.ts";
import type { Principal } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { type Scope, scopes } from "../../schemas/vocabulary.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<Config, "AUTH_URL" | "CLAIM_NAMESPACE" | "PARTNER_AUDIENCE" | "partnerSigningKey">;

export const partnerTokenLifetimeSeconds = 3600;
const subjectSuffix = "@clients";

/** A registration whose secret has been checked. */
export interface PartnerClient {
  clientId: string;
  partnerUrn: string;
  /** The airline's code. */
  tenant: string;
  scopes: readonly Scope[];
}

export type SignPartnerToken = (client: PartnerClient) => Promise<string>;

/** Signs with exactly the contract's claims. */
export const createPartnerSigner = async (config: Settings, now: () => Date): Promise<SignPartnerToken> => {
  const { kid } = config.partnerSigningKey;
  const key = await importJWK(config.partnerSigningKey as JWK, "RS256");
  return (client) => {
    const issuedAt = Math.floor(now().getTime() / 1000);
    return new SignJWT({
      scope: client.scopes.join(" "),
      gty: "client-credentials",
      [`${config.CLAIM_NAMESPACE}/partner_urn`]: client.partnerUrn,
      [`${config.CLAIM_NAMESPACE}/tenant_urn`]: urn("airline", client.tenant),
    })
      .setProtectedHeader({ alg: "RS256", kid, typ: "JWT" })
      .setIssuer(config.AUTH_URL)
      .setSubject(client.clientId + subjectSuffix)
      .setAudience(config.PARTNER_AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + partnerTokenLifetimeSeconds)
      .sign(key);
  };
};

/** The key set that anyone may check partners' tokens with; no private member is in it. */
export const partnerKeySet = (config: Settings): { keys: JWK[] } => {
  const { kty, n, e, kid } = config.partnerSigningKey;
  return { keys: [{ kty, n, e, kid, alg: "RS256", use: "sig" } as JWK] };
};

export const createPartnerVerifier = (config: Settings, now: () => Date): VerifyToken => {
  const namespace = config.CLAIM_NAMESPACE;
  return createVerifier({
    algorithm: "RS256",
    key: createLocalJWKSet(partnerKeySet(config)),
    issuer: config.AUTH_URL,
    audience: config.PARTNER_AUDIENCE,
    requiredClaims: ["iat", "scope", "gty", `${namespace}/partner_urn`, `${namespace}/tenant_urn`],
    principal: (claims) => partnerOf(claims, namespace),
    now,
  });
};

const partnerOf = (claims: JWTPayload, namespace: string): Principal => {
  const partner = urnClaim(claims, `${namespace}/partner_urn`, "partner");
  const airline = urnClaim(claims, `${namespace}/tenant_urn`, "airline");
  const { sub = "", scope } = claims;
  if (!sub.endsWith(subjectSuffix)) throw claimMissing("sub");
  if (typeof scope !== "string") throw claimMissing("scope");
  return {
    surface: "partner",
    tenant: airline.id,
    urn: partner.text,
    clientId: sub.slice(0, -subjectSuffix.length),
    scopes: scope.split(" ").filter((name): name is Scope => scopes.includes(name as Scope)),
  };
};
