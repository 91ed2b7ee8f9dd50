/** Owns making one attempt: sign, send, record. Whether a message is to be attempted at all is looked up before each. */
import type { EventRecord } from "../../schemas/command.ts";
import { caseKinds } from "../../schemas/drill.ts";
import { idOf } from "../../schemas/urn.ts";
import { type Delivery, type Disposition, done } from "../../streams/consume.ts";
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
  url: string;
  secret: string;
  previous?: { secret: string; until: Date };
}

/** @throws SealError when a secret was sealed under another key */
export const recipientOf = (tenant: string, { id, state }: Subscription, sealKey: Buffer): Recipient => {
  const { clientId, kind, url, secret, previousSecret } = state;
  const recipient: Recipient = { id, tenant, clientId, url, secret: unseal(sealKey, secret.sealed) };
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

/** An event of the subscription's consumer: the first attempt, unless a delivery of it is on record. */
export const attemptFirst = async (
  parts: AttemptParts,
  recipient: Recipient,
  delivery: Delivery,
): Promise<Disposition> => {
  const event = delivery.json() as EventRecord;
  if (idOf(event.tenant) !== recipient.tenant) {
    return { kind: "dead", reason: "The event's subject and body name different airlines." };
  }
  if (recipient.kind === "alerts" && isPlayed(event)) return done;
  const deliveryId = deliveryIdOf(recipient, event);
  const documents = parts.documents.tenant(recipient.tenant);
  if ((await loadDelivery(documents, deliveryId)) !== undefined) return done;
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

/** A due attempt of the subscription's retry consumer; one that was made meanwhile is over. */
export const attemptAgain = async (
  parts: AttemptParts,
  recipient: Recipient,
  delivery: Delivery,
): Promise<Disposition> => {
  const { deliveryId, attempt } = (delivery.json() as EventRecord).data as unknown as AttemptDue;
  const state = await loadDelivery(parts.documents.tenant(recipient.tenant), deliveryId);
  if (state?.status !== "DUE" || state.attempts.length + 1 !== attempt) return done;
  return postAndRecord(parts, recipient, deliveryId, state.message, { attempt });
};

/** A process that dies between the two has told nobody: the message comes again and so does the POST. */
const postAndRecord = async (
  parts: AttemptParts,
  recipient: Recipient,
  deliveryId: string,
  message: Message,
  about: Omit<RecordAttempt, "result">,
): Promise<Disposition> => {
  let result: CallResult;
  try {
    result = await post(parts, recipient, message);
  } catch (error) {
    if (error instanceof Interrupted) return { kind: "later", delayMs: 0 };
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
  return done;
};
