/** Owns the rules of subscriptions and deliveries: who may be registered, what pauses and resumes, when to try again. */
import { mustAllowRotation, type RotationMode } from "../../schemas/partner-registration.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { alertChannelOf, type PauseInput, type SubscriptionInput } from "../../schemas/webhook.ts";
import { splitName } from "../../streams/subjects.ts";
import type { Outgoing, Received, Timer } from "../runtime/decider.ts";
import { nextAttemptAt } from "./schedule.ts";
import {
  type Attempt,
  type CallResult,
  type DeliveryEvent,
  type DeliveryState,
  isDelivered,
  isOpen,
  type Message,
  type Registration,
  type SealedSecret,
  type SubscriptionEvent,
  type SubscriptionState,
} from "./state.ts";
import { type TargetRules, targetFault } from "./target.ts";

const dayMs = 86_400_000;
/** Contract, "Limits": 14-day dual-key window. */
const dualKeyMs = 14 * dayMs;
/** An issued attempt that nobody has made: its message is in the stream, so this only heals a lost one. */
const reissueAfterMs = dayMs / 4;
/** As long as EVENTS keeps the event itself: a delivery held back by a paused subscription is not kept beyond it. */
const deliveryKeptMs = 8 * dayMs;

/** `webhook.put-subscription` as the decision sees it: the secret is sealed at the door. */
export type SealedInput = Omit<SubscriptionInput, "secret"> & {
  secret?: SealedSecret;
  kind?: "alerts";
  /** What another secret ends. Default: the former, whether its window is open or not. */
  rotation?: RotationMode;
};

export interface RecordTest {
  /** Where it was sent: success at an address that has changed since resumes nothing. */
  url: string;
  delivered: boolean;
  status?: number;
  /** ISO 8601. */
  at: string;
}

export const decideSubscription =
  (rules: TargetRules) =>
  (state: SubscriptionState | undefined, command: Received): SubscriptionEvent[] => {
    const [, verb] = splitName(command.name);
    if (verb === "put-subscription") return put(state, command, rules);
    if (state === undefined) throw new Problem("not-found/resource", "No such webhook subscription.");
    switch (verb) {
      case "pause":
        return pause(state, command);
      case "record-test":
        return recordTest(state, command);
      case "note-position":
        return notePosition(state, command);
      default:
        throw new TypeError(`not a subscription's command: ${command.name}`);
    }
  };

const put = (
  state: SubscriptionState | undefined,
  command: Received,
  rules: TargetRules,
): SubscriptionEvent[] => {
  const input = command.data as SealedInput;
  checkSubscription(input, command.tenant, rules);
  const secret = input.secret ?? state?.secret;
  if (secret === undefined) throw invalid([{ pointer: "/secret", detail: "is needed at first" }]);
  const { clientId, url, contact, kind } = input;
  const scopes = [...new Set(input.scopes)].sort();
  const registration: Registration = {
    clientId,
    ...(kind === undefined ? {} : { kind }),
    url,
    scopes,
    contact,
    secret,
  };
  if (state === undefined) return [{ type: "subscription.registered", registration, at: command.now }];
  const isNewSecret = secret.fingerprint !== state.secret.fingerprint;
  const previous = isNewSecret ? formerOf(state, input.rotation, command.now) : state.previousSecret;
  if (previous !== undefined && previous.until > command.now) registration.previousSecret = previous;
  if (!isNewSecret) registration.secret = state.secret;
  const unchanged =
    !isNewSecret && url === state.url && contact === state.contact && scopes.join() === state.scopes.join();
  return unchanged ? [] : [{ type: "subscription.changed", registration }];
};

/** @throws Problem conflict/state */
const formerOf = (
  { secret, previousSecret }: SubscriptionState,
  mode: RotationMode = "END_FORMER",
  now: Date,
): Registration["previousSecret"] => {
  const until = previousSecret?.until;
  const isWindow = until !== undefined && until > now;
  mustAllowRotation(mode, isWindow ? { newestAt: new Date(until.getTime() - dualKeyMs), until } : undefined);
  if (mode === "REVOKE_FORMER") return undefined;
  if (mode === "REPLACE_NEWEST") return previousSecret;
  return { ...secret, until: new Date(now.getTime() + dualKeyMs) };
};

