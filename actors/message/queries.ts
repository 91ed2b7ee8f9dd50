/** Owns the reads of messages, each beside the index that serves it (`messageIndexes`). */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { MagicLinkFound } from "../../schemas/magic-link.ts";
import type { NotificationRecord, NotificationView } from "../../schemas/notification.ts";
import type { MeView } from "../../schemas/passenger-api.ts";
import { isSessionOf } from "../../schemas/passenger-session.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import { messageCollection, messageSchemaVersion } from "./messages.ts";
import type { MessageState } from "./state.ts";
import { messageRecord, notificationView } from "./view.ts";

const projection = { handled: 0, outbox: 0 };
const stateIn = (document: Document): MessageState =>
  loadedOf<MessageState>(document, { schemaVersion: messageSchemaVersion }).state;

export const messageQueries = (context: ActorContext) => {
  const messages = (tenant: string) =>
    context.documents.tenant(tenant).collection<Document>(messageCollection);
  return {
    /** GET /v1/notifications/case/{caseUrn}, by the index `case`: newest first. */
    "of-case": async (query: Query): Promise<Page<NotificationRecord>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      const filter = { caseId: idOf(caseUrn) };
      return readPage(messages(query.tenant), { filter, params: query.params, projection }, (document) =>
        messageRecord(stateIn(document)),
      );
    },

    /** For a login, by the index `link`: whom the link with this digest was written to; null: nobody, or in a drill. */
    link: async ({ tenant, params }: Query): Promise<MagicLinkFound | null> => {
      const { digest } = params as { digest: string };
      const found = await messages(tenant).findOne({ "attempts.link": digest }, { projection });
      if (found === null) return null;
      const { caseId, groupId, kind, queuedAt, attempts } = stateIn(found);
      const attempt = attempts.find(({ link }) => link === digest);
      // A drill may have been made of a real manifest: its people are not in it.
      if (attempt === undefined || kind !== undefined) return null;
      return { caseId, groupId, passengerUrn: attempt.passengerUrn, madeAt: queuedAt.toISOString() };
    },

    /** GET /v1/me/notifications, by the index `group`: what was sent to the group that the session's passenger is in now, or to them alone. */
    mine: async (query: Query): Promise<Page<NotificationView>> => {
      const me = await context.call<MeView>("sub-case.me", { ...query, params: {} });
      const { caseUrn, groupId, passengers } = me;
      const own = passengers.map(({ urn }) => urn).filter((urn) => isSessionOf(query.principal.urn, urn));
      const forThem = { $or: [{ onlyFor: { $exists: false } }, { onlyFor: { $in: own } }] };
      const filter = { caseId: idOf(caseUrn), groupId, sentAt: { $exists: true }, ...forThem };
      return readPage(messages(query.tenant), { filter, params: query.params, projection }, (document) =>
        notificationView(stateIn(document)),
      );
    },
  };
};
