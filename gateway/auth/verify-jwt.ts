/** Owns what the three token verifiers share: the checks of RFC 7519 and RFC 8725 through jose, their failures as problems, and the cache of verified tokens. */
import { createHash } from "node:crypto";
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { subjectForm } from "../../schemas/revocation.ts";
import { parseUrn, type UrnKind } from "../../schemas/urn.ts";
import type { PresentedToken } from "../../streams/revocations.ts";
import type { KeySource } from "./key-ring.ts";
import { isCanonicalToken, namesRepeatedIn } from "./token-text.ts";

/** About 10 MB at the usual size of a token; the least recently used goes first. */
const verifiedTokensMax = 10_000;
/** Clocks that are kept differ by less. A token never lives longer for it. */
const aheadSecondsMax = 60;
/** RFC 7518 §3.3, for keys of an issuer that nobody here has looked at. */
const modulusBitsMin = 2048;

/** Who calls, and by what the token can be withdrawn: worked out once per token, and not carried into commands. */
export interface VerifiedToken {
  principal: Principal;
  presented: PresentedToken;
}

/** @throws Problem auth/invalid-token, auth/expired-token, upstream/unavailable */
export type VerifyToken = (token: string) => VerifiedToken | Promise<VerifiedToken>;

export interface TokenRules {
  algorithm: "RS256" | "EdDSA";
  keys: KeySource;
  issuer: string;
  audience: string;
  /** Set: `aud` may be a list with others beside it (an issuer's own user info), but with none of these. */
  foreignAudiences?: readonly string[];
  /** Of the header's `typ`, any one, in lower case and without `application/` (RFC 8725 §3.11). */
  types: readonly string[];
  /** Longest life of a token from its issue on. */
  lifetimeSeconds: number;
  requiredClaims: readonly string[];
  /** Claims to principal; to be refused through `claimMissing`. */
  principal: (claims: JWTPayload) => Principal;
  /** Unix seconds, where `iat` does not say. */
  issuedAt?: (claims: JWTPayload) => number;
  now: () => Date;
}

interface Kept {
  verified: VerifiedToken;
  expiresAtMs: number;
}

/** A verifier whose successes are remembered until the token expires or the keys change; failures never are. */
export const createVerifier = (rules: TokenRules): VerifyToken => {
  const kept = new LRUCache<string, Kept>({ max: verifiedTokensMax });
  let generation = rules.keys.generation();
  const verify = async (token: string): Promise<VerifiedToken> => {
    const begun = rules.keys.generation();
    const claims = await verifiedClaims(token, rules);
    const principal = rules.principal(claims);
    const verified = { principal, presented: presentedOf(token, claims, principal, rules) };
    if (begun === rules.keys.generation())
      // jose has made sure that `exp` is a number: it is always among the required claims.
      kept.set(token, { verified, expiresAtMs: claims.exp! * 1000 });
    return verified;
  };
  return (token) => {
    if (generation !== rules.keys.generation()) {
      kept.clear();
      generation = rules.keys.generation();
    }
    const known = kept.get(token);
    if (known === undefined) return verify(token);
    if (known.expiresAtMs > rules.now().getTime()) return known.verified;
    kept.delete(token);
    throw expired();
  };
};

/** A token's `jti` is its id; one that has none goes by its digest, which differs with its every byte. */
const presentedOf = (
  token: string,
  claims: JWTPayload,
  { tenant, urn }: Principal,
  { issuedAt }: TokenRules,
): PresentedToken => {
  const { sub = "", jti, iat = 0 } = claims;
  const isNamed = typeof jti === "string" && jti !== "";
  return {
    tenant,
    subjects: [...new Set([sub, subjectForm(sub), subjectForm(urn)])],
    tokenId: isNamed ? jti : createHash("sha256").update(token).digest("base64url"),
    issuedAt: issuedAt?.(claims) ?? iat,
  };
};

const verifiedClaims = async (token: string, rules: TokenRules): Promise<JWTPayload> => {
  if (!isCanonicalToken(token)) throw invalid();
  const now = rules.now();
  try {
    const { payload } = await jwtVerify(token, keyFor(rules), {
      algorithms: [rules.algorithm],
      issuer: rules.issuer,
      audience: rules.audience,
      requiredClaims: ["exp", "sub", ...rules.requiredClaims],
      currentDate: now,
      clockTolerance: aheadSecondsMax,
    });
    checkClaims(payload, rules, now.getTime() / 1000);
    if (namesRepeatedIn(token)) throw invalid();
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw expired();
    // Which rule failed is of no use to an honest caller and of some to a dishonest one.
    if (error instanceof errors.JOSEError) throw invalid();
    throw error;
  }
};

/**
 * No key is taken for want of a better: it has a name in the header, and the strength that its algorithm asks for. Where a header
 * says that keys are (`jwk`, `jku`, `x5u`) is never looked at; one that extends the format (RFC 7797) is none of ours.
 */
const keyFor =
  ({ keys, types }: TokenRules): JWTVerifyGetKey =>
  async (header, token) => {
    const { kid, typ, crit, b64 } = header;
    const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : "";
    const isPlain = crit === undefined && b64 === undefined;
    if (typeof kid !== "string" || kid === "" || !types.includes(type) || !isPlain)
      throw new errors.JWKSNoMatchingKey();
    const key = await keys.resolve(header, token);
    const { modulusLength = modulusBitsMin } = ("algorithm" in key ? key.algorithm : {}) as {
      modulusLength?: number;
    };
    if (modulusLength < modulusBitsMin) throw new errors.JWKSNoMatchingKey();
    return key;
  };

/** What RFC 8725 asks for beyond jose's checks. @throws Problem auth/invalid-token, auth/expired-token */
const checkClaims = (
  { aud, exp = 0, iat = 0, sub, jti }: JWTPayload,
  rules: TokenRules,
  now: number,
): void => {
  if (exp <= now) throw expired();
  const isAlone = typeof aud === "string";
  const isShared = rules.foreignAudiences?.some((foreign) => aud?.includes(foreign)) ?? true;
  const wrong =
    (!isAlone && isShared) ||
    exp > now + rules.lifetimeSeconds + aheadSecondsMax ||
    !Number.isFinite(iat) ||
    iat > now + aheadSecondsMax ||
    typeof sub !== "string" ||
    sub === "" ||
    (jti !== undefined && typeof jti !== "string");
  if (wrong) throw invalid();
};

const expired = (): Problem => new Problem("auth/expired-token", "Refresh the token and try again.");
const invalid = (): Problem =>
  new Problem("auth/invalid-token", "Get a fresh token for this surface and try again.");

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
