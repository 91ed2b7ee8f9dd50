/** Owns the message vendor that speaks Twilio: SMS and WhatsApp, kept instead of sent, told of by signed callbacks. */
import { createHmac, randomBytes } from "node:crypto";
import Type, { type Static } from "typebox";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { answeredBy, hasStopped, keepWish, knownReader, replyReader, wishIn } from "../replies.ts";
import { drawFor } from "../seeded.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest, VendorRoute } from "../vendor-server.ts";
import { announce, type WebhookTarget } from "../webhooks.ts";

const Text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const Message = Type.Object({
  To: Text(100),
  From: Text(100),
  MessagingServiceSid: Text(40),
  Body: Text(10_000),
  StatusCallback: Text(2000),
});
type Message = Static<typeof Message>;
type Sent = Entry<{ to: string; from: string; body: string }>;

export const sandboxAccount = {
  accountSid: `AC${"0".repeat(31)}1`,
  from: "+15005550006",
  whatsappFrom: "+14155238886",
};
const messagesPath = `/2010-04-01/Accounts/${sandboxAccount.accountSid}/Messages.json`;

const problem = (status: number, code: number, message: string): VendorAnswer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

const sid = (): string => `SM${randomBytes(16).toString("hex")}`;

/** RFC 2822, to the second. */
const dated = (at: string): string => new Date(at).toUTCString().replace("GMT", "+0000");

const messageOf = ({ id, createdAt, details }: Sent) => ({
  account_sid: sandboxAccount.accountSid,
  body: details.body,
  date_created: dated(createdAt),
  date_sent: null,
  direction: "outbound-api",
  error_code: null,
  from: details.from,
  sid: id,
  status: "queued",
  to: details.to,
});

/** Numbers that Twilio's test accounts keep for what goes wrong (docs: test credentials). */
const magic: Readonly<Record<string, VendorAnswer>> = {
  "+15005550001": problem(400, 21211, "The 'To' number +15005550001 is not a valid phone number."),
  "+15005550009": problem(400, 21614, "'To' number is not a valid mobile number: +15005550009"),
};

/** Undefined: it can be sent. */
const refusalOf = (
  ledger: Ledger,
  { To, From, MessagingServiceSid, Body, StatusCallback }: Message,
): VendorAnswer | undefined => {
  if (To === undefined) return problem(400, 21604, "A 'To' phone number is required.");
  if (Body === undefined) return problem(400, 21602, "Message body is required.");
  if (From === undefined && MessagingServiceSid === undefined)
    return problem(400, 21603, "A 'From' phone number is required.");
  if (StatusCallback !== undefined && !/^https?:$/.test(URL.parse(StatusCallback)?.protocol ?? ""))
    return problem(400, 21609, "The StatusCallback URL is not a valid URL.");
  if (Body.length > 1600)
    return problem(400, 21617, "The concatenated message body exceeds the 1600 character limit.");
  if (!/^(whatsapp:)?\+[1-9]\d{6,14}$/.test(To))
    return problem(400, 21211, `The 'To' number ${To} is not a valid phone number.`);
  if (hasStopped(ledger, To)) return problem(400, 21610, "Attempt to send to unsubscribed recipient");
  return magic[To];
};

const send = (
  ledger: Ledger,
  settings: Settings,
  secret: string,
  { body: message, nowMs }: VendorRequest<Message>,
): VendorAnswer => {
  const refused = refusalOf(ledger, message);
  if (refused !== undefined) return refused;
  const { To: to = "", From: from = sandboxAccount.from, Body: body = "", StatusCallback: url } = message;
  const reference = url === undefined ? "" : (new URL(url).searchParams.get("reference") ?? "");
  const at = new Date(nowMs).toISOString();
  const sent: Sent = {
    ...{ kind: "message", id: sid(), reference, idempotencyKey: "", state: "QUEUED" },
    ...{ createdAt: at, changedAt: at, details: { to, from, body } },
  };
  ledger.put(sent);
  // Else the account's own address is told, which knows nothing of our reference.
  const targets = url === undefined ? {} : { targets: [{ url, secret }] };
  const bounces = drawFor(settings.seed, "bounce", reference || sent.id).chance(settings.bounceRate);
  for (const status of ["sent", bounces ? "undelivered" : "delivered"]) {
    const fields = {
      ...{ AccountSid: sandboxAccount.accountSid, ApiVersion: "2010-04-01", From: from, To: to },
      ...{ MessageSid: sent.id, SmsSid: sent.id, MessageStatus: status, SmsStatus: status },
      ...(status === "undelivered" && { ErrorCode: "30005" }),
    };
    announce(ledger, settings, { id: `${sent.id}:${status}`, event: fields, nowMs, ...targets });
  }
  return { status: 201, body: messageOf(sent) };
};

