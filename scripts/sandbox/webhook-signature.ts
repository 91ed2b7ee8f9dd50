/** Owns how a receiver checks a delivery of ours (contract, "Outbound webhooks"), as a partner would write it. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const skewSecondsMax = 300;

export interface WebhookSecrets {
  current: string;
  /** While a rotation lasts. */
  previous?: string | undefined;
}

export interface Verdict {
  verified: boolean;
  /** Which of our secrets it was signed with, and in which header the signature stood. */
  by?: { secret: "current" | "previous"; header: "X-Service-Signature" | "X-Service-Signature-Previous" };
  /** Why not. */
  reason?: "no-secret" | "no-timestamp" | "timestamp-skew" | "no-signature" | "wrong-signature";
}

const matches = (header: string, secret: string, signed: string): boolean => {
  const expected = createHmac("sha256", secret).update(signed).digest();
  const given = Buffer.from(header.replace(/^sha256=/, ""), "base64");
  return header.startsWith("sha256=") && given.length === expected.length && timingSafeEqual(given, expected);
};

const headerText = (headers: IncomingHttpHeaders, name: string): string => {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : "";
};

/** Both signature headers against both secrets: during a rotation either side may be ahead of the other. */
export const verifyWebhook = (
  headers: IncomingHttpHeaders,
  rawBody: string,
  secrets: WebhookSecrets | undefined,
  nowMs: number,
): Verdict => {
  if (secrets === undefined) return { verified: false, reason: "no-secret" };
  const timestamp = headerText(headers, "X-Service-Signature-Timestamp");
  if (!/^\d{1,12}$/.test(timestamp)) return { verified: false, reason: "no-timestamp" };
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > skewSecondsMax) {
    return { verified: false, reason: "timestamp-skew" };
  }
  const signed = `${timestamp}.${rawBody}`;
  const headerNames = ["X-Service-Signature", "X-Service-Signature-Previous"] as const;
  if (headerNames.every((name) => headerText(headers, name) === "")) {
    return { verified: false, reason: "no-signature" };
  }
  for (const secret of ["current", "previous"] as const) {
    const value = secrets[secret];
    const header = headerNames.find((name) => value && matches(headerText(headers, name), value, signed));
    if (header !== undefined) return { verified: true, by: { secret, header } };
  }
  return { verified: false, reason: "wrong-signature" };
};
