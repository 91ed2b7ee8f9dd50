/**
 * Owns handing e-mail to a mail server (RFC 5321), with TLS where it is offered (RFC 3207). A mail server keeps no books to look
 * into: what this process knows to be taken it remembers itself; what is in doubt beyond that is sent again under the same Message-ID,
 * by which mailboxes tell that it is the same mail.
 */
import { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { LimitFunction } from "p-limit";
import { masked } from "../../runtime/masking.ts";
import type {
  CallContext,
  LookupOutcome,
  MessagePort,
  MessageRequest,
  SentMessage,
  WriteOutcome,
} from "../ports.ts";

export interface SmtpOptions {
  host: string;
  port: number;
  /** TLS from the first byte. */
  secure: boolean;
  /** Without TLS nothing is handed over. */
  requireTls: boolean;
  login: { readonly user: string; readonly pass: string } | undefined;
  /** PEM; undefined: the authorities that everybody knows. */
  ca: string | undefined;
  /** An address. */
  from: string;
  /** Stands before it. */
  senderName: string;
  /** Of connecting, of the greeting, and of each silence. */
  timeoutMs: number;
  /** Of connections to the server, shared by all airlines of the process. */
  connections: LimitFunction;
  now(): Date;
}

/** Mails of one airline that the server is known to have taken. */
const takenMax = 20_000;

/** What ends an exchange: the server's own no has its code (RFC 5321, 4.2), everything else is the network's. */
interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  response?: string;
  command?: string;
}

const detailCharactersMax = 300;
/** Times a single silence: a server that answers drop by drop is given up before whoever has asked takes the call for lost. */
const exchangeSilencesMax = 3;

/**
 * A code of five hundred is a no for good, one of four hundred a later (RFC 5321, 4.2.1). A connection that breaks says nothing of a
 * mail that was on its way.
 */
const outcomeOf = (
  { message, code, responseCode, response, command }: SmtpError,
  begun: boolean,
  sent: MessageRequest,
): Exclude<WriteOutcome<SentMessage>, { outcome: "done" }> => {
  // Servers name a mailbox without its domain, too.
  const mailbox = sent.recipient.slice(0, Math.max(sent.recipient.lastIndexOf("@"), 0));
  const detail = masked(response ?? message, { ...sent, mailbox }).slice(0, detailCharactersMax);
  // Of the mail, or of who hands it over; before that it is the server's own trouble.
  const isAboutMail = /^(MAIL|RCPT|DATA|AUTH)/.test(command ?? "");
  if (responseCode !== undefined && responseCode >= 500 && isAboutMail) {
    if (code === "EAUTH") return { outcome: "refused", code: "NOT_AUTHORISED", detail };
    const isRecipient = command?.startsWith("RCPT") === true;
    return { outcome: "refused", code: isRecipient ? "RECIPIENT_REJECTED" : "REFUSED", detail };
  }
  // Ours alone: an address that is none, credentials that the server has no way to take.
  if (responseCode === undefined && (code === "EENVELOPE" || command === "API"))
    return { outcome: "refused", code: "RECIPIENT_REJECTED", detail };
  return { outcome: begun && responseCode === undefined ? "in-doubt" : "unavailable", detail };
};

export class Smtp implements MessagePort {
  readonly #options: SmtpOptions;
  /** By their reference. */
  readonly #taken = new LRUCache<string, SentMessage>({ max: takenMax });
  readonly #underWay = new Map<string, Promise<WriteOutcome<SentMessage>>>();

  constructor(options: SmtpOptions) {
    this.#options = options;
  }

  /** The same mail twice at once is one. */
  async send(request: MessageRequest, context: CallContext): Promise<WriteOutcome<SentMessage>> {
    if (request.channel !== "EMAIL")
      return { outcome: "refused", code: "INVALID_REQUEST", detail: "A mail server carries e-mail alone." };
    const { reference } = request;
    const sending =
      this.#underWay.get(reference) ??
      this.#options
        .connections(() => this.#sent(request, context))
        .finally(() => this.#underWay.delete(reference));
    this.#underWay.set(reference, sending);
    return sending;
  }

  /** None: this process has not handed it over, or no longer knows; asked again, the same mail is sent again. */
  async lookup({ reference }: { reference: string }): Promise<LookupOutcome<SentMessage>> {
    const taken = this.#taken.get(reference);
    return taken === undefined ? { outcome: "none" } : { outcome: "done", ...taken };
  }

  async #sent(request: MessageRequest, { notAfter }: CallContext): Promise<WriteOutcome<SentMessage>> {
    const { now } = this.#options;
    if (notAfter !== undefined && now() > notAfter)
      return { outcome: "unavailable", detail: "Its turn came too late." };
    const { messageId, mail } = await this.#composed(request);
    // Whether a byte of the mail has been asked for: before that nothing can have been sent.
    const progress = { begun: false };
    try {
      await this.#handOver(request.recipient, mail, progress);
    } catch (error) {
      return outcomeOf(error as SmtpError, progress.begun, request);
    }
    const sent = { messageId, acceptedAt: now().toISOString() };
    this.#taken.set(request.reference, sent);
    return { outcome: "done", ...sent };
  }

  async #composed({ reference, recipient, subject, text, html }: MessageRequest) {
    const { from, senderName, now } = this.#options;
    const messageId = `<${reference}@${from.slice(from.lastIndexOf("@") + 1)}>`;
    const composer = new MailComposer({
      from: { name: senderName, address: from },
      to: { name: "", address: recipient },
      subject: subject ?? "",
      text,
      ...(html === undefined ? {} : { html }),
      messageId,
      date: now(),
      // RFC 3834, 5: nobody's absence note answers it.
      headers: { "Auto-Submitted": "auto-generated" },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return { messageId, mail: await composer.compile().build() };
  }

  /** One connection for each mail: an exchange that ends in the middle is about this one and no other. */
  async #handOver(recipient: string, mail: Buffer, progress: { begun: boolean }): Promise<void> {
    const { host, port, secure, requireTls, login, ca, from, timeoutMs } = this.#options;
    const connection = new SMTPConnection({
      host,
      port,
      secure,
      requireTLS: requireTls,
      ...(ca === undefined ? {} : { tls: { ca } }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
    });
    // Each step hears of its own error; what the network says once all is over concerns nobody, and must not end the process.
    connection.on("error", () => undefined);
    const overall = AbortSignal.timeout(exchangeSilencesMax * timeoutMs);
    const step = (work: (done: (error?: Error | null) => void) => void): Promise<void> =>
      new Promise((resolve, reject) => {
        connection.once("error", reject);
        overall.addEventListener("abort", () => reject(overall.reason), { once: true });
        work((error) => (error ? reject(error) : resolve()));
      });
    const bytes = async function* (): AsyncGenerator<Buffer> {
      progress.begun = true;
      yield mail;
    };
    try {
      await step((done) => connection.connect(done));
      if (login !== undefined) await step((done) => connection.login({ credentials: { ...login } }, done));
      const envelope = { from, to: [recipient], size: mail.length };
      await step((done) => connection.send(envelope, Readable.from(bytes()), done));
      connection.quit();
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}
