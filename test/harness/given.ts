// Tells a decider's tables as stories: given(...events).when(command).then(...events). What holds for every decider is checked on
// the way: decisions repeat, nothing changes what it was given, and every event is known to `evolve` and `outgoing`.
import type { Test } from "tap";
import { type DomainEvent, NotYet, type Outgoing, type Received } from "../../actors/runtime/decider.ts";
import type { Principal } from "../../schemas/command.ts";
import { Problem, type ProblemCode } from "../../schemas/problems.ts";

/** The pure part of a decider. */
export interface Rules<State, Event extends DomainEvent> {
  decide(state: State | undefined, command: Received, gathered: unknown): Event[];
  evolve(state: State | undefined, event: Event): State;
  outgoing?(event: Event, state: State, command: Received, id: string): Outgoing[];
}

/** Some members of a value, all the way down; what isn't named may be anything. Arrays name all of their items. */
export type Like<T> = T extends Date
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Like<Item>[]
    : T extends object
      ? { [K in keyof T]?: Like<T[K]> }
      : T;

type LikeEvent<Event extends DomainEvent> = Like<Event> & { type: Event["type"] };

/** What a command came to. Each question is one assertion; they can be put in a row. */
export interface Outcome<State, Event extends DomainEvent> {
  then(...events: LikeEvent<Event>[]): Outcome<State, Event>;
  /** The command is settled and changes nothing. */
  nothing(): Outcome<State, Event>;
  refused(code: ProblemCode, members?: Problem["members"]): Outcome<State, Event>;
  notYet(): Outcome<State, Event>;
  /** All messages that leave, in order. */
  sends(...messages: Like<Outgoing>[]): Outcome<State, Event>;
  /** The state after all. */
  leads(state: Like<State>): Outcome<State, Event>;
}

export const trace = {
  correlationUrn: "urn:correlation:test",
  traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
};
export const evening = new Date("2026-11-21T21:00:00.000Z");
export const secondsLater = (seconds: number): Date => new Date(evening.getTime() + seconds * 1000);

export const system: Principal = { surface: "system", tenant: "XN", urn: "urn:user:system-test" };
export const supervisor: Principal = {
  surface: "operator",
  tenant: "XN",
  urn: "urn:user:ana",
  role: "OPS_SUPERVISOR",
};

/** A command of XN's as a decision sees it; by the service itself, and issued in the evening, unless `more` says otherwise. */
export const received = (name: string, data: unknown = {}, more: Partial<Received> = {}): Received => ({
  id: `command ${name} ${JSON.stringify(data)}`,
  name,
  tenant: "XN",
  entity: "",
  principal: system,
  ...trace,
  issuedAt: (more.now ?? evening).toISOString(),
  data,
  now: evening,
  ...more,
});

const frozen = <T>(value: T): T => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
};

/** What of `value` the pattern speaks of. */
const likeness = (value: unknown, pattern: unknown): unknown => {
  if (pattern instanceof Date || value instanceof Date) return value;
  if (Array.isArray(pattern) && Array.isArray(value))
    return value.map((item, i) => likeness(item, pattern[i]));
  if (typeof pattern !== "object" || pattern === null || typeof value !== "object" || value === null)
    return value;
  return Object.fromEntries(
    Object.keys(pattern).map((key) => [
      key,
      likeness((value as Record<string, unknown>)[key], (pattern as Record<string, unknown>)[key]),
    ]),
  );
};

/** Equal as far as the pattern goes. */
export const alike = (t: Test, value: unknown, pattern: unknown, what: string): void => {
  t.strictSame(likeness(value, pattern), pattern, what);
};

/** The state that events lead to; throws when one of them changes what it was given, or isn't known. */
export const folded = <State, Event extends DomainEvent>(
  { evolve }: Pick<Rules<State, Event>, "evolve">,
  events: readonly Event[],
  from?: State,
): State | undefined =>
  events.reduce<State | undefined>((state, event) => {
    const next = evolve(frozen(state), frozen(event));
    if (typeof next !== "object" || next === null || (next as unknown) === event)
      throw new Error(`evolve does not know ${event.type}`);
    return next;
  }, from);

