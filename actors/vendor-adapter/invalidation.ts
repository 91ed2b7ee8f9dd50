/** Owns having an airport's kept offers forgotten in every process, and the report that somebody has. */
import type { Logger } from "pino";
import type { Command, EventRecord } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { watchBucket } from "../../streams/bucket.ts";
import type { Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { derivedId } from "../runtime/clock.ts";
import type { OfferCache } from "./recent-offers.ts";

/** Longer than any offer is kept, so that a process which hears late has nothing left to forget. */
const noticeMs = 10 * 60_000;
const bucketName = "hotel-offers";

export interface Invalidations {
  /** False: others' are not heard of any more. */
  live(): boolean;
  /** Forgotten here once it returns, and in the other processes as soon as they hear of it. */
  announce(command: Command, airport: string, at: Date): Promise<void>;
  close(): void;
}

/** Through a watched bucket rather than a message: a process that was cut off hears of it when it is back. */
export const watchInvalidations = async (
  cache: OfferCache,
  { streams, log }: { streams: Streams; log: Logger },
): Promise<Invalidations> => {
  const forget = (key: string): void => {
    const [tenant = "", airport = ""] = key.split(".");
    cache.invalidate(tenant, airport);
  };
  const bucket = await watchBucket<{ at: string }>(
    streams,
    bucketName,
    {
      onValue: forget,
      onUnreadable: (key, error) => log.warn({ key, err: error }, "an invalidation cannot be read"),
      onEnd: (error) => log.error({ err: error }, "invalidations of hotel offers are not heard of any more"),
    },
    { ttlMs: noticeMs },
  );
  return {
    live: () => bucket.live(),
    announce: async (command, airport, at) => {
      await report(streams, command, airport, at);
      await bucket.put(`${command.tenant}.${airport}`, { at: at.toISOString() });
      cache.invalidate(command.tenant, airport);
    },
    close: () => bucket.close(),
  };
};

/** The trail's entry, under a URN that comes from the command: the same one again is one. */
const report = async (streams: Streams, command: Command, airport: string, at: Date): Promise<void> => {
  const { id, name, tenant, principal, correlationUrn, traceparent } = command;
  const event: EventRecord = {
    urn: urn("event", derivedId(tenant, `${id}:audit`, new Date(command.issuedAt))),
    type: "audit.recorded",
    occurred_at: at.toISOString(),
    tenant: urn("airline", tenant),
    correlation_urn: correlationUrn,
    traceparent,
    data: {
      entityUrn: urn("airport", airport),
      action: name,
      principal: principal.urn,
      surface: principal.surface,
      role: principal.role,
      before: null,
      after: null,
    },
  };
  await publish(streams, {
    subject: internalSubject(tenant, event.type, airport),
    payload: JSON.stringify(event),
    messageId: event.urn,
  });
};
