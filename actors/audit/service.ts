/** Wires the audit actor: reports of changes become entries of their chains, which are read by case, by entity, and searched. */
import type { AuditExportQuery, ExportedAudit } from "../../schemas/audit.ts";
import type { Command, EventRecord, Reply } from "../../schemas/command.ts";
import { parseUrn, urn } from "../../schemas/urn.ts";
import { consume, type Delivery, type Disposition, done } from "../../streams/consume.ts";
import { parseSubject, typeFilter } from "../../streams/subjects.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { ownReport, reportOf } from "./entry.ts";
import { auditIndexes, auditQueries } from "./queries.ts";
import { Appender } from "./trail.ts";

/** A report that the runtime's messages carry; anything else can never become an entry. */
const take = async (appender: Appender, delivery: Delivery): Promise<Disposition> => {
  const event = delivery.json() as EventRecord;
  const report = reportOf(event);
  const tenant = parseUrn(event.tenant ?? "")?.tenant;
  if (report === undefined || tenant === undefined || tenant !== parseSubject(delivery.subject)?.tenant) {
    return { kind: "dead", reason: "This is no report of a change by the airline that its subject names." };
  }
  await appender.append(tenant, report);
  return done;
};

export const auditActor = (context: ActorContext): Actor => {
  const appender = new Appender((tenant) => context.documents.tenant(tenant), context.faults);

  /** The trail's own events are entries at once: their command has no other document to be in the outbox of. */
  const note = async (command: Command, after: unknown): Promise<Reply> => {
    const report = ownReport(command, context.clock.now(), after);
    await appender.append(command.tenant, report);
    return { ok: { entryUrn: urn("event", report._id) } };
  };

  return {
    name: "audit",
    deciders: [],
    collections: { audit: auditIndexes, auditHeads: [] },
    queries: auditQueries(context),
    commands: {
      /** Before the first row leaves: who is given what. */
      "begin-export": (command) => {
        const { filters } = command.data as { filters: AuditExportQuery };
        return note(command, { filters });
      },
      /** How many rows have left, and whether those were all. */
      "end-export": (command) => {
        const { filters, rows, complete } = command.data as ExportedAudit;
        return note(command, { filters, rows, complete });
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
        handle: (delivery) => take(appender, delivery),
        beforeAck: () => context.faults("before-ack", "audit.recorded"),
      });
      return () => consuming.stop();
    },
  };
};
