/** Owns finding what was left lying: outboxes and timers that a sweep should have found long ago, commands, dead letters. */
import type { Db, Document } from "mongodb";
import type { Streams } from "../../../streams/connection.ts";
import { listDeadLetters } from "../../../streams/dead-letters.ts";
import { tenantCommandFilter } from "../../../streams/subjects.ts";
import { waitingCommands } from "./airline.ts";
import type { Finding, FindingKind } from "./finding.ts";

/** In every collection that has the sweeps' indexes. @param before what has waited since then is overdue */
export const overdueDocuments = async (database: Db, tenant: string, before: Date): Promise<Finding[]> => {
  const collections = await database.listCollections({}, { nameOnly: true }).toArray();
  const found = await Promise.all(collections.map(({ name }) => overdueIn(database, name, tenant, before)));
  return found.flat();
};

const overdueIn = async (database: Db, name: string, tenant: string, before: Date): Promise<Finding[]> => {
  const collection = database.collection<Document & { _id: string }>(name);
  const indexes = new Set((await collection.indexes()).map((index) => index.name));
  const late = { $lte: before };
  const wanted = [
    ...(indexes.has("pending") ? [{ pendingSince: late }] : []),
    ...(indexes.has("due") ? [{ nextDueAt: late }] : []),
  ];
  if (wanted.length === 0) return [];
  const projection = { pendingSince: 1, nextDueAt: 1 };
  const rows = await collection.find({ $or: wanted }, { projection }).toArray();
  const isLate = (at: unknown): at is Date => at instanceof Date && at <= before;
  return rows.flatMap(({ _id, pendingSince, nextDueAt }) => {
    const finding = (kind: FindingKind, detail: string): Finding => ({
      ...{ kind, tenant, about: `${name} ${_id}`, detail },
    });
    return [
      ...(isLate(pendingSince)
        ? [finding("outbox", `messages wait in its outbox since ${pendingSince.toISOString()}.`)]
        : []),
      ...(isLate(nextDueAt) ? [finding("timer", `a timer was due at ${nextDueAt.toISOString()}.`)] : []),
    ];
  });
};

/** Each by itself: under load many are waiting, but none for long. */
export const overdueCommands = async (streams: Streams, tenant: string, before: Date): Promise<Finding[]> => {
  const waiting = await waitingCommands(streams, tenantCommandFilter(tenant));
  return waiting
    .filter(({ storedAt }) => storedAt <= before)
    .map(({ subject, storedAt }) => ({
      kind: "command",
      tenant,
      about: subject,
      detail: `nobody has carried it out since ${storedAt.toISOString()}.`,
    }));
};

const deadLettersShownMax = 200;

export const deadLetters = async (streams: Streams): Promise<Finding[]> =>
  (await listDeadLetters(streams, { limit: deadLettersShownMax })).map((letter) => ({
    kind: "dead-letter",
    tenant: letter.tenant,
    about: `dead letter ${letter.sequence}`,
    detail: `${letter.actor} put aside ${letter.subject}: ${letter.reason}`,
  }));
