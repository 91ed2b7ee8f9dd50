// What a partner receives and when: the message and its signature, the retry schedule, and what is kept of an answer.
import { createHmac } from "node:crypto";
import t from "tap";
import { excerptOf, headersOf, messageOf } from "../../../actors/webhook/message.ts";
import {
  attemptsMax,
  nextAttemptAt,
  parseRetryAfter,
  retryDelaysMs,
} from "../../../actors/webhook/schedule.ts";
import { signatureOf } from "../../../schemas/webhook-signature.ts";
import { dayMs, event, later, now } from "./offer-ready.ts";

const message = messageOf(event);

t.test("the schedule: each delay from its failure, 0 to 10 % more, Retry-After when longer", async (t) => {
  t.same(
    retryDelaysMs.map((ms) => ms / 60_000),
    [1, 5, 30, 120, 360, 1440],
  );
  t.equal(attemptsMax, 7);
  const shares: number[] = [];
  for (let i = 0; i < 200; i++) {
    for (const [index, delayMs] of retryDelaysMs.entries()) {
      const failure = { deliveryId: `XN-${i}`, attempt: index + 1, failedAt: now, scale: 1 };
      const dueAt = nextAttemptAt(failure)!;
      shares.push((dueAt.getTime() - now.getTime()) / delayMs - 1);
      t.same(dueAt, nextAttemptAt(failure), "decided again it is the same time");
    }
  }
  t.ok(shares.every((share) => share >= -1e-4 && share <= 0.1));
  t.ok(Math.max(...shares) > 0.09 && Math.min(...shares) < 0.01, "jitter uses its range");
  const asked = (attempt: number, retryAfterMs: number, scale = 1) =>
    nextAttemptAt({ deliveryId: "XN-1", attempt, failedAt: now, retryAfterMs, scale })!.getTime() -
    now.getTime();
  t.equal(asked(1, 600_000), 600_000, "a longer wait is honoured");
  t.ok(asked(2, 1000) >= 300_000, "a shorter one isn't");
  t.equal(asked(1, 90 * dayMs), dayMs, "and no longer than the schedule's longest");
  t.ok(asked(6, 0, 0.001) < 100_000, "scaled for tests");
  t.equal(nextAttemptAt({ deliveryId: "XN-1", attempt: 7, failedAt: now, scale: 1 }), undefined);

  const headers: [string, number | undefined][] = [
    ["120", 120_000],
    [" 0 ", 0],
    ["Sat, 21 Nov 2026 20:00:30 GMT", 30_000],
    ["Sat, 21 Nov 2026 19:00:00 GMT", 0],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["9999999999999999999", undefined],
    ["", undefined],
  ];
  for (const [header, ms] of headers) t.equal(parseRetryAfter(header, now), ms, `Retry-After: ${header}`);
});

t.test("what the partner receives", async (t) => {
  t.same(JSON.parse(message.body), {
    type: event.type,
    occurred_at: event.occurred_at,
    tenant: event.tenant,
    case_urn: event.case_urn,
    correlation_urn: event.correlation_urn,
    data: event.data,
  });
  const { case_urn: _, ...without } = event;
  t.notOk("case_urn" in JSON.parse(messageOf(without).body), "no case, no member");
  const when = later(999);
  const timestamp = 1795291200;
  const expected = createHmac("sha256", "s1").update(`${timestamp}.${message.body}`).digest("base64");
  t.same(headersOf(message, { current: "s1" }, when), {
    "Content-Type": "application/json",
    "User-Agent": "Stopover-Webhook/1.0",
    "X-Service-Signature": `sha256=${expected}`,
    "X-Service-Signature-Timestamp": String(timestamp),
    "X-Service-Event-Type": "subcase.offer-ready",
    "X-Service-Event-Urn": "urn:event:XN-E",
    "X-Service-Tenant": "urn:airline:XN",
    "X-Service-Correlation": "urn:correlation:c",
    traceparent: "00-1-1-01",
  });
  const dual = headersOf(message, { current: "s2", previous: "s1" }, when);
  t.equal(dual["X-Service-Signature-Previous"], `sha256=${expected}`);
  t.equal(dual["X-Service-Signature"], signatureOf("s2", timestamp, message.body));
  // Computed by `openssl dgst -sha256 -hmac Jefe -binary`.
  t.equal(
    signatureOf("Jefe", 1, "what do ya want for nothing?"),
    "sha256=qQSUZc6Jz7jpqsYjM6vaZvgONAP1H1f2uuPDpEheyjg=",
  );
});

t.test("what the log keeps of an answer", async (t) => {
  const cases: [string, string][] = [
    ["", ""],
    ["  down for\n\tmaintenance \u0000", "down for maintenance"],
    ["call jane.doe@partner.example now", "call … now"],
    ["card 4111 1111 1111 1111 or +1 (212) 555-0199", "card … or …"],
    ["token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef", "token …"],
    ["code 50312", "code 50312"],
  ];
  for (const [text, kept] of cases) t.equal(excerptOf(text), kept);
  t.equal(excerptOf("word ".repeat(500)).length, 200);
});
