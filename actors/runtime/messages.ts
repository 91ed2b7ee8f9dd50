/** Owns what a change sends out: the decider's messages and the audit entry, with the ids that make a repeat the same message. */
import type { EventRecord } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { commandSubject, eventSubject, internalSubject, splitName } from "../../streams/subjects.ts";
import { causedId, freshId } from "./clock.ts";
import type { Change, Decider, DomainEvent, Outgoing, Received } from "./decider.ts";
import { systemCommand } from "./send.ts";

/** What a change sends out: the decider's messages, and one audit entry for whatever a human or partner did. */
export const messagesOf = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  change: Change<State, Event>,
): { subject: string; payload: string }[] => {
  const { command, after, events } = change;
  const outgoing = events.flatMap((event) => decider.outgoing?.(event, after, command, change.id) ?? []);
  const audit = auditOf(decider, change);
  const changed = decider.changed?.(change) ?? [];
  return [...outgoing, ...changed, ...(audit === undefined ? [] : [audit])].map((message, i) =>
    messageOf(command, message, i),
  );
};

const auditOf = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  change: Change<State, Event>,
): Outgoing | undefined => {
  const { id: entity, command, after } = change;
  const note = decider.audit?.(change);
  if (note === null || (note === undefined && command.principal.surface === "system")) return undefined;
  const given = (command.data as { reason?: unknown } | null)?.reason;
  const airport = note?.airport ?? (after as { airport?: unknown }).airport;
  return {
    to: "internal",
    type: "audit.recorded",
    id: entity,
    ...(note?.caseId === undefined ? {} : { caseId: note.caseId }),
    data: {
      entityUrn: urn(decider.kind, entity),
      action: note?.action ?? command.name,
      principal: command.principal.urn,
      surface: command.principal.surface,
      role: command.principal.role,
      ...(typeof airport === "string" ? { airport } : {}),
      reason: note?.reason ?? (typeof given === "string" ? given : undefined),
      before: note?.before ?? null,
      after: note?.after ?? null,
    },
  };
};

/** An outbox entry's subject and body. `index` tells apart several messages of one decision. */
const messageOf = (
  command: Received,
  message: Outgoing,
  index: number,
): { subject: string; payload: string } => {
  const { tenant, correlationUrn, traceparent, now } = command;
  if (message.to === "command") {
    const sent = systemCommand(splitName(command.name)[0], command, {
      id: causedId(command.id, message.name, message.entity, index),
      name: message.name,
      entity: message.entity,
      data: message.data,
      now,
    });
    return { subject: commandSubject(tenant, message.name, message.entity), payload: JSON.stringify(sent) };
  }
  const caseId = message.caseId;
  const event: EventRecord = {
    urn: urn("event", freshId(tenant, now)),
    type: message.type,
    occurred_at: now.toISOString(),
    tenant: urn("airline", tenant),
    ...(caseId === undefined ? {} : { case_urn: urn("case", caseId) }),
    correlation_urn: correlationUrn,
    traceparent,
    data: message.data,
  };
  const subject =
    message.to === "public"
      ? eventSubject(tenant, message.type, message.caseId)
      : internalSubject(tenant, message.type, message.id);
  return { subject, payload: JSON.stringify(event) };
};
