/** Owns what each audience may see of a message: never a whole number or address, nor what was written. */
import {
  type NotificationReason,
  type NotificationRecord,
  type NotificationView,
  notificationReasons,
} from "../../schemas/notification.ts";
import { urn } from "../../schemas/urn.ts";
import { type Attempt, hasArrived, languageOf, lastTried, type MessageState, repliedAt } from "./state.ts";

const attemptView = (message: MessageState, attempt: Attempt) => {
  const { channel, recipient, status, at, detail } = attempt;
  const answered = repliedAt(attempt);
  return {
    channel,
    recipient,
    language: languageOf(message, attempt),
    status: status as NotificationRecord["status"],
    at: (at as Date).toISOString(),
    ...(answered === undefined ? {} : { repliedAt: answered.toISOString() }),
    ...(detail === undefined ? {} : { detail }),
  };
};

/** Why nobody is left to try; nothing where that is not so. */
const reasonOf = (state: MessageState): { reasonCode?: NotificationReason } => {
  const { givenUpAt, endCode, outcome } = state;
  // Given up before codes were kept: what whoever asked was told.
  const code = endCode ?? (outcome?.outcome === "refused" ? outcome.code : undefined);
  return givenUpAt === undefined || hasArrived(state) || !isReason(code) ? {} : { reasonCode: code };
};

const isReason = (code: string | undefined): code is NotificationReason =>
  (notificationReasons as readonly (string | undefined)[]).includes(code);

/** A line of the log. Nobody to send it to is FAILED. */
export const messageRecord = (state: MessageState): NotificationRecord => {
  const last = lastTried(state);
  const { kind, sentAt, requested } = state;
  return {
    urn: urn("message", state.messageId),
    caseUrn: urn("case", state.caseId),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    ...(last === undefined ? {} : { passengerUrn: last.passengerUrn }),
    ...(kind === undefined ? {} : { kind }),
    templateId: state.template,
    language: last === undefined ? state.language : languageOf(state, last),
    ...(last === undefined ? {} : { channel: last.channel, recipient: last.recipient }),
    status: (last?.status ?? "FAILED") as NotificationRecord["status"],
    attempts: state.attempts
      .filter(({ status }) => status !== "PLANNED")
      .map((one) => attemptView(state, one)),
    ...reasonOf(state),
    queuedAt: state.queuedAt.toISOString(),
    ...(sentAt === undefined ? {} : { sentAt: sentAt.toISOString() }),
    ...(requested === undefined ? {} : { requestedBy: requested.by, reason: requested.reason }),
  };
};

/** What its group sees of a message that a carrier has taken: where it went last. */
export const notificationView = ({ attempts, template }: MessageState): NotificationView => {
  const last = attempts.findLast((attempt) => attempt.sentAt) as Attempt;
  const { channel, status, recipient, sentAt, at = sentAt } = last;
  const answered = repliedAt(last);
  return {
    channel,
    template,
    status: status as NotificationView["status"],
    recipient,
    sentAt: (sentAt as Date).toISOString(),
    at: (at as Date).toISOString(),
    ...(answered === undefined ? {} : { repliedAt: answered.toISOString() }),
  };
};
