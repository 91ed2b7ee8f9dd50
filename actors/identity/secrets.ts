/** Owns client secrets: what is kept of one, and the check of one that is presented. Making them is the clock's. */
import { createHash, timingSafeEqual } from "node:crypto";

const dayMs = 86_400_000;

/** Old and new secret are both accepted for this long after a rotation (contract, "Secrets"). */
export const dualKeyWindowMs = 14 * dayMs;
export const rotationDueMs = 90 * dayMs;

/** Former secrets that may still be in their window; of more, the oldest are given up. */
const formerMax = 3;

export interface ClientKey {
  /** SHA-256 of the secret, in base64. */
  hash: string;
  createdAt: Date;
  /** Set once a newer one has replaced it: it is refused from then on. */
  expiresAt?: Date;
}

/**
 * A plain digest is enough: a slow, salted hash makes guessing a human's password costly, but these secrets are 256
 * random bits, which nobody finds at any speed; and a slow one would let anyone burn our time with wrong secrets.
 */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64");

/**
 * Newest first. Former secrets run out after the window, or at once when they may have leaked.
 *
 * A second rotation leaves the window of the first alone: whoever lost the answer of a rotation can rotate again, and
 * the partner's own old secret still works.
 */
export const rotated = (
  keys: readonly ClientKey[],
  hash: string,
  now: Date,
  revokeFormer: boolean,
): ClientKey[] => {
  const windowEnds = new Date(now.getTime() + dualKeyWindowMs);
  const former = revokeFormer
    ? []
    : keys
        .filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
        .map((key) => ({ ...key, expiresAt: key.expiresAt ?? windowEnds }))
        .slice(0, formerMax);
  return [{ hash, createdAt: now }, ...former];
};

/** What stands in for a key that isn't there, so that every check costs the same. No secret has this digest. */
const nobody: ClientKey = { hash: Buffer.alloc(32).toString("base64"), createdAt: new Date(0) };

/** In the same time for right, wrong, expired and no key at all. */
export const accepts = (keys: readonly ClientKey[], secret: string, now: Date): boolean => {
  const presented = createHash("sha256").update(secret).digest();
  let accepted = false;
  for (let i = 0; i <= formerMax; i++) {
    const { hash, expiresAt } = keys[i] ?? nobody;
    const same = timingSafeEqual(Buffer.from(hash, "base64"), presented);
    const current = expiresAt === undefined || expiresAt > now;
    accepted = (same && current) || accepted;
  }
  return accepted;
};
