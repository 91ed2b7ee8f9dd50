/**
 * Owns one HTTP request and its answer on the socket, and the listening itself: the only HTTP file that touches
 * uWebSockets.js. It knows nothing of routes, tokens or JSON.
 */

import * as uWS from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { BlockList } from "node:net";
import { Problem } from "../../schemas/problems.ts";
import { clientAddress, readableAddress } from "./address.ts";
import type { BodyRoom } from "./body-room.ts";
import { everyHeader, forwardedFor, type RequestHeaders, readHeaders, saysTwoLengths } from "./headers.ts";
import { Load } from "./load.ts";

/** Answers above this are offered to the socket in parts, so that a slow reader costs no copy of the whole. */
const singleWriteBytesMax = 64 * 1024;
/** An unread request body up to this is drained so that the connection lives on; past it the connection is closed. */
const drainBytesMax = 32 * 1024 * 1024;
/** How long a stop waits for what is under way. */
const closeGraceMsDefault = 3000;

export interface HttpAnswer {
  status: number;
  /** `Content-Length` and `Date` are added by the server. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Undefined: no body. */
  body: string | Buffer | undefined;
  /**
   * In place of a body whose length is known: sent in chunks, the next one asked for once the client has taken the last.
   * A client that goes away ends it (`return`).
   */
  stream?: AsyncIterable<string | Buffer>;
  /** Called when the client goes away while the stream lasts: its source may be waiting for something to send. */
  onGone?: () => void;
}

/** The client went away before it was answered: nobody is left to tell. */
export class RequestAborted extends Error {
  constructor() {
    super("the client went away");
    this.name = "RequestAborted";
  }
}

export interface Exchange {
  /** Upper case. */
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly hasBody: boolean;
  /** The client's address, seen through our own proxies; empty once the client has gone. */
  address(): string;
  /** Lower-case names; several values of one joined by a comma and a blank. To be called in the same tick as the request came. */
  everyHeader(): Record<string, string>;
  /**
   * Starts keeping the body; to be called in the same tick as the request came. More than the limit is dropped.
   * @param room whose bytes it takes from their coming to the answer, also to a client that has gone in between; where
   * there is none left, the body is dropped
   */
  collectBody(limitBytes: number, room?: BodyRoom): void;
  /**
   * The whole body, once.
   * @throws Problem validation/too-large, upstream/unavailable: no room; RequestAborted
   */
  body(): Promise<Buffer>;
  /**
   * The first call answers; after the client has gone it only gives back what the body took of its room.
   * @returns of a streamed answer: when it has ended. Rejects with what its source threw; the connection is then closed, since
   * that alone tells the client that there should be more
   */
  respond(answer: HttpAnswer): Promise<void> | undefined;
}

export interface HttpServer {
  /** The port really listened on. */
  readonly port: number;
  /** Stops listening, lets what is under way finish within the grace, then closes every connection. */
  close(): Promise<void>;
}

/** The port is in use, or the address is not ours to listen on. */
export class ListenError extends Error {}

// The binding exports this constant at run time only.
const exclusivePort = (uWS as unknown as { LIBUS_LISTEN_EXCLUSIVE_PORT: number }).LIBUS_LISTEN_EXCLUSIVE_PORT;
type ListenSocket = uWS.us_listen_socket | false;
type ListenOnHost = (
  host: string,
  port: number,
  options: number,
  done: (socket: ListenSocket) => void,
) => unknown;

export interface ListenOptions {
  closeGraceMs?: number;
  /** Whose `X-Forwarded-For` is believed; undefined: nobody's. */
  proxies?: BlockList | undefined;
  /** Adds what is no request and answer, on paths of its own. */
  attach?: ((app: uWS.TemplatedApp) => void) | undefined;
}

/**
 * Listens and hands every request to `handle`, which must call `respond` in the end.
 * @param port 0: any free one
 * @throws ListenError
 */
export const listen = async (
  host: string,
  port: number,
  handle: (exchange: Exchange) => void,
  { closeGraceMs = closeGraceMsDefault, proxies, attach }: ListenOptions = {},
): Promise<HttpServer> => {
  const app = uWS.App();
  const load = new Load();
  attach?.(app);
  app.any("/*", (res, req) => handle(new UwsExchange(res, req, load, proxies)));
  const socket = await new Promise<ListenSocket>((resolve) => {
    // Without the exclusive flag a second process would share the port in silence.
    (app.listen as unknown as ListenOnHost).call(app, host, port, exclusivePort, resolve);
  });
  if (socket === false) {
    app.close();
    throw new ListenError(`Cannot listen on ${host}:${port}: the port is taken or the address is not local`);
  }
  const realPort = uWS.us_socket_local_port(socket as uWS.us_socket);
  let closed: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    uWS.us_listen_socket_close(socket);
    await load.drain(closeGraceMs);
    app.close();
  };
  const close = (): Promise<void> => {
    closed ??= stop();
    return closed;
  };
  return { port: realPort, close };
};

