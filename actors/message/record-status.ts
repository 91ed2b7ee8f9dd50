/** Owns finding what a carrier tells of: the message by our reference, or, of what a reader says of themselves, the latest one to them. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import { type MessageStatusReport, messageStates } from "../../schemas/message.ts";
import { Problem } from "../../schemas/problems.ts";
import { type Channel, channels } from "../../schemas/vocabulary.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { SealError, unseal } from "../runtime/seal.ts";
import { loadedOf } from "../runtime/store.ts";
import { normalContact } from "./contact.ts";
import { messageCollection, messageSchemaVersion } from "./messages.ts";
import { contactIdOf, markOf, type Preference } from "./preferences.ts";
import { attemptOf, attemptReference, type MessageState } from "./state.ts";

const isReport = ({
  reference,
  channel,
  sealedRecipient,
  state,
  at,
}: Partial<MessageStatusReport>): boolean =>
  (typeof reference === "string" ||
    (typeof sealedRecipient === "string" && channels.some((one) => one === channel))) &&
  messageStates.some((one) => one === state) &&
  typeof at === "string" &&
  !Number.isNaN(Date.parse(at));

/** @throws Problem validation/body; not-found/resource: nobody was written to so */
export const recordStatus =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const report = command.data as MessageStatusReport;
    if (!isReport(report)) throw new Problem("validation/body", "This is no report of a message.");
    if (report.reference === undefined) await ofReader(context, command, dispatch);
    else await ofMessage(context, command, dispatch, report.reference);
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

/** Of the messages to one contact, newest first: a contact may be planned in many and written to in few. */
const looksMax = 20;

/**
 * A reader writes to the number, not to a message of ours: it counts for the latest that they were sent there, by the index `contact`.
 * What they want or do not want any more counts also when that message is gone.
 */
const ofReader = async (context: ActorContext, command: Command, dispatch: Dispatch): Promise<void> => {
  const { tenant } = command;
  const report = command.data as MessageStatusReport & { channel: Channel; sealedRecipient: string };
  const { channel, state, at } = report;
  const recipient = openedRecipient(context.config.sealKey, report.sealedRecipient);
  const mark = markOf(context.config.sealKey, tenant, channel, normalContact(channel, recipient));
  const documents = await messagesOf(context, tenant)
    .find({ "attempts.mark": mark }, { projection: { handled: 0, outbox: 0 } })
    .sort({ _id: -1 })
    .limit(looksMax)
    .toArray();
  for (const document of documents) {
    const { state: message } = loadedOf<MessageState>(document, { schemaVersion: messageSchemaVersion });
    const n = message.attempts.findIndex((one) => one.mark === mark && one.channel === channel && one.sentAt);
    if (n === -1) continue;
    const data: MessageStatusReport = { reference: attemptReference(message, n), state, at };
    const entity = message.messageId;
    await dispatch("note-status", { ...command, name: "message.note-status", entity, data });
    return;
  }
  if (state !== "opted-out" && state !== "opted-in")
    throw new Problem("not-found/resource", "Nobody was written to at this number or address.");
  const verb = state === "opted-out" ? "opt-out" : "opt-in";
  const now = context.clock.now();
  const data: Preference = { channel, at: Date.parse(at) > now.getTime() ? now.toISOString() : at };
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
