/** Owns how many passengers' streams one process holds, and one session: who of them makes room. */
import { Problem } from "../../schemas/problems.ts";
import type { PassengerStream } from "./passenger-stream.ts";

export interface StreamLimits {
  /** Of one session on this process: tabs, and a phone that has lost its network without a word. */
  ofSession: number;
  ofProcess: number;
}

export const streamLimits: StreamLimits = { ofSession: 5, ofProcess: 20_000 };

export class StreamPlaces {
  readonly #limits: StreamLimits;
  /** Each session's, oldest first. */
  readonly #bySession = new Map<string, Set<PassengerStream>>();
  #taken = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /**
   * A session's oldest stream makes room for its newest: a refusal would end an EventSource for good (HTML, 9.2.3), while connections
   * that were lost without a word hold their places until TCP gives them up.
   * @returns how it is given back, once
   * @throws Problem upstream/unavailable
   */
  take(stream: PassengerStream): () => void {
    const { ofSession, ofProcess } = this.#limits;
    const { tenant, urn } = stream.session.principal;
    const key = `${tenant} ${urn}`;
    const [oldest, ...younger] = this.#bySession.get(key) ?? [];
    // Its place is given back by that.
    if (younger.length + 1 >= ofSession) oldest?.makeRoom();
    if (this.#taken >= ofProcess) throw noneServed();
    const open = this.#bySession.get(key) ?? new Set();
    this.#bySession.set(key, open.add(stream));
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
      open.delete(stream);
      if (open.size === 0) this.#bySession.delete(key);
    };
  }
}

export const noneServed = (): Problem =>
  new Problem("upstream/unavailable", "No more streams are served here right now.", {
    failedDomain: "events",
    retryAfterSeconds: 30,
  });
