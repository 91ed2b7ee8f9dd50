/** Wires the metrics actor: events become facts of their buckets, which figures are read from. */
import type { EventRecord } from "../../schemas/command.ts";
import { parseUrn } from "../../schemas/urn.ts";
import { consume, type Delivery, type Disposition, done } from "../../streams/consume.ts";
import { parseSubject, typeFilter } from "../../streams/subjects.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import {
  availability,
  availabilityCollection,
  availabilityIndexes,
  noteAvailability,
} from "./availability.ts";
import { bucketIndexes } from "./buckets.ts";
import { internalSources, notedOf, publicSources } from "./facts.ts";
import { Projector } from "./projector.ts";
import { metricsQueries } from "./queries.ts";

const take = async (projector: Projector, delivery: Delivery): Promise<Disposition> => {
  const event = delivery.json() as EventRecord;
  const tenant = parseUrn(event.tenant ?? "")?.tenant;
  if (tenant === undefined || tenant !== parseSubject(delivery.subject)?.tenant)
    return { kind: "dead", reason: "The event is not of the airline that its subject names." };
  const noted = notedOf(event);
  if (noted !== undefined) await projector.note(tenant, noted);
  return done;
};

export const metricsActor = (context: ActorContext): Actor => {
  const projector = new Projector((tenant) => context.documents.tenant(tenant), context.faults);
  const follow = (stream: "EVENTS" | "INTERNAL", filterSubjects: string[]) =>
    consume(context.streams, {
      stream,
      durable: "metrics",
      filterSubjects,
      owner: "metrics",
      concurrency: 256,
      ackWaitMs: context.config.ACK_WAIT_MS,
      log: context.log,
      handle: (delivery) => take(projector, delivery),
      beforeAck: () => context.faults("before-ack", "metrics.note"),
    });
  return {
    name: "metrics",
    deciders: [],
    collections: {
      metricsBuckets: bucketIndexes,
      metricsHeads: [],
      [availabilityCollection]: availabilityIndexes,
    },
    commands: { "note-availability": noteAvailability(context) },
    queries: { ...metricsQueries(context), availability: availability(context) },
    start: async () => {
      const consuming = await Promise.all([
        follow(
          "EVENTS",
          publicSources.map((type) => typeFilter("evt", type)),
        ),
        follow(
          "INTERNAL",
          internalSources.map((type) => typeFilter("int", type)),
        ),
      ]);
      return async () => {
        await Promise.all(consuming.map((one) => one.stop()));
      };
    },
  };
};
