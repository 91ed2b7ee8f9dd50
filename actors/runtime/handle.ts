/** Owns the way of one command through an actor: load → decide → evolve → commit, again when another writer was first. */
import type { Document } from "mongodb";
import type { Logger } from "pino";
import type { Command, EventRecord } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { commandSubject, eventSubject, internalSubject, splitName } from "../../streams/subjects.ts";
import { type Clock, causedId, freshId } from "./clock.ts";
import {
  type Change,
  type Decider,
  type DomainEvent,
  NotYet,
  type Outgoing,
  type Received,
  type Timer,
} from "./decider.ts";
import type { TenantDocuments } from "./documents.ts";
import type { Faults } from "./faults.ts";
import { Recent } from "./recent.ts";
import type { Relay } from "./relay.ts";
import { systemCommand } from "./send.ts";
import { KeyedQueue } from "./serial.ts";
import { commit, isHandled, type Loaded, loadedOf, type Meta } from "./store.ts";

/** Lost races in a row before the caller is told to come back. In one process the queue prevents them altogether. */
const racesMax = 25;

export interface Handled<State> {
  state: State;
  meta: Meta;
  /** This very command had been handled before. */
  repeated: boolean;
}

/** @throws Problem a refusal @throws NotYet the entity or its predecessor isn't there yet */
export type Handler<State> = (command: Command) => Promise<Handled<State>>;

export interface HandlerOptions<State extends object, Event extends DomainEvent> {
  decider: Decider<State, Event>;
  documents(tenant: string): TenantDocuments;
  relay(tenant: string): Relay;
  /** Told of every state's timers after a commit. */
  scheduleTimers(tenant: string, entity: string, timers: Timer[]): void;
  clock: Clock;
  faults: Faults;
  log: Logger;
}

interface Handling<State extends object, Event extends DomainEvent> extends HandlerOptions<State, Event> {
  recent: Recent<State>;
}

export const createHandler = <State extends object, Event extends DomainEvent>(
  options: HandlerOptions<State, Event>,
): Handler<State> => {
  const queue = new KeyedQueue();
  const handling = { ...options, recent: new Recent<State>(options.decider.remembered ?? 0) };
  return (command) => {
    const key = command.entity || JSON.stringify(options.decider.locate?.(command) ?? command.id);
    return queue.run(`${command.tenant}/${key}`, () => attempt(handling, command));
  };
};

const attempt = async <State extends object, Event extends DomainEvent>(
  options: Handling<State, Event>,
  command: Command,
): Promise<Handled<State>> => {
  const committed = await onRecent(options, command);
  if (committed !== undefined) return committed;
  for (let race = 0; race < racesMax; race++) {
    const handled = await once(options, command);
    if (handled !== undefined) return handled;
    options.log.debug({ command: command.name, race }, "lost a race, deciding again");
  }
  throw new Problem("conflict/concurrent-write", "Others keep changing it. Load it again and repeat.");
};

/** What comes of the command on what this process wrote last, where that is a commit; else undefined. */
const onRecent = async <State extends object, Event extends DomainEvent>(
  options: Handling<State, Event>,
  command: Command,
): Promise<Handled<State> | undefined> => {
  const recent = options.recent.take(command.tenant, command.entity);
  if (recent === undefined) return undefined;
  try {
    const handled = await decided(options, command, recent);
    return handled !== undefined && handled.meta.revision > recent.meta.revision ? handled : undefined;
  } catch (error) {
    if (error instanceof Problem || error instanceof NotYet) return undefined;
    throw error;
  }
};

const once = async <State extends object, Event extends DomainEvent>(
  options: Handling<State, Event>,
  command: Command,
): Promise<Handled<State> | undefined> => {
  const { decider } = options;
  const collection = options.documents(command.tenant).collection<Document>(decider.collection);
  const filter = command.entity ? { _id: command.entity as never } : decider.locate?.(command);
  const document = filter === undefined ? null : await collection.findOne(filter);
  return decided(options, command, document === null ? undefined : loadedOf(document, decider));
};

