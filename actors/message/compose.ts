/** Owns what a message begins with: who can be written to and how, in which language; and what a decision on one needs to know beside it. */
import { airport as airportOf } from "../../schemas/airports.ts";
import {
  type MessageStatusReport,
  type NoticeOrder,
  type NoticeRecipients,
  type PassengerContact,
  untellable,
} from "../../schemas/message.ts";
import { knownLanguage } from "../../schemas/passenger.ts";
import {
  subCaseOf,
  type VendorAnswer,
  type VendorCall,
  type VendorChoice,
} from "../../schemas/vendor-call.ts";
import type { Channel, Language } from "../../schemas/vocabulary.ts";
import { causedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal } from "../runtime/seal.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { channelOrder, contactIn, maskedRecipient, waysTo } from "./contact.ts";
import { type Gathered, optOutKey, type Present } from "./decide.ts";
import { keptLink } from "./login-links.ts";
import { markOf, optedOutOf } from "./preferences.ts";
import { type Attempt, attemptReference, type MessageState } from "./state.ts";

/** The data of `message.compose`: what a person sends to one group, or to one passenger of it. */
export interface Composed {
  reference: string;
  order: NoticeOrder;
  passengerUrn?: string;
  channels?: Channel[];
  reason: string;
}

/** What the decision on a command goes by; undefined: nothing beside the message. */
export const gatherFor = async (
  context: ActorContext,
  command: Received,
  state: MessageState | undefined,
): Promise<Gathered | undefined> => {
  const verb = command.name.slice("message.".length);
  if (state === undefined) return begins(verb) ? gatherBeginning(context, command) : undefined;
  if (!mayGoOn(verb, command.data)) return undefined;
  const [optedOut, caseIsClosed, present] = await Promise.all([
    optedOutOf(
      context.documents.tenant(command.tenant),
      state.attempts.map(({ mark }) => mark),
    ),
    isClosed(context, command, state.caseId),
    presentOf(context, command, state),
  ]);
  return { optedOut, caseIsClosed, present };
};

const isClosed = (context: ActorContext, command: Received, caseId: string): Promise<boolean> =>
  context.call<boolean>("case.is-closed", { ...command, params: { caseId } });

/** The group as it is by now; null: nobody is in it any more. */
const presentOf = async (
  context: ActorContext,
  command: Received,
  { caseId, groupId, subCaseId }: MessageState,
): Promise<Present | null> => {
  const [[party], contacts] = await Promise.all([
    context.call<NoticeRecipients[]>("sub-case.notice-parties", {
      ...command,
      params: { caseId, groupIds: [groupId] },
    }),
    context.call<PassengerContact[]>("sub-case.contacts", { ...command, params: { subCaseId } }),
  ]);
  if (party === undefined) return null;
  const { tenant } = command;
  const keys = contacts.flatMap((one) =>
    channelOrder.flatMap((channel) => {
      const contact = contactIn(channel, one);
      return contact === undefined
        ? []
        : [optOutKey(channel, markOf(context.config.sealKey, tenant, channel, contact))];
    }),
  );
  return {
    passengerUrns: new Set(party.passengerUrns),
    contacts: new Set(keys),
    facts: party.upcoming === undefined ? [party.facts] : [party.facts, party.upcoming],
  };
};

const begins = (verb: string): boolean => verb === "send" || verb === "compose";

/** Whether it may be the next number's turn after this. */
const mayGoOn = (verb: string, data: unknown): boolean =>
  verb === "reissue-call" ||
  (verb === "record-answer" && (data as VendorAnswer).outcome !== "done") ||
  (verb === "note-status" && (data as MessageStatusReport).state === "bounced");

const orderOf = ({
  name,
  data,
  principal,
}: Received): Composed & { requested?: MessageState["requested"] } => {
  if (name === "message.send") {
    const { reference, request } = data as VendorCall;
    return { reference, order: request as unknown as NoticeOrder, reason: "" };
  }
  const composed = data as Composed;
  return { ...composed, requested: { by: principal.urn, reason: composed.reason } };
};

/** An order of before templates, in a saga that has waited long: it cannot be told any more, and nothing is kept of it. */
const refuseOrder = async (
  context: ActorContext,
  command: Received,
  { reference, tries, again, replyTo }: VendorCall,
): Promise<void> => {
  const answer: VendorAnswer = {
    ...{ verb: "send", vendor: "message", reference, tries },
    ...(again === undefined ? {} : { again }),
    ...{ outcome: "refused", code: "INVALID_REQUEST", detail: "The order names no template." },
  };
  const id = causedId(command.id, "answer");
  const reply = { id, ...replyTo, data: answer, now: context.clock.now() };
  await sendCommand(context.streams, systemCommand("message", command, reply));
};

const gatherBeginning = async (context: ActorContext, command: Received): Promise<Gathered | undefined> => {
  const { reference, order, passengerUrn, channels, requested } = orderOf(command);
  const { tenant } = command;
  if (order.template === undefined) {
    await refuseOrder(context, command, command.data as VendorCall);
    return undefined;
  }
  const [everybody, choice, caseIsClosed] = await Promise.all([
    context.call<PassengerContact[]>("sub-case.contacts", {
      ...command,
      params: { subCaseId: subCaseOf(reference) },
    }),
    context.call<VendorChoice>("vendor-adapter.choice", {
      ...command,
      params: { drill: order.kind !== undefined },
    }),
    isClosed(context, command, order.caseId),
  ]);
  const contacts =
    passengerUrn === undefined ? everybody : everybody.filter((one) => one.passengerUrn === passengerUrn);
  const { sealKey } = context.config;
  const airline = context.tenants.byCode(tenant);
  const languageFor = languagesOf(everybody, airline?.language);
  const host = airline?.passengerHosts[0];
  const { template, facts, ...party } = order;
  const attempts = waysTo(contacts, choice, channels).map(({ contact, ...way }, n): Attempt => {
    const link = keptLink(sealKey, tenant, template, host, attemptReference({ reference }, n));
    return {
      ...way,
      language: languageFor(way.passengerUrn),
      recipient: maskedRecipient(contact),
      contact: seal(sealKey, contact),
      mark: markOf(sealKey, tenant, way.channel, contact),
      ...(link === undefined ? {} : { link }),
      status: "PLANNED",
    };
  });
  const optedOut = await optedOutOf(
    context.documents.tenant(tenant),
    attempts.map(({ mark }) => mark),
  );
  const begun: Gathered["begun"] = {
    reference,
    ...party,
    template,
    language: attempts[0]?.language ?? languageFor(contacts[0]?.passengerUrn),
    facts: {
      ...facts,
      airline: airline?.name ?? tenant,
      timeZone: airportOf(order.airport)?.timeZone ?? "UTC",
      ...(host === undefined ? {} : { host }),
    },
    attempts,
    ...(passengerUrn === undefined ? {} : { onlyFor: passengerUrn }),
    ...(channels === undefined ? {} : { channels }),
    ...(requested === undefined ? {} : { requested }),
  };
  const nothing = untellable(template, begun.facts);
  return { begun, optedOut, caseIsClosed, ...(nothing === undefined ? {} : { untellable: nothing }) };
};

/** The passenger's own, else one of the group's, else the airline's, else English. */
const languagesOf =
  (group: readonly PassengerContact[], airlines: Language | undefined) =>
  (passengerUrn: string | undefined): Language => {
    const own = group.filter((one) => one.passengerUrn === passengerUrn);
    return knownLanguage([...own, ...group].map(({ language }) => language)) ?? airlines ?? "en";
  };
