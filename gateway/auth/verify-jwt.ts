/** Owns what the three token verifiers share: the checks of RFC 7519 through jose, their failures as problems, and the cache of verified tokens. */
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { parseUrn, type UrnKind } from "../../schemas/urn.ts";

/** About 10 MB at the usual size of a token; the least recently used goes first. */
const verifiedTokensMax = 10_000;

/** @throws Problem auth/invalid-token, auth/expired-token, upstream/unavailable */
export type VerifyToken = (token: string) => Principal | Promise<Principal>;

export interface TokenRules {
  algorithm: "RS256" | "EdDSA";
  key: JWTVerifyGetKey;
  issuer: string;
  audience: string;
  requiredClaims: readonly string[];
  /** Claims to principal; to be refused through `claimMissing`. */
  principal: (claims: JWTPayload) => Principal;
  now: () => Date;
}

/** A verifier whose successes are remembered until the token expires; failures never are. */
export const createVerifier = (rules: TokenRules): VerifyToken => {
  const verified = new LRUCache<string, { principal: Principal; expiresAtMs: number }>({
    max: verifiedTokensMax,
  });
  const verify = async (token: string): Promise<Principal> => {
    const claims = await verifiedClaims(token, rules);
    const principal = rules.principal(claims);
    // jose has made sure that `exp` is a number: it is always among the required claims.
    verified.set(token, { principal, expiresAtMs: claims.exp! * 1000 });
    return principal;
  };
  return (token) => {
    const known = verified.get(token);
    if (known === undefined) return verify(token);
    if (known.expiresAtMs > rules.now().getTime()) return known.principal;
    verified.delete(token);
    throw expired();
  };
};

const verifiedClaims = async (token: string, rules: TokenRules): Promise<JWTPayload> => {
  try {
    const { payload } = await jwtVerify(token, rules.key, {
      algorithms: [rules.algorithm],
      issuer: rules.issuer,
      audience: rules.audience,
      requiredClaims: ["exp", "sub", ...rules.requiredClaims],
      currentDate: rules.now(),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired();
    // Which rule failed is of no use to an honest caller and of some to a dishonest one.
    if (error instanceof errors.JOSEError)
      throw new Problem("auth/invalid-token", "Get a fresh token for this surface and try again.");
    throw error;
  }
};

const expired = (): Problem => new Problem("auth/expired-token", "Refresh the token and try again.");

/** The refusal for a claim that is absent or has a value nobody issues. */
export const claimMissing = (name: string): Problem =>
  new Problem("auth/invalid-token", `The token's claim ${name} is missing or not valid.`);

/**
 * A claim that must hold a URN of one of these kinds.
 * @throws Problem auth/invalid-token
 */
export const urnClaim = (claims: JWTPayload, name: string, ...of: UrnKind[]) => {
  const text = claims[name];
  const parsed = typeof text === "string" ? parseUrn(text) : undefined;
  if (parsed === undefined || !of.includes(parsed.kind)) throw claimMissing(name);
  return { ...parsed, text: text as string };
};