const invalid = (errors: FieldError[]): Problem =>
  new Problem("validation/body", "The subscription is not valid.", { errors });

/** @throws Problem validation/body naming what is refused: nothing is stored, and of the secret nothing is said */
export const checkSubscription = (
  input: Pick<SealedInput, "clientId" | "kind" | "url" | "contact">,
  tenant: string,
  rules: TargetRules,
): void => {
  const errors: FieldError[] = [];
  const isAlerts = input.kind === "alerts";
  const ownName = new RegExp(`^${tenant}-[A-Za-z0-9_-]{1,60}$`);
  if (isAlerts ? input.clientId !== alertChannelOf(tenant) : !ownName.test(input.clientId))
    errors.push({ pointer: "/clientId", detail: "not a client id of this airline" });
  const fault = targetFault(input.url, rules);
  if (fault !== undefined) errors.push({ pointer: "/url", detail: fault });
  // Of a failing alert channel its own operators hear, in the log and by scripts/admin.
  if (!isAlerts && !/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(input.contact))
    errors.push({ pointer: "/contact", detail: "not an e-mail address" });
  if (errors.length > 0) throw invalid(errors);
};

const pause = (state: SubscriptionState, command: Received): SubscriptionEvent[] => {
  if (state.status === "PAUSED") return [];
  const { reason, since, delivery } = command.data as PauseInput;
  const arose = since === undefined ? command.now : new Date(since);
  if (state.resumedAt !== undefined && arose <= state.resumedAt) return [];
  // The next alert is to be tried: nobody would look for a reason why on-call hears nothing more.
  if (state.kind === "alerts" && reason === "DELIVERY_EXHAUSTED")
    return [
      {
        type: "subscription.alert-given-up",
        at: command.now,
        ...(delivery === undefined ? {} : { delivery }),
      },
    ];
  return [
    {
      type: "subscription.paused",
      at: command.now,
      reason,
      ...(delivery === undefined ? {} : { delivery }),
    },
  ];
};

const recordTest = (state: SubscriptionState, command: Received): SubscriptionEvent[] => {
  const { url, delivered, status, at } = command.data as RecordTest;
  const test = { at: new Date(at), delivered, ...(status === undefined ? {} : { status }) };
  const tested: SubscriptionEvent = { type: "subscription.tested", test };
  const resumes = delivered && url === state.url && state.status === "PAUSED" && test.at > state.pausedAt;
  return resumes ? [tested, { type: "subscription.resumed", at: command.now }] : [tested];
};

const notePosition = (state: SubscriptionState, command: Received): SubscriptionEvent[] => {
  const { sequence } = command.data as { sequence: number };
  return sequence === state.lastSequence ? [] : [{ type: "subscription.position-noted", sequence }];
};

/** Every change but a noted position is told to the processes that host the actor. */
export const subscriptionOutgoing = (
  event: SubscriptionEvent,
  state: SubscriptionState,
  _command: Received,
  id: string,
): Outgoing[] => {
  const subscription = urn("subscription", id);
  const { clientId, status } = state;
  const toInternal = (type: string, data: Record<string, unknown>): Outgoing => ({
    to: "internal",
    type,
    id,
    data: { subscription, clientId, ...data },
  });
  const changed = toInternal("webhook.subscription-changed", { status });
  switch (event.type) {
    case "subscription.registered":
    case "subscription.changed":
      return [changed];
    case "subscription.paused":
      return [
        changed,
        toInternal("webhook.paused", {
          reason: event.reason,
          delivery: event.delivery,
          at: event.at.toISOString(),
        }),
      ];
    case "subscription.resumed":
      return [changed, toInternal("webhook.resumed", { at: event.at.toISOString() })];
    case "subscription.alert-given-up":
      return [toInternal("webhook.alert-given-up", { at: event.at.toISOString(), delivery: event.delivery })];
    case "subscription.tested":
    case "subscription.position-noted":
      return [];
  }
};

/** `webhook.record-attempt`: how one attempt ended. */
export interface RecordAttempt {
  attempt: number;
  result: CallResult;
  /** With the first attempt: what the delivery is made of. */
  opening?: {
    subscriptionId: string;
    replayId?: string;
    sequence: number;
    caseUrn?: string;
    message: Message;
  };
}