const list = (ledger: Ledger, { query }: VendorRequest): VendorAnswer => {
  const to = query.get("To");
  const [size, page] = [Number(query.get("PageSize") ?? 50), Number(query.get("Page") ?? 0)];
  if (!Number.isInteger(size) || size < 1 || size > 1000 || !Number.isInteger(page) || page < 0)
    return problem(400, 20001, "PageSize is 1 to 1000, Page a number from 0.");
  const all = (ledger.ofKind("message") as Sent[]).reverse();
  const found = all.filter(({ details }) => to === null || details.to === to);
  const end = (page + 1) * size;
  const rest = new URLSearchParams({ ...(to && { To: to }), PageSize: `${size}`, Page: `${page + 1}` });
  const next = found.length > end ? `${messagesPath}?${rest}` : null;
  return {
    status: 200,
    body: { messages: found.slice(page * size, end).map(messageOf), next_page_uri: next },
  };
};

const readReply = replyReader(["sms", "whatsapp"], 1600);

/** A reader writes to our number, which STOP closes for them, and START opens. */
const reply = (ledger: Ledger, input: unknown, nowMs: number, settings: Settings): { told: string } => {
  const told = readReply(input);
  const answered = answeredBy<Sent>(ledger, told);
  const prefix = told.channel === "whatsapp" ? "whatsapp:" : "";
  const from = knownReader(answered?.details.to ?? (told.recipient && prefix + told.recipient));
  const optOut = wishIn(told.text);
  if (optOut !== undefined) keepWish(ledger, from, optOut, nowMs);
  const id = sid();
  const fields = {
    ...{ AccountSid: sandboxAccount.accountSid, ApiVersion: "2010-04-01", Body: told.text, From: from },
    ...{ To: answered?.details.from ?? sandboxAccount.from, MessageSid: id, SmsMessageSid: id, SmsSid: id },
    ...{ SmsStatus: "received", NumMedia: "0", NumSegments: "1" },
    ...(optOut !== undefined && { OptOutType: optOut }),
  };
  announce(ledger, settings, { id, event: fields, nowMs });
  return { told: optOut ?? "reply" };
};

/** The address and each field in the order of its name, as one text (docs: security of webhooks). */
const signatureOf = ({ url, secret }: WebhookTarget, fields: Record<string, string>): string => {
  const names = Object.keys(fields).sort();
  const text = url + names.map((name) => name + fields[name]).join("");
  return createHmac("sha1", secret).update(text).digest("base64");
};

const routesOf = (ledger: Ledger, settings: () => Settings, secret: string): VendorRoute[] => [
  {
    operation: "send",
    method: "POST",
    path: messagesPath,
    write: "unkeyed",
    body: Message,
    handle: (request) => send(ledger, settings(), secret, request),
  },
  {
    operation: "lookup",
    method: "GET",
    path: messagesPath,
    write: false,
    handle: (request) => list(ledger, request),
  },
];

export const twilio: VendorDefinition = {
  name: "twilio",
  kind: "message",
  account: sandboxAccount,
  dialect: {
    accepts: (headers, { apiKey }) =>
      headers.authorization ===
      `Basic ${Buffer.from(`${sandboxAccount.accountSid}:${apiKey}`).toString("base64")}`,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, 20003, "Authenticate"),
        "not-found": problem(404, 20404, detail),
        invalid: problem(400, 21600, detail),
        "key-reused": problem(400, 21600, detail),
        unavailable: problem(429, 20429, "Too Many Requests"),
        failed: problem(500, 20500, "Internal server error"),
      })[kind],
    refusal: () => problem(400, 21610, "Attempt to send to unsubscribed recipient"),
  },
  routes: (ledger, settings, { webhookSecret }) => routesOf(ledger, settings, webhookSecret),
  reply,
  wordWebhook: (event, target) => {
    const fields = event as Record<string, string>;
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-twilio-signature": signatureOf(target, fields),
    };
    return { headers, body: new URLSearchParams(fields).toString() };
  },
  counts: (ledger) => ({ sent: ledger.ofKind("message").length }),
};
