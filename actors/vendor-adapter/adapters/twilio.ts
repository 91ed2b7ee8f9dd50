/**
 * Owns Twilio's dialect (docs: Messages resource, 2010-04-01): SMS and WhatsApp. Twilio has no idempotency keys and keeps no reference of
 * ours: what is in doubt is looked up by its recipient and words.
 */
import Type, { type Static } from "typebox";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { refusal, VendorHttp, type VendorOptions, validatorOf, wordFor } from "../http.ts";
import type {
  CallContext,
  LookupOutcome,
  MessagePort,
  MessageRequest,
  RefusalCode,
  Refused,
  SentMessage,
  WriteOutcome,
} from "../ports.ts";

const MessageObject = Type.Object({
  sid: Type.String({ minLength: 1, maxLength: 100 }),
  body: Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()]),
  direction: Type.String({ maxLength: 100 }),
  /** RFC 2822. */
  date_created: Type.String({ maxLength: 100 }),
});
type MessageObject = Static<typeof MessageObject>;
const ProblemAnswer = Type.Object({ code: Type.Integer(), message: Type.String() });

const isMessage = validatorOf(MessageObject);
const isList = validatorOf(
  Type.Object({
    messages: Type.Array(MessageObject),
    next_page_uri: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
);
const isProblem = validatorOf(ProblemAnswer);

/** twilio.com/docs/api/errors */
const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  20003: "NOT_AUTHORISED",
  20404: "NOT_FOUND",
  21211: "RECIPIENT_REJECTED",
  21214: "RECIPIENT_REJECTED",
  21217: "RECIPIENT_REJECTED",
  21265: "RECIPIENT_REJECTED",
  21408: "RECIPIENT_REJECTED",
  21610: "OPTED_OUT",
  21612: "RECIPIENT_REJECTED",
  21614: "RECIPIENT_REJECTED",
  21602: "INVALID_REQUEST",
  21617: "INVALID_REQUEST",
  63003: "RECIPIENT_REJECTED",
  63016: "RECIPIENT_REJECTED",
  63024: "RECIPIENT_REJECTED",
  63033: "OPTED_OUT",
};
/** The sender's queue is full: nothing was taken. */
const queueFull = 21611;
const queueFullWaitMs = 30_000;

const refusedBy = ({ code, message }: Static<typeof ProblemAnswer>, sent: unknown): Refused =>
  refusal(wordFor(String(code), refusalCodeOf) ?? "REFUSED", `${code}: ${message}`, sent);

/** Undefined: it has no time. */
const sentOf = ({ sid, date_created: at }: MessageObject): SentMessage | undefined =>
  Number.isNaN(Date.parse(at)) ? undefined : { messageId: sid, acceptedAt: new Date(at).toISOString() };

const noTime = "the vendor's answer has an impossible time";
const dayMs = 86_400_000;
const listed = 100;

/** How each channel's addresses are written; absent: Twilio's Messages carry none of it. */
const prefixes: Readonly<Record<string, string>> = { SMS: "", WHATSAPP: "whatsapp:" };

export class Twilio implements MessagePort {
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;
  readonly #path: string;
  readonly #account: Readonly<Record<string, string>>;
  readonly #clock: Clock;

  /** @param options account as `dialects.ts` names it; apiKey: the account's auth token, or the secret of its key `keySid` */
  constructor(options: VendorOptions, clock: Clock = systemClock) {
    const { account = {}, apiKey } = options;
    const { accountSid = "", keySid = accountSid } = account;
    this.#http = new VendorHttp(options);
    this.#account = account;
    this.#clock = clock;
    this.#path = `/2010-04-01/Accounts/${accountSid}/Messages.json`;
    this.#headers = { authorization: `Basic ${Buffer.from(`${keySid}:${apiKey}`).toString("base64")}` };
  }

  async send(request: MessageRequest, context: CallContext): Promise<WriteOutcome<SentMessage>> {
    const { channel, recipient, text, reference } = request;
    const prefix = wordFor(channel, prefixes);
    const sender = this.#senderFor(channel);
    if (prefix === undefined || sender === undefined)
      return refusal("RECIPIENT_REJECTED", `The account has no sender for ${channel}.`, {});
    const body = new URLSearchParams({
      To: prefix + recipient,
      ...sender,
      Body: text,
      ...this.#callback(reference),
    });
    const answered = { headers: this.#headers, success: isMessage, problem: isProblem };
    const call = { method: "POST", path: this.#path, body, ...answered } as const;
    const end = await this.#http.write(call, reference, context);
    if (end.outcome === "problem")
      return end.body.code === queueFull
        ? { outcome: "unavailable", detail: "the sender's queue is full", retryAfterMs: queueFullWaitMs }
        : refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const sent = sentOf(end.body);
    return sent === undefined ? { outcome: "in-doubt", detail: noTime } : { outcome: "done", ...sent };
  }

  #senderFor(channel: string): Record<string, string> | undefined {
    const { from, messagingServiceSid, whatsappFrom } = this.#account;
    if (channel === "WHATSAPP")
      return whatsappFrom === undefined ? undefined : { From: prefixes.WHATSAPP + whatsappFrom };
    if (messagingServiceSid !== undefined) return { MessagingServiceSid: messagingServiceSid };
    return from === undefined ? undefined : { From: from };
  }

  /** The address that Twilio tells the message's fate at carries our reference back to us. */
  #callback(reference: string): Record<string, string> {
    const { statusCallback } = this.#account;
    if (statusCallback === undefined) return {};
    const url = new URL(statusCallback);
    url.searchParams.set("reference", reference);
    return { StatusCallback: url.toString() };
  }

  /**
   * The newest message to the recipient with the same words that was made within a day: one that says the same on purpose is taken for
   * it, and one whose signs Twilio has replaced (a messaging service's smart encoding does) is not found. Where a day's messages to a
   * number are more than a page, one that is not on it may be beyond.
   */
  async lookup(
    { recipient, channel, text }: MessageRequest,
    context: CallContext,
  ): Promise<LookupOutcome<SentMessage>> {
    const prefix = wordFor(channel, prefixes);
    if (prefix === undefined) return { outcome: "none" };
    const query = new URLSearchParams({ To: prefix + recipient, PageSize: String(listed) });
    const answered = { headers: this.#headers, success: isList, problem: isProblem };
    const end = await this.#http.read(
      { method: "GET", path: `${this.#path}?${query}`, ...answered },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { messages, next_page_uri: next } = end.body;
    const times = messages.map((message) => Date.parse(message.date_created));
    if (times.some(Number.isNaN)) return { outcome: "unavailable", detail: noTime };
    const yesterday = this.#clock.now().getTime() - dayMs;
    const recent = messages.filter((_, i) => (times[i] as number) > yesterday);
    const same = recent.find(({ body, direction }) => body === text && direction === "outbound-api");
    const found = same && sentOf(same);
    if (found !== undefined) return { outcome: "done", ...found };
    const isWhole = next === undefined || next === null || recent.length < messages.length;
    return isWhole
      ? { outcome: "none" }
      : { outcome: "unavailable", detail: `it is not among the newest ${messages.length}` };
  }
}
