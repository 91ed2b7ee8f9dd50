/** Owns what a partner receives: the body, the headers and the signature (contract, "Outbound webhooks"). */
import type { EventRecord } from "../../schemas/command.ts";
import { signatureOf } from "../../schemas/webhook-signature.ts";
import type { Message } from "./state.ts";

export const userAgent = "Stopover-Webhook/1.0";

/** Secrets in plain. `previous` is given only while it still signs. */
export interface SigningSecrets {
  current: string;
  previous?: string | undefined;
}

/** Built once per delivery: every attempt and its signature see these very bytes. The event's URN travels in its header. */
export const messageOf = (event: EventRecord): Message => {
  const { type, occurred_at, tenant, case_urn, correlation_urn, data } = event;
  return {
    eventUrn: event.urn,
    type,
    tenant,
    correlationUrn: correlation_urn,
    traceparent: event.traceparent,
    body: JSON.stringify({ type, occurred_at, tenant, case_urn, correlation_urn, data }),
  };
};

/** The headers of one attempt: the timestamp, and with it the signature, are those of `now`. */
export const headersOf = (message: Message, secrets: SigningSecrets, now: Date): Record<string, string> => {
  const timestamp = Math.floor(now.getTime() / 1000);
  const { previous } = secrets;
  return {
    "Content-Type": "application/json",
    "User-Agent": userAgent,
    "X-Service-Signature": signatureOf(secrets.current, timestamp, message.body),
    ...(previous === undefined
      ? {}
      : { "X-Service-Signature-Previous": signatureOf(previous, timestamp, message.body) }),
    "X-Service-Signature-Timestamp": String(timestamp),
    "X-Service-Event-Type": message.type,
    "X-Service-Event-Urn": message.eventUrn,
    "X-Service-Tenant": message.tenant,
    "X-Service-Correlation": message.correlationUrn,
    traceparent: message.traceparent,
  };
};

const excerptMax = 200;

/**
 * What the log keeps of an answer: one line, at most 200 characters, without e-mail addresses, long numbers and long
 * random words, since a receiver's error page may hold anything.
 */
export const excerptOf = (text: string): string =>
  text
    .slice(0, 4 * excerptMax)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
    .replace(/[\u0000-\u001f\u007f-\u009f\ufffd\s]+/g, " ")
    .replace(/[^\s@<>"']+@[^\s@<>"']+/g, "…")
    .replace(/[A-Za-z0-9+/_=.-]{24,}/g, "…")
    .replace(/\+?\d(?:[\s().-]*\d){6,}/g, "…")
    .trim()
    .slice(0, excerptMax);
