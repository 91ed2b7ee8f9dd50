/** Owns deciding commands on one entity in turn, each on what the one before leaves, so that one write can hold them all. */
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Change, Decider, DomainEvent, Received } from "./decider.ts";
import { type HandledEntry, isHandled, type Loaded } from "./store.ts";

/** What a command has come to, unless the write of its fold fails. */
export interface Handled<State> {
  entity: string;
  state: State;
  /** Business version of the state. */
  version: number;
  /** This very command had been handled before. */
  repeated: boolean;
}

/** Several decisions that follow each other. */
export interface Fold<State, Event> {
  /** Undefined when nothing is there and nothing was created. */
  entity: string | undefined;
  state: State | undefined;
  version: number;
  /** Of each command decided, in their order; commands beyond these wait for the next fold. */
  results: PromiseSettledResult<Handled<State>>[];
  /** Of those that change something. */
  changes: Change<State, Event>[];
  /** One entry for each change, but of commands that are idempotent by themselves. */
  handled: HandledEntry[];
}

/**
 * A command whose decision reads from elsewhere is a fold of its own: what is decided is written before anything is read.
 * @param before what the first decides on; undefined: nothing is there
 */
export const decideInTurn = async <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  commands: readonly Command[],
  before: Loaded<State> | undefined,
  now: () => Date,
): Promise<Fold<State, Event>> => {
  const fold: Fold<State, Event> = {
    entity: before?.meta._id,
    state: before?.state,
    version: before?.meta.version ?? 0,
    results: [],
    changes: [],
    handled: [],
  };
  for (const command of commands) {
    const reads = decider.gather !== undefined && (decider.gathersFor?.(command) ?? true);
    if (reads && fold.results.length > 0) break;
    const received: Received = { ...command, now: now() };
    try {
      if (
        [before?.meta.handled ?? [], fold.handled].some((some) => isHandled(some, command.id, received.now))
      ) {
        fold.results.push(handledNow(fold, true));
        continue;
      }
      const entity = fold.entity ?? (command.entity || decider.create?.(received));
      if (entity === undefined) throw noSuch(decider);
      const gathered = reads ? await decider.gather?.(received, fold.state) : undefined;
      take(decider, fold, received, entity, gathered);
      fold.results.push(handledNow(fold, false));
    } catch (reason) {
      fold.results.push({ status: "rejected", reason });
    }
    if (reads) break;
  }
  return fold;
};

/** @throws Problem a refusal, with the fold as it was */
const take = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  fold: Fold<State, Event>,
  command: Received,
  entity: string,
  gathered: unknown,
): void => {
  const { state } = fold;
  const events = decideSeen(decider, fold, command, gathered);
  if (events.length === 0) {
    if (state === undefined) throw noSuch(decider);
    return;
  }
  // Only now: asking again for what has been done already changes nothing, whatever version was seen.
  checkVersion(command, fold);
  const after = events.reduce<State | undefined>(decider.evolve, state) as State;
  const isBusiness = state === undefined || events.some(({ type }) => !decider.technical?.has(type));
  fold.entity = entity;
  fold.state = after;
  fold.version += isBusiness ? 1 : 0;
  fold.changes.push({ id: entity, command, before: state, after, events });
  if (decider.idempotent?.(command) !== true)
    fold.handled.push({ id: command.id, at: command.now, version: fold.version });
};

/** Of a fold that has an entity. */
const handledNow = <State extends object>(
  { entity, state, version }: Fold<State, DomainEvent>,
  repeated: boolean,
): PromiseFulfilledResult<Handled<State>> => ({
  status: "fulfilled",
  value: { entity: entity as string, state: state as State, version, repeated },
});

const noSuch = ({ kind }: { kind: string }): Problem => new Problem("not-found/resource", `No such ${kind}.`);

/** A conflict met by a caller who has seen an older version is told as that, with the current one (contract, "Errors"). */
const decideSeen = <State extends object, Event extends DomainEvent>(
  decider: Decider<State, Event>,
  fold: Fold<State, Event>,
  command: Received,
  gathered: unknown,
): Event[] => {
  try {
    return decider.decide(fold.state, command, gathered);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409 || fold.state === undefined) throw error;
    checkVersion(command, fold);
    throw new Problem(error.code, error.message, { version: fold.version, ...error.members });
  }
};

const checkVersion = (
  { expectedVersion }: Command,
  { state, version }: { state: object | undefined; version: number },
): void => {
  if (expectedVersion === undefined || state === undefined || expectedVersion === version) return;
  throw new Problem(
    "conflict/version",
    `You have seen version ${expectedVersion}; it is at ${version}. Load it again and decide anew.`,
    { version },
  );
};
