/** Owns the peers of the benchmark `gateway`: the least that uWebSockets.js and node:http can do, one of them per process. */

import * as uWS from "uWebSockets.js";
import { createServer } from "node:http";
import { stopWithParent } from "../supervisor/parent-watch.ts";

const body = JSON.stringify({ status: "live" });

const listenWithUws = (): void => {
  uWS
    .App()
    .get("/health/live", (response) => {
      response.writeHeader("Content-Type", "application/json").end(body);
    })
    .listen("127.0.0.1", 0, (socket) => {
      if (!socket) throw new Error("uWebSockets.js does not listen");
      console.log(`listening http://127.0.0.1:${uWS.us_socket_local_port(socket)}`);
    });
};

const listenWithNode = (): void => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" }).end(body);
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("node:http does not listen");
    console.log(`listening http://127.0.0.1:${address.port}`);
  });
};

const stop = (): void => process.exit(0);
process.once("SIGTERM", stop);
stopWithParent(stop);
if (process.argv[2] === "uws") listenWithUws();
else listenWithNode();
