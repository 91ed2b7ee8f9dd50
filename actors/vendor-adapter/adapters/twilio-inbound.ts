/** Owns the webhooks that Twilio sends: what became of messages, and what their readers write back (docs: messaging webhooks). */
// Its own file of the SDK: the whole of it takes 0.15 s to load.
import { validateRequest } from "twilio/lib/webhooks/webhooks.js";
import type { MessageState } from "../../../schemas/message.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { Channel } from "../../../schemas/vocabulary.ts";
import { wordFor } from "../http.ts";
import type { InboundDialect, InboundRequest, MessageNotice } from "../inbound.ts";

/** An HMAC-SHA1 in base64. */
const signatureShape = /^[A-Za-z0-9+/]{27}=$/;
/** Far beyond any webhook of messages: what is signed are the fields, so they are taken apart before anybody is believed. */
const formBytesMax = 64 * 1024;
const ampersandsMax = 200;
const ampersand = 0x26;

const isTooMuch = ({ rawBody }: InboundRequest): boolean => {
  if (rawBody.length > formBytesMax) return true;
  let found = 0;
  for (const byte of rawBody) if (byte === ampersand) found += 1;
  return found > ampersandsMax;
};

/** Each name once, or all of its values: as Twilio signs them. */
const fieldsOf = ({ rawBody }: InboundRequest): Record<string, string | string[]> => {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(rawBody.toString("utf8"))) {
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (Array.isArray(before)) before.push(value);
    else fields.set(name, [before, value]);
  }
  return Object.fromEntries(fields);
};

const stateOfStatus: Readonly<Record<string, MessageState>> = {
  delivered: "delivered",
  read: "delivered",
  undelivered: "bounced",
  failed: "bounced",
};
/** They have told the number itself that they want nothing more, or the channel has. */
const optedOutCodes: readonly string[] = ["21610", "63033"];

const stateOfOptOut: Readonly<Record<string, MessageState>> = { STOP: "opted-out", START: "opted-in" };
/** Where the account does not tell what a word means (Advanced Opt-Out does, as `OptOutType`): Twilio's own words. */
const stateOfWord: Readonly<Record<string, MessageState>> = {
  ...Object.fromEntries(
    ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"].map(
      (word) => [word, "opted-out"] as const,
    ),
  ),
  START: "opted-in",
  UNSTOP: "opted-in",
};

/** Undefined: it is no address of a channel that we use. */
const addressOf = (text: string): { channel: Channel; recipient: string } | undefined => {
  const [, whatsapp, recipient] = /^(whatsapp:)?(\+\d{5,15})$/.exec(text) ?? [];
  if (recipient === undefined) return undefined;
  return { channel: whatsapp === undefined ? "SMS" : "WHATSAPP", recipient };
};

type Fields = (name: string) => string;

/**
 * What became of a message; the address carries the reference of ours, else Twilio's own id tells whether it is ours at all. One that its
 * reader wanted nothing of has come back, too.
 */
const fateOf = (field: Fields, { url }: InboundRequest, at: string): MessageNotice[] => {
  const status = field("MessageStatus") || field("SmsStatus");
  const code = field("ErrorCode");
  const told = wordFor(status, stateOfStatus);
  const reference = new URL(url).searchParams.get("reference");
  if (told === undefined) return [];
  const messageId = field("MessageSid");
  const fate: MessageNotice = {
    ...{ kind: "message", eventId: `${messageId}:${status}`, at, what: told },
    ...(reference ? { reference } : { messageId }),
    ...(told === "bounced" && /^\d{1,10}$/.test(code) && { detail: `Twilio's error ${code}` }),
  };
  if (told !== "bounced" || !optedOutCodes.includes(code)) return [fate];
  const whose = reference ? { reference } : addressOf(field("To"));
  return whose === undefined
    ? [fate]
    : [fate, { kind: "message", eventId: `${messageId}:opted-out`, at, ...whose, what: "opted-out" }];
};

/** What a reader writes to our number. */
const replyOf = (field: Fields, at: string): MessageNotice[] => {
  const from = addressOf(field("From"));
  if (from === undefined) return [];
  const optOut = field("OptOutType");
  const what =
    optOut === "" ? wordFor(field("Body").trim().toUpperCase(), stateOfWord) : wordFor(optOut, stateOfOptOut);
  return [{ kind: "message", eventId: field("MessageSid"), at, ...from, what: what ?? "replied" }];
};

export const twilioInbound: InboundDialect = {
  signatureHeader: "x-twilio-signature",
  /** The scheme has no time; what is sent again tells the same under the same id. */
  verify: (request, secret) => {
    const { headers, url } = request;
    const signature = headers["x-twilio-signature"] ?? "";
    if (!signatureShape.test(signature) || isTooMuch(request)) return false;
    return validateRequest(secret, signature, url, fieldsOf(request));
  },
  read: (request, now) => {
    const fields = fieldsOf(request);
    const field: Fields = (name) => {
      const value = fields[name];
      return typeof value === "string" ? value : "";
    };
    if (!/^[A-Z]{2}[0-9a-f]{32}$/i.test(field("MessageSid")))
      throw new Problem("validation/body", "The form is none of Twilio's messaging webhooks.", {
        errors: [{ pointer: "/MessageSid", detail: "is no SID" }],
      });
    // Twilio doesn't say when: only that it has just happened.
    const at = now.toISOString();
    const notices = field("SmsStatus") === "received" ? replyOf(field, at) : fateOf(field, request, at);
    return { notices, passedOver: notices.length === 0 ? 1 : 0 };
  },
};
