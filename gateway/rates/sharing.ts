/** Owns what gateways tell each other of the requests that they let through, and what each makes of it. Pure; the wire is `streams/`'s. */
import type { Rates } from "./rates.ts";

type Entry = [key: string, count: number];

/** `took`: tokens taken since the last such message. `lacks`: an answer to one who has just come, in parts of a token. */
interface Message {
  from: string;
  hello?: true;
  took?: Entry[];
  to?: string;
  lacks?: Entry[];
}

/** Some 60 bytes each: far from what a message may have. */
const entriesMax = 2000;

export class RateSharing {
  readonly #rates: Rates;
  readonly #self: string;
  readonly #send: (text: string) => void;

  /** @param self told from every other gateway by it */
  constructor(rates: Rates, self: string, send: (text: string) => void) {
    this.#rates = rates;
    this.#self = self;
    this.#send = send;
  }

  /** Asks the others what they know: a new gateway's buckets would all be full. To be sent once others are heard. */
  join(): void {
    this.#tell({ hello: true });
  }

  /** To be called at each interval; sends nothing when nothing was let through. */
  tell(): void {
    for (const took of chunked(this.#rates.untold())) this.#tell({ took });
  }

  /** Forgets what others could not be told: it will be of no use when they can. */
  dropUntold(): void {
    this.#rates.untold();
  }

  /** @throws SyntaxError, TypeError when it is no message of a gateway */
  hear(text: string, nowMs: number): void {
    const { from, hello, took, to, lacks } = JSON.parse(text) as Message;
    if (from === this.#self) return;
    for (const [key, tokens] of entriesOf(took)) this.#rates.subtract(key, tokens, nowMs);
    if (to === this.#self)
      for (const [key, parts] of entriesOf(lacks)) this.#rates.lackAtLeast(key, parts, nowMs);
    if (hello === true) this.#answer(from, nowMs);
  }

  /** What is untold goes first: told afterwards, it would be subtracted twice. */
  #answer(to: string, nowMs: number): void {
    this.tell();
    for (const lacks of chunked([...this.#rates.lacking(nowMs)])) this.#tell({ to, lacks });
  }

  #tell(message: Omit<Message, "from">): void {
    this.#send(JSON.stringify({ from: this.#self, ...message }));
  }
}

/** @throws TypeError */
const entriesOf = (entries: Entry[] | undefined): Entry[] => {
  if (entries === undefined) return [];
  const isEntry = ([key, count]: Entry) =>
    typeof key === "string" && Number.isSafeInteger(count) && count > 0;
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw new TypeError("not entries of a gateway");
  return entries;
};

function* chunked(entries: readonly Entry[]): Generator<Entry[]> {
  for (let i = 0; i < entries.length; i += entriesMax) yield entries.slice(i, i + entriesMax);
}
