/** Owns how commands and foreign events reach an actor from JetStream, and what becomes of those it refuses. */
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { Command, EventRecord } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { type Consuming, consume, type Delivery, type Disposition, done } from "../../streams/consume.ts";
import { publish } from "../../streams/publish.ts";
import {
  commandFilter,
  internalSubject,
  parseSubject,
  splitName,
  typeFilter,
} from "../../streams/subjects.ts";
import { type Clock, causedId, derivedId } from "./clock.ts";
import { NotYet, type Reactions } from "./decider.ts";
import type { Faults } from "./faults.ts";
import { sendCommand, systemCommand } from "./send.ts";

/** Commands whose first refusal is remembered; one that is forgotten waits a little longer. */
const waitingMax = 10_000;

/** What consuming needs of an actor's context. */
export interface Wiring {
  config: Pick<Config, "ACK_WAIT_MS" | "COMMAND_PATIENCE_MS">;
  streams: Streams;
  clock: Clock;
  faults: Faults;
  log: Logger;
}

/**
 * One durable consumer per actor and tenant: each airline has its own place in line, so one that cancels a
 * hundred flights at once doesn't keep another's commands waiting.
 */
export const consumeCommands = (
  wiring: Wiring,
  actor: string,
  tenant: string,
  concurrency: number,
  handle: (command: Command, delivery: Delivery) => Promise<unknown>,
): Promise<Consuming> => {
  const patience = new Patience(wiring.clock, wiring.config.COMMAND_PATIENCE_MS);
  return consume(wiring.streams, {
    stream: "COMMANDS",
    durable: `cmd_${actor}_${tenant}`,
    filterSubjects: [commandFilter(tenant, actor)],
    owner: actor,
    concurrency,
    ackWaitMs: wiring.config.ACK_WAIT_MS,
    log: wiring.log,
    beforeAck: (delivery) => wiring.faults("before-ack", nameOf(delivery)),
    handle: async (delivery) => {
      const command = delivery.json() as Command;
      if (command.tenant !== tenant || nameOf(delivery) !== command.name) {
        return { kind: "dead", reason: "The command's subject and body disagree." };
      }
      return dispositionOf({ ...wiring, patience }, command, delivery, () => handle(command, delivery));
    },
  });
};

/**
 * How long a command has been waiting for what it needs, counted from when it was first found missing: in a queue that
 * stood still through an outage all are old, and have not been tried yet.
 */
class Patience {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  /** Made with the first that waits: it holds its places from the beginning. */
  #since: LRUCache<number, number> | undefined;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** @param sequence the command's place in its stream */
  hasEnded(sequence: number): boolean {
    const now = this.#clock.now().getTime();
    this.#since ??= new LRUCache({ max: waitingMax });
    const since = this.#since.get(sequence) ?? now;
    this.#since.set(sequence, since);
    return now - since > this.#patienceMs;
  }
}

const nameOf = (delivery: Delivery): string => {
  const parsed = parseSubject(delivery.subject);
  return parsed === undefined ? delivery.subject : `${parsed.owner}.${parsed.what}`;
};

const dispositionOf = async (
  wiring: Wiring & { patience: Patience },
  command: Command,
  delivery: Delivery,
  handle: () => Promise<unknown>,
): Promise<Disposition> => {
  try {
    await handle();
    return done;
  } catch (error) {
    if (error instanceof NotYet || (error instanceof Problem && isPassing(error))) {
      if (wiring.patience.hasEnded(delivery.sequence)) return { kind: "dead", reason: error.message };
      return { kind: "later", delayMs: laterMs(delivery) };
    }
    if (!(error instanceof Problem)) throw error;
    await announceRefusal(wiring, command, error);
    return done;
  }
};

/** Another actor out of reach, a race lost too often: nothing is wrong with the command itself. */
const isPassing = (problem: Problem): boolean =>
  problem.retry === "later" || problem.code === "conflict/concurrent-write";

/** 100 ms, 200 ms … at most 10 s. */
const laterMs = ({ attempt }: Delivery): number => Math.min(100 * 2 ** Math.min(attempt - 1, 7), 10_000);

/**
 * A refused asynchronous command has no caller to tell: it becomes an event that the sender may react to. Its URN comes
 * from the command, so that a refusal that is redelivered and refused again is the same event.
 */
const announceRefusal = async (wiring: Wiring, command: Command, problem: Problem): Promise<void> => {
  const [actor, verb] = splitName(command.name);
  const event: EventRecord = {
    urn: urn("event", derivedId(command.tenant, `${command.id}:refused`, new Date(command.issuedAt))),
    type: `${actor}.${verb}-refused`,
    occurred_at: wiring.clock.now().toISOString(),
    tenant: urn("airline", command.tenant),
    correlation_urn: command.correlationUrn,
    traceparent: command.traceparent,
    data: { commandId: command.id, entity: command.entity, problem: problem.record() },
  };
  wiring.log.info({ command: command.name, entity: command.entity, code: problem.code }, "command refused");
  await publish(wiring.streams, {
    subject: internalSubject(command.tenant, event.type, command.entity),
    payload: JSON.stringify(event),
    messageId: `${command.id}:refused`,
  });
};

/**
 * Turns foreign events into commands to this actor. Each command's id comes from the event and the reaction, and is
 * also its message id, so a redelivered event asks for nothing twice.
 */
export const consumeReactions = async (
  wiring: Wiring,
  actor: string,
  reactions: Reactions,
  publicTypes: ReadonlySet<string>,
): Promise<Consuming[]> => {
  const types = Object.keys(reactions);
  const react = async (delivery: Delivery): Promise<Disposition> => {
    const event = delivery.json() as EventRecord;
    const tenant = idOf(event.tenant);
    const asked = reactions[event.type]?.(event, tenant) ?? [];
    const following = { tenant, correlationUrn: event.correlation_urn, traceparent: event.traceparent };
    for (const [i, { name, entity, data }] of asked.entries()) {
      const id = causedId(event.urn, actor, name, entity, i);
      const now = wiring.clock.now();
      await sendCommand(wiring.streams, systemCommand(actor, following, { id, name, entity, data, now }));
    }
    return done;
  };
  const perStream = [
    { stream: "EVENTS", root: "evt", types: types.filter((type) => publicTypes.has(type)) },
    { stream: "INTERNAL", root: "int", types: types.filter((type) => !publicTypes.has(type)) },
  ] as const;
  return Promise.all(
    perStream
      .filter((part) => part.types.length > 0)
      .map((part) =>
        consume(wiring.streams, {
          stream: part.stream,
          durable: `react_${actor}`,
          filterSubjects: part.types.map((type) => typeFilter(part.root, type)),
          owner: actor,
          concurrency: 32,
          ackWaitMs: wiring.config.ACK_WAIT_MS,
          log: wiring.log,
          handle: react,
        }),
      ),
  );
};
