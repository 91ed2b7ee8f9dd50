/** Owns what leaves with a message's events: calls to carriers with their content sealed, answers to sagas, items for people, what is told of it. */
import { drillVendor } from "../../schemas/drill.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import type { VendorAnswer, VendorCall } from "../../schemas/vendor-call.ts";
import type { AuditNote, Change, Decider, Outgoing, Received, Timer } from "../runtime/decider.ts";
import { inTheHouse } from "../runtime/drill.ts";
import { cachePurged } from "../runtime/purge.ts";
import { type Sealed, seal, unseal } from "../runtime/seal.ts";
import { type MessageSettings, messageCommands, messageDecider } from "./decide.ts";
import { toldIn } from "./facts.ts";
import { loginLink } from "./login-links.ts";
import { contactIdOf, type Preference } from "./preferences.ts";
import { render } from "./render.ts";
import {
  type Asked,
  type Attempt,
  attemptReference,
  evolveMessage,
  keptSeconds,
  languageOf,
  type MessageCall,
  type MessageEvent,
  type MessageState,
  technicalEvents,
} from "./state.ts";
import { messageRecord, notificationView } from "./view.ts";

export const messageCollection = "messages";
export const messageSchemaVersion = 1;

export const messageIndexes = [
  { name: "reference", key: { reference: 1 }, unique: true },
  { name: "case", key: { caseId: 1, _id: -1 } },
  { name: "group", key: { caseId: 1, groupId: 1, _id: -1 } },
  { name: "link", key: { "attempts.link": 1 }, sparse: true },
  { name: "contact", key: { "attempts.mark": 1, _id: -1 } },
  { name: "carrier", key: { "attempts.carrierId": 1 }, sparse: true },
  { name: "ttl", key: { endedAt: 1 }, expireAfterSeconds: keptSeconds },
] as const;

export interface MessageWiring extends MessageSettings {
  /** Seals numbers, addresses and contents. */
  sealKey: Buffer;
}

/** Without what only a service can read: the gathering. */
export const messages = (
  wiring: MessageWiring,
  idOf: (command: Received) => string,
): Omit<Decider<MessageState, MessageEvent>, "gather"> => ({
  actor: "message",
  kind: "message",
  collection: messageCollection,
  schemaVersion: messageSchemaVersion,
  remembered: 256,
  commands: messageCommands,
  indexes: messageIndexes,
  locate: ({ data }) => {
    const { reference } = data as { reference?: string };
    return reference === undefined ? undefined : { reference };
  },
  create: idOf,
  opens: ({ name }) => name === "message.send",
  decide: messageDecider(wiring, idOf),
  evolve: evolveMessage,
  technical: technicalEvents,
  timers: timersOf,
  outgoing: (event, state) => inTheHouse(state.kind, outgoing(wiring, event, state)),
  changed: (change) => inTheHouse(change.after.kind, purges(change)),
  view: (state) => messageRecord(state),
  audit: auditNote,
});

/** One for both: when its call is due, and when whoever waits must be answered. */
const timersOf = ({ call, outcome, answerBy }: MessageState): Timer[] => {
  const due = [call?.dueAt, outcome === undefined ? answerBy : undefined]
    .filter((at) => at !== undefined)
    .sort((a, b) => a.getTime() - b.getTime());
  return due[0] === undefined ? [] : [{ name: "reissue-call", dueAt: due[0] }];
};

/** The offer follows as soon as this message is out, and what purges that purges the list, too: of a thousand groups at once. */
const isAwaitedByOffer = (before: MessageState | undefined, after: MessageState): boolean =>
  after.template === "offer-ready" && after.requested === undefined && before?.outcome === undefined;

/**
 * Of whoever reads the list that it stands in: the group, and by name those whom it is known to be for, wherever their sessions say that
 * they are. Of others who have come from another group nothing is known here.
 */
const purges = ({ before, after }: Change<MessageState, MessageEvent>): Outgoing[] => {
  const line = (state: MessageState | undefined): string | undefined =>
    state?.sentAt === undefined ? undefined : JSON.stringify(notificationView(state));
  if (line(before) === line(after) || isAwaitedByOffer(before, after)) return [];
  const { subCaseId, onlyFor, attempts } = after;
  const urns = attempts.map(({ passengerUrn }) => passengerUrn);
  return [cachePurged(subCaseId, after, onlyFor === undefined ? urns : [onlyFor, ...urns])];
};

/** What a person has sent; whom it goes to stands in the log alone. */
const auditNote = ({ command, after }: Change<MessageState, MessageEvent>): AuditNote | undefined => {
  if (command.principal.surface === "system") return undefined;
  const { caseId, groupId, template, language, attempts, kind } = after;
  const channels = attempts.map(({ channel }) => channel);
  return {
    action: command.principal.surface === "partner" ? "message.notify-passenger" : "message.send-manually",
    caseId,
    before: null,
    after: {
      ...(kind === undefined ? {} : { kind }),
      ...{ groupId, templateId: template, language, channels: [...new Set(channels)] },
    },
  };
};

