/**
 * Checks that a webhook was sent by Stopover. It is one file without dependencies (Node 18 or later): copy it into your
 * receiver, and run the test vectors published beside it against what you have made of it.
 *
 *     const rawBody = await readRawBody(request);
 *     const verdict = verifyWebhook({ headers: request.headers, rawBody, secrets: { current, previous } });
 *     if (!verdict.verified) return answer(401, verdict.detail);
 *     if (await alreadySeen(verdict.eventUrn)) return answer(200);
 *
 * Sign and compare the bytes as they arrived: a body that was parsed and written again has another signature. Answer with
 * a 2xx within 10 seconds, and do the work afterwards.
 *
 * The signature is over the timestamp and the body alone. `X-Service-Event-Urn` and the other headers are not under it:
 * they are as trustworthy as the connection they came by. Tell repeats by the URN, and decide nothing else by it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds by which a timestamp may differ from the receiver's clock, in either direction. */
export const timestampSkewSecondsMax = 300;

/** Bodies are far smaller; more than this is not ours. */
const rawBodyBytesMax = 1_048_576;

const signatureHeaders = ["X-Service-Signature", "X-Service-Signature-Previous"] as const;

/** While a rotation lasts both are good, and it does not matter which side has changed over first. */
export interface WebhookSecrets {
  current: string;
  previous?: string | null | undefined;
}

/** Node's `request.headers`, or a `Headers` of fetch. Names are compared without regard to case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Why a delivery is refused, in the order in which it is looked at. */
export const refusals = {
  "no-secret": "No secret is configured for this receiver.",
  "no-timestamp": "X-Service-Signature-Timestamp is missing or is not a number of Unix seconds.",
  "timestamp-skew": `The timestamp is more than ${timestampSkewSecondsMax} s from this clock: an old delivery sent again, or a wrong clock.`,
  "no-signature": "X-Service-Signature is missing.",
  "wrong-signature":
    "No signature fits: another secret, a changed body, or a body that is not the bytes as they arrived.",
  "no-event-urn": "X-Service-Event-Urn is missing: it is what repeats are told by.",
} as const;
export type Refusal = keyof typeof refusals;

export type Verdict =
  | {
      verified: true;
      /** The idempotency key: the same URN is the same event, however often it comes. Not under the signature. */
      eventUrn: string;
      /** Which of the secrets fits, and in which header the signature stood. */
      by: { secret: "current" | "previous"; header: (typeof signatureHeaders)[number] };
    }
  | { verified: false; reason: Refusal; detail: string };

export interface WebhookDelivery {
  headers: WebhookHeaders;
  /** As it arrived. */
  rawBody: string | Uint8Array;
  /** Null or undefined: this receiver has none, and trusts nothing. */
  secrets: WebhookSecrets | null | undefined;
  /** Milliseconds since 1970. Default: the clock's. With one that is no number every timestamp is off. */
  nowMs?: number;
}

/**
 * The value of a signature header: base64 of HMAC-SHA256 over `<timestamp>.<raw body>`.
 * @param timestamp Unix seconds
 */
export const signatureOf = (
  secret: string,
  timestamp: number | string,
  rawBody: string | Uint8Array,
): string => `sha256=${digestOf(secret, timestamp, rawBody).toString("base64")}`;

const digestOf = (secret: string, timestamp: number | string, rawBody: string | Uint8Array): Buffer =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest();

/** Whether to trust a delivery. Signatures are compared in constant time. Never throws for what was sent. */
export const verifyWebhook = ({ headers, rawBody, secrets, nowMs }: WebhookDelivery): Verdict => {
  if (secrets === undefined || secrets === null) return refused("no-secret");
  const timestamp = textOf(headers, "X-Service-Signature-Timestamp");
  if (!/^\d{1,12}$/.test(timestamp)) return refused("no-timestamp");
  const skewSeconds = Math.abs((nowMs ?? Date.now()) / 1000 - Number(timestamp));
  // NaN is more than nothing, and must not pass.
  if (Number.isNaN(skewSeconds) || skewSeconds > timestampSkewSecondsMax) return refused("timestamp-skew");
  const given = signatureHeaders.flatMap((header) => {
    const text = textOf(headers, header);
    return text === "" ? [] : [{ header, text }];
  });
  if (given.length === 0) return refused("no-signature");
  for (const secret of ["current", "previous"] as const) {
    const key = secrets[secret];
    if (key === undefined || key === null || key === "") continue;
    const expected = digestOf(key, timestamp, rawBody);
    const fitting = given.find(({ text }) => isDigest(text, expected));
    if (fitting === undefined) continue;
    const eventUrn = textOf(headers, "X-Service-Event-Urn");
    if (eventUrn === "") return refused("no-event-urn");
    return { verified: true, eventUrn, by: { secret, header: fitting.header } };
  }
  return refused("wrong-signature");
};

const refused = (reason: Refusal): Verdict => ({ verified: false, reason, detail: refusals[reason] });

const isDigest = (text: string, expected: Buffer): boolean => {
  if (!text.startsWith("sha256=")) return false;
  const given = Buffer.from(text.slice("sha256=".length), "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** Empty: absent, or there several times, which no delivery of ours is. */
const textOf = (headers: WebhookHeaders, name: string): string => {
  if (typeof headers.get === "function") return headers.get(name) ?? "";
  const wanted = name.toLowerCase();
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === wanted);
  const [[, value] = []] = found;
  return found.length === 1 && typeof value === "string" ? value : "";
};

/**
 * The bytes of a request as they arrived, which frameworks that parse bodies do not keep: call it before them.
 * @returns undefined: longer than any delivery of ours
 */
export const readRawBody = async (
  request: AsyncIterable<Uint8Array>,
  bytesMax = rawBodyBytesMax,
): Promise<Buffer | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