type BodyState = "ignored" | "arriving" | "complete" | "too-large" | "no-room";

class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly hasBody: boolean;
  readonly #req: uWS.HttpRequest;
  readonly #res: uWS.HttpResponse;
  readonly #load: Load;
  readonly #proxies: BlockList | undefined;
  readonly #forwardedFor: string;
  /** Undefined: sent in chunks, of unknown length. */
  readonly #declaredBytes: number | undefined;
  /** Where its body ends depends on who reads it: nothing that follows on the connection can be trusted. */
  readonly #unclear: boolean;
  #open = true;
  #answered = false;
  #bodyState: BodyState = "ignored";
  #chunks: Buffer[] = [];
  #onGone: () => void = () => {};
  #streamOnGone: (() => void) | undefined;
  #receivedBytes = 0;
  #room: BodyRoom | undefined;
  /** Of the room. */
  #keptBytes = 0;
  /** Whoever has it keeps its bytes, also when the client has gone. */
  #isHandedOver = false;
  #reader: { resolve: (body: Buffer) => void; reject: (error: Error) => void } | undefined;

  constructor(res: uWS.HttpResponse, req: uWS.HttpRequest, load: Load, proxies: BlockList | undefined) {
    res.onAborted(() => this.#abort());
    load.begin();
    this.#req = req;
    this.#res = res;
    this.#load = load;
    this.#proxies = proxies;
    this.#forwardedFor = proxies === undefined ? "" : forwardedFor(req);
    this.method = req.getCaseSensitiveMethod().toUpperCase();
    this.path = req.getUrl();
    this.query = req.getQuery() ?? "";
    // `req` is gone after this tick.
    this.headers = readHeaders(req, this.method);
    const length = req.getHeader("content-length");
    const chunked = length === "" && req.getHeader("transfer-encoding") !== "";
    this.#declaredBytes = chunked ? undefined : Number(length);
    this.hasBody = chunked || (this.#declaredBytes ?? 0) > 0;
    this.#unclear = this.hasBody && saysTwoLengths(req);
  }

  address(): string {
    if (!this.#open) return "";
    const peer = readableAddress(Buffer.from(this.#res.getRemoteAddress()));
    return this.#proxies === undefined ? peer : clientAddress(peer, this.#forwardedFor, this.#proxies);
  }

  everyHeader(): Record<string, string> {
    return everyHeader(this.#req);
  }

  collectBody(limitBytes: number, room?: BodyRoom): void {
    this.#room = room;
    if (!this.hasBody) {
      this.#bodyState = "complete";
      return;
    }
    const tooLarge = (this.#declaredBytes ?? 0) > limitBytes;
    this.#bodyState = tooLarge ? "too-large" : "arriving";
    this.#res.onData((chunk, isLast) => this.#keep(chunk, isLast, limitBytes));
  }

  body(): Promise<Buffer> {
    if (!this.#open) return Promise.reject(new RequestAborted());
    if (this.#unclear)
      return Promise.reject(
        new Problem("validation/malformed", "The request names two lengths of its body; send one."),
      );
    if (this.#bodyState === "complete") return Promise.resolve(this.#takeBody());
    if (this.#bodyState === "too-large") return Promise.reject(tooLarge());
    if (this.#bodyState === "no-room") return Promise.reject(noRoom());
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  respond(answer: HttpAnswer): Promise<void> | undefined {
    if (this.#answered) return undefined;
    this.#forgetBody();
    if (!this.#open) return discard(answer.stream);
    this.#answered = true;
    const close = this.#load.draining || this.#unclear || this.#leavesTooMuchUnread();
    const streamed = this.method === "HEAD" ? undefined : answer.stream;
    if (streamed !== undefined) this.#streamOnGone = answer.onGone;
    this.#res.cork(() => {
      this.#res.writeStatus(statusLine(answer.status));
      for (const [name, value] of answer.headers) this.#res.writeHeader(name, value);
      if (streamed === undefined) this.#end(answer, close);
    });
    return streamed === undefined ? discard(answer.stream) : this.#send(streamed, close);
  }

  async #send(source: AsyncIterable<string | Buffer>, close: boolean): Promise<void> {
    try {
      for await (const chunk of source) {
        // Leaving the loop ends the source.
        if (!this.#open || !(await this.#taken(chunk))) return;
      }
    } catch (error) {
      // No word can follow the first byte: only a broken transfer says that something is missing. Aborts from here.
      if (this.#open) this.#res.close();
      throw error;
    }
    if (!this.#open) return;
    this.#res.cork(() => this.#res.end(undefined, close));
    this.#finish();
  }

  /** Resolves once the client has taken so much that nothing of the chunk is kept here; false: it has gone. */
  #taken(chunk: string | Buffer): Promise<boolean> {
    return new Promise((resolve) => {
      // An empty chunk would end the answer (RFC 9112 §7.1).
      if (chunk.length === 0) return resolve(true);
      this.#onGone = () => resolve(false);
      this.#res.onWritable(() => {
        // In a turn of its own: of a write inside this call the server forgets that the rest waits for room.
        setImmediate(() => resolve(this.#open));
        return true;
      });
      this.#res.cork(() => {
        if (this.#res.write(chunk)) resolve(true);
      });
    });
  }

  #end({ status, body }: HttpAnswer, close: boolean): void {
    const res = this.#res;
    if (this.method === "HEAD" || status === 204 || status === 304) {
      // RFC 9110 §9.3.2: HEAD has the headers of GET. The server must not be told this length as its own: it
      // would wait for the bytes and break the connection at the next request.
      if (status !== 204 && status !== 304 && body !== undefined)
        res.writeHeader("Content-Length", String(Buffer.byteLength(body)));
      if (close) res.endWithoutBody(0, true);
      else res.endWithoutBody();
    } else if (body === undefined || body.length <= singleWriteBytesMax || close) {
      res.end(body, close);
    } else {
      this.#endInParts(Buffer.from(body as string));
      return;
    }
    this.#finish();
  }

  #endInParts(body: Buffer): void {
    const res = this.#res;
    const start = res.getWriteOffset();
    const [, done] = res.tryEnd(body, body.length);
    if (done) {
      this.#finish();
      return;
    }
    res.onWritable((offset) => {
      const [ok, allWritten] = res.tryEnd(body.subarray(offset - start), body.length);
      if (allWritten) this.#finish();
      return ok;
    });
  }

  #keep(chunk: ArrayBuffer, isLast: boolean, limitBytes: number): void {
    if (this.#bodyState !== "arriving") return;
    this.#receivedBytes += chunk.byteLength;
    if (this.#receivedBytes > limitBytes) {
      this.#drop("too-large", tooLarge());
      return;
    }
    // The chunk's memory is the server's own and is taken back on return. An answered request needs no body.
    if (!this.#answered) {
      if (this.#room?.take(chunk.byteLength) === false) {
        this.#drop("no-room", noRoom());
        return;
      }
      this.#keptBytes += chunk.byteLength;
      this.#chunks.push(Buffer.from(new Uint8Array(chunk)));
    }
    if (!isLast) return;
    this.#bodyState = "complete";
    this.#reader?.resolve(this.#takeBody());
  }

  /** Nothing of it is kept any more, nor of what is still to come. */
  #drop(state: BodyState, problem: Problem): void {
    this.#bodyState = state;
    this.#forgetBody();
    this.#reader?.reject(problem);
  }

  #forgetBody(): void {
    this.#chunks = [];
    this.#room?.giveBack(this.#keptBytes);
    this.#keptBytes = 0;
  }

  #takeBody(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#isHandedOver = true;
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  /** Draining keeps a connection alive, but nobody may make us read without an end. */
  #leavesTooMuchUnread(): boolean {
    if (!this.hasBody || this.#bodyState === "complete") return false;
    return this.#declaredBytes === undefined || this.#declaredBytes > drainBytesMax;
  }

  #finish(): void {
    this.#open = false;
    this.#load.end();
  }

  #abort(): void {
    if (!this.#open) return;
    if (!this.#isHandedOver) this.#forgetBody();
    this.#finish();
    this.#reader?.reject(new RequestAborted());
    this.#onGone();
    this.#streamOnGone?.();
  }
}

/** What nobody will be sent is begun and ended: a generator that was never begun would not do what it does at its end. */
const discard = (stream: HttpAnswer["stream"]): Promise<void> | undefined => stream && endAtOnce(stream);

const endAtOnce = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of stream) return;
};

const tooLarge = (): Problem =>
  new Problem(
    "validation/too-large",
    "Send less at once; the limit of this route stands in its description.",
  );

const noRoom = (): Problem =>
  new Problem("upstream/unavailable", "Too much is being sent at once. Send it again in a moment.", {
    failedDomain: "gateway",
    retryAfterSeconds: 5,
  });

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, phrase]) => [Number(code), `${code} ${phrase}`]),
);
const statusLine = (status: number): string => statusLines.get(status) ?? String(status);
