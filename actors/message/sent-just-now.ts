/** Owns what of a case was written just now, or is being tried: what a person has sent twice in a row is sent once. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import type { ActorContext } from "../runtime/host.ts";
import { messageCollection } from "./messages.ts";
import type { MessageState } from "./state.ts";

export type Recent = Pick<MessageState, "reference" | "groupId" | "onlyFor" | "channels" | "facts">;

/** So long the same counts as just now. */
const justNowMs = 60_000;

/** By the index `case`: the case's messages of this template. */
export const sentJustNow = async (
  { documents, clock }: ActorContext,
  { tenant }: Pick<Command, "tenant">,
  caseId: string,
  template: NotificationTemplate,
): Promise<Recent[]> => {
  const since = new Date(clock.now().getTime() - justNowMs);
  const found = await documents
    .tenant(tenant)
    .collection<Document>(messageCollection)
    .find(
      { caseId, template, $or: [{ call: { $exists: true } }, { queuedAt: { $gt: since } }] },
      { projection: { reference: 1, groupId: 1, onlyFor: 1, channels: 1, facts: 1 } },
    )
    .toArray();
  return found as unknown as Recent[];
};
