/** Owns how much background work is under way in a process at once, so that whoever waits for an answer doesn't wait behind it. */
import pLimit from "p-limit";
import type { Command } from "../../schemas/command.ts";

/**
 * Document operations of sagas, waves and timers at once. A document server works off a few as fast as many; more would only
 * stand in line before the one that an operator's request needs.
 */
const backgroundOperations = 12;

const limited = pLimit(backgroundOperations);

/** Runs a step of a command: at once for a person or partner, who waits for it, and in turn for the service's own. */
export const atPace = <T>({ principal }: Pick<Command, "principal">, work: () => Promise<T>): Promise<T> =>
  principal.surface === "system" ? limited(work) : work();
