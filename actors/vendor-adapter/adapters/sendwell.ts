/** Owns SendWell's dialect: one endpoint for SMS, e-mail and WhatsApp. */
import Type, { type Static } from "typebox";
import type { Channel } from "../../../schemas/vocabulary.ts";
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

const MessageAnswer = Type.Object({
  messageId: Type.String({ minLength: 1, maxLength: 200 }),
  acceptedAt: Type.String({ format: "date-time" }),
});
const ProblemAnswer = Type.Object({ code: Type.String(), title: Type.String() });

const isMessage = validatorOf(MessageAnswer);
const isList = validatorOf(Type.Object({ messages: Type.Array(MessageAnswer) }));
const isProblem = validatorOf(ProblemAnswer);

const channelOf: Readonly<Record<Channel, string>> = { SMS: "sms", EMAIL: "email", WHATSAPP: "whatsapp" };
const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  invalid_recipient: "RECIPIENT_REJECTED",
  recipient_opted_out: "OPTED_OUT",
  bad_request: "INVALID_REQUEST",
  not_found: "NOT_FOUND",
  duplicate_key: "REFERENCE_REUSED",
};

const refusedBy = ({ code, title }: Static<typeof ProblemAnswer>, sent: unknown): Refused =>
  refusal(wordFor(code, refusalCodeOf) ?? "REFUSED", `${code}: ${title}`, sent);

const sentOf = ({ messageId, acceptedAt }: Static<typeof MessageAnswer>): SentMessage => ({
  messageId,
  acceptedAt,
});

export class SendWell implements MessagePort {
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  constructor(options: VendorOptions) {
    this.#http = new VendorHttp(options);
    this.#headers = { "x-auth-token": options.apiKey };
  }

  async send(request: MessageRequest, context: CallContext): Promise<WriteOutcome<SentMessage>> {
    const body = {
      externalId: request.reference,
      channel: channelOf[request.channel],
      to: request.recipient,
      ...(request.subject !== undefined && { subject: request.subject }),
      body: request.text,
      locale: request.language,
    };
    const answered = { headers: this.#headers, success: isMessage, problem: isProblem };
    const call = { method: "POST", path: "/messages", body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", ...sentOf(end.body) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<SentMessage>> {
    const path = `/messages?externalId=${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isList, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const [message] = end.body.messages;
    return message === undefined ? { outcome: "none" } : { outcome: "done", ...sentOf(message) };
  }
}
