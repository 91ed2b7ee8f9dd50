/** Owns a client of the operators' live channel: a WebSocket that speaks Engine.IO 4 and Socket.IO 5 by itself, and remembers what it was told. */
import { WebSocket } from "ws";

export interface LiveEvent {
  event: string;
  payload: Record<string, unknown>;
  /** What the client hands back when it comes again. */
  offset: string;
}

export type Answered = Record<string, unknown> & {
  ok: boolean;
  problem?: { type: string; status: number; detail: string };
};

export interface ConnectOptions {
  baseUrl: string;
  token: string | undefined;
  /** Of another connection, to be gone on with. */
  resume?: { pid: string; offset: string };
  headers?: Record<string, string>;
  /** True: a raw one never asks to come in. */
  silent?: boolean;
  /** Default: without a slash at its end. */
  path?: string;
}

export interface LiveClient {
  readonly pid: string;
  /** True where the server has gone on with the session before. */
  readonly recovered: boolean;
  /** Newest last. */
  readonly events: LiveEvent[];
  /** Of the newest event. */
  readonly offset: string;
  /** How many events had come before the newest acknowledgement: others may come with it. */
  readonly beforeAnswer: number;
  of(event: string): Record<string, unknown>[];
  ask(name: string, payload: unknown): Promise<Answered>;
  /** Sends whatever it is. */
  say(name: string, payload: unknown): void;
  /** Once an event of this name has come for which it holds, before or from now on. @throws Error after 20 s */
  until(
    event: string,
    holds?: (payload: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>>;
  /** Once an event of this name has come beyond these. */
  untilMore(event: string, since: number): Promise<Record<string, unknown>>;
  /** Once it holds, looked at with each event. */
  untilHeard(holds: () => boolean): Promise<unknown>;
  /** With the code that the server has closed it with; 0: the client cannot tell. */
  readonly closed: Promise<number>;
  /** Without a word. */
  drop(): void;
  /** Takes nothing more of what is sent to it, and again; a raw one only. */
  stall(): void;
  goOn(): void;
}

/** The server would not let it in. */
export class Refusal extends Error {
  readonly data: { code?: number; problem?: { type: string; status: number } };
  /** With what the connection was closed then. */
  readonly closed: Promise<number>;

  constructor(message: string, data: Refusal["data"], closed: Promise<number>) {
    super(message);
    this.data = data;
    this.closed = closed;
  }
}

export type ConnectLive = (options: ConnectOptions) => Promise<LiveClient>;

const withinMs = 20_000;

export class Heard {
  readonly events: LiveEvent[] = [];
  beforeAnswer = 0;
  readonly #waiting = new Set<() => void>();

  take(event: string, payload: Record<string, unknown>, offset: string): void {
    this.events.push({ event, payload, offset });
    for (const look of this.#waiting) look();
  }

  until<Found>(what: string, find: () => Found | undefined): Promise<Found> {
    const found = find();
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = (): void => {
        const now = find();
        if (now === undefined) return;
        end();
        resolve(now);
      };
      const timer = setTimeout(() => {
        end();
        const last = JSON.stringify(this.events.slice(-5));
        reject(new Error(`${what}: not within ${withinMs} ms; the last events: ${last}`));
      }, withinMs);
      this.#waiting.add(look);
    });
  }
}

/** A client, but for what its connection does. */
export const faceOf = (
  heard: Heard,
  rest: Omit<LiveClient, "events" | "offset" | "beforeAnswer" | "of" | "until" | "untilMore" | "untilHeard">,
): LiveClient => ({
  ...rest,
  events: heard.events,
  get offset() {
    return heard.events.at(-1)?.offset ?? "";
  },
  get beforeAnswer() {
    return heard.beforeAnswer;
  },
  of: (event) => heard.events.filter((one) => one.event === event).map(({ payload }) => payload),
  until: (event, holds = () => true) =>
    heard.until(event, () => heard.events.find((one) => one.event === event && holds(one.payload))?.payload),
  untilMore: (event, since) =>
    heard.until(event, () => heard.events.slice(since).find((one) => one.event === event)?.payload),
  untilHeard: (holds) => heard.until("it holds", () => (holds() ? true : undefined)),
});

export const connectRaw: ConnectLive = ({
  baseUrl,
  token,
  resume,
  headers = {},
  path = "/ws/cases",
  silent,
}) => {
  const heard = new Heard();
  const closed = Promise.withResolvers<number>();
  const answers = new Map<number, (answer: Answered) => void>();
  const url = new URL(`${path}?EIO=4&transport=websocket`, baseUrl.replace(/^http/, "ws"));
  const socket = new WebSocket(url, { headers });
  let asked = 0;
  return new Promise((resolve, reject) => {
    socket.on("close", (code) => {
      closed.resolve(code);
      reject(new Refusal(`closed with ${code}`, {}, closed.promise));
    });
    socket.on("error", (error) => reject(new Refusal(error.message, {}, closed.promise)));
    socket.on("message", (data) => {
      const text = String(data);
      const [, type = "", id = "", json = ""] = /^(4[0-4]|[0-6])(\d*)(.*)$/s.exec(text) ?? [];
      const body: unknown = json === "" ? undefined : JSON.parse(json);
      switch (type) {
        case "0":
          if (!silent)
            socket.send(`40${JSON.stringify({ ...(token === undefined ? {} : { token }), ...resume })}`);
          break;
        case "2":
          socket.send("3");
          break;
        case "40": {
          const { pid } = body as { pid: string };
          resolve(
            faceOf(heard, {
              pid,
              recovered: pid === resume?.pid,
              ask: (name, payload) => {
                const answered = Promise.withResolvers<Answered>();
                answers.set(asked, answered.resolve);
                socket.send(`42${asked++}${JSON.stringify([name, payload])}`);
                return answered.promise;
              },
              say: (name, payload) => socket.send(`42${JSON.stringify([name, payload])}`),
              closed: closed.promise,
              drop: () => socket.terminate(),
              stall: () => socket.pause(),
              goOn: () => socket.resume(),
            }),
          );
          break;
        }
        case "42": {
          const [event, payload, offset] = body as [string, Record<string, unknown>, string];
          heard.take(event, payload, offset);
          break;
        }
        case "43":
          heard.beforeAnswer = heard.events.length;
          answers.get(Number(id))?.((body as [Answered])[0]);
          answers.delete(Number(id));
          break;
        case "44": {
          const { message, data: why } = body as { message: string; data: Refusal["data"] };
          reject(new Refusal(message, why, closed.promise));
          break;
        }
      }
    });
  });
};