/** @param retryScale of the schedule's delays; 1 in production */
export const decideDelivery =
  (retryScale: number) =>
  (state: DeliveryState | undefined, command: Received): DeliveryEvent[] => {
    const [, verb] = splitName(command.name);
    if (verb === "record-attempt") return recordAttempt(state, command, retryScale);
    if (state === undefined) throw new Problem("not-found/resource", "No such delivery.");
    if (verb === "attempt") return issueAttempt(state, command);
    // Its type is not allowed any more: nothing is sent, and its body is kept no longer.
    if (verb === "withdraw") return isOpen(state) ? [{ type: "delivery.expired", at: command.now }] : [];
    throw new TypeError(`not a delivery's command: ${command.name}`);
  };

/** A result that isn't that of the next attempt is of one made twice: the first record stands. */
const recordAttempt = (
  state: DeliveryState | undefined,
  command: Received,
  scale: number,
): DeliveryEvent[] => {
  const { attempt, result, opening } = command.data as RecordAttempt;
  const begun = state === undefined ? begin(opening, result) : [];
  if (state !== undefined && (!isOpen(state) || attempt !== state.attempts.length + 1)) return [];
  const { at, retryAfterMs, ...logged } = result;
  const entry: Attempt = { ...logged, attempt, at: new Date(at) };
  const endedAt = new Date(entry.at.getTime() + entry.latencyMs);
  if (isDelivered(result)) return [...begun, { type: "delivery.delivered", attempt: entry, at: endedAt }];
  const dueAt = nextAttemptAt({
    deliveryId: command.entity,
    attempt,
    failedAt: endedAt,
    retryAfterMs,
    scale,
  });
  if (dueAt === undefined) return [...begun, { type: "delivery.exhausted", attempt: entry, at: endedAt }];
  return [...begun, { type: "delivery.attempt-failed", attempt: entry, dueAt }];
};

const begin = (opening: RecordAttempt["opening"], result: CallResult): DeliveryEvent[] => {
  if (opening === undefined) throw new Problem("not-found/resource", "No such delivery.");
  const { message, ...rest } = opening;
  const { eventUrn, type, correlationUrn } = message;
  const delivery = { ...rest, eventUrn, type, correlationUrn, createdAt: new Date(result.at), attempts: [] };
  return [{ type: "delivery.begun", delivery, message }];
};

/** The wake-up is compared by its time, not with the clock: only the one that the state asks for counts. */
const issueAttempt = (state: DeliveryState, command: Received): DeliveryEvent[] => {
  const awaited =
    state.status === "PENDING" ? state.dueAt : state.status === "DUE" ? state.reissueAt : undefined;
  const { dueAt } = command.data as { dueAt: string };
  if (awaited?.toISOString() !== dueAt) return [];
  const { now } = command;
  if (now.getTime() - state.createdAt.getTime() > deliveryKeptMs)
    return [{ type: "delivery.expired", at: now }];
  const reissueAt = new Date(now.getTime() + reissueAfterMs);
  return [{ type: "delivery.attempt-issued", attempt: state.attempts.length + 1, reissueAt }];
};

export const deliveryTimers = (state: DeliveryState): Timer[] => {
  if (state.status === "PENDING") return [{ name: "attempt", dueAt: state.dueAt }];
  return state.status === "DUE" ? [{ name: "attempt", dueAt: state.reissueAt }] : [];
};

/** What `webhook.attempt-due` carries to the subscription's retry consumer. */
export interface AttemptDue {
  deliveryId: string;
  attempt: number;
}

export const deliveryOutgoing = (
  event: DeliveryEvent,
  state: DeliveryState,
  _command: Received,
  id: string,
): Outgoing[] => {
  const { subscriptionId } = state;
  if (event.type === "delivery.attempt-issued") {
    const data = { deliveryId: id, attempt: event.attempt };
    return [{ to: "internal", type: "webhook.attempt-due", id: subscriptionId, data }];
  }
  // Of a replay the partner has had, or has, the events by the way of all others, which alone decides on pausing.
  if (event.type === "delivery.exhausted" && state.replayId === undefined) {
    const data: PauseInput = {
      reason: "DELIVERY_EXHAUSTED",
      since: event.at.toISOString(),
      delivery: urn("delivery", id),
    };
    return [{ to: "command", name: "webhook.pause", entity: subscriptionId, data }];
  }
  return [];
};
