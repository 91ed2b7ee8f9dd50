/** Owns the shapes of webhook subscriptions as provisioning gives and operators see them. */
import type { RotationMode } from "./partner-registration.ts";
import type { Scope } from "./vocabulary.ts";

/** The data of `webhook.put-subscription`: everything, each time; what is left out of a change is kept. */
export interface SubscriptionInput {
  /** `<airline code>-<name>`, at most 64 characters of `A-Z a-z 0-9 _ -`. */
  clientId: string;
  url: string;
  scopes: Scope[];
  /** The HMAC secret in plain, 16 to 256 printable characters; needed at first. Another one begins a dual-key window. */
  secret?: string;
  /** E-mail address that hears of a paused subscription. */
  contact: string;
}

/** What an airline's on-call hears of; all on the internal stream. */
export const alertTypes = [
  "review.sla-breached",
  "review.escalated",
  "operator.alerted",
  "partner.limit-exceeded",
] as const;

/** The alert channel's client id; no partner's, which all begin with the airline's code. */
export const alertChannelOf = (tenant: string): string => `alerts_${tenant}`;

/** The data of `webhook.put-alert-channel`. Its secret is made here and shown once: at first, and for `rotateSecret`. */
export interface AlertChannelInput {
  url: string;
  rotateSecret?: boolean;
  /** What a rotation ends, while two secrets are good. Default: `PLAIN`, which is refused then. */
  rotation?: RotationMode;
}

/** The answer of `webhook.alert-channel`. */
export interface AlertChannelView {
  /** Without what may be a token in the address. */
  host: string;
  status: SubscriptionView["status"];
  createdAt: string;
  dualKeyUntil?: string;
  lastTest?: SubscriptionView["lastTest"];
  /** Alerts that have not reached it yet, and are being tried again. */
  waiting: number;
  /** The last alert that was given up after all attempts. */
  lastGivenUp?: { at: string; delivery?: string };
}

/** Why a subscription is paused: its partner failed all attempts of a delivery, or an operator wanted it. */
export const pauseReasons = ["DELIVERY_EXHAUSTED", "OPERATOR"] as const;
export type PauseReason = (typeof pauseReasons)[number];

/** The data of `webhook.pause`. The subscription is named by the command's entity or by its client id. */
export interface PauseInput {
  clientId?: string;
  reason: PauseReason;
  /** ISO 8601. When the reason arose; one that a resumption has overtaken pauses nothing. Default: now. */
  since?: string;
  /** URN of the delivery that was given up. */
  delivery?: string;
}

/** Never with a secret in it. */
export interface SubscriptionView {
  urn: string;
  clientId: string;
  url: string;
  scopes: Scope[];
  /** What the scopes let the partner hear. */
  eventTypes: string[];
  contact: string;
  status: "ACTIVE" | "PAUSED";
  pausedAt?: string;
  pauseReason?: PauseReason;
  /** Until then a previous secret signs too. */
  dualKeyUntil?: string;
  lastTest?: { at: string; delivered: boolean; status?: number };
  /** Everything up to here in the event stream has been attempted; 0: nothing yet. */
  lastSequence: number;
  createdAt: string;
}
