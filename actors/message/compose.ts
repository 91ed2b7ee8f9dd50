/** Owns what a message begins with: who can be written to and how, in which language; and what a decision on one needs to know beside it. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { MessageStatusReport, NoticeOrder, PassengerContact } from "../../schemas/message.ts";
import { knownLanguage } from "../../schemas/passenger.ts";
import {
  subCaseOf,
  type VendorAnswer,
  type VendorCall,
  type VendorChoice,
} from "../../schemas/vendor-call.ts";
import type { Channel, Language } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal } from "../runtime/seal.ts";
import { maskedRecipient, waysTo } from "./contact.ts";
import type { Gathered } from "./decide.ts";
import { markOf, optedOutOf } from "./preferences.ts";
import type { Attempt, MessageState } from "./state.ts";

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
  const { tenant } = command;
  const params = { caseId: state.caseId };
  const [optedOut, caseIsClosed] = await Promise.all([
    optedOutOf(
      context.documents.tenant(tenant),
      state.attempts.map(({ mark }) => mark),
    ),
    context.call<boolean>("case.is-closed", { ...command, params }),
  ]);
  return { optedOut, caseIsClosed };
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

const gatherBeginning = async (context: ActorContext, command: Received): Promise<Gathered> => {
  const { reference, order, passengerUrn, channels, requested } = orderOf(command);
  const { tenant } = command;
  const [everybody, choice] = await Promise.all([
    context.call<PassengerContact[]>("sub-case.contacts", {
      ...command,
      params: { subCaseId: subCaseOf(reference) },
    }),
    context.call<VendorChoice>("vendor-adapter.choice", {
      ...command,
      params: { drill: order.kind !== undefined },
    }),
  ]);
  const contacts =
    passengerUrn === undefined ? everybody : everybody.filter((one) => one.passengerUrn === passengerUrn);
  const { sealKey } = context.config;
  const attempts = waysTo(contacts, choice, channels).map(
    ({ contact, ...way }): Attempt => ({
      ...way,
      recipient: maskedRecipient(contact),
      contact: seal(sealKey, contact),
      mark: markOf(sealKey, tenant, way.channel, contact),
      status: "PLANNED",
    }),
  );
  const airline = context.tenants.byCode(tenant);
  const host = airline?.passengerHosts[0];
  const { template, facts, ...party } = order;
  const optedOut = await optedOutOf(
    context.documents.tenant(tenant),
    attempts.map(({ mark }) => mark),
  );
  const begun: Gathered["begun"] = {
    reference,
    ...party,
    template,
    language: languageFor(contacts, everybody, airline?.language),
    facts: {
      ...facts,
      airline: airline?.name ?? tenant,
      timeZone: airportOf(order.airport)?.timeZone ?? "UTC",
      ...(host === undefined ? {} : { host }),
    },
    attempts,
    ...(requested === undefined ? {} : { requested }),
  };
  return { begun, optedOut, caseIsClosed: false };
};

/** The passenger's own, else one of the group's, else the airline's, else English. */
const languageFor = (
  addressed: readonly PassengerContact[],
  group: readonly PassengerContact[],
  airlines: Language | undefined,
): Language => knownLanguage([...addressed, ...group].map(({ language }) => language)) ?? airlines ?? "en";
