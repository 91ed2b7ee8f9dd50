/**
 * Owns the peer of the benchmark `pipeline`: the same actions of the same actors behind uWebSockets.js alone. It parses the
 * body, makes the envelope, calls the action and writes what came back: no token, role, rate, key, schema or URN is looked at.
 */
import * as uWS from "uWebSockets.js";
import { ServiceBroker } from "moleculer";
import { pino } from "pino";
import { ulid } from "ulid";
import { openDocuments } from "../../actors/runtime/documents.ts";
import { actorFactories, startActors } from "../../actors/start.ts";
import { readConfig } from "../../config/config.ts";
import type { Principal, Reply } from "../../schemas/command.ts";
import { openStreams } from "../../streams/connection.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

/** A path and what it stands for; the caller is fixed. */
export interface BareRoute {
  path: string;
  action: string;
  principal: Principal;
  params: Record<string, unknown>;
}

const routes = JSON.parse(process.env.BARE_ROUTES ?? "[]") as BareRoute[];
const config = readConfig();
const log = pino({ level: "error" });
const streams = await openStreams(config.NATS_URL, "stopover-bare");
const tenants = await openTenantDirectory(streams, log);
const documents = await openDocuments(config.MONGODB_URL, config.DATABASE_PREFIX);
const broker = new ServiceBroker({ logger: false });
const names = Object.keys(actorFactories);
const actors = await startActors({ config, broker, streams, documents, tenants, log, names });

const envelopeOf = ({ action, principal, params }: BareRoute, data?: unknown) => {
  const id = ulid();
  const trace = {
    correlationUrn: `urn:correlation:${id}`,
    traceparent: `00-${"1".repeat(32)}-${"1".repeat(16)}-01`,
  };
  const { tenant } = principal;
  return data === undefined
    ? { ...trace, tenant, principal, params }
    : { ...trace, id, name: action, tenant, entity: "", principal, issuedAt: new Date().toISOString(), data };
};

const answer = async (response: Response, route: BareRoute, data?: unknown): Promise<void> => {
  const reply = await broker.call<Reply, object>(route.action, envelopeOf(route, data)).catch((error) => {
    console.error(error);
    return { problem: String(error) };
  });
  if (response.gone) return;
  response.cork(() => {
    if ("problem" in reply)
      response.writeStatus("500 Internal Server Error").end(JSON.stringify(reply.problem));
    else response.writeHeader("Content-Type", "application/json").end(JSON.stringify(reply.ok));
  });
};

type Response = uWS.HttpResponse & { gone?: boolean };

const heed = (response: Response): Response => {
  response.onAborted(() => {
    response.gone = true;
  });
  return response;
};

const app = uWS.App();
for (const route of routes) {
  app.get(route.path, (response) => {
    void answer(heed(response), route);
  });
  app.post(route.path, (response) => {
    const chunks: Buffer[] = [];
    heed(response).onData((chunk, isLast) => {
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (isLast) void answer(response, route, JSON.parse(Buffer.concat(chunks).toString()));
    });
  });
}
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("uWebSockets.js does not listen");
  console.log(`listening http://127.0.0.1:${uWS.us_socket_local_port(socket)}`);
});

const stop = async (): Promise<void> => {
  app.close();
  await actors.stop();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
stopWithParent(() => void stop());
