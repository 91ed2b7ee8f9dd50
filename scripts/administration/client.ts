// Speaks to a running instance as one more Moleculer node: commands and queries by their names, problems thrown as such.
import { randomBytes, randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { connect } from "@nats-io/transport-node";
import { ServiceBroker } from "moleculer";
import { mintTraceparent } from "../../actors/runtime/clock.ts";
import { callThrough } from "../../actors/runtime/host.ts";
import type { Command, Query } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { unreachable, withoutPassword } from "./unreachable.ts";

const connectTimeoutMs = 2_000;
const answerTimeoutMs = 15_000;
const discoverTimeoutMs = 5_000;

export interface InstanceClient {
  /** @throws Problem the actor's refusal, StartFailure when it isn't there */
  command<View>(name: string, options: { tenant: string; entity?: string; data?: unknown }): Promise<View>;
  query<View>(name: string, options: { tenant: string; params?: Record<string, unknown> }): Promise<View>;
  close(): Promise<void>;
}

/** @throws StartFailure when no NATS server answers at `natsUrl` */
export async function openClient(natsUrl: string): Promise<InstanceClient> {
  const servers = natsUrl.split(",");
  // Moleculer's transporter would try for ever.
  await checkReachable(servers);
  const broker = new ServiceBroker({
    nodeID: `admin-${process.pid}-${randomBytes(4).toString("hex")}`,
    transporter: { type: "NATS", options: { servers } },
    requestTimeout: answerTimeoutMs,
    logger: false,
    skipProcessEventRegistration: true,
  });
  await broker.start();
  const call = callThrough(broker);
  const envelope = (tenant: string) => ({
    tenant,
    principal: { surface: "system", tenant, urn: administratorUrn() } as const,
    correlationUrn: urn("correlation", randomUUID()),
    traceparent: mintTraceparent(),
  });
  const calling = async <View>(name: string, message: Command | Query): Promise<View> => {
    await found(broker, name.split(".")[0]!, natsUrl);
    return call<View>(name, message);
  };
  return {
    command: (name, { tenant, entity = "", data = {} }) =>
      calling(name, {
        ...envelope(tenant),
        id: randomUUID(),
        name,
        entity,
        issuedAt: new Date().toISOString(),
        data,
      }),
    query: (name, { tenant, params = {} }) => calling(name, { ...envelope(tenant), params }),
    close: () => broker.stop(),
  };
}

/** Who the audit trail names: the person at this machine. */
const administratorUrn = (): string =>
  urn(
    "user",
    `admin-${userInfo()
      .username.replace(/[^A-Za-z0-9._~|@+-]/g, "-")
      .slice(0, 100)}`,
  );

async function checkReachable(servers: string[]): Promise<void> {
  try {
    const connection = await connect({ servers, reconnect: false, timeout: connectTimeoutMs });
    await connection.close();
  } catch (error) {
    throw unreachable(servers.join(","), error);
  }
}

async function found(broker: ServiceBroker, actor: string, natsUrl: string): Promise<void> {
  try {
    await broker.waitForServices(actor, discoverTimeoutMs, 20);
  } catch {
    throw new StartFailure(
      `nobody at ${withoutPassword(natsUrl)} runs the ${actor} actor: is the instance running?`,
    );
  }
}