/** The events that commands, one after the other, lead to. Each may bring what was gathered for it. */
export const eventsOf = <State, Event extends DomainEvent>(
  rules: Rules<State, Event>,
  events: readonly Event[],
  ...commands: (Received | [Received, unknown])[]
): Event[] => {
  const past = [...events];
  for (const each of commands) {
    const [command, gathered] = Array.isArray(each) ? each : [each, undefined];
    past.push(...decided(rules, folded(rules, past), command, gathered));
  }
  return past;
};

const decided = <State, Event extends DomainEvent>(
  rules: Rules<State, Event>,
  state: State | undefined,
  command: Received,
  gathered: unknown,
): Event[] => rules.decide(frozen(state), frozen(command), frozen(gathered));

/** `given` for the decider with these rules, asserting on `t`. @param entity the id that messages are sent under */
export const givenOf =
  <State, Event extends DomainEvent>(t: Test, rules: Rules<State, Event>, entity = "XN-ENTITY") =>
  (...events: Event[]) => ({
    when: (command: Received, gathered?: unknown): Outcome<State, Event> => {
      const before = folded(rules, events);
      const attempt = (): Event[] | Problem | NotYet => {
        try {
          return decided(rules, before, command, gathered);
        } catch (error) {
          if (error instanceof Problem || error instanceof NotYet) return error;
          throw error;
        }
      };
      const result = attempt();
      const name = command.name;
      if (!Array.isArray(result)) return refusal(t, name, result);
      t.strictSame(attempt(), result, `${name} decides the same again`);
      const after = folded(rules, result, before);
      const messages = result.flatMap((event) => {
        const sent = rules.outgoing?.(event, frozen(after) as State, command, entity) ?? [];
        if (!Array.isArray(sent)) throw new Error(`outgoing does not know ${event.type}`);
        return sent;
      });
      return outcome(t, name, { events: result, after, messages });
    },
  });

interface Told<State, Event> {
  events: Event[];
  after: State | undefined;
  messages: Outgoing[];
}

const outcome = <State, Event extends DomainEvent>(
  t: Test,
  name: string,
  { events, after, messages }: Told<State, Event>,
): Outcome<State, Event> => {
  const types = events.map(({ type }) => type);
  const told: Outcome<State, Event> = {
    // biome-ignore lint/suspicious/noThenProperty: a story reads given, when, then; nobody awaits one
    then: (...expected) => {
      t.strictSame(
        types,
        expected.map(({ type }) => type),
        `${name}: the events`,
      );
      alike(t, events, expected, `${name}: what the events say`);
      return told;
    },
    nothing: () => told.then(),
    refused: (code) => {
      t.fail(`${name}: refused with ${code}`, { found: types });
      return told;
    },
    notYet: () => {
      t.fail(`${name}: not yet`, { found: types });
      return told;
    },
    sends: (...expected) => {
      t.equal(messages.length, expected.length, `${name}: how many messages leave`);
      alike(t, messages, expected, `${name}: the messages`);
      return told;
    },
    leads: (expected) => {
      alike(t, after, expected, `${name}: the state after`);
      return told;
    },
  };
  return told;
};

const refusal = <State, Event extends DomainEvent>(
  t: Test,
  name: string,
  error: Problem | NotYet,
): Outcome<State, Event> => {
  const what = error instanceof Problem ? error.code : "not yet";
  const otherwise = (wanted: string) => (): Outcome<State, Event> => {
    t.fail(`${name}: ${wanted}`, { found: what, detail: error.message });
    return told;
  };
  const told: Outcome<State, Event> = {
    // biome-ignore lint/suspicious/noThenProperty: a story reads given, when, then; nobody awaits one
    then: otherwise("events"),
    nothing: otherwise("nothing"),
    sends: otherwise("messages"),
    leads: otherwise("a state"),
    refused: (code, members) => {
      t.equal(what, code, `${name}: refused`);
      if (members !== undefined && error instanceof Problem)
        alike(t, error.members, members, `${name}: what the refusal says`);
      return told;
    },
    notYet: () => {
      t.equal(what, "not yet", `${name}: not yet`);
      return told;
    },
  };
  return told;
};
