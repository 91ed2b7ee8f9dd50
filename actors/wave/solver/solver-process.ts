/**
 * Owns the process in which large waves are solved: started when one comes, ended when none has come for a while, never waited
 * for in vain. Not a thread: what the solver has taken of memory a thread would leave with the service.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "pino";
import type { AllocationResult } from "../../../schemas/allocation.ts";
import { exactItemsMax } from "../allocation/assign.ts";
import type { StaysInput } from "../allocation/stays.ts";
import type { WaveInput } from "../gather.ts";
import type { SolverJob } from "./main.ts";

/** The heuristic of the largest wave and the start of the process, on a machine that has much else to do. */
const patienceMs = 10_000;
/** Waves of one night come in lots. */
const idleMs = 5_000;

export class SolverProcess {
  readonly #proofMs: number;
  readonly #log: Logger;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Waves take turns. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param proofMs time for the exact solver in one wave; 0: there is no such process */
  constructor(proofMs: number, log: Logger) {
    this.#proofMs = proofMs;
    this.#log = log;
  }

  /** A wave of so many groups is being put together: the process starts while the hotels are asked. */
  prepare(groups: number): void {
    if (this.#proofMs > 0 && groups > exactItemsMax) this.#started();
  }

  /** Undefined: the wave is small, no proof is wanted, or the process has failed; then it is worked out without it. */
  async solve({ stays, policies, airport }: WaveInput): Promise<AllocationResult[] | undefined> {
    const isLarge = stays.some(({ groups }) => groups.length > exactItemsMax);
    if (this.#proofMs === 0 || !isLarge) return undefined;
    const { latitude, longitude } = airport;
    const input = { stays, policies, airport: { latitude, longitude } };
    const solved = this.#turn.then(() => this.#ask(input));
    this.#turn = solved.catch(() => undefined);
    try {
      return await solved;
    } catch (error) {
      this.#log.warn({ err: error }, "the solver's process has failed; the wave goes on without it");
      await this.#end();
      return undefined;
    }
  }

  async stop(): Promise<void> {
    await this.#turn;
    await this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  #started(): ChildProcess {
    clearTimeout(this.#idle);
    if (this.#child !== undefined) return this.#child;
    // Flags and settings of this process are its own, secrets among them. Numbers must keep their infinities.
    const child = fork(new URL("./main.ts", import.meta.url), [], {
      execArgv: [],
      env: {},
      serialization: "advanced",
    });
    // Between two waves nobody else listens; whoever asks next is told by the answer that doesn't come.
    child.on("error", (error) => this.#log.warn({ err: error }, "the solver's process has failed"));
    child.on("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
    rest(child);
    return child;
  }

  #ask(input: StaysInput): Promise<AllocationResult[]> {
    const child = this.#started();
    const job: SolverJob = { input, proofMs: this.#proofMs };
    return new Promise<AllocationResult[]>((resolve, reject) => {
      const onMessage = (results: AllocationResult[]): void => {
        settle();
        resolve(results);
      };
      const onError = (error: Error): void => {
        settle();
        reject(error);
      };
      const onExit = (code: number | null, killedBy: string | null): void =>
        onError(new Error(`it ended with ${code ?? killedBy}`));
      const late = setTimeout(() => onError(new Error("no answer in time")), this.#proofMs + patienceMs);
      const settle = (): void => {
        clearTimeout(late);
        child.off("message", onMessage).off("error", onError).off("exit", onExit);
        rest(child);
        this.#idle = setTimeout(() => void this.#end(), idleMs).unref();
      };
      child.on("message", onMessage).on("error", onError).on("exit", onExit).ref();
      child.channel?.ref();
      try {
        child.send(job, (error) => error && onError(error));
      } catch (error) {
        onError(error as Error);
      }
    });
  }
}

/** While it has nothing to do it keeps nobody from ending. */
const rest = (child: ChildProcess): void => {
  child.unref();
  child.channel?.unref();
};
