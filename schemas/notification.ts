/** Owns the wire shapes of messages to passengers (contract, "Notifications"): the log, sending by hand, what passengers see of it; never a whole address. */
import Type, { type Static } from "typebox";
import { CaseKind } from "./drill.ts";
import { Urn } from "./urn.ts";
import { channels, GroupId, languages, Reason, Timestamp } from "./vocabulary.ts";

/** What people may have sent; none takes a word of theirs. */
export const manualTemplates = [
  "offer-ready",
  "voucher-issued",
  "stay-changed",
  "hotel-changed",
  "transport-updated",
  "offer-withdrawn",
  "welcome",
] as const;
/** `magic-link` is the service's own: whoever has its link is logged in. */
export const notificationTemplates = [...manualTemplates, "magic-link"] as const;
export type NotificationTemplate = (typeof notificationTemplates)[number];

export const notificationStatuses = [
  "QUEUED",
  "SENT",
  "DELIVERED",
  "BOUNCED",
  "FAILED",
  "SUPPRESSED",
] as const;
export type NotificationStatus = (typeof notificationStatuses)[number];

/** Why nobody is left to try. */
export const notificationReasons = [
  "NO_CONTACT",
  "FAILED",
  "BOUNCED",
  "SUPPRESSED",
  "CASE_CLOSED",
  "NOTHING_TO_TELL",
  "OUTDATED",
  "EXPIRED",
] as const;
export type NotificationReason = (typeof notificationReasons)[number];

const Recipient = Type.String({
  description: "Enough of the number or address to know it by.",
  examples: ["•••0142", "a•••@example.com"],
});
const ChannelField = Type.Enum([...channels]);
const TemplateField = Type.Enum([...notificationTemplates], { description: "What it was about." });

export const NotificationView = Type.Object(
  {
    channel: ChannelField,
    template: TemplateField,
    status: Type.Enum(["SENT", "DELIVERED", "BOUNCED"], {
      description: "SENT: taken by the carrier. BOUNCED: it did not arrive.",
    }),
    recipient: Recipient,
    sentAt: Timestamp,
    at: Type.String({ ...Timestamp, description: "Of the status." }),
    repliedAt: Type.Optional(
      Type.String({ ...Timestamp, description: "When its reader answered; an answer is a delivery." }),
    ),
  },
  { title: "Notification" },
);
export type NotificationView = Static<typeof NotificationView>;

const StatusField = Type.Enum([...notificationStatuses], {
  description:
    "QUEUED until the carrier has taken it (SENT). DELIVERED, BOUNCED: as the carrier told later. FAILED: not taken, or nobody to send it to. SUPPRESSED: the recipient has opted out of the channel.",
});

const NotificationAttempt = Type.Object({
  channel: ChannelField,
  recipient: Recipient,
  language: Type.Enum([...languages]),
  status: StatusField,
  at: Type.String({ ...Timestamp, description: "Of that status." }),
  repliedAt: Type.Optional(Timestamp),
  detail: Type.Optional(Type.String({ description: "Why it was not sent, or did not arrive." })),
});

export const NotificationRecord = Type.Object(
  {
    urn: Urn("message"),
    caseUrn: Urn("case"),
    subCaseUrn: Urn("sub-case"),
    groupId: Type.String(),
    passengerUrn: Type.Optional(
      Type.String({
        ...Urn("passenger"),
        description: "Whose number or address it goes to. Absent: nobody's.",
      }),
    ),
    kind: Type.Optional(CaseKind),
    templateId: TemplateField,
    language: Type.Enum([...languages]),
    channel: Type.Optional(
      Type.Enum([...channels], { description: "The one tried last. Absent: there was none to try." }),
    ),
    recipient: Type.Optional(Recipient),
    status: StatusField,
    attempts: Type.Array(NotificationAttempt, {
      description: "One for each number or address tried, in their order: SMS, WhatsApp, e-mail.",
    }),
    reasonCode: Type.Optional(
      Type.Enum([...notificationReasons], {
        description:
          "Why nobody is left to try. NO_CONTACT: no number or address in these channels. FAILED, BOUNCED, SUPPRESSED: as the last attempt. CASE_CLOSED, NOTHING_TO_TELL, OUTDATED (what it tells is no longer so), EXPIRED (too late): nobody else is written to. Absent: somebody has it, or is being tried.",
      }),
    ),
    queuedAt: Timestamp,
    sentAt: Type.Optional(Timestamp),
    requestedBy: Type.Optional(
      Type.String({ description: "Who has sent it by hand. Absent: the service itself." }),
    ),
    reason: Type.Optional(Type.String()),
  },
  { title: "NotificationRecord" },
);
export type NotificationRecord = Static<typeof NotificationRecord>;

export const SendNotificationBody = Type.Object(
  {
    templateId: Type.Enum([...manualTemplates], {
      description: "What to tell. The words are the template's; none of yours are taken.",
      examples: ["voucher-issued"],
    }),
    groupIds: Type.Optional(
      Type.Array(GroupId, {
        minItems: 1,
        maxItems: 1500,
        uniqueItems: true,
        description: "One message each. With neither groups nor passengers: every group of the case.",
      }),
    ),
    passengerUrns: Type.Optional(
      Type.Array(Urn("passenger"), {
        minItems: 1,
        maxItems: 500,
        uniqueItems: true,
        description: "One message each, to that passenger alone. Not with `groupIds`.",
      }),
    ),
    channels: Type.Optional(
      Type.Array(ChannelField, {
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
        description: "In which to try it, in the order SMS, WhatsApp, e-mail. Default: all.",
      }),
    ),
    reason: Reason,
  },
  { title: "SendNotification" },
);
export type SendNotificationBody = Static<typeof SendNotificationBody>;

/** Of messages, and of those passed over, in one answer. */
export const notificationsShownMax = 200;

const Skipped = Type.Object({
  groupId: Type.String(),
  passengerUrn: Type.Optional(Urn("passenger")),
  reasonCode: Type.Enum(["NOTHING_TO_TELL", "SENT_JUST_NOW"], {
    description: "SENT_JUST_NOW: the same is on its way, or was sent less than a minute ago.",
  }),
  detail: Type.String(),
});

export const NotificationsSent = Type.Object(
  {
    caseUrn: Urn("case"),
    messageCount: Type.Integer({ minimum: 0, description: "Messages made by this request." }),
    messages: Type.Array(NotificationRecord, {
      description: `The first ${notificationsShownMax} of them; the log has all.`,
    }),
    skippedCount: Type.Integer({ minimum: 0 }),
    skipped: Type.Array(Skipped, {
      description: `Who has nothing that the template tells of, or has been sent the same just now; the first ${notificationsShownMax}.`,
    }),
    correlationUrn: Type.String(),
  },
  { title: "NotificationsSent" },
);
export type NotificationsSent = Static<typeof NotificationsSent>;
