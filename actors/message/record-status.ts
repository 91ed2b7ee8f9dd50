/** Owns finding what a carrier tells of: the message by our reference or the carrier's, or, of what a reader says of themselves, the latest one to them. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import {
  type MessageState as CarrierState,
  carrierSkewMsMax,
  type MessageStatusReport,
  messageStates,
  readersWords,
} from "../../schemas/message.ts";
import { Problem } from "../../schemas/problems.ts";
import { type Channel, channels } from "../../schemas/vocabulary.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { SealError, unseal } from "../runtime/seal.ts";
import { loadedOf } from "../runtime/store.ts";
import { normalContact } from "./contact.ts";
import { messageCollection, messageSchemaVersion } from "./messages.ts";
import { contactIdOf, markOf, type Preference } from "./preferences.ts";
import { type Attempt, attemptOf, attemptReference, type MessageState } from "./state.ts";

const isText = (value: unknown): value is string => typeof value === "string";

const isReport = ({
  vendor,
  reference,
  carrierId,
  channel,
  sealedRecipient,
  state,
  at,
}: Partial<MessageStatusReport>): boolean => {
  const isOfNumber =
    isText(sealedRecipient) &&
    channels.some((one) => one === channel) &&
    // By a number nobody can tell which message has come back: it may not even be ours.
    readersWords.has(state as CarrierState);
  return (
    isText(vendor) &&
    (isText(reference) || isText(carrierId) || isOfNumber) &&
    messageStates.some((one) => one === state) &&
    isText(at) &&
    !Number.isNaN(Date.parse(at))
  );
};

/** @throws Problem validation/body; not-found/resource: nobody was written to so */
export const recordStatus =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const report = command.data as MessageStatusReport;
    if (!isReport(report)) throw new Problem("validation/body", "This is no report of a message.");
    if (report.reference !== undefined) await ofMessage(context, command, dispatch, report.reference);
    else if (report.carrierId !== undefined) await ofCarriers(context, command, dispatch, report.carrierId);
    else await ofReader(context, command, dispatch);
    return { ok: null };
  };

const messagesOf = ({ documents }: ActorContext, tenant: string) =>
  documents.tenant(tenant).collection<Document>(messageCollection);

/** A carrier knows of a message what we have called it. */
const ofMessage = async (
  context: ActorContext,
  command: Command,
  dispatch: Dispatch,
  attemptReference: string,
): Promise<void> => {
  const { reference } = attemptOf(attemptReference) ?? {};
  const found =
    reference === undefined
      ? null
      : await messagesOf(context, command.tenant).findOne({ reference }, { projection: { _id: 1 } });
  if (found === null) throw new Problem("not-found/resource", "No message has this reference.");
  await dispatch("note-status", { ...command, name: "message.note-status", entity: String(found._id) });
};

/** By what the carrier calls it itself, by the index `carrier`: one that we have not sent is not ours to note. */
const ofCarriers = async (
  context: ActorContext,
  command: Command,
  dispatch: Dispatch,
  carrierId: string,
): Promise<void> => {
  const { vendor, carrierId: _, ...report } = command.data as MessageStatusReport;
  const document = await messagesOf(context, command.tenant).findOne(
    { attempts: { $elemMatch: { carrierId, vendor } } },
    { projection: { handled: 0, outbox: 0 } },
  );
  if (document === null) throw new Problem("not-found/resource", "The carrier has no message of ours so.");
  const { state: message } = loadedOf<MessageState>(document, { schemaVersion: messageSchemaVersion });
  const n = message.attempts.findIndex((one) => one.carrierId === carrierId && one.vendor === vendor);
  const data: MessageStatusReport = { ...report, vendor, reference: attemptReference(message, n) };
  await dispatch("note-status", { ...command, name: "message.note-status", entity: message.messageId, data });
};

/** Of the messages to one contact, newest first: a contact may be planned in many and written to in few. */
const looksMax = 20;

interface ReadersWord extends Pick<MessageStatusReport, "vendor" | "state" | "at"> {
  mark: string;
  channel: Channel;
}

/**
 * Which message somebody's own word is about: the newest that had been sent there when they said it, or, as clocks differ, soon after. A
 * reply is told by who carried it; what is wanted or not wanted any more holds for all carriers. Of a drill nobody has had anything.
 * @param messages newest first
 */
export const spokenOf = (
  messages: readonly MessageState[],
  { mark, channel, vendor, state, at }: ReadersWord,
): { message: MessageState; n: number } | undefined => {
  for (const byMs of [Date.parse(at), Date.parse(at) + carrierSkewMsMax])
    for (const message of messages) {
      const n = message.attempts.findIndex(
        (one) =>
          one.mark === mark &&
          one.channel === channel &&
          message.kind === undefined &&
          one.sentAt !== undefined &&
          one.sentAt.getTime() <= byMs &&
          (state !== "replied" || one.vendor === vendor),
      );
      if (n !== -1) return { message, n };
    }
  return undefined;
};

/**
 * A reader writes to the number, not to a message of ours: it counts for the latest that they had been sent there, by the index `contact`.
 * What they want or do not want any more counts also when that message is gone.
 */
const ofReader = async (context: ActorContext, command: Command, dispatch: Dispatch): Promise<void> => {
  const { tenant } = command;
  const report = command.data as MessageStatusReport & { channel: Channel; sealedRecipient: string };
  const { channel, state, at } = report;
  const recipient = openedRecipient(context.config.sealKey, report.sealedRecipient);
  const mark = markOf(context.config.sealKey, tenant, channel, normalContact(channel, recipient));
  const collection = messagesOf(context, tenant);
  // A carrier that signs no time is dated when it is heard: what it sends again is about what it was about, not about what came since.
  const heard = { "attempts.mark": mark, "handled.id": command.id };
  if ((await collection.findOne(heard, { projection: { _id: 1 } })) !== null) return;
  const documents = await collection
    .find({ "attempts.mark": mark }, { projection: { handled: 0, outbox: 0 } })
    .sort({ _id: -1 })
    .limit(looksMax)
    .toArray();
  const messages = documents.map(
    (document) => loadedOf<MessageState>(document, { schemaVersion: messageSchemaVersion }).state,
  );
  const spoken = spokenOf(messages, { ...report, mark });
  if (spoken !== undefined) {
    const { message, n } = spoken;
    const { vendor } = message.attempts[n] as Attempt;
    const data: MessageStatusReport = { vendor, reference: attemptReference(message, n), state, at };
    const entity = message.messageId;
    await dispatch("note-status", { ...command, name: "message.note-status", entity, data });
    return;
  }
  if (state !== "opted-out" && state !== "opted-in")
    throw new Problem("not-found/resource", "Nobody was written to at this number or address.");
  const verb = state === "opted-out" ? "opt-out" : "opt-in";
  const latest = new Date(context.clock.now().getTime() + carrierSkewMsMax);
  const said = Date.parse(at) > latest.getTime() ? latest.toISOString() : at;
  const data: Preference = { channel, at: said, toldId: command.id };
  await dispatch(verb, { ...command, name: `message.${verb}`, entity: contactIdOf(tenant, mark), data });
};

/** @throws Problem validation/body: sealed elsewhere */
const openedRecipient = (sealKey: Buffer, sealed: string): string => {
  try {
    return unseal(sealKey, sealed);
  } catch (error) {
    if (error instanceof SealError)
      throw new Problem("validation/body", "The recipient was not sealed by this service.");
    throw error;
  }
};