const outgoing = (wiring: MessageWiring, event: MessageEvent, state: MessageState): Outgoing[] => {
  switch (event.type) {
    case "attempt.begun":
    case "attempt.reissued":
      return [carrierCall(wiring, state, event.data.call)];
    case "attempt.sent":
      return [announced(state, "notification.dispatched", attemptAt(state, event.data.n))];
    case "attempt.noted": {
      const { n, state: told, at, toldId } = event.data;
      const attempt = attemptAt(state, n);
      return [
        announced(state, `notification.${told}`, attempt),
        ...(told === "opted-out" ? [preference("message.opt-out", state, attempt, at, toldId)] : []),
        ...(told === "opted-in" ? [preference("message.opt-in", state, attempt, at, toldId)] : []),
      ];
    }
    case "attempt.failed": {
      const { n, at, status, optedOut } = event.data;
      const attempt = attemptAt(state, n);
      return [
        announced(state, `notification.${status.toLowerCase()}`, attempt),
        ...(optedOut ? [preference("message.opt-out", state, attempt, at)] : []),
      ];
    }
    case "message.answered":
      return [answered(state, event.data.asked)];
    case "message.given-up":
      // A saga that waits opens its own item with the answer.
      return event.data.silent || (state.asked !== undefined && state.outcome?.outcome === "refused")
        ? []
        : [unreachable(state, event.data.detail)];
    case "message.queued":
    case "message.asked":
    case "message.overdue":
    case "attempt.postponed":
      return [];
    default:
      return event satisfies never;
  }
};

const attemptAt = ({ attempts }: MessageState, n: number): Attempt => attempts[n] as Attempt;

/** What travels to the carrier's adapter, and what it puts together with the rest of the request again. */
const sealedContent = ({ sealKey }: MessageWiring, state: MessageState, n: number): Sealed => {
  const attempt = attemptAt(state, n);
  const { template, facts, messageId } = state;
  const language = languageOf(state, attempt);
  if (attempt.contact === undefined) throw new TypeError("this attempt is over");
  const link =
    attempt.link === undefined || facts.host === undefined
      ? undefined
      : loginLink(sealKey, tenantOfId(messageId), facts.host, attemptReference(state, n));
  const content = render(template, language, attempt.channel, toldIn(language, facts, link));
  return seal(sealKey, JSON.stringify({ recipient: unseal(sealKey, attempt.contact), ...content }));
};

const carrierCall = (
  wiring: MessageWiring,
  state: MessageState,
  { n, tries, doubt, dueAt }: MessageCall,
): Outgoing => {
  const attempt = attemptAt(state, n);
  const { messageId, kind } = state;
  const language = languageOf(state, attempt);
  const data: VendorCall = {
    reference: attemptReference(state, n),
    tries,
    doubt,
    notAfter: dueAt.toISOString(),
    request: { channel: attempt.channel, language, sealed: sealedContent(wiring, state, n) },
    replyTo: { name: "message.record-answer", entity: messageId },
  };
  const vendor = kind === undefined ? attempt.vendor : drillVendor;
  return { to: "command", name: `vendor-${vendor}.send`, entity: messageId, data };
};

/** Under the group's id, by which all that concerns it is found in the log. */
const announced = (
  { caseId, subCaseId, groupId, messageId, template, airport, onlyFor }: MessageState,
  type: string,
  { channel, recipient }: Attempt,
): Outgoing => ({
  to: "internal",
  type,
  id: subCaseId,
  caseId,
  data: {
    caseUrn: urn("case", caseId),
    subCaseUrn: urn("sub-case", subCaseId),
    messageUrn: urn("message", messageId),
    ...{ groupId, airport, templateId: template, channel, recipient },
    // Nobody else of the group sees it.
    ...(onlyFor === undefined ? {} : { onlyFor }),
  },
});

const preference = (
  name: "message.opt-out" | "message.opt-in",
  { messageId }: MessageState,
  { mark, channel }: Attempt,
  at: Date,
  toldId?: string,
): Outgoing => {
  const data: Preference = { channel, at: at.toISOString(), ...(toldId !== undefined && { toldId }) };
  return { to: "command", name, entity: contactIdOf(tenantOfId(messageId), mark), data };
};

const answered = ({ outcome, attempts }: MessageState, asked: Asked): Outgoing => {
  const { reference, tries, again, replyTo } = asked;
  const told = outcome as NonNullable<MessageState["outcome"]>;
  const data: VendorAnswer = {
    verb: "send",
    vendor: attempts[0]?.vendor ?? "message",
    reference,
    tries,
    ...(again === undefined ? {} : { again }),
    ...(told.outcome === "done"
      ? { outcome: "done", result: { acceptedAt: told.at.toISOString(), channel: told.channel } }
      : told),
  };
  return { to: "command", name: replyTo.name, entity: replyTo.entity, data };
};

/** Nobody has it, and nothing is left to try: a person rings them up, or finds them. */
const unreachable = (
  { caseId, airport, kind, groupId, messageId, template }: MessageState,
  detail: string,
): Outgoing => ({
  to: "command",
  name: "review.open",
  entity: "",
  data: {
    caseId,
    airport,
    ...(kind === undefined ? {} : { kind }),
    category: "PARTIAL_FULFILLMENT",
    origin: "notify",
    detail: `The message ${template} has reached nobody. ${detail}`,
    attemptedHotels: [],
    affectedGroups: [groupId],
    occurrence: messageId,
  },
});
