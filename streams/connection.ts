/** Owns the connection to NATS: connecting, checking the server, and what the rest uses of JetStream. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectGathering } from "./gathering-transport.ts";
import { applyTopology } from "./topology.ts";

/** Several filter subjects on one consumer need it; older servers drop the setting in silence. */
export const oldestServer = "2.10.0";

export interface Streams {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly kv: Kvm;
  close(): Promise<void>;
}

const isOlder = (version: string, than: string): boolean => {
  const [a, b] = [version, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number)) as [
    number[],
    number[],
  ];
  const at = a.findIndex((part, i) => part !== b[i]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
};

/**
 * Connects, checks the server's version and applies the stream table. Reconnects for ever after that.
 * @param servers comma-separated addresses
 * @throws Error when no server answers, or it is older than {@link oldestServer}
 */
export const openStreams = async (servers: string, name: string): Promise<Streams> => {
  const connection = await connectGathering({
    servers: servers.split(","),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    timeout: 5000,
    // A stack trace for each request, taken in case it fails, was a tenth of the CPU of a night.
    noAsyncTraces: true,
  });
  const version = connection.info?.version ?? "0.0.0";
  if (isOlder(version, oldestServer)) {
    await connection.close();
    throw new Error(`nats-server ${version} is too old: ${oldestServer} or later is needed`);
  }
  const manager = await jetstreamManager(connection);
  await applyTopology(manager);
  return {
    connection,
    jetstream: jetstream(connection),
    manager,
    kv: new Kvm(connection),
    close: async () => {
      if (connection.isClosed()) return;
      await connection.flush().catch(() => undefined);
      await connection.close();
    },
  };
};
