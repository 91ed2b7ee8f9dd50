/** Owns the embedded document server's process: options, the loopback socket, start and stop. */
import { createServer, type Server, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { stopWithParent } from "../../supervisor/parent-watch.ts";
import { Engine } from "./engine.ts";
import { Store } from "./store.ts";
import { Framer, frameReply, parseRequest } from "./wire.ts";

const HOST = "127.0.0.1";
const TTL_MS_DEFAULT = 60_000;
/** How long a client that doesn't read its last replies can hold up a stop. */
const CLOSE_MS_MAX = 500;

export interface DocumentServerOptions {
  /** The folder that holds everything; created if missing, locked while the server runs. */
  dir: string;
  /** 0 picks a free one. */
  port: number;
  /** How often TTL indexes are swept; 60,000 when left out, as MongoDB does. */
  ttlMs?: number;
}

export interface DocumentServer {
  /** A connection string for MongoDB's drivers, retryable writes included. */
  url: string;
  /** Answers what has arrived, then closes connections and the store. */
  close(): Promise<void>;
}

/** Starts a server on loopback. Throws, with nothing left open, if the port is taken or another server has the folder. */
export async function startDocumentServer(options: DocumentServerOptions): Promise<DocumentServer> {
  const store = openStore(options.dir);
  const sockets = new Set<Socket>();
  let port = options.port;
  const engine = new Engine(store, () => `${HOST}:${port}`);
  let connections = 0;
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serve(socket, engine, ++connections);
  });
  try {
    port = await listen(listener, options.port);
  } catch (error) {
    store.close();
    throw error;
  }
  const sweep = setInterval(() => engine.expire(Date.now()), options.ttlMs ?? TTL_MS_DEFAULT);
  return {
    url: `mongodb://${HOST}:${port}/?directConnection=true`,
    async close() {
      clearInterval(sweep);
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      // Nothing is read any more, so that no request comes between the last commit and the store's closing.
      for (const socket of sockets) socket.removeAllListeners("data").pause();
      engine.drain();
      for (const socket of sockets) socket.destroySoon();
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, CLOSE_MS_MAX);
      await closed;
      clearTimeout(deadline);
      store.close();
    },
  };
}

function openStore(dir: string): Store {
  try {
    return new Store(dir);
  } catch (error) {
    const isLocked = error instanceof Error && /locked/.test(error.message);
    throw isLocked ? new Error(`the folder ${dir} is locked by another document server`) : error;
  }
}

function listen(listener: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once("error", (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new Error(`port ${port} is already in use`) : error);
    });
    listener.listen(port, HOST, () => resolve((listener.address() as { port: number }).port));
  });
}

/** Reads requests from a connection; one that breaks the protocol is closed, as a MongoDB server does. */
function serve(socket: Socket, engine: Engine, connectionId: number): void {
  const framer = new Framer();
  // A reset connection closes itself: its client has gone and there is nobody to tell.
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    try {
      for (const frame of framer.push(chunk)) {
        const request = parseRequest(frame);
        engine.submit({
          request,
          connectionId,
          answer: (reply) => write(socket, frameReply(request, reply), request),
        });
      }
    } catch (error) {
      console.error(`closed connection ${connectionId}: ${(error as Error).message}`);
      socket.destroy();
    }
  });
}

function write(
  socket: Socket,
  parts: readonly Buffer[],
  { isUnacknowledged }: { isUnacknowledged: boolean },
): void {
  if (isUnacknowledged || socket.destroyed) return;
  socket.cork();
  for (const part of parts) socket.write(part);
  socket.uncork();
}

function readOptions(): DocumentServerOptions {
  const { values } = parseArgs({
    options: { dir: { type: "string" }, port: { type: "string" }, "ttl-ms": { type: "string" } },
  });
  const whole = (name: string, text: string, max: number) => {
    if (!/^\d+$/.test(text) || Number(text) > max) throw new Error(`--${name} must be a number up to ${max}`);
    return Number(text);
  };
  if (values.dir === undefined) throw new Error("--dir is missing");
  const ttlMs = whole("ttl-ms", values["ttl-ms"] ?? String(TTL_MS_DEFAULT), 2 ** 31 - 1);
  if (ttlMs === 0) throw new Error("--ttl-ms must be at least 1");
  return { dir: values.dir, port: whole("port", values.port ?? "0", 65_535), ttlMs };
}

async function main(): Promise<void> {
  const server = await startDocumentServer(readOptions());
  console.log(`listening ${server.url}`);
  const stop = (): void => void server.close().then(() => process.exit());
  stopWithParent(stop);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
}

if (import.meta.main) {
  main().catch((error: Error) => {
    console.error(`document server: ${error.message}`);
    process.exitCode = 1;
  });
}
