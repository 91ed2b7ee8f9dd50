/** Owns sending by hand (contract, POST /v1/notifications/{caseUrn}/send): to whom, and who is passed over; each message is then one like any other. */
import type { CaseListItem } from "../../schemas/case.ts";
import type { Command } from "../../schemas/command.ts";
import { type NoticeOrder, type NoticeRecipients, noticeFactNames } from "../../schemas/message.ts";
import {
  type NotificationRecord,
  type NotificationsSent,
  notificationsShownMax,
  type SendNotificationBody,
} from "../../schemas/notification.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import { channels as allChannels, type Channel } from "../../schemas/vocabulary.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import type { Composed } from "./compose.ts";
import { untrue } from "./facts.ts";
import { type Recent, sentJustNow } from "./sent-just-now.ts";

/** Messages made at once. */
const atOnce = 16;

interface Wanted {
  /** Of the message. */
  reference: string;
  party: NoticeRecipients;
  passengerUrn?: string;
}

/** The same command again makes the same messages: each one's reference comes from the command and whom it is for. */
export const sendManually =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { caseUrn, ...body } = command.data as SendNotificationBody & { caseUrn: string };
    const { groupIds, passengerUrns, templateId } = body;
    if (groupIds !== undefined && passengerUrns !== undefined)
      throw new Problem("validation/body", "Name groups or passengers, not both.", {
        errors: [{ pointer: "/passengerUrns", detail: "not with groupIds" }],
      });
    const head = await context.call<CaseListItem>("case.head", { ...command, params: { caseUrn } });
    if (head.status === "CLOSED")
      throw new Problem("conflict/state", "The case is closed and takes no further change.", {
        state: "CLOSED",
      });
    const parties = await context.call<NoticeRecipients[]>("sub-case.notice-parties", {
      ...command,
      params: { caseId: idOf(caseUrn), groupIds, passengerUrns },
    });
    requireKnown(parties, body);
    const host = context.tenants.byCode(command.tenant)?.passengerHosts[0];
    const named = new Set(passengerUrns);
    const wanted: Wanted[] = parties.flatMap((party) =>
      passengerUrns === undefined
        ? [{ party, reference: referenceOf(command, party) }]
        : party.passengerUrns
            .filter((one) => named.has(one))
            .map((passengerUrn) => ({
              party,
              passengerUrn,
              reference: referenceOf(command, party, passengerUrn),
            })),
    );
    const recent = await sentJustNow(context, command, idOf(caseUrn), templateId);
    const told = wanted.map((one) => ({
      ...one,
      why: unsaid(untrue(templateId, one.party, host)) ?? repeated(one, recent, body),
    }));
    const messages = await made(
      told.filter(({ why }) => why === undefined),
      command,
      body,
      dispatch,
    );
    const skipped = told.flatMap(({ party: { groupId }, passengerUrn, why }) =>
      why === undefined ? [] : [{ groupId, ...(passengerUrn === undefined ? {} : { passengerUrn }), ...why }],
    );
    const ok: NotificationsSent = {
      caseUrn,
      messageCount: messages.length,
      messages: messages.slice(0, notificationsShownMax),
      skippedCount: skipped.length,
      skipped: skipped.slice(0, notificationsShownMax),
      correlationUrn: command.correlationUrn,
    };
    return { ok };
  };

const referenceOf = ({ id }: Command, { subCaseId }: NoticeRecipients, passengerUrn = ""): string =>
  `${subCaseId}.by-hand.${causedId(id, subCaseId, passengerUrn)}`;

type Why = Pick<NotificationsSent["skipped"][number], "reasonCode" | "detail">;

const unsaid = (detail: string | undefined): Why | undefined =>
  detail === undefined ? undefined : { reasonCode: "NOTHING_TO_TELL", detail };

/** Why the same is not sent once more so soon; what this very request has made does not stand in its way. */
const repeated = (
  { reference, party, passengerUrn }: Wanted,
  recent: readonly Recent[],
  { channels }: SendNotificationBody,
): Why | undefined => {
  const isSame = recent.some(
    (one) =>
      one.reference !== reference &&
      one.groupId === party.groupId &&
      one.onlyFor === passengerUrn &&
      sameChannels(one.channels, channels) &&
      noticeFactNames.every((name) => one.facts[name] === party.facts[name]),
  );
  return isSame
    ? {
        reasonCode: "SENT_JUST_NOW",
        detail: "The same message is on its way, or was sent less than a minute ago.",
      }
    : undefined;
};

const sameChannels = (
  one: readonly Channel[] = allChannels,
  other: readonly Channel[] = allChannels,
): boolean => one.length === other.length && one.every((channel) => other.includes(channel));

const made = async (
  wanted: readonly Wanted[],
  command: Command,
  { templateId, channels, reason }: SendNotificationBody,
  dispatch: Dispatch,
): Promise<NotificationRecord[]> => {
  const records: NotificationRecord[] = [];
  for (let from = 0; from < wanted.length; from += atOnce) {
    const some = wanted.slice(from, from + atOnce).map(async ({ party, passengerUrn, reference }) => {
      const { caseId, subCaseId, groupId, kind, airport, facts } = party;
      const whose = passengerUrn ?? "";
      const order: NoticeOrder = {
        ...{ caseId, subCaseId, groupId, airport, facts, template: templateId },
        ...(kind === undefined ? {} : { kind }),
      };
      const data: Composed = {
        reference,
        order,
        ...(passengerUrn === undefined ? {} : { passengerUrn }),
        ...(channels === undefined ? {} : { channels }),
        reason,
      };
      const id = causedId(command.id, "compose", party.subCaseId, whose);
      const { expectedVersion: _v, fencingToken: _t, ...envelope } = command;
      const reply = await dispatch("compose", { ...envelope, id, name: "message.compose", entity: "", data });
      if ("problem" in reply) throw Problem.from(reply.problem);
      return reply.ok as NotificationRecord;
    });
    records.push(...(await Promise.all(some)));
  }
  return records;
};

/** @throws Problem validation/body */
const requireKnown = (
  parties: readonly NoticeRecipients[],
  { groupIds = [], passengerUrns = [] }: SendNotificationBody,
): void => {
  const groups = new Set(parties.map(({ groupId }) => groupId));
  const people = new Set(parties.flatMap(({ passengerUrns: urns }) => urns));
  const unknown = [
    ...groupIds.filter((one) => !groups.has(one)).map((one) => ["/groupIds", `${one} is no group of it`]),
    ...passengerUrns
      .filter((one) => !people.has(one))
      .map((one) => ["/passengerUrns", `${one} is no passenger of it`]),
  ];
  if (unknown.length > 0)
    throw new Problem("validation/body", "Some of these are not the case's.", {
      errors: unknown.map(([pointer = "", detail = ""]) => ({ pointer, detail })),
    });
};
