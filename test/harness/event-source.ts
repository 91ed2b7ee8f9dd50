// A browser's EventSource (the standard's own way of coming back) on the passengers' stream, with a cookie or a bearer token, at any
// airline's host; and waiting for what it receives.
import { request } from "node:http";
import { Readable } from "node:stream";
import { EventSource } from "eventsource";
import { passengerEvents } from "../../schemas/passenger-events.ts";

export interface StreamAsked {
  baseUrl: string;
  host: string;
  token?: string;
  /** As a browser sends it; in place of a token. */
  cookie?: string;
  /** In the first request: a browser that comes back after having been closed has none, but other clients do. */
  lastEventId?: string;
  query?: string;
}

export interface Received {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the data of every event
  data: any;
}

const withinMs = 30_000;

/** `fetch` would let neither the host nor a cookie be set. */
const fetchAs =
  (
    { host, token, cookie, lastEventId }: StreamAsked,
    onHeaders: (headers: Headers, status: number) => void,
  ) =>
  (url: string | URL, init: { signal?: AbortSignal; headers?: Record<string, string> }): Promise<Response> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
        ...init.headers,
        Host: host,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(cookie === undefined ? {} : { Cookie: cookie }),
      };
      const sent = request(url, { headers, agent: false }, (answer) => {
        const status = answer.statusCode ?? 0;
        const told = new Headers(answer.headers as Record<string, string>);
        onHeaders(told, status);
        answer.on("error", () => undefined);
        const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
        resolve(new Response(body, { status, headers: told }));
      });
      sent.on("error", reject);
      init.signal?.addEventListener("abort", () => sent.destroy());
      sent.end();
    });

export class Watching {
  readonly received: Received[] = [];
  /** Of every answer, in order. */
  readonly statuses: number[] = [];
  headers = new Headers();
  readonly #source: EventSource;
  readonly #waiting = new Set<() => void>();

  constructor(asked: StreamAsked) {
    const onHeaders = (headers: Headers, status: number): void => {
      this.headers = headers;
      this.statuses.push(status);
    };
    const url = new URL(`/v1/me/events${asked.query ?? ""}`, asked.baseUrl);
    this.#source = new EventSource(url, { fetch: fetchAs(asked, onHeaders) as never });
    for (const event of Object.keys(passengerEvents))
      this.#source.addEventListener(event, ({ lastEventId, data }: MessageEvent) => {
        this.received.push({ id: lastEventId, event, data: JSON.parse(data) });
        this.#look();
      });
    this.#source.addEventListener("error", () => this.#look());
  }

  /** The standard's: it has given up, as the server has refused it. */
  get hasGivenUp(): boolean {
    return this.#source.readyState === this.#source.CLOSED;
  }

  get events(): string[] {
    return this.received.map(({ event }) => event);
  }

  /** The first event of this name that fits, past or to come. @throws Error after 30 s, with what was received */
  async until(event: string, fits: (data: Received["data"]) => boolean = () => true): Promise<Received> {
    const find = () => this.received.find((one) => one.event === event && fits(one.data));
    await this.holds(event, () => find() !== undefined);
    return find() as Received;
  }

  holds(what: string, holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        const seen = JSON.stringify(this.received).slice(0, 3000);
        reject(new Error(`${what}: not within ${withinMs} ms; ${this.statuses} ${seen}`));
      }, withinMs);
      const look = (): void => {
        if (!holds()) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  close(): void {
    this.#source.close();
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}
