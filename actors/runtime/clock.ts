/** Owns time, randomness and ids: nothing else in an actor reads a clock or makes an id. */
import { createHash, randomBytes, randomInt, randomUUID } from "node:crypto";
import { monotonicFactory } from "ulid";

export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Draws randomness once a millisecond and counts up within it: seventy times cheaper than drawing for each id; and from Node's
 * pool, as the library's own source is a system call for each of sixteen characters.
 */
const nextUlid = monotonicFactory(() => randomInt(32) / 32);

/** A fresh tenant-owned id, `<code>-<ULID>`, ordered by time. */
export const freshId = (tenant: string, at: Date): string => `${tenant}-${nextUlid(at.getTime())}`;

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const encode = (value: bigint, length: number): string => {
  let rest = value;
  let text = "";
  for (let i = 0; i < length; i++) {
    text = crockford[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
};

/**
 * An id that the same seed always gives: what a repeated command creates is the same thing again.
 * It has a ULID's form; its time is that of `at` and its random part comes from the seed.
 */
export const derivedId = (tenant: string, seed: string, at: Date): string => {
  const digest = createHash("sha256").update(seed).digest().subarray(0, 10);
  return `${tenant}-${encode(BigInt(at.getTime()), 10)}${encode(BigInt(`0x${digest.toString("hex")}`), 16)}`;
};

/** A new W3C `traceparent` (Trace Context, section 3.2), sampled. */
export const mintTraceparent = (): string =>
  `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;

/** The id of a command that something known caused: the same cause gives the same id, however often it is told. */
export const causedId = (cause: string, ...parts: (string | number)[]): string =>
  createHash("sha256")
    .update([cause, ...parts].join("\n"))
    .digest("base64url")
    .slice(0, 27);

/** A random UUID (RFC 9562, version 4). */
export const freshUuid = (): string => randomUUID();

/** 256 random bits in base64url: nobody guesses it, so a plain digest of it is safe to keep. */
export const freshSecret = (): string => randomBytes(32).toString("base64url");
