/** Owns e-mails to partners' contacts: one for each pause of a webhook, and one an hour at most for limits that were met. */
import type { Document } from "mongodb";
import type { EventRecord, Page, Query } from "../../schemas/command.ts";
import type { PartnerNoticeTemplate, PartnerNoticeView } from "../../schemas/partner-notice.ts";
import type { PartnerView } from "../../schemas/partner-registration.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { VendorAnswer, VendorCall, VendorChoice } from "../../schemas/vendor-call.ts";
import { alertChannelOf } from "../../schemas/webhook.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Reaction, Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { type Sealed, seal, unseal } from "../runtime/seal.ts";
import { type CallSettings, endOf, firstCall, type PendingCall, reissued } from "../runtime/vendor-call.ts";
import { type PartnerFacts, partnerCopy } from "./partner-wording.ts";
import { mailOf } from "./render.ts";

/** With waits of up to a minute: a mail server may be away for some hours. */
const triesMax = 240;
/** Mail servers keep no books to look into: each doubtful try may be one more mail, under the same Message-ID. */
const doubtfulTriesMax = 3;
/** Times the deadline of other calls: mail for everybody may stand in line for minutes. */
export const mailPatience = 10;
const hourMs = 3_600_000;
const keptSeconds = 90 * 86_400;

export interface PartnerNoticeState {
  clientId: string;
  template: PartnerNoticeTemplate;
  facts: PartnerFacts;
  /** The contact as it was when this began. */
  contact: Sealed;
  vendor: string;
  status: PartnerNoticeView["status"];
  queuedAt: Date;
  endedAt?: Date;
  detail?: string;
  call?: PendingCall;
}

export type PartnerNoticeEvent =
  | { type: "partner-notice.queued"; data: PartnerNoticeState }
  | { type: "partner-notice.called"; call: PendingCall }
  | { type: "partner-notice.postponed"; call: PendingCall }
  | { type: "partner-notice.sent"; at: Date }
  | { type: "partner-notice.failed"; at: Date; detail: string };

/** The data of `message.write-to-partner`. */
export interface WriteToPartner {
  clientId: string;
  template: PartnerNoticeTemplate;
  /** ISO 8601. */
  at: string;
  byOperator?: boolean;
  limit?: string;
}

/** What it is written with; `vendor` is empty where the airline has nobody who carries e-mail. */
interface Gathered {
  facts: PartnerFacts;
  contact: Sealed;
  vendor: string;
}

export const decideNotice =
  (settings: CallSettings) =>
  (state: PartnerNoticeState | undefined, command: Received, gathered: unknown): PartnerNoticeEvent[] => {
    if (state === undefined)
      return command.name === "message.write-to-partner"
        ? begin(command, gathered as Gathered, settings)
        : [];
    const { call } = state;
    // Told twice, or an answer after the end.
    if (call === undefined || command.name === "message.write-to-partner") return [];
    if (command.name === "message.record-partner-answer") return end(call, command as Received<VendorAnswer>);
    if (call.dueAt > command.now) return [];
    const next = reissued(call, command.now, settings);
    if (next.doubt && next.tries > doubtfulTriesMax)
      return [
        { type: "partner-notice.failed", at: command.now, detail: "Nobody knows whether it was sent." },
      ];
    return [{ type: "partner-notice.called", call: next }];
  };

const begin = (
  { data, now }: Received,
  { facts, contact, vendor }: Gathered,
  settings: CallSettings,
): PartnerNoticeEvent[] => {
  const { clientId, template } = data as WriteToPartner;
  const notice = { clientId, template, facts, contact, vendor, status: "QUEUED", queuedAt: now } as const;
  const queued: PartnerNoticeEvent = { type: "partner-notice.queued", data: notice };
  if (vendor !== "") return [queued, { type: "partner-notice.called", call: firstCall(now, settings) }];
  const detail = "Nobody carries e-mail for this airline: set SMTP_URL, or a message vendor.";
  return [queued, { type: "partner-notice.failed", at: now, detail }];
};

const end = (call: PendingCall, { data, now }: Received<VendorAnswer>): PartnerNoticeEvent[] => {
  const ended = endOf(call, 0, data, { now, triesMax });
  if (ended.end === "done") return [{ type: "partner-notice.sent", at: now }];
  if (ended.end === "nothing") return [];
  if (ended.end === "later") return [{ type: "partner-notice.postponed", call: ended.call }];
  return [{ type: "partner-notice.failed", at: now, detail: ended.detail }];
};

export const evolveNotice = (
  state: PartnerNoticeState | undefined,
  event: PartnerNoticeEvent,
): PartnerNoticeState => {
  if (event.type === "partner-notice.queued") return event.data;
  if (state === undefined) throw new TypeError(`${event.type} before the notice`);
  const { call: _, ...rest } = state;
  switch (event.type) {
    case "partner-notice.called":
    case "partner-notice.postponed":
      return { ...rest, call: event.call };
    case "partner-notice.sent":
      return { ...rest, status: "SENT", endedAt: event.at };
    case "partner-notice.failed":
      return { ...rest, status: "FAILED", endedAt: event.at, detail: event.detail };
  }
};

