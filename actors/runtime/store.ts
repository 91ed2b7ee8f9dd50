/** Owns the only writes to an entity's document: insert first, then compare-and-set on `(_id, revision)`. */
import type { Collection, Document, UpdateFilter } from "mongodb";
import type { Decider, DomainEvent, Timer } from "./decider.ts";

/** A message waiting in the outbox. `n` counts up without gaps from 1. */
export interface OutboxEntry {
  n: number;
  subject: string;
  payload: string;
}

export interface HandledEntry {
  id: string;
  at: Date;
  /** Business version after the command. */
  version: number;
}

/** What the runtime keeps beside the state, in the same document. */
export interface Meta {
  _id: string;
  /** Counts every write; the compare-and-set's guard. */
  revision: number;
  /** Counts business changes; ETag and what clients send back. */
  version: number;
  schemaVersion: number;
  handled: HandledEntry[];
  outbox: OutboxEntry[];
  /** Number of the last entry ever written. */
  outboxCount: number;
  /** Set while the outbox may hold unpublished entries; swept by age. */
  pendingSince?: Date;
  nextDueAt?: Date;
}

export interface Loaded<State> {
  meta: Meta;
  state: State;
  /** As it stands in the document: differs from `state` after a migration, which the next commit writes down. */
  stored: object;
}

export interface Commit<State> {
  entity: string;
  now: Date;
  before: Loaded<State> | undefined;
  after: State;
  /** Business version of `after`. */
  version: number;
  /** The commands that have led there, in their order. */
  handled: HandledEntry[];
  entries: { subject: string; payload: string }[];
  timers: Timer[];
}

/** Longer than any redelivery of a command that was acknowledged late. */
const handledForMs = 3_600_000;
/** Of a client's own command: contract, "Idempotency retention". */
const handledForClientsMs = 24 * 3_600_000;
const metaFields = new Set<string>([
  "_id",
  "revision",
  "version",
  "schemaVersion",
  "handled",
  "outbox",
  "outboxCount",
  "pendingSince",
  "nextDueAt",
]);

/** Indexes that every actor's collection has: what the sweeper looks for. */
export const runtimeIndexes = [
  { name: "pending", key: { pendingSince: 1 }, sparse: true },
  { name: "due", key: { nextDueAt: 1 }, sparse: true },
] as const;

/** Splits a stored document into the runtime's part and the actor's. */
export const loadedOf = <State extends object>(
  document: Document,
  decider: Pick<Decider<State, DomainEvent>, "schemaVersion" | "migrate">,
): Loaded<State> => {
  const meta: Record<string, unknown> = {};
  const state: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(document)) (metaFields.has(name) ? meta : state)[name] = value;
  const from = meta.schemaVersion as number;
  const current =
    from === decider.schemaVersion || decider.migrate === undefined
      ? (state as State)
      : decider.migrate(state as State, from);
  return { meta: meta as unknown as Meta, state: current, stored: state };
};

const metaOf = (document: Document): Meta =>
  Object.fromEntries(Object.entries(document).filter(([name]) => metaFields.has(name))) as unknown as Meta;

/** The new meta of a committed change, or undefined when another writer was first: load again and decide again. */
export const commit = async <State extends object>(
  collection: Collection<Document>,
  schemaVersion: number,
  change: Commit<State>,
): Promise<Meta | undefined> =>
  change.before === undefined
    ? insert(collection, schemaVersion, change)
    : update(collection, schemaVersion, change, change.before);

const numbered = (entries: { subject: string; payload: string }[], after: number): OutboxEntry[] =>
  entries.map((entry, i) => ({ n: after + i + 1, ...entry }));

/** A document as the first commit of an entity writes it. */
export const firstDocument = <State extends object>(
  schemaVersion: number,
  change: Commit<State>,
): Meta & State => {
  const outbox = numbered(change.entries, 0);
  const due = earliest(change.timers);
  const meta: Meta = {
    _id: change.entity,
    revision: 1,
    version: change.version,
    schemaVersion,
    handled: change.handled,
    outbox,
    outboxCount: outbox.length,
    ...(outbox.length > 0 ? { pendingSince: change.now } : {}),
    ...(due === undefined ? {} : { nextDueAt: due }),
  };
  return { ...meta, ...change.after };
};

