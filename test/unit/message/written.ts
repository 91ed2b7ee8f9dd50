// A message for the tables: one order, three channels, what carriers answer and tell later in short.
import { type Gathered, optOutKey } from "../../../actors/message/decide.ts";
import { messages } from "../../../actors/message/messages.ts";
import { markOf } from "../../../actors/message/preferences.ts";
import type { Attempt, MessageEvent, MessageState } from "../../../actors/message/state.ts";
import { messageRecord } from "../../../actors/message/view.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { seal } from "../../../actors/runtime/seal.ts";
import type { MessageState as CarrierState } from "../../../schemas/message.ts";
import type { VendorAnswer, VendorCall } from "../../../schemas/vendor-call.ts";
import type { Channel } from "../../../schemas/vocabulary.ts";
import { eventsOf, folded, received, secondsLater, supervisor } from "../../harness/given.ts";

export const sealKey = Buffer.alloc(32, 7);
export const messageId = "XN-01KAMVW9G0MESSAGEMESSAGE00";
const subCaseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const caseId = "XN-01KAMVW9G0CASECASECASECASE";
export const reference = `${subCaseId}.offer-notice.1`;
export const rules = messages(
  {
    stepDeadlineMs: 30_000,
    sealKey,
    doubtfulTriesMax: (vendor) => (vendor === "smtp" ? 2 : Number.POSITIVE_INFINITY),
    patience: (vendor) => (vendor === "smtp" ? 10 : 1),
  },
  () => messageId,
);
export const story = (...commands: Parameters<typeof eventsOf<MessageState, MessageEvent>>[2][]) =>
  eventsOf<MessageState, MessageEvent>(rules, [], ...commands);
export const stateOf = (events: MessageEvent[]): MessageState => folded(rules, events) as MessageState;

const contactsOf: Readonly<Record<Channel, string>> = {
  SMS: "+12025550143",
  WHATSAPP: "+12025550143",
  EMAIL: "ada@example.com",
};
export const attempt = (channel: Channel): Attempt => ({
  channel,
  vendor: channel === "EMAIL" ? "smtp" : "sendwell",
  passengerUrn: "urn:passenger:XN-ADA",
  recipient: channel === "EMAIL" ? "a•••@example.com" : "•••0143",
  contact: seal(sealKey, contactsOf[channel]),
  mark: markOf(sealKey, "XN", channel, contactsOf[channel]),
  status: "PLANNED",
});
export const attempts = [attempt("SMS"), attempt("WHATSAPP"), attempt("EMAIL")];
export const begun = (more: Partial<Gathered["begun"]> = {}): Gathered["begun"] => ({
  ...{ reference, caseId, subCaseId, groupId: "K7QX2M", airport: "JFK" },
  ...{ template: "offer-ready", language: "pt" },
  facts: {
    ...{ airline: "Xenon", timeZone: "America/New_York", host: "xenon.example", flight: "XN482" },
    ...{ hotel: "Astor", checkIn: "2026-11-21", checkOut: "2026-11-22", code: "J8K2M4PQ" },
  },
  attempts,
  ...more,
});
export const seen = (more: Partial<Gathered> = {}): Gathered => ({
  optedOut: new Set(),
  caseIsClosed: false,
  ...more,
});
export const outOf = (...channels: Channel[]): ReadonlySet<string> =>
  new Set(channels.map((channel) => optOutKey(channel, attempt(channel).mark)));

const replyTo = { name: "sub-case.record-answer", entity: subCaseId };
export const asks = (tries = 1): Received => {
  const data: VendorCall = { reference, tries, doubt: tries > 1, request: {}, replyTo };
  return received("message.send", data);
};
export const ordered = (more: Partial<Gathered> = {}): [Received, Gathered] => [
  asks(),
  seen({ begun: begun(), ...more }),
];
export const byHand = (more: Partial<Gathered> = {}): [Received, Gathered] => [
  received("message.compose", { reference, reason: "Lost it" }, { principal: supervisor }),
  seen({ begun: begun({ requested: { by: supervisor.urn, reason: "Lost it" } }), ...more }),
];
let answers = 0;
export const answer = (
  n: number,
  outcome: VendorAnswer["outcome"],
  {
    code = "RECIPIENT_REJECTED",
    tries,
    more = {},
  }: { code?: string; tries?: number; more?: Partial<Gathered> } = {},
): [Received, Gathered] => {
  const data: VendorAnswer = {
    ...{ verb: "send", vendor: "sendwell", reference: `${reference}.${n}`, outcome },
    ...(tries === undefined ? {} : { tries }),
    ...(outcome === "done"
      ? { result: { messageId: `M${n}`, acceptedAt: "" } }
      : { detail: `${n} is ${outcome}` }),
    ...(outcome === "refused" ? { code } : {}),
  };
  return [{ ...received("message.record-answer", data), id: `answer ${++answers}` }, seen(more)];
};
export const told = (
  n: number,
  state: CarrierState,
  second: number,
  more: Partial<Gathered> = {},
): [Received, Gathered] => [
  received(
    "message.note-status",
    {
      ...{ vendor: attempts[n - 1]?.vendor, reference: `${reference}.${n}` },
      ...{ state, at: secondsLater(second).toISOString() },
    },
    { now: secondsLater(1000) },
  ),
  seen(more),
];
export const reissue = (seconds: number, more: Partial<Gathered> = {}): [Received, Gathered] => [
  received("message.reissue-call", {}, { now: secondsLater(seconds) }),
  seen(more),
];

export const calls = (n: number, vendor = "sendwell") => ({
  to: "command" as const,
  name: `vendor-${vendor}.send`,
  entity: messageId,
  data: {
    reference: `${reference}.${n}`,
    doubt: false,
    replyTo: { name: "message.record-answer", entity: messageId },
  },
});
export const event = (what: string, channel: Channel) => ({
  to: "internal" as const,
  type: `notification.${what}`,
  id: subCaseId,
  data: { channel, recipient: attempt(channel).recipient },
});
export const answered = (outcome: string, more: object = {}) => ({
  to: "command" as const,
  ...replyTo,
  data: { verb: "send", reference, tries: 1, outcome, ...more },
});
export const item = {
  to: "command" as const,
  name: "review.open",
  data: { origin: "notify", occurrence: messageId },
};
export const status = (events: MessageEvent[]) => messageRecord(stateOf(events)).status;
export const tried = (events: MessageEvent[]) =>
  messageRecord(stateOf(events)).attempts.map((one) => `${one.channel} ${one.status}`);