/** Undefined when another writer was first. */
const decided = async <State extends object, Event extends DomainEvent>(
  options: Handling<State, Event>,
  command: Command,
  before: Loaded<State> | undefined,
): Promise<Handled<State> | undefined> => {
  const { decider } = options;
  const now = options.clock.now();
  const received: Received = { ...command, now };
  if (before !== undefined && isHandled(before.meta.handled, command.id, now)) {
    // It comes again because a process died with it: what that one had yet to publish needn't wait for the sweep.
    if (before.meta.outbox.length > 0) void options.relay(command.tenant).relay(before.meta);
    return { state: before.state, meta: before.meta, repeated: true };
  }
  const entity = before?.meta._id ?? (command.entity || decider.create?.(received));
  if (entity === undefined) throw new Problem("not-found/resource", `No such ${decider.kind}.`);
  const gathered = await decider.gather?.(received, before?.state);
  const events = decideSeen(decider, before, received, gathered);
  if (events.length === 0) {
    if (before === undefined) throw new Problem("not-found/resource", `No such ${decider.kind}.`);
    return { state: before.state, meta: before.meta, repeated: false };
  }
  // Only now: asking again for what has been done already changes nothing, whatever version was seen.
  checkVersion(command, before);
  return commitEvents(options, received, { entity, before, events });
};

/** One write for all that follows from the decision; undefined when another writer was first. */
const commitEvents = async <State extends object, Event extends DomainEvent>(
  options: Handling<State, Event>,
  command: Received,
  decision: { entity: string; before: Loaded<State> | undefined; events: Event[] },
): Promise<Handled<State> | undefined> => {
  const { decider } = options;
  const { entity, before, events } = decision;
  options.recent.take(command.tenant, entity);
  const after = events.reduce<State | undefined>(decider.evolve, before?.state) as State;
  const change: Change<State, Event> = { id: entity, command, before: before?.state, after, events };
  const timers = decider.timers?.(after) ?? [];
  const collection = options.documents(command.tenant).collection<Document>(decider.collection);
  const meta = await commit(collection, decider.schemaVersion, {
    tenant: command.tenant,
    entity,
    command,
    now: command.now,
    before,
    after,
    business: events.some(({ type }) => !decider.technical?.has(type)),
    entries: messagesOf(decider, change),
    timers,
  });
  if (meta === undefined) return undefined;
  options.faults("after-commit", command.name);
  options.recent.put(command.tenant, { meta, state: after, stored: after });
  void options
    .relay(command.tenant)
    .relay(meta)
    .then((whole) => {
      // What could not be published the sweep will bring, and nobody tells of it: the document has to be asked again.
      if (whole) options.recent.published(command.tenant, entity, meta.outboxCount);
      else options.recent.take(command.tenant, entity);
    });
  options.scheduleTimers(command.tenant, entity, timers);
  return { state: after, meta, repeated: false };
};

/** A conflict met by a caller who has seen an older version is told as that, with the current one (contract, "Errors"). */
const decideSeen = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  before: Loaded<State> | undefined,
  command: Received,
  gathered: unknown,
): Event[] => {
  try {
    return decider.decide(before?.state, command, gathered);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409 || before === undefined) throw error;
    checkVersion(command, before);
    throw new Problem(error.code, error.message, { version: before.meta.version, ...error.members });
  }
};

const checkVersion = <State>(command: Command, before: Loaded<State> | undefined): void => {
  if (command.expectedVersion === undefined || before === undefined) return;
  if (command.expectedVersion === before.meta.version) return;
  throw new Problem(
    "conflict/version",
    `You have seen version ${command.expectedVersion}; it is at ${before.meta.version}. Load it again and decide anew.`,
    { version: before.meta.version },
  );
};

/** What a change sends out: the decider's messages, and one audit entry for whatever a human or partner did. */
export const messagesOf = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  change: Change<State, Event>,
): { subject: string; payload: string }[] => {
  const { command, after, events } = change;
  const outgoing = events.flatMap((event) => decider.outgoing?.(event, after, command, change.id) ?? []);
  const audit = auditOf(decider, change);
  return [...outgoing, ...(audit === undefined ? [] : [audit])].map((message, i) =>
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