const insert = async <State extends object>(
  collection: Collection<Document>,
  schemaVersion: number,
  change: Commit<State>,
): Promise<Meta | undefined> => {
  const document = firstDocument(schemaVersion, change);
  const inserted = await unlessTaken(collection.insertOne(document as unknown as Document).then(() => true));
  return inserted === undefined ? undefined : metaOf(document);
};

/** Undefined: another document has a name that is to be unique (MongoDB's 11000). Whoever decides again may find it. */
const unlessTaken = async <Result>(write: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await write;
  } catch (error) {
    if ((error as { code?: number }).code === 11000) return undefined;
    throw error;
  }
};

const update = async <State extends object>(
  collection: Collection<Document>,
  schemaVersion: number,
  change: Commit<State>,
  before: Loaded<State>,
): Promise<Meta | undefined> => {
  const outbox = numbered(change.entries, before.meta.outboxCount);
  const due = earliest(change.timers);
  const { version } = change;
  const set: Record<string, unknown> = {
    revision: before.meta.revision + 1,
    version,
    schemaVersion,
    outboxCount: before.meta.outboxCount + outbox.length,
  };
  const unset: Record<string, ""> = {};
  for (const name of new Set([...Object.keys(before.stored), ...Object.keys(change.after)])) {
    const value = (change.after as Record<string, unknown>)[name];
    if (value === (before.stored as Record<string, unknown>)[name]) continue;
    if (value === undefined) unset[name] = "";
    else set[name] = value;
  }
  if (outbox.length > 0) set.pendingSince = change.now;
  if (due !== undefined) set.nextDueAt = due;
  else if (before.meta.nextDueAt !== undefined) unset.nextDueAt = "";
  const kept = keptHandled(before.meta.handled, change.now);
  const handled = [...kept, ...change.handled];
  if (kept !== before.meta.handled) set.handled = handled;
  const push: Record<string, unknown> = outbox.length > 0 ? { outbox: { $each: outbox } } : {};
  if (set.handled === undefined && change.handled.length > 0) push.handled = { $each: change.handled };
  const write: Record<string, unknown> = { $set: set };
  if (Object.keys(unset).length > 0) write.$unset = unset;
  if (Object.keys(push).length > 0) write.$push = push;
  const result = await unlessTaken(
    collection.updateOne(
      { _id: change.entity as never, revision: before.meta.revision },
      write as UpdateFilter<Document>,
    ),
  );
  if (result === undefined || result.matchedCount === 0) return undefined;
  return {
    ...before.meta,
    revision: before.meta.revision + 1,
    version,
    schemaVersion,
    handled,
    outbox: [...before.meta.outbox, ...outbox],
    outboxCount: before.meta.outboxCount + outbox.length,
    ...(due === undefined ? { nextDueAt: undefined as never } : { nextDueAt: due }),
  };
};

const isClients = (id: string): boolean => id.startsWith("api:");

const isRemembered = ({ id, at }: HandledEntry, now: Date): boolean =>
  at.getTime() >= now.getTime() - (isClients(id) ? handledForClientsMs : handledForMs);

/**
 * A client may give its key to something new after its day, whether or not a commit has cleared the entry since. A
 * command of ours is the same one however late it comes again.
 */
export const isHandled = (handled: HandledEntry[], commandId: string, now: Date): boolean =>
  handled.some((entry) => entry.id === commandId && (!isClients(commandId) || isRemembered(entry, now)));

/** The same array when nothing has expired; the guard on `revision` makes rewriting it safe. */
const keptHandled = (handled: HandledEntry[], now: Date): HandledEntry[] =>
  handled.every((entry) => isRemembered(entry, now))
    ? handled
    : handled.filter((entry) => isRemembered(entry, now));

const earliest = (timers: Timer[]): Date | undefined =>
  timers.reduce<Date | undefined>(
    (first, { dueAt }) => (first === undefined || dueAt < first ? dueAt : first),
    undefined,
  );
