/** Owns what a subscription and a delivery are, and how their events change them. */
import type { Scope } from "../../schemas/vocabulary.ts";
import type { PauseReason } from "../../schemas/webhook.ts";
import type { Sealed } from "../runtime/seal.ts";

export interface SealedSecret {
  sealed: Sealed;
  fingerprint: string;
}

export interface TestResult {
  at: Date;
  delivered: boolean;
  status?: number;
}

/** What provisioning sets. */
export interface Registration {
  clientId: string;
  /** Set: it is the airline's own alert channel, and hears internal events. Absent: a partner's. */
  kind?: "alerts";
  url: string;
  scopes: Scope[];
  secret: SealedSecret;
  /** Signs beside the present one until the window closes. */
  previousSecret?: SealedSecret & { until: Date };
  contact: string;
}

interface SubscriptionCommon extends Registration {
  createdAt: Date;
  /** The durable consumer's position in EVENTS when it was last noted; 0 before that. */
  lastSequence: number;
  lastTest?: TestResult;
  resumedAt?: Date;
  /** Of an alert channel, which is never paused for it. */
  lastGivenUp?: { at: Date; delivery?: string };
}

export type SubscriptionState =
  | (SubscriptionCommon & { status: "ACTIVE" })
  | (SubscriptionCommon & { status: "PAUSED"; pausedAt: Date; pauseReason: PauseReason });

export type SubscriptionEvent =
  | { type: "subscription.registered"; registration: Registration; at: Date }
  | { type: "subscription.changed"; registration: Registration }
  | { type: "subscription.paused"; at: Date; reason: PauseReason; delivery?: string }
  | { type: "subscription.alert-given-up"; at: Date; delivery?: string }
  | { type: "subscription.tested"; test: TestResult }
  | { type: "subscription.resumed"; at: Date }
  | { type: "subscription.position-noted"; sequence: number };

/** Undefined before the first event only; every other event follows a registration. */
export const evolveSubscription = (
  state: SubscriptionState | undefined,
  event: SubscriptionEvent,
): SubscriptionState => {
  if (event.type === "subscription.registered") {
    return { ...event.registration, status: "ACTIVE", createdAt: event.at, lastSequence: 0 };
  }
  if (state === undefined) throw new TypeError(`${event.type} before the registration`);
  switch (event.type) {
    case "subscription.changed": {
      const { previousSecret: _, ...kept } = state;
      return { ...kept, ...event.registration } as SubscriptionState;
    }
    case "subscription.paused":
      return { ...state, status: "PAUSED", pausedAt: event.at, pauseReason: event.reason };
    case "subscription.alert-given-up": {
      const { at, delivery } = event;
      return { ...state, lastGivenUp: { at, ...(delivery === undefined ? {} : { delivery }) } };
    }
    case "subscription.tested":
      return { ...state, lastTest: event.test };
    case "subscription.resumed": {
      const { pausedAt: _, pauseReason: __, ...rest } = state as SubscriptionState & { status: "PAUSED" };
      return { ...rest, status: "ACTIVE", resumedAt: event.at };
    }
    case "subscription.position-noted":
      return { ...state, lastSequence: event.sequence };
  }
};

/** Why an attempt failed when no answer says it. */
export type AttemptFailure = "TIMEOUT" | "CONNECTION" | "TARGET_REFUSED" | "ANSWER_TOO_LONG";

/** One attempt as the log keeps it. */
export interface Attempt {
  /** 1 to 7. */
  attempt: number;
  at: Date;
  latencyMs: number;
  /** HTTP status; absent when none arrived. */
  status?: number;
  failure?: AttemptFailure;
  /** At most 200 characters of the answer, or the error's name; nothing that looks like a secret or a contact. */
  excerpt?: string;
}

/** How one call ended, as plain data. `at` is when it began, ISO 8601. */
export interface CallResult extends Omit<Attempt, "attempt" | "at"> {
  at: string;
  /** What the answer asked for. */
  retryAfterMs?: number;
}

/** Contract: a 2xx answer within the time. */
export const isDelivered = ({ status, failure }: Pick<CallResult, "status" | "failure">): boolean =>
  failure === undefined && status !== undefined && status >= 200 && status < 300;

/** What every attempt sends alike: kept until the delivery is settled. */
export interface Message {
  eventUrn: string;
  type: string;
  /** The airline's URN. */
  tenant: string;
  correlationUrn: string;
  traceparent: string;
  /** The raw body: signed and sent as it stands here. */
  body: string;
}

interface DeliveryCommon {
  subscriptionId: string;
  /** Set: told again by this replay. */
  replayId?: string;
  eventUrn: string;
  type: string;
  caseUrn?: string;
  correlationUrn: string;
  /** Of the event in EVENTS. */
  sequence: number;
  createdAt: Date;
  attempts: Attempt[];
}

/** `DUE`: handed to the subscription's own retry consumer, which makes the attempt unless the subscription is paused. */
export type DeliveryState =
  | (DeliveryCommon & { status: "PENDING"; message: Message; dueAt: Date })
  | (DeliveryCommon & { status: "DUE"; message: Message; dueAt: Date; reissueAt: Date })
  | (DeliveryCommon & { status: "DELIVERED"; settledAt: Date })
  | (DeliveryCommon & { status: "EXHAUSTED"; settledAt: Date });

export type OpenDelivery = Extract<DeliveryState, { message: Message }>;

export type DeliveryEvent =
  | { type: "delivery.begun"; delivery: DeliveryCommon; message: Message }
  | { type: "delivery.delivered"; attempt: Attempt; at: Date }
  | { type: "delivery.attempt-failed"; attempt: Attempt; dueAt: Date }
  | { type: "delivery.attempt-issued"; attempt: number; reissueAt: Date }
  | { type: "delivery.exhausted"; attempt: Attempt; at: Date }
  | { type: "delivery.expired"; at: Date };

/** Undefined before the first event only; every other event follows `delivery.begun`. */
export const evolveDelivery = (state: DeliveryState | undefined, event: DeliveryEvent): DeliveryState => {
  if (event.type === "delivery.begun") {
    return { ...event.delivery, status: "PENDING", message: event.message, dueAt: event.delivery.createdAt };
  }
  if (state === undefined || !isOpen(state))
    throw new TypeError(`${event.type} of a delivery that is not open`);
  const attempts =
    "attempt" in event && typeof event.attempt === "object"
      ? [...state.attempts, event.attempt]
      : state.attempts;
  switch (event.type) {
    case "delivery.attempt-issued":
      return { ...state, status: "DUE", reissueAt: event.reissueAt };
    case "delivery.attempt-failed": {
      const { message, ...rest } = settled(state);
      return { ...rest, attempts, status: "PENDING", message, dueAt: event.dueAt };
    }
    case "delivery.delivered":
    case "delivery.exhausted":
    case "delivery.expired": {
      const { message: _, ...rest } = settled(state);
      const status = event.type === "delivery.delivered" ? "DELIVERED" : "EXHAUSTED";
      return { ...rest, attempts, status, settledAt: event.at };
    }
  }
};

export const isOpen = (state: DeliveryState): state is OpenDelivery =>
  state.status === "PENDING" || state.status === "DUE";

/** Without what only a waiting or issued attempt has. */
const settled = (state: OpenDelivery): DeliveryCommon & { message: Message } => {
  const { status: _, dueAt: __, reissueAt: ___, ...rest } = state as OpenDelivery & { reissueAt?: Date };
  return rest;
};
