/** Owns what an audit entry is: how one is made of the event or command that reports a change, and what a reader sees of it. */
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Command, EventRecord, Principal } from "../../schemas/command.ts";
import { parseUrn, type UrnKind, urn } from "../../schemas/urn.ts";
import type { Role } from "../../schemas/vocabulary.ts";
import { derivedId } from "../runtime/clock.ts";

/** What happened, before it has its place in a chain. */
export interface Report {
  /** The id of the event that reported it: the same report again is the same entry. */
  _id: string;
  /** Immutable and unique; sorts as the time of what happened. */
  listKey: string;
  at: Date;
  /** URN of who acted. */
  actor: string;
  surface: Principal["surface"];
  role?: Role;
  action: string;
  /** Kind of the entity; absent where its URN is none of ours. */
  kind?: UrnKind;
  entityUrn: string;
  caseId?: string;
  airport?: string;
  reason?: string;
  before: unknown;
  after: unknown;
  correlationUrn: string;
}

/** As it is kept: inserted once, never changed. */
export interface AuditEntry extends Report {
  chain: string;
  /** From 1, without gaps. */
  sequence: number;
  previousDigest: string;
  digest: string;
}

/** Begins the keys of all entries at or after a moment. */
export const listKeyFrom = (at: Date): string => at.toISOString();

const listKeyOf = (at: Date, id: string): string => `${listKeyFrom(at)}/${id}`;

/** Undefined when the event is no report of a change: it cannot become an entry, however often it comes. */
export const reportOf = (event: EventRecord): Report | undefined => {
  const { entityUrn, action, principal, surface, role, airport, reason, before, after } = event.data ?? {};
  const id = parseUrn(event.urn ?? "");
  const at = new Date(event.occurred_at);
  const caseUrn = event.case_urn === undefined ? undefined : parseUrn(event.case_urn);
  if (id?.kind !== "event" || Number.isNaN(at.getTime())) return undefined;
  if (event.case_urn !== undefined && caseUrn === undefined) return undefined;
  if (typeof entityUrn !== "string" || typeof action !== "string" || typeof principal !== "string") {
    return undefined;
  }
  const entity = parseUrn(entityUrn);
  const place = entity?.kind === "airport" ? entity.id : airport;
  return {
    _id: id.id,
    listKey: listKeyOf(at, id.id),
    at,
    actor: principal,
    surface: surface as Report["surface"],
    ...(typeof role === "string" ? { role: role as Role } : {}),
    action,
    ...(entity === undefined ? { entityUrn } : { kind: entity.kind, entityUrn: urn(entity.kind, entity.id) }),
    ...(caseUrn === undefined ? {} : { caseId: caseUrn.id }),
    ...(typeof place === "string" ? { airport: place } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    before: before ?? null,
    after: after ?? null,
    correlationUrn: event.correlation_urn,
  };
};

/** What somebody did with the trail itself; it concerns the airline, and the airport that they are scoped to. */
export const ownReport = (command: Command, now: Date, after: unknown): Report => {
  const { tenant, principal } = command;
  const issuedAt = new Date(command.issuedAt);
  const id = derivedId(tenant, `${command.name}:${command.id}`, issuedAt);
  // An export goes as far as its own beginning: whose clock is behind must not get into it.
  const at = now > issuedAt ? now : issuedAt;
  return {
    _id: id,
    listKey: listKeyOf(at, id),
    at,
    actor: principal.urn,
    surface: principal.surface,
    ...(principal.role === undefined ? {} : { role: principal.role }),
    action: command.name,
    kind: "airline",
    entityUrn: urn("airline", tenant),
    ...(principal.airport === undefined ? {} : { airport: principal.airport }),
    before: null,
    after,
    correlationUrn: command.correlationUrn,
  };
};

export const entryView = (entry: AuditEntry): AuditEntryView => ({
  urn: urn("event", entry._id),
  at: entry.at.toISOString(),
  actor: entry.actor,
  surface: entry.surface,
  ...(entry.role === undefined ? {} : { role: entry.role }),
  action: entry.action,
  entityUrn: entry.entityUrn,
  ...(entry.caseId === undefined ? {} : { caseUrn: urn("case", entry.caseId) }),
  ...(entry.airport === undefined ? {} : { airport: entry.airport }),
  ...(entry.reason === undefined ? {} : { reason: entry.reason }),
  ...(entry.before === null ? {} : { before: entry.before }),
  ...(entry.after === null ? {} : { after: entry.after }),
  correlationUrn: entry.correlationUrn,
  chain: {
    name: entry.chain,
    sequence: entry.sequence,
    previousDigest: entry.previousDigest,
    digest: entry.digest,
  },
});
