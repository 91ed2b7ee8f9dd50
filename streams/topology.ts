/** Owns the streams as a table and applies it: additive differences at the start, destructive ones stop it. */
import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";

const dayMs = 86_400_000;

export type StreamName = "COMMANDS" | "EVENTS" | "INTERNAL" | "DEAD";

/** `maxAgeMs` 0: kept until acknowledged (a work queue). */
const streams: Record<StreamName, { subjects: string[]; retention: RetentionPolicy; maxAgeMs: number }> = {
  COMMANDS: { subjects: ["cmd.>"], retention: RetentionPolicy.Workqueue, maxAgeMs: 0 },
  EVENTS: { subjects: ["evt.>"], retention: RetentionPolicy.Limits, maxAgeMs: 8 * dayMs },
  INTERNAL: { subjects: ["int.>"], retention: RetentionPolicy.Limits, maxAgeMs: 8 * dayMs },
  DEAD: { subjects: ["dead.>"], retention: RetentionPolicy.Limits, maxAgeMs: 30 * dayMs },
};

/** How long the server itself drops a repeated `Nats-Msg-Id`; past it, readers deduplicate. */
export const duplicateWindowMs = 120_000;

const configOf = (name: StreamName): Partial<StreamConfig> & { name: string } => ({
  name,
  subjects: streams[name].subjects,
  retention: streams[name].retention,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  max_age: nanos(streams[name].maxAgeMs),
  duplicate_window: nanos(duplicateWindowMs),
  allow_direct: true,
});

/**
 * Creates what is missing and widens what differs.
 * @throws Error when a stream stands with another retention or storage, which only a migration may change
 */
export const applyTopology = async (manager: JetStreamManager): Promise<void> => {
  const standing = new Map<string, StreamConfig>();
  for await (const info of manager.streams.list()) standing.set(info.config.name, info.config);
  for (const name of Object.keys(streams) as StreamName[]) {
    const wanted = configOf(name);
    const found = standing.get(name);
    if (found === undefined) {
      await manager.streams.add(wanted);
      continue;
    }
    if (found.retention !== wanted.retention || found.storage !== wanted.storage) {
      throw new Error(
        `Stream ${name} stands with retention ${found.retention}; migrate it by hand, it would lose messages`,
      );
    }
    if (found.max_age !== wanted.max_age || found.subjects.join() !== wanted.subjects?.join()) {
      await manager.streams.update(name, wanted);
    }
  }
};
