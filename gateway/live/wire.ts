/**
 * Owns where Socket.IO meets uWebSockets.js: attaching it to the gateway's own app, and the raw socket under a connection. The only
 * file that knows of internals of either.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, WebSocket, WebSocketBehavior } from "uWebSockets.js";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Server, Socket } from "socket.io";
import { clientAddress, readableAddress } from "../http/address.ts";
import { forwardedFor } from "../http/headers.ts";

/** A client that has taken less of what was sent to it is closed: its reconnect brings what it has missed. */
const unsentBytesMax = 256 * 1024;
/** Before that a replay waits. */
const unsentBytesPace = 64 * 1024;

/** What is used of Engine.IO's socket. */
interface EngineSocket {
  readyState: string;
  transport: { socket?: WebSocket<unknown> };
  request: object | null;
  on(event: "packet" | "close", hear: () => void): void;
  off(event: "close", hear: () => void): void;
  close(): void;
}
interface Engine {
  on(event: "connection", hear: (socket: EngineSocket) => void): void;
  close(): void;
}

const drained = new WeakMap<object, () => void>();

/**
 * Engine.IO does not look at what became of a message, and uWebSockets.js drops it in silence where too much is unsent: with this
 * such a client is closed. Of what Engine.IO serves only upgrades are let in; polling would be buffered without bound.
 */
const guarded = (app: TemplatedApp): TemplatedApp => {
  const guard: TemplatedApp = new Proxy(app, {
    get: (target, name) => {
      if (name === "any") return () => guard;
      if (name === "ws")
        return (pattern: string, behavior: WebSocketBehavior<unknown>) => {
          target.ws(pattern, {
            ...behavior,
            maxBackpressure: unsentBytesMax,
            closeOnBackpressureLimit: true,
            drain: (ws: WebSocket<unknown>) => drained.get(ws)?.(),
          });
          return guard;
        };
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  return guard;
};

export interface Attached {
  /** Ends every connection. */
  close(): void;
}

export interface AttachHears {
  /** Of every connection, before it has shown who it is, with the upgrade that it began with. @returns what to do when it is gone */
  onConnection(connection: object, request: object): () => void;
  /** Of whatever it sends; false: it is closed. */
  onPacket(connection: object): boolean;
}

/** With and without a slash at the end of the path: the one is Engine.IO's default, the other what people type. */
export const attach = (io: Server, app: TemplatedApp, hears: AttachHears): Attached => {
  const engines = [{ addTrailingSlash: false }, {}].map((options) => {
    io.attachApp(guarded(app), options);
    return io.engine as unknown as Engine;
  });
  for (const engine of engines)
    engine.on("connection", (conn) => {
      // Nobody asks for the request any more, and it is most of what an idle connection would hold.
      const request = conn.request as object;
      conn.request = null;
      conn.on("close", hears.onConnection(conn, request));
      conn.on("packet", () => {
        if (!hears.onPacket(conn)) endRaw(conn, 1008, "too many messages");
      });
    });
  return {
    close: () => {
      for (const engine of engines) engine.close();
    },
  };
};

/** Whose upgrade it is, seen through our own proxies; only while it is being decided on. */
export const upgradedBy = (request: IncomingMessage, proxies: BlockList | undefined): string => {
  const upgrade = request as unknown as HttpRequest & { res: HttpResponse };
  const peer = readableAddress(Buffer.from(upgrade.res.getRemoteAddress()));
  return proxies === undefined ? peer : clientAddress(peer, forwardedFor(upgrade), proxies);
};

const endRaw = (conn: EngineSocket, code: number, reason: string): void => {
  if (conn.readyState !== "open") return;
  const { socket } = conn.transport;
  if (socket === undefined) conn.close();
  else socket.end(code, reason);
};

/** One client's connection. Nothing of it may be used once it is closed: that alone is seen to here. */
export class Wire {
  readonly #conn: EngineSocket;

  constructor({ conn }: Socket) {
    this.#conn = conn as unknown as EngineSocket;
  }

  /** The same for all that comes by one connection. */
  get connection(): object {
    return this.#conn;
  }

  isOpen(): boolean {
    return this.#conn.readyState === "open" && this.#conn.transport.socket !== undefined;
  }

  /** @param packet whole, as it goes over the connection */
  send(packet: string): void {
    if (this.isOpen()) this.#conn.transport.socket?.send(packet);
  }

  /** Whether it takes what is sent to it, as far as is known. */
  keepsUp(): boolean {
    return !this.isOpen() || (this.#conn.transport.socket?.getBufferedAmount() ?? 0) < unsentBytesPace;
  }

  /** Once it has taken what was sent, or is closed. @returns false: not within the time */
  drained(withinMs: number): Promise<boolean> {
    const { socket } = this.#conn.transport;
    if (!this.isOpen() || socket === undefined) return Promise.resolve(true);
    return new Promise((settle) => {
      const done = (taken: boolean): void => {
        clearTimeout(timer);
        drained.delete(socket);
        this.#conn.off("close", onClose);
        settle(taken);
      };
      const onClose = (): void => done(true);
      const timer = setTimeout(done, withinMs, false);
      drained.set(socket, () => {
        if (this.keepsUp()) done(true);
      });
      this.#conn.on("close", onClose);
    });
  }

  hear(topic: string): void {
    if (this.isOpen()) this.#conn.transport.socket?.subscribe(topic);
  }

  unhear(topic: string): void {
    if (this.isOpen()) this.#conn.transport.socket?.unsubscribe(topic);
  }

  end(code: number, reason: string): void {
    endRaw(this.#conn, code, reason);
  }
}