/** Its address and words travel sealed. One that failed is told to the airline's on-call, by the partner's name alone. */
export const noticeOutgoing =
  (sealKey: Buffer) =>
  (event: PartnerNoticeEvent, state: PartnerNoticeState, _: Received, id: string): Outgoing[] => {
    const { clientId, template, facts, vendor } = state;
    if (event.type === "partner-notice.called") {
      const { subject, paragraphs } = partnerCopy(template, facts);
      const content = { recipient: unseal(sealKey, state.contact), ...mailOf("en", subject, paragraphs) };
      const data: VendorCall = {
        reference: `${id}.partner`,
        tries: event.call.tries,
        doubt: event.call.doubt,
        request: { channel: "EMAIL", language: "en", sealed: seal(sealKey, JSON.stringify(content)) },
        replyTo: { name: "message.record-partner-answer", entity: id },
      };
      return [{ to: "command", name: `vendor-${vendor}.send`, entity: id, data }];
    }
    if (event.type !== "partner-notice.failed") return [];
    const data = {
      kind: "partner-not-told",
      partner: urn("partner", clientId),
      template,
      detail: event.detail,
    };
    return [{ to: "internal", type: "operator.alerted", id, data }];
  };

/** The same pause, and the same hour of limits, is the same notice, however often it is told. */
const writing = (tenant: string, data: WriteToPartner, occurrence: string): Reaction => {
  const seed = `partner-notice/${data.clientId}/${data.template}/${occurrence}`;
  return { name: "message.write-to-partner", entity: derivedId(tenant, seed, new Date(occurrence)), data };
};

export const afterPause = ({ data }: EventRecord, tenant: string): Reaction[] => {
  const { clientId, at, reason } = data as { clientId: string; at: string; reason: string };
  if (clientId === alertChannelOf(tenant)) return [];
  const byOperator = reason === "OPERATOR";
  return [writing(tenant, { clientId, template: "webhook-paused", at, byOperator }, at)];
};

export const afterLimit = ({ data }: EventRecord, tenant: string): Reaction[] => {
  const { partner, windowStartedAt, limit } = data as Record<"partner" | "windowStartedAt" | "limit", string>;
  const hour = new Date(Math.floor(Date.parse(windowStartedAt) / hourMs) * hourMs).toISOString();
  return [
    writing(tenant, { clientId: idOf(partner), template: "limit-met", at: windowStartedAt, limit }, hour),
  ];
};

export const partnerNoticeIndexes = [
  { name: "client", key: { clientId: 1, _id: -1 } },
  { name: "ttl", key: { endedAt: 1 }, expireAfterSeconds: keptSeconds },
] as const;

export const noticeView = (id: string, state: PartnerNoticeState): PartnerNoticeView => {
  const { clientId, template, status, queuedAt, endedAt, detail } = state;
  return {
    urn: urn("partner-notice", id),
    ...{ clientId, template, status, queuedAt: queuedAt.toISOString() },
    ...(status === "SENT" && endedAt !== undefined ? { sentAt: endedAt.toISOString() } : {}),
    ...(detail === undefined ? {} : { detail }),
  };
};

const collection = "partnerNotices";

export const partnerNotices = (context: ActorContext): Decider<PartnerNoticeState, PartnerNoticeEvent> => ({
  actor: "message",
  kind: "partner-notice",
  collection,
  schemaVersion: 1,
  commands: ["write-to-partner", "record-partner-answer", "reissue-partner-call"],
  indexes: partnerNoticeIndexes,
  gather: async (command, state): Promise<Gathered | undefined> => {
    if (state !== undefined || command.name !== "message.write-to-partner") return undefined;
    const { tenant, data } = command;
    const { clientId, at, byOperator, limit } = data as WriteToPartner;
    const [partner, choice] = await Promise.all([
      context.call<PartnerView>("identity.partner", { ...command, params: { clientId } }),
      context.call<VendorChoice>("vendor-adapter.choice", { ...command, params: {} }),
    ]);
    return {
      facts: {
        ...{ airline: context.tenants.byCode(tenant)?.name ?? tenant, clientId, at },
        ...(byOperator ? { byOperator } : {}),
        ...(limit === undefined ? {} : { limit }),
        ...(partner.webhookUrl === undefined ? {} : { host: new URL(partner.webhookUrl).host }),
      },
      contact: seal(context.config.sealKey, partner.contact),
      vendor: choice.email ?? choice.message ?? "",
    };
  },
  decide: decideNotice({ stepDeadlineMs: mailPatience * context.config.STEP_DEADLINE_MS }),
  evolve: evolveNotice,
  timers: ({ call }) => (call === undefined ? [] : [{ name: "reissue-partner-call", dueAt: call.dueAt }]),
  technical: new Set(["partner-notice.called", "partner-notice.postponed"]),
  outgoing: noticeOutgoing(context.config.sealKey),
  view: (state, { id }) => noticeView(id, state),
  reactions: { "webhook.paused": afterPause, "partner.limit-exceeded": afterLimit },
});

export const partnerNoticeQueries = ({ documents }: ActorContext) => ({
  /** What a partner's contact was written, newest first; for administrators. */
  "partner-notices": ({ tenant, params }: Query): Promise<Page<PartnerNoticeView>> =>
    readPage(
      documents.tenant(tenant).collection<Document>(collection),
      {
        filter: { clientId: String(params.clientId) },
        params,
        projection: { contact: 0, facts: 0, handled: 0, outbox: 0 },
        hint: "client",
      },
      (document) => noticeView(String(document._id), document as unknown as PartnerNoticeState),
    ),
});
