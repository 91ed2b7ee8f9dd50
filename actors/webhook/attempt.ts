/** Owns making one attempt: sign, send, record. Whether a message is to be attempted at all is looked up before each. */
import type { EventRecord } from "../../schemas/command.ts";
import { caseKinds } from "../../schemas/drill.ts";
import { typesFor } from "../../schemas/events.ts";
import { idOf } from "../../schemas/urn.ts";
import { alertTypes } from "../../schemas/webhook.ts";
import { type Delivery, type Disposition, done } from "../../streams/consume.ts";
import { duplicateWindowMs } from "../../streams/topology.ts";
import { causedId, derivedId } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { unseal } from "../runtime/seal.ts";
import { systemCommand } from "../runtime/send.ts";
import type { AttemptDue, RecordAttempt } from "./decide.ts";
import { Interrupted, type Sender } from "./effects.ts";
import { headersOf, messageOf, type SigningSecrets } from "./message.ts";
import { loadDelivery, type Subscription } from "./queries.ts";
import { type CallResult, isDelivered, type Message } from "./state.ts";

export type AttemptParts = Pick<ActorContext, "documents" | "clock" | "faults" | "call" | "log"> & {
  sender: Sender;
};

/** A subscription as the sender needs it. Its secrets are in plain: it is never logged, stored or sent on. */
export interface Recipient {
  id: string;
  tenant: string;
  clientId: string;
  kind?: "alerts";
  /** What it may hear of now; empty: nothing. */
  types: readonly string[];
  url: string;
  secret: string;
  previous?: { secret: string; until: Date };
}

/** The types of events that a subscription may hear of now; empty: none. */
export const typesOf = ({ kind, scopes }: Subscription["state"]): readonly string[] =>
  kind === "alerts" ? alertTypes : typesFor(scopes);

/** @throws SealError when a secret was sealed under another key */
export const recipientOf = (tenant: string, { id, state }: Subscription, sealKey: Buffer): Recipient => {
  const { clientId, kind, url, secret, previousSecret } = state;
  const recipient: Recipient = {
    ...{ id, tenant, clientId, url },
    types: typesOf(state),
    secret: unseal(sealKey, secret.sealed),
  };
  if (kind !== undefined) recipient.kind = kind;
  if (previousSecret !== undefined) {
    recipient.previous = { secret: unseal(sealKey, previousSecret.sealed), until: previousSecret.until };
  }
  return recipient;
};

const secretsAt = ({ secret, previous }: Recipient, now: Date): SigningSecrets => ({
  current: secret,
  previous: previous !== undefined && previous.until > now ? previous.secret : undefined,
});

/** One POST with a fresh timestamp. @throws Interrupted */
export const post = (parts: AttemptParts, recipient: Recipient, message: Message): Promise<CallResult> => {
  const now = parts.clock.now();
  const headers = headersOf(message, secretsAt(recipient, now), now);
  return parts.sender.send({ url: recipient.url, headers, body: message.body });
};

/** The same event to the same subscription is the same delivery, however often the event is told. */
export const deliveryIdOf = (recipient: Pick<Recipient, "id" | "tenant">, event: EventRecord): string =>
  derivedId(recipient.tenant, `${recipient.id}\n${event.urn}`, new Date(event.occurred_at));

/** Nobody is paged for a night that is only played. */
const isPlayed = ({ data }: EventRecord): boolean => (caseKinds as readonly unknown[]).includes(data.kind);

/** What passengers have written in their own words stays in the house. */
const alertOf = (event: EventRecord): EventRecord => {
  const { reason: _, ...data } = event.data;
  return { ...event, data };
};

/** Of another airline than its subject says: it is put aside, and told to nobody. */
const foreign: Disposition = {
  kind: "dead",
  reason: "The event's subject and body name different airlines.",
};

/** Younger than this an event stands in its stream once: the server drops what is published again. */
const isToldOnce = ({ occurred_at }: EventRecord, now: Date): boolean =>
  now.getTime() - Date.parse(occurred_at) < duplicateWindowMs / 2;

/**
 * An event of the subscription's consumer: the first attempt, unless a delivery of it is on record. What was given out
 * before the scopes were narrowed is not told any more.
 * @param givenOutFirst nobody has had it before: with an event so young there is nothing to look for
 */
export const attemptFirst = async (
  parts: AttemptParts,
  recipient: Recipient,
  delivery: Delivery,
  givenOutFirst: boolean,
): Promise<Disposition> => {
  const event = delivery.json() as EventRecord;
  if (idOf(event.tenant) !== recipient.tenant) return foreign;
  if (!recipient.types.includes(event.type)) return done;
  if (recipient.kind === "alerts" && isPlayed(event)) return done;
  const deliveryId = deliveryIdOf(recipient, event);
  const documents = parts.documents.tenant(recipient.tenant);
  const isNew = givenOutFirst && isToldOnce(event, parts.clock.now());
  if (!isNew && (await loadDelivery(documents, deliveryId)) !== undefined) return done;
  const message = messageOf(recipient.kind === "alerts" ? alertOf(event) : event);
  return postAndRecord(parts, recipient, deliveryId, message, {
    attempt: 1,
    opening: {
      subscriptionId: recipient.id,
      sequence: delivery.sequence,
      ...(event.case_urn === undefined ? {} : { caseUrn: event.case_urn }),
      message,
    },
  });
};

