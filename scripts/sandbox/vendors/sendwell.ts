/** Owns the message vendor SendWell: takes SMS, e-mail and WhatsApp texts and keeps them instead of sending. */
import { randomUUID } from "node:crypto";
import Type, { type Static } from "typebox";
import type { Entry, Ledger } from "../ledger.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";

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

const send = (ledger: Ledger, request: VendorRequest<Static<typeof Message>>): VendorAnswer => {
  const { externalId, ...message } = request.body;
  const pattern = recipientPatterns[message.channel as keyof typeof recipientPatterns];
  if (!pattern.test(message.to)) {
    return problem(422, "invalid_recipient", "The recipient does not fit the channel.");
  }
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
  return { status: 202, body: sentOf(sent) };
};

const lookup = (ledger: Ledger, { query }: VendorRequest): VendorAnswer => {
  const sent = ledger.byReference("message", query.get("externalId") ?? "") as Sent[];
  return { status: 200, body: { messages: sent.map(sentOf) } };
};

export const sendwell: VendorDefinition = {
  name: "sendwell",
  kind: "message",
  dialect: {
    accepts: (headers, apiKey) => headers["x-auth-token"] === apiKey,
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
  routes: (ledger) => [
    {
      operation: "send",
      method: "POST",
      path: "/messages",
      write: true,
      body: Message,
      handle: (request) => send(ledger, request),
    },
    {
      operation: "lookup",
      method: "GET",
      path: "/messages",
      write: false,
      handle: (request) => lookup(ledger, request),
    },
  ],
  counts: (ledger) => ({ sent: ledger.entries().length }),
};
