/** Owns the message vendor SendWell: takes SMS, e-mail and WhatsApp texts and keeps them instead of sending. */
import { randomUUID } from "node:crypto";
import Type, { type Static } from "typebox";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { answeredBy, hasStopped, keepWish, knownReader, replyReader, wishIn } from "../replies.ts";
import { drawFor } from "../seeded.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";
import { announce, signed } from "../webhooks.ts";

const Message = Type.Object({
  externalId: Type.String({ minLength: 1, maxLength: 200 }),
  channel: Type.Enum(["sms", "email", "whatsapp"]),
  to: Type.String({ minLength: 1, maxLength: 320 }),
  subject: Type.Optional(Type.String({ maxLength: 500 })),
  body: Type.String({ minLength: 1, maxLength: 100_000 }),
  locale: Type.String({ minLength: 2, maxLength: 35 }),
});

type Sent = Entry<Omit<Static<typeof Message>, "externalId">>;

const problem = (status: number, code: string, title: string): VendorAnswer => ({
  status,
  body: { code, title },
});

const recipientPatterns = {
  sms: /^\+[1-9]\d{6,14}$/,
  whatsapp: /^\+[1-9]\d{6,14}$/,
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
} as const;

const sentOf = ({ id, reference, state, createdAt }: Sent) => ({
  messageId: id,
  externalId: reference,
  status: state.toLowerCase(),
  acceptedAt: createdAt,
});

/** What a client is told of a message, or of what its reader wants. */
const tell = (
  ledger: Ledger,
  settings: Settings,
  type: "delivered" | "bounced" | "replied" | "opted_out" | "opted_in",
  {
    channel,
    recipient,
    ...about
  }: { channel: string; recipient: string; externalId?: string; reason?: string },
  nowMs: number,
): void => {
  const eventId = randomUUID();
  const event = { eventId, type, channel, recipient, ...about, occurredAt: new Date(nowMs).toISOString() };
  announce(ledger, settings, { id: eventId, event, nowMs });
};

const readerOn = (channel: string, to: string): string => `${channel} ${to}`;

const send = (
  ledger: Ledger,
  settings: Settings,
  request: VendorRequest<Static<typeof Message>>,
): VendorAnswer => {
  const { externalId, ...message } = request.body;
  const pattern = recipientPatterns[message.channel as keyof typeof recipientPatterns];
  if (!pattern.test(message.to)) {
    return problem(422, "invalid_recipient", "The recipient does not fit the channel.");
  }
  if (hasStopped(ledger, readerOn(message.channel, message.to)))
    return problem(422, "recipient_opted_out", "The recipient does not take messages.");
  const now = new Date(request.nowMs).toISOString();
  const sent: Sent = {
    kind: "message",
    id: randomUUID(),
    reference: externalId,
    idempotencyKey: request.idempotencyKey,
    state: "ACCEPTED",
    createdAt: now,
    changedAt: now,
    details: message,
  };
  ledger.put(sent);
  const about = { channel: message.channel, recipient: message.to, externalId };
  if (drawFor(settings.seed, "bounce", externalId).chance(settings.bounceRate))
    tell(ledger, settings, "bounced", { ...about, reason: "unknown subscriber" }, request.nowMs);
  else tell(ledger, settings, "delivered", about, request.nowMs);
  return { status: 202, body: sentOf(sent) };
};

const lookup = (ledger: Ledger, { query }: VendorRequest): VendorAnswer => {
  const sent = ledger.byReference("message", query.get("externalId") ?? "") as Sent[];
  return { status: 200, body: { messages: sent.map(sentOf) } };
};

const readReply = replyReader(["sms", "email", "whatsapp"], 2000);
const wishes = { STOP: "opted_out", START: "opted_in" } as const;

/** A reader writes back, or by themselves. */
const reply = (ledger: Ledger, input: unknown, nowMs: number, settings: Settings): { told: string } => {
  const told = readReply(input);
  const { reference, text } = told;
  const answered = answeredBy<Sent>(ledger, told);
  const channel = answered?.details.channel ?? told.channel ?? "sms";
  const recipient = knownReader(answered?.details.to ?? told.recipient);
  const about = { channel, recipient, ...(reference !== undefined && { externalId: reference }) };
  const wish = wishIn(text);
  const type = wish === undefined ? "replied" : wishes[wish];
  if (wish !== undefined) keepWish(ledger, readerOn(channel, recipient), wish, nowMs);
  tell(ledger, settings, type, about, nowMs);
  return { told: type };
};

export const sendwell: VendorDefinition = {
  name: "sendwell",
  kind: "message",
  dialect: {
    accepts: (headers, { apiKey }) => headers["x-auth-token"] === apiKey,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(403, "forbidden", detail),
        "not-found": problem(404, "not_found", detail),
        invalid: problem(400, "bad_request", detail),
        "key-reused": problem(409, "duplicate_key", detail),
        unavailable: problem(503, "overloaded", detail),
        failed: problem(500, "internal", detail),
      })[kind],
    refusal: () => problem(422, "recipient_opted_out", "The recipient does not take messages."),
  },
  routes: (ledger, settings) => [
    {
      operation: "send",
      method: "POST",
      path: "/messages",
      write: true,
      body: Message,
      handle: (request) => send(ledger, settings(), request),
    },
    {
      operation: "lookup",
      method: "GET",
      path: "/messages",
      write: false,
      handle: (request) => lookup(ledger, request),
    },
  ],
  reply,
  wordWebhook: (event, { secret }, nowMs) => {
    const body = JSON.stringify({ events: [event] });
    const headers = { "content-type": "application/json", "x-vendor-signature": signed(body, secret, nowMs) };
    return { headers, body };
  },
  counts: (ledger) => ({ sent: ledger.ofKind("message").length }),
};
