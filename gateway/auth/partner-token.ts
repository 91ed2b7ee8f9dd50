/** Owns partners' access tokens: signing after a client has proved its secret, and checking (contract, "Partner"). */
import { type JWTPayload, SignJWT } from "jose";
import type { Config } from "../../config/config.ts";
import type { SigningKey } from "../../config/signing-keys.ts";
import type { Principal } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { type Scope, scopes } from "../../schemas/vocabulary.ts";
import type { KeySource } from "./key-ring.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<Config, "AUTH_URL" | "CLAIM_NAMESPACE" | "PARTNER_AUDIENCE">;

export const partnerTokenLifetimeSeconds = 3600;
const subjectSuffix = "@clients";
const grantType = "client-credentials";
/** RFC 9068 §2.1. */
const tokenType = "at+jwt";

/** A registration whose secret has been checked. */
export interface PartnerClient {
  clientId: string;
  partnerUrn: string;
  /** The airline's code. */
  tenant: string;
  scopes: readonly Scope[];
}

export type SignPartnerToken = (client: PartnerClient) => Promise<string>;

/** Signs with exactly the contract's claims, and with the key that signs at that moment. */
export const createPartnerSigner =
  (config: Settings, signing: () => SigningKey, now: () => Date): SignPartnerToken =>
  (client) => {
    const issuedAt = Math.floor(now().getTime() / 1000);
    const { kid, key } = signing();
    return new SignJWT({
      scope: client.scopes.join(" "),
      gty: grantType,
      [`${config.CLAIM_NAMESPACE}/partner_urn`]: client.partnerUrn,
      [`${config.CLAIM_NAMESPACE}/tenant_urn`]: urn("airline", client.tenant),
    })
      .setProtectedHeader({ alg: "RS256", kid, typ: tokenType })
      .setIssuer(config.AUTH_URL)
      .setSubject(client.clientId + subjectSuffix)
      .setAudience(config.PARTNER_AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + partnerTokenLifetimeSeconds)
      .sign(key);
  };

export const createPartnerVerifier = (config: Settings, keys: KeySource, now: () => Date): VerifyToken => {
  const namespace = config.CLAIM_NAMESPACE;
  return createVerifier({
    algorithm: "RS256",
    keys,
    issuer: config.AUTH_URL,
    audience: config.PARTNER_AUDIENCE,
    types: [tokenType],
    lifetimeSeconds: partnerTokenLifetimeSeconds,
    requiredClaims: ["iat", "scope", "gty", `${namespace}/partner_urn`, `${namespace}/tenant_urn`],
    principal: (claims) => partnerOf(claims, namespace),
    now,
  });
};

const partnerOf = (claims: JWTPayload, namespace: string): Principal => {
  const partner = urnClaim(claims, `${namespace}/partner_urn`, "partner");
  const airline = urnClaim(claims, `${namespace}/tenant_urn`, "airline");
  const { sub = "", scope, gty } = claims;
  if (gty !== grantType) throw claimMissing("gty");
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
