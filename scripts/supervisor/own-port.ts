/** Owns ports for what has to name its address before it listens there. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below what systems give to connections and to who listens on any port: nobody else is given one of these meanwhile. */
const lowest = 10_240;
const highest = 32_000;

const given = new Set<number>();

/** A port of this loopback address that was free a moment ago, and that this process gives to nobody else. */
export const ownPort = async (host = "127.0.0.1"): Promise<number> => {
  for (;;) {
    const port = randomInt(lowest, highest);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    try {
      await once(server.listen(port, host), "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    await once(server.close(), "close");
    return port;
  }
};
