/** Owns when the next attempt of a delivery is due (contract, "Outbound webhooks"). */
import { createHash } from "node:crypto";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Delay before attempt 2, 3 … 7, each counted from the failure before it. */
export const retryDelaysMs = [
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  6 * hourMs,
  24 * hourMs,
] as const;

export const attemptsMax = retryDelaysMs.length + 1;

const jitterMax = 0.1;
/** A partner cannot put a delivery off for longer than the schedule's own longest delay. */
const retryAfterMsMax = 24 * hourMs;

/** 0 to 1, the same for the same delivery and attempt: a decision made again comes to the same time. */
const shareOf = (deliveryId: string, attempt: number): number =>
  createHash("sha256").update(`${deliveryId}:${attempt}`).digest().readUInt32BE() / 0xffff_ffff;

export interface Failure {
  deliveryId: string;
  /** The attempt that failed, from 1. */
  attempt: number;
  failedAt: Date;
  /** What the partner asked for; honoured when it is longer than the schedule. */
  retryAfterMs?: number | undefined;
  /** Of the schedule's delays; 1 in production. */
  scale: number;
}

/** Undefined: that was the last attempt. */
export const nextAttemptAt = (failure: Failure): Date | undefined => {
  const delayMs = retryDelaysMs[failure.attempt - 1];
  if (delayMs === undefined) return undefined;
  const jitter = 1 + jitterMax * shareOf(failure.deliveryId, failure.attempt);
  const askedMs = Math.min(failure.retryAfterMs ?? 0, retryAfterMsMax);
  return new Date(failure.failedAt.getTime() + Math.max(delayMs * jitter * failure.scale, askedMs));
};

/** Seconds or an HTTP date (RFC 9110, section 10.2.3); undefined for anything else, 0 for a date that has passed. */
export const parseRetryAfter = (header: string, now: Date): number | undefined => {
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
};
