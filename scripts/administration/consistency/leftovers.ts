/** Owns finding what was left lying: outboxes and timers that a sweep should have found long ago, commands, dead letters. */
import type { Db, Document } from "mongodb";
import type { Streams } from "../../../streams/connection.ts";
import { listDeadLetters } from "../../../streams/dead-letters.ts";
import { tenantCommandFilter } from "../../../streams/subjects.ts";
import { waitingCommands } from "./airline.ts";
import type { Finding, FindingKind } from "./finding.ts";

/** In every collection that has the sweeps' indexes. @param before what has waited since then is overdue */
export const overdueDocuments = async (database: Db, tenant: string, before: Date): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { name } of await database.listCollections().toArray()) {
    const collection = database.collection<Document & { _id: string }>(name);
    const indexes = new Set((await collection.indexes()).map((index) => index.name));
    const finding = (kind: FindingKind, id: string, detail: string): void => {
      findings.push({ kind, tenant, about: `${name} ${id}`, detail });
    };
    if (indexes.has("pending")) {
      const waiting = collection.find(
        { pendingSince: { $lte: before } },
        { projection: { pendingSince: 1, outboxCount: 1 } },
      );
      for await (const { _id, pendingSince } of waiting)
        finding("outbox", _id, `messages wait in its outbox since ${pendingSince.toISOString()}.`);
    }
    if (indexes.has("due")) {
      const overdue = collection.find({ nextDueAt: { $lte: before } }, { projection: { nextDueAt: 1 } });
      for await (const { _id, nextDueAt } of overdue)
        finding("timer", _id, `a timer was due at ${nextDueAt.toISOString()}.`);
    }
  }
  return findings;
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
