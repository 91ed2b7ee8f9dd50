/** Owns what an audit entry is: how one is made of the event that reports a change, and what a reader sees of it. */
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { EventRecord, Principal } from "../../schemas/command.ts";
import { idOf, parseUrn, urn } from "../../schemas/urn.ts";

/** As it is kept: inserted once, never changed. Ids begin with the time, so their order is the trail's. */
export interface AuditEntry {
  /** The id of the event that reported it: the same report again is the same entry. */
  _id: string;
  at: Date;
  /** URN of who acted. */
  actor: string;
  surface: Principal["surface"];
  role?: string;
  action: string;
  entityUrn: string;
  caseId?: string;
  reason?: string;
  before: unknown;
  after: unknown;
  correlationUrn: string;
}

/** Undefined when the event is no report of a change: it cannot become an entry, however often it comes. */
export const entryOf = (event: EventRecord): AuditEntry | undefined => {
  const { entityUrn, action, principal, surface, role, reason, before, after } = event.data ?? {};
  const id = parseUrn(event.urn ?? "");
  const at = new Date(event.occurred_at);
  if (id?.kind !== "event" || Number.isNaN(at.getTime())) return undefined;
  if (typeof entityUrn !== "string" || typeof action !== "string" || typeof principal !== "string") {
    return undefined;
  }
  return {
    _id: id.id,
    at,
    actor: principal,
    surface: surface as AuditEntry["surface"],
    ...(typeof role === "string" ? { role } : {}),
    action,
    entityUrn,
    ...(event.case_urn === undefined ? {} : { caseId: idOf(event.case_urn) }),
    ...(typeof reason === "string" ? { reason } : {}),
    before: before ?? null,
    after: after ?? null,
    correlationUrn: event.correlation_urn,
  };
};

export const entryView = (entry: AuditEntry): AuditEntryView => ({
  urn: urn("event", entry._id),
  at: entry.at.toISOString(),
  actor: entry.actor,
  action: entry.action,
  entityUrn: entry.entityUrn,
  ...(entry.caseId === undefined ? {} : { caseUrn: urn("case", entry.caseId) }),
  ...(entry.reason === undefined ? {} : { reason: entry.reason }),
  ...(entry.before === null ? {} : { before: entry.before }),
  ...(entry.after === null ? {} : { after: entry.after }),
  correlationUrn: entry.correlationUrn,
});
