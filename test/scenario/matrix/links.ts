// Links in messages: where no vendor carries any, a message stands as it would have been sent, with the links of all its attempts.
import { randomBytes } from "node:crypto";
import type { Document } from "mongodb";
import type { Attempt, MessageState } from "../../../actors/message/state.ts";
import { digestOfMagicLink, magicLinkToken } from "../../../schemas/magic-link.ts";
import { idOf } from "../../../schemas/urn.ts";
import type { Clients } from "../../harness/clients.ts";
import type { Belongings } from "./world.ts";

const count = 10;

/** Gives out a token that is still good, another one each time. */
export const writeLinks = async (
  { documents }: Clients,
  { caseUrn, subCaseUrn, passengerUrn }: Belongings,
): Promise<() => string> => {
  const [tenant, at] = ["XN", new Date()];
  const tokens = Array.from({ length: count }, () => magicLinkToken(tenant, randomBytes(32)));
  const attempts = tokens.map(
    (token): Attempt => ({
      ...{ channel: "EMAIL", vendor: "smtp", recipient: "a•••@example.com", mark: "matrix", status: "SENT" },
      ...{ passengerUrn, at, sentAt: at, link: digestOfMagicLink(token) },
    }),
  );
  const message: MessageState = {
    ...{
      messageId: `${tenant}-01JD0000000000000000000077`,
      reference: "matrix",
      groupId: "A",
      airport: "JFK",
    },
    ...{ caseId: idOf(caseUrn), subCaseId: idOf(subCaseUrn), template: "offer-ready", language: "en" },
    facts: { airline: "Northern Cross", timeZone: "America/New_York", flight: "XN482" },
    ...{ attempts, queuedAt: at, sentAt: at, endedAt: at },
  };
  const stored = { ...message, _id: message.messageId, schemaVersion: 1, revision: 1, version: 1 };
  await documents
    .tenant(tenant)
    .collection<Document>("messages")
    .insertOne(stored as never);
  return () => tokens.pop() ?? "";
};
