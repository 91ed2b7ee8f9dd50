/** Owns client secrets: what is kept of one, and the check of one that is presented. Making them is the clock's. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { RotationMode, RotationWindow } from "../../schemas/partner-registration.ts";

const dayMs = 86_400_000;

/** Old and new secret are both accepted for this long after a rotation (contract, "Secrets"). */
export const dualKeyWindowMs = 14 * dayMs;
export const rotationDueMs = 90 * dayMs;

/** Beside the newest one, the one before it may still be good (contract, "Secrets": both old and new). */
const formerMax = 1;

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

/** Newest first. Two are accepted at most; which of them stays is the mode's, and whether it may, `mustAllowRotation`'s. */
export const rotated = (
  keys: readonly ClientKey[],
  hash: string,
  now: Date,
  mode: RotationMode,
): ClientKey[] => [{ hash, createdAt: now }, ...formerOf(keys, now, mode)];

const formerOf = (keys: readonly ClientKey[], now: Date, mode: RotationMode): readonly ClientKey[] => {
  if (mode === "REVOKE_FORMER") return [];
  if (mode === "REPLACE_NEWEST") return keys.slice(1, 1 + formerMax);
  const windowEnds = new Date(now.getTime() + dualKeyWindowMs);
  return keys.slice(0, formerMax).map((key) => ({ ...key, expiresAt: windowEnds }));
};

/** Undefined: the newest alone is good. */
export const windowOf = ([newest, former]: readonly ClientKey[], now: Date): RotationWindow | undefined => {
  const until = former?.expiresAt;
  if (newest === undefined || former === undefined || until === undefined || until <= now) return undefined;
  return { newestAt: newest.createdAt, formerAt: former.createdAt, until };
};

/**
 * Of a webhook's secrets, whose window the webhook actor keeps. A process may have died after the webhook had its new secret
 * and before that was noted here: then the window opened after the newest one that is known.
 */
export const webhookWindowOf = (
  known: { newestAt: Date | undefined; formerAt: Date | undefined },
  until: Date | undefined,
  now: Date,
): RotationWindow | undefined => {
  if (until === undefined || until <= now) return undefined;
  const openedAt = new Date(until.getTime() - dualKeyWindowMs);
  const isNoted = known.newestAt !== undefined && known.newestAt >= openedAt;
  const formerAt = isNoted ? known.formerAt : known.newestAt;
  return {
    newestAt: isNoted && known.newestAt !== undefined ? known.newestAt : openedAt,
    ...(formerAt === undefined ? {} : { formerAt }),
    until,
  };
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
