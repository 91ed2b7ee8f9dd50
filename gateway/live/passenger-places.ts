/** Owns how many passengers' streams one process holds, and one session. */
import { Problem } from "../../schemas/problems.ts";
import type { Session } from "./passenger-stream.ts";

export interface StreamLimits {
  /** Of one session on this process: tabs, and a phone that has lost its network without a word. */
  ofSession: number;
  ofProcess: number;
}

export const streamLimits: StreamLimits = { ofSession: 5, ofProcess: 20_000 };

export class StreamPlaces {
  readonly #limits: StreamLimits;
  readonly #bySession = new Map<string, number>();
  #taken = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** @returns how it is given back, once @throws Problem rate/exceeded, upstream/unavailable */
  take({ principal: { tenant, urn } }: Session): () => void {
    const { ofSession, ofProcess } = this.#limits;
    const key = `${tenant} ${urn}`;
    const open = this.#bySession.get(key) ?? 0;
    if (this.#taken >= ofProcess) throw noneServed();
    if (open >= ofSession)
      throw new Problem("rate/exceeded", `The limit is ${ofSession} streams of one session at once.`, {
        retryAfterSeconds: 15,
      });
    this.#taken += 1;
    this.#bySession.set(key, open + 1);
    return () => {
      this.#taken -= 1;
      const left = (this.#bySession.get(key) ?? 1) - 1;
      if (left > 0) this.#bySession.set(key, left);
      else this.#bySession.delete(key);
    };
  }
}

export const noneServed = (): Problem =>
  new Problem("upstream/unavailable", "No more streams are served here right now.", {
    failedDomain: "events",
    retryAfterSeconds: 30,
  });
