/** Owns what an actor tells the runtime about itself: pure decisions, states, timers, messages out, reactions in. */
import type { IndexDescription } from "mongodb";
import type { Command, EventRecord } from "../../schemas/command.ts";
import type { UrnKind } from "../../schemas/urn.ts";

/** A domain event: something that has happened to one entity. Kept only as the state that it leads to. */
export interface DomainEvent {
  type: string;
}

/** A command as a decision sees it: with the moment of deciding. */
export type Received<Data = unknown> = Command<Data> & { readonly now: Date };

/** The entity isn't there yet, or what must come first has not arrived: try again later, and give up in the end. */
export class NotYet extends Error {}

/** A wake-up that the state asks for; the command `<actor>.<name>` is sent when it is due. */
export interface Timer {
  name: string;
  dueAt: Date;
}

/** A message that leaves with a commit. `public` events are the contract's catalogue, `internal` ones stay in the house. */
export type Outgoing =
  | { to: "public"; type: string; caseId?: string; data: Record<string, unknown> }
  | { to: "internal"; type: string; id: string; caseId?: string; data: Record<string, unknown> }
  | { to: "command"; name: string; entity: string; data: unknown };

/** What an audit entry says beside who, when and why. */
export interface AuditNote {
  action: string;
  caseId?: string;
  /** Default: the state's own `airport`, where it has one. */
  airport?: string;
  reason?: string;
  before: unknown;
  after: unknown;
}

/** What a view may need beside the state. */
export interface Reading {
  id: string;
  version: number;
  command: Command;
}

export interface Change<State, Event> {
  /** The entity's id. */
  id: string;
  command: Received;
  before: State | undefined;
  after: State;
  events: readonly Event[];
}

/** A command that a reaction asks for. Its id comes from the event, so the same event twice asks for it once. */
export interface Reaction {
  name: string;
  entity: string;
  data: unknown;
}

/**
 * An actor's kind of entity. Everything here is pure but `gather`, which reads what a decision needs from elsewhere.
 */
export interface Decider<State extends object, Event extends DomainEvent> {
  /** The actor's name: first word of its commands and actions. */
  actor: string;
  kind: UrnKind;
  collection: string;
  schemaVersion: number;
  /**
   * How many entities, written last, a process keeps in memory (`recent.ts`): for kinds that many small commands in a row
   * go to. Default 0.
   */
  remembered?: number;
  /** Brings a document written by an older schema up to date; called only when the versions differ. */
  migrate?(state: State, from: number): State;
  /** Second words of the commands it takes. */
  commands: readonly string[];
  /** Indexes of its queries; the runtime adds its own. */
  indexes: readonly IndexDescription[];
  /**
   * @throws Problem a refusal @throws NotYet try again later. No events: nothing to do, the command is settled.
   */
  decide(state: State | undefined, command: Received, gathered: unknown): Event[];
  evolve(state: State | undefined, event: Event): State;
  /** Wake-ups that this state asks for; empty for a finished entity. */
  timers?(state: State): Timer[];
  /** Messages that an event sends out; `state` is the one after all events of the decision. */
  outgoing?(event: Event, state: State, command: Received, id: string): Outgoing[];
  /** Messages of a decision as a whole, after those of its events: what only the states before and after it show. */
  changed?(change: Change<State, Event>): Outgoing[];
  /** Events of no business meaning: they don't count in `version`. */
  technical?: ReadonlySet<string>;
  /** The filter that finds the entity when a command names none by id (a natural key with a unique index). */
  locate?(command: Command): Record<string, unknown> | undefined;
  /**
   * A command that nearly always finds nothing: it is tried as an insert before the document is asked for. One that names no entity by id
   * needs the unique index of `locate`.
   * Default: none is.
   */
  opens?(command: Command): boolean;
  /**
   * Commands that decide by the state alone whether they were there before, so that a repeat changes nothing: they leave no
   * entry in `handled`. For what comes to one entity by the ten thousand. Default: none.
   */
  idempotent?(command: Command): boolean;
  /** The id of what this command creates when `locate` finds nothing. Undefined: the command never creates. */
  create?(command: Received): string | undefined;
  /** Which commands `gather` reads anything for: each is handled by itself, so that nobody waits for it. Default: every one. */
  gathersFor?(command: Command): boolean;
  /** Reads what the decision needs from other actors; a failure leaves the command to be tried again. */
  gather?(command: Received, state: State | undefined): Promise<unknown>;
  /** The answer to a synchronous caller. */
  view(state: State, reading: Reading): unknown;
  /** The audit entry of a change, beside those that a human's change always gets; null: its messages hold their own. */
  audit?(change: Change<State, Event>): AuditNote | null | undefined;
  /** Foreign event type → commands to this actor. */
  reactions?: Reactions;
}

export type Reactions = Readonly<Record<string, (event: EventRecord, tenant: string) => Reaction[]>>;