/**
 * A due attempt of the subscription's retry consumer; one that was made meanwhile is over. One of a type that the scopes
 * don't allow any more is not made, and its delivery is over.
 */
export const attemptAgain = async (
  parts: AttemptParts,
  recipient: Recipient,
  delivery: Delivery,
): Promise<Disposition> => {
  const { deliveryId, attempt } = (delivery.json() as EventRecord).data as unknown as AttemptDue;
  const state = await loadDelivery(parts.documents.tenant(recipient.tenant), deliveryId);
  if (state?.status !== "DUE" || state.attempts.length + 1 !== attempt) return done;
  if (!recipient.types.includes(state.type)) {
    const { tenant } = recipient;
    const { correlationUrn, traceparent } = state.message;
    const name = "webhook.withdraw";
    const following = { tenant, correlationUrn, traceparent };
    const about = { id: causedId(deliveryId, "withdraw", attempt), name, entity: deliveryId, data: {} };
    await parts.call(name, systemCommand("webhook", following, { ...about, now: parts.clock.now() }));
    return done;
  }
  return postAndRecord(parts, recipient, deliveryId, state.message, { attempt });
};

/** What became of an event of a replay: taken at once, not taken at once, or passed over without a POST. */
export type ReplayOutcome = "delivered" | "failed" | "skipped";

/**
 * An event of a replay: a delivery of its own, whose first attempt this is. One that is on record is not made again.
 * @returns without an outcome: interrupted, and to be made again
 */
export const attemptReplayed = async (
  parts: AttemptParts,
  recipient: Recipient,
  event: EventRecord,
  { replayId, sequence }: { replayId: string; sequence: number },
): Promise<{ disposition: Disposition; outcome?: ReplayOutcome }> => {
  const { id: subscriptionId, tenant } = recipient;
  if (idOf(event.tenant) !== tenant) return { disposition: foreign, outcome: "skipped" };
  const deliveryId = deliveryIdOf({ id: `${subscriptionId}\n${replayId}`, tenant }, event);
  const known = await loadDelivery(parts.documents.tenant(tenant), deliveryId);
  const [first] = known?.attempts ?? [];
  if (first !== undefined) return { disposition: done, outcome: outcomeOf(first) };
  if (!recipient.types.includes(event.type)) return { disposition: done, outcome: "skipped" };
  const message = messageOf(event);
  const { case_urn: caseUrn } = event;
  const result = await postedAndRecorded(parts, recipient, deliveryId, message, {
    attempt: 1,
    opening: { subscriptionId, replayId, sequence, ...(caseUrn === undefined ? {} : { caseUrn }), message },
  });
  return result === undefined ? { disposition: again } : { disposition: done, outcome: outcomeOf(result) };
};

const outcomeOf = (result: Pick<CallResult, "status" | "failure">): ReplayOutcome =>
  isDelivered(result) ? "delivered" : "failed";

const again: Disposition = { kind: "later", delayMs: 0 };

const postAndRecord = async (...attempt: Parameters<typeof postedAndRecorded>): Promise<Disposition> => {
  const result = await postedAndRecorded(...attempt);
  return result === undefined ? again : done;
};

/**
 * A process that dies between the two has told nobody: the message comes again and so does the POST.
 * @returns undefined: interrupted, and to be made again
 */
const postedAndRecorded = async (
  parts: AttemptParts,
  recipient: Recipient,
  deliveryId: string,
  message: Message,
  about: Omit<RecordAttempt, "result">,
): Promise<CallResult | undefined> => {
  let result: CallResult;
  try {
    result = await post(parts, recipient, message);
  } catch (error) {
    if (error instanceof Interrupted) return undefined;
    throw error;
  }
  parts.faults("after-vendor-answer", "webhook.post");
  if (recipient.kind === "alerts" && !isDelivered(result)) {
    const { status, failure } = result;
    const { tenant } = recipient;
    parts.log.warn(
      { tenant, alert: message.type, attempt: about.attempt, status, failure },
      "on-call was not reached",
    );
  }
  const data: RecordAttempt = { ...about, result };
  const { tenant } = recipient;
  const { correlationUrn, traceparent } = message;
  await parts.call(
    "webhook.record-attempt",
    systemCommand(
      "webhook",
      { tenant, correlationUrn, traceparent },
      {
        id: causedId(deliveryId, "record-attempt", about.attempt),
        name: "webhook.record-attempt",
        entity: deliveryId,
        data,
        now: parts.clock.now(),
      },
    ),
  );
  return result;
};
