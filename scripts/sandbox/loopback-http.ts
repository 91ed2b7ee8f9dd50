/** Owns how the sandbox's servers listen (loopback only) and read bodies (bounded). */
import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
  url: string;
  port: number;
  /** Ends open connections too: a client must not keep a stopping vendor alive. */
  close(): Promise<void>;
}

const listen = async (server: Server, port: number): Promise<void> => {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
};

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

/**
 * @param port 0: any free one, but first `remembered`, so that a restarted vendor is found where it was.
 * @throws the listen error when an asked-for port is taken.
 */
export const listenOnLoopback = async (server: Server, port: number, remembered = 0): Promise<Listening> => {
  try {
    await listen(server, port === 0 ? remembered : port);
  } catch (error) {
    if (port !== 0 || !isTaken(error)) throw error;
    await listen(server, 0);
  }
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

/** The body as UTF-8 text; undefined once it passes `bytesMax` (the rest is read and dropped). */
export const readBody = async (request: IncomingMessage, bytesMax: number): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks).toString("utf8");
};
