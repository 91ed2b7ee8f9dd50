/** Wires the audit actor: reports of changes become entries that are only ever inserted, and read by case or entity. */
import type { Document } from "mongodb";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { EventRecord, Page, Query } from "../../schemas/command.ts";
import { idOf, parseUrn, urn } from "../../schemas/urn.ts";
import { consume, type Delivery, type Disposition, done } from "../../streams/consume.ts";
import { parseSubject, typeFilter } from "../../streams/subjects.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { type AuditEntry, entryOf, entryView } from "./entry.ts";

/** Serve `of-case` and `of-entity`: newest first along the immutable id. */
export const auditIndexes = [
  { name: "case", key: { caseId: 1, _id: -1 }, partialFilterExpression: { caseId: { $exists: true } } },
  { name: "entity", key: { entityUrn: 1, _id: -1 } },
] as const;

const duplicateKey = 11000;

const append = async (context: ActorContext, delivery: Delivery): Promise<Disposition> => {
  const event = delivery.json() as EventRecord;
  const entry = entryOf(event);
  const tenant = parseUrn(event.tenant ?? "")?.tenant;
  if (entry === undefined || tenant === undefined || tenant !== parseSubject(delivery.subject)?.tenant) {
    return { kind: "dead", reason: "This is no report of a change by the airline that its subject names." };
  }
  try {
    await context.documents.tenant(tenant).collection<AuditEntry>("audit").insertOne(entry);
  } catch (error) {
    if ((error as { code?: number }).code !== duplicateKey) throw error;
  }
  return done;
};

const pageOf = (context: ActorContext, { tenant, params }: Query, filter: Document) =>
  readPage(context.documents.tenant(tenant).collection<Document>("audit"), { filter, params }, (document) =>
    entryView(document as unknown as AuditEntry),
  );

/** @throws Problem not-found/resource, or auth/foreign-airport for an operator scoped to another airport */
const requireCase = (context: ActorContext, query: Query, caseUrn: string): Promise<unknown> =>
  context.call("case.head", { ...query, params: { caseUrn } });

export const auditActor = (context: ActorContext): Actor => ({
  name: "audit",
  deciders: [],
  collections: { audit: auditIndexes },
  queries: {
    /** What happened to a case and everything in it. */
    "of-case": async (query): Promise<Page<AuditEntryView>> => {
      const caseUrn = query.params.caseUrn as string;
      await requireCase(context, query, caseUrn);
      return pageOf(context, query, { caseId: idOf(caseUrn) });
    },
    "of-entity": async (query): Promise<Page<AuditEntryView>> => {
      const { kind, id } = parseUrn(query.params.entityUrn as string) ?? {};
      const entityUrn = kind === undefined || id === undefined ? "" : urn(kind, id);
      const page = await pageOf(context, query, { entityUrn });
      const caseUrn = page.items[0]?.caseUrn;
      if (caseUrn !== undefined) await requireCase(context, query, caseUrn);
      return page;
    },
  },
  start: async () => {
    const consuming = await consume(context.streams, {
      stream: "INTERNAL",
      durable: "audit",
      filterSubjects: [typeFilter("int", "audit.recorded")],
      owner: "audit",
      concurrency: 64,
      ackWaitMs: context.config.ACK_WAIT_MS,
      log: context.log,
      handle: (delivery) => append(context, delivery),
      beforeAck: () => context.faults("before-ack", "audit.recorded"),
    });
    return () => consuming.stop();
  },
});
