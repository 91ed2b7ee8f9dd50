// Keeps one process running: starts it again on the same port when it dies, and gives up when it dies too often.
import { setTimeout as delay } from "node:timers/promises";
import { describeEnd, type Running } from "./running.ts";
import { StartFailure } from "./start-failure.ts";

const deathsMax = 5;
const deathsWindowMs = 60_000;
const backoffMinMs = 100;
const backoffMaxMs = 5_000;

export interface KeptOptions {
  /** As the lines at the terminal call it. */
  name: string;
  /** Without a port at first; a restart names the port of the first start, so that clients find it again. */
  start(port: number | undefined, signal: AbortSignal): Promise<Running>;
  logFile: string;
  say(line: string): void;
  /** Called once, after the fifth death in a minute (or on a bug of ours); nothing restarts it any more. */
  onGivenUp(failure: Error): void;
}

export interface Kept {
  url: string;
  /** Ends the supervision and the process; resolves once it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** Resolves once the process serves. A failure of this first start is thrown, not tried again. */
export async function keepRunning(options: KeptOptions, signal: AbortSignal): Promise<Kept> {
  let running = await options.start(undefined, signal);
  const { url } = running;
  const stopping = new AbortController();
  const told = new Promise<undefined>((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const watching = watchUntilStopped().catch((error: Error) => {
    if (!stopping.signal.aborted) options.onGivenUp(error);
  });
  return {
    url,
    async stop(graceMs) {
      stopping.abort();
      await watching;
      await running.stop(graceMs);
    },
  };

  async function watchUntilStopped(): Promise<void> {
    const deaths: number[] = [];
    while (true) {
      const end = await Promise.race([running.exited, told]);
      if (end === undefined) return;
      if (!(await restart(describeEnd(end), deaths))) return;
    }
  }

  /** Tries until it serves again; false when it has died too often. */
  async function restart(cause: string, deaths: number[]): Promise<boolean> {
    let what = `${options.name} ${cause} (log: ${options.logFile})`;
    while (true) {
      const now = performance.now();
      deaths.push(now);
      while (deaths[0]! < now - deathsWindowMs) deaths.shift();
      if (deaths.length >= deathsMax) {
        options.onGivenUp(new StartFailure(`${what}: ${deathsMax} times in a minute, giving up`));
        return false;
      }
      options.say(`${what}: starting it again`);
      await delay(Math.min(backoffMinMs * 2 ** (deaths.length - 1), backoffMaxMs), undefined, {
        signal: stopping.signal,
      });
      try {
        running = await options.start(Number(new URL(url).port), stopping.signal);
        options.say(`${options.name} serves again`);
        return true;
      } catch (error) {
        if (!(error instanceof StartFailure)) throw error;
        what = error.message;
      }
    }
  }
}
