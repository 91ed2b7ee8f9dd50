/** Owns passengers' session tokens: signing, checking, and the cookie that can carry one (contract, "Passenger"). */
import { type JWTPayload, SignJWT } from "jose";
import type { Config } from "../../config/config.ts";
import type { SigningKey } from "../../config/signing-keys.ts";
import type { Principal } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import type { KeySource } from "./key-ring.ts";
import { claimMissing, createVerifier, urnClaim, type VerifyToken } from "./verify-jwt.ts";

type Settings = Pick<Config, "AUTH_URL" | "PASSENGER_AUDIENCE">;

/** Ours alone: no other token of the house can be taken for a session (RFC 8725 §3.11). */
const tokenType = "session+jwt";

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

/**
 * Signs with exactly the contract's claims, which hold no `iat`: when a session began follows from `exp`, in whole seconds. The key
 * is the one that signs at that moment.
 */
export const createPassengerSigner =
  (config: Settings, signing: () => SigningKey, now: () => Date): SignPassengerSession =>
  async (session) => {
    const expiresAtSeconds = Math.floor(now().getTime() / 1000) + passengerSessionLifetimeSeconds;
    const { kid, key } = signing();
    const token = await new SignJWT({
      case_urn: session.caseUrn,
      group_id: session.groupId,
      tenant: urn("airline", session.tenant),
    })
      .setProtectedHeader({ alg: "EdDSA", kid, typ: tokenType })
      .setIssuer(config.AUTH_URL)
      .setSubject(urn("passenger-session", session.sessionId))
      .setAudience(config.PASSENGER_AUDIENCE)
      .setExpirationTime(expiresAtSeconds)
      .sign(key);
    return { token, expiresAt: new Date(expiresAtSeconds * 1000) };
  };

export const createPassengerVerifier = (config: Settings, keys: KeySource, now: () => Date): VerifyToken =>
  createVerifier({
    algorithm: "EdDSA",
    keys,
    issuer: config.AUTH_URL,
    audience: config.PASSENGER_AUDIENCE,
    types: [tokenType],
    lifetimeSeconds: passengerSessionLifetimeSeconds,
    requiredClaims: ["case_urn", "group_id", "tenant"],
    principal: passengerOf,
    issuedAt,
    now,
  });

/** The verifier has made sure that `exp` is a number. */
const issuedAt = ({ exp = 0 }: JWTPayload): number => exp - passengerSessionLifetimeSeconds;

const passengerOf = (claims: JWTPayload): Principal => {
  const session = urnClaim(claims, "sub", "passenger-session");
  const airline = urnClaim(claims, "tenant", "airline");
  const ofCase = urnClaim(claims, "case_urn", "case");
  if (ofCase.tenant !== airline.id) throw claimMissing("case_urn");
  const { group_id: groupId } = claims;
  if (typeof groupId !== "string" || groupId === "") throw claimMissing("group_id");
  return {
    surface: "passenger",
    tenant: airline.id,
    urn: session.text,
    caseId: ofCase.id,
    groupId,
    tokenIssuedAt: issuedAt(claims),
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
