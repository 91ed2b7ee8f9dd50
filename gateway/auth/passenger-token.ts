/** Owns passengers' session tokens: signing, checking, and the cookie that can carry one (contract, "Passenger"). */
import { createLocalJWKSet, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import type { Config } from "../../config/config.ts";
import type { Principal } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<Config, "AUTH_URL" | "PASSENGER_AUDIENCE" | "passengerSigningKey">;

/** Seven days, absolute. */
export const passengerSessionLifetimeSeconds = 7 * 24 * 3600;

export interface PassengerSession {
  /** A UUID. */
  sessionId: string;
  caseUrn: string;
  groupId: string;
  /** The airline's code. */
  tenant: string;
}

export interface SignedSession {
  token: string;
  expiresAt: Date;
}

export type SignPassengerSession = (session: PassengerSession) => Promise<SignedSession>;

/** Signs with exactly the contract's claims, which hold no `iat`: when a session began follows from `exp`, in whole seconds. */
export const createPassengerSigner = async (
  config: Settings,
  now: () => Date,
): Promise<SignPassengerSession> => {
  const { kid } = config.passengerSigningKey;
  const key = await importJWK(config.passengerSigningKey as JWK, "EdDSA");
  return async (session) => {
    const expiresAtSeconds = Math.floor(now().getTime() / 1000) + passengerSessionLifetimeSeconds;
    const token = await new SignJWT({
      case_urn: session.caseUrn,
      group_id: session.groupId,
      tenant: urn("airline", session.tenant),
    })
      .setProtectedHeader({ alg: "EdDSA", kid, typ: "JWT" })
      .setIssuer(config.AUTH_URL)
      .setSubject(urn("passenger-session", session.sessionId))
      .setAudience(config.PASSENGER_AUDIENCE)
      .setExpirationTime(expiresAtSeconds)
      .sign(key);
    return { token, expiresAt: new Date(expiresAtSeconds * 1000) };
  };
};

export const createPassengerVerifier = (config: Settings, now: () => Date): VerifyToken => {
  const { kty, crv, x, kid } = config.passengerSigningKey;
  return createVerifier({
    algorithm: "EdDSA",
    key: createLocalJWKSet({ keys: [{ kty, crv, x, kid, alg: "EdDSA", use: "sig" } as JWK] }),
    issuer: config.AUTH_URL,
    audience: config.PASSENGER_AUDIENCE,
    requiredClaims: ["case_urn", "group_id", "tenant"],
    principal: passengerOf,
    now,
  });
};

const passengerOf = (claims: JWTPayload): Principal => {
  const session = urnClaim(claims, "sub", "passenger-session");
  const airline = urnClaim(claims, "tenant", "airline");
  const ofCase = urnClaim(claims, "case_urn", "case");
  if (ofCase.tenant !== airline.id) throw claimMissing("case_urn");
  const { group_id: groupId } = claims;
  if (typeof groupId !== "string" || groupId === "") throw claimMissing("group_id");
  // The verifier has made sure that `exp` is a number.
  const tokenIssuedAt = (claims.exp ?? 0) - passengerSessionLifetimeSeconds;
  return {
    surface: "passenger",
    tenant: airline.id,
    urn: session.text,
    caseId: ofCase.id,
    groupId,
    tokenIssuedAt,
  };
};

/** The `__Host-` prefix binds it to the very host: no sibling domain can set or read it (RFC 6265bis §4.1.3.2). */
const cookieName = "__Host-session";

/** Kept from scripts, sent over TLS only, and not with cross-site writes. */
export const sessionCookie = (token: string): string =>
  `${cookieName}=${token}; Path=/; Max-Age=${passengerSessionLifetimeSeconds}; Secure; HttpOnly; SameSite=Lax`;

/** The session token in a `Cookie` header; undefined when there is none. */
export const sessionOfCookie = (header: string): string | undefined => {
  for (const pair of header.split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === cookieName && value !== undefined && value !== "") return value;
  }
  return undefined;
};
