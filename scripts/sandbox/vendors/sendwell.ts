/** Owns the message vendor SendWell: takes SMS, e-mail and WhatsApp texts and keeps them instead of sending. */
import { randomUUID } from "node:crypto";
import { Ajv } from "ajv";
import Type, { type Static } from "typebox";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
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

const wish = (channel: string, to: string): string => `${channel} ${to}`;

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
  if (ledger.entry("wish", wish(message.channel, message.to))?.state === "OPTED_OUT")
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

const Reply = Type.Object(
  {
    reference: Type.Optional(Type.String({ minLength: 1 })),
    channel: Type.Optional(Type.Enum(["sms", "email", "whatsapp"])),
    recipient: Type.Optional(Type.String({ minLength: 1 })),
    text: Type.String({ minLength: 1, maxLength: 2000 }),
  },
  { additionalProperties: false },
);
const isReply = new Ajv().compile<Static<typeof Reply>>(Reply);

/** A reader writes back: STOP and START are what they are everywhere, anything else is a reply. */
const reply = (ledger: Ledger, input: unknown, nowMs: number, settings: Settings): { told: string } => {
  if (!isReply(input)) {
    const [first] = isReply.errors ?? [];
    throw new TypeError(`${first?.instancePath || "/"} ${first?.message}`);
  }
  const { reference, text } = input;
  const [answered] = reference === undefined ? [] : (ledger.byReference("message", reference) as Sent[]);
  const channel = answered?.details.channel ?? input.channel ?? "sms";
  const recipient = answered?.details.to ?? input.recipient;
  if (recipient === undefined) throw new TypeError("Nobody was sent this, and no recipient is named.");
  const about = { channel, recipient, ...(reference !== undefined && { externalId: reference }) };
  const word = text.trim().toUpperCase();
  const type = word === "STOP" ? "opted_out" : word === "START" ? "opted_in" : "replied";
  if (type !== "replied") {
    const now = new Date(nowMs).toISOString();
    const id = wish(channel, recipient);
    ledger.put({
      ...{ kind: "wish", id, reference: id, idempotencyKey: "", state: type.toUpperCase() },
      ...{ createdAt: now, changedAt: now, details: {} },
    });
  }
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
  counts: (ledger) => ({ sent: ledger.entries().filter(({ kind }) => kind === "message").length }),
};
