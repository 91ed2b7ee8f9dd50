/** Owns comparing the stream of public events with what the partners' receiver accepted: each at least once, none unknown, and no happening under two URNs. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { EventRecord } from "../../schemas/command.ts";
import { typesFor } from "../../schemas/events.ts";
import { idOf } from "../../schemas/urn.ts";
import type { Scope } from "../../schemas/vocabulary.ts";
import type { Streams } from "../../streams/connection.ts";
import type { OwnInstance } from "../benchmarks/instance.ts";

import { eventFault } from "./described-events.ts";

/** What may rightly happen to one case or group more than once. */
const repeatable: ReadonlySet<string> = new Set([
  "disruption.detected",
  "case.amended",
  "voucher.amended",
  "wallet.card-tx",
]);

interface Accepted {
  path: string;
  verified: boolean;
  status: number | null;
  eventUrn: string | null;
}

export interface DeliveryCheck {
  faults: string[];
  /** By URN. */
  events: number;
  /** Accepted by the partners, repeats included. */
  deliveries: number;
}

/** All that the stream keeps, oldest first; the same URN may stand there twice. */
const publicEvents = async ({ manager, jetstream }: Streams): Promise<EventRecord[]> => {
  const { state } = await manager.streams.info("EVENTS");
  if (state.messages === 0) return [];
  const events: EventRecord[] = [];
  const consumer = await jetstream.consumers.get("EVENTS", { deliver_policy: DeliverPolicy.All });
  for await (const message of await consumer.consume()) {
    events.push(message.json<EventRecord>());
    if (message.seq >= state.last_seq) break;
  }
  return events;
};

const acceptedDeliveries = async (sandboxUrl: string, signal: AbortSignal): Promise<Accepted[]> => {
  const answer = await fetch(new URL("/ledger/receiver", sandboxUrl), { signal });
  if (!answer.ok) throw new Error(`the receiver's ledger is not to be had: ${answer.status}`);
  const { deliveries } = (await answer.json()) as { deliveries: Accepted[] };
  return deliveries.filter(({ verified, status }) => verified && status !== null && status < 300);
};

/** To be called at rest: then nothing is on its way any more. */
export const checkDeliveries = async (own: OwnInstance, signal: AbortSignal): Promise<DeliveryCheck> => {
  const stream = await publicEvents(own.streams);
  const accepted = await acceptedDeliveries(own.sandboxUrl, signal);
  const byUrn = new Map(stream.map((event) => [event.urn, event]));
  const faults = [
    ...told(byUrn, own, accepted),
    ...[...byUrn.values()].flatMap((event) => eventFault(event) ?? []),
  ];
  const happenings = new Map<string, number>();
  for (const { type, data, case_urn } of byUrn.values()) {
    if (repeatable.has(type)) continue;
    const happening = `${type} of ${data.subCaseUrn ?? case_urn}`;
    happenings.set(happening, (happenings.get(happening) ?? 0) + 1);
  }
  for (const [happening, urns] of happenings)
    if (urns > 1) faults.push(`${happening} stands under ${urns} URNs`);
  return { faults, events: byUrn.size, deliveries: accepted.length };
};

const told = (
  byUrn: ReadonlyMap<string, EventRecord>,
  { airlines }: OwnInstance,
  accepted: readonly Accepted[],
): string[] =>
  airlines.flatMap(({ code, partners }) =>
    partners.flatMap(({ clientId, scopes }) => {
      const types = new Set<string>(typesFor(scopes as Scope[]));
      const heard = new Set(accepted.filter(({ path }) => path === clientId).map(({ eventUrn }) => eventUrn));
      const due = [...byUrn.values()].filter(({ tenant, type }) => idOf(tenant) === code && types.has(type));
      const ofTheirs = new Set<string | null>(due.map(({ urn }) => urn));
      return [
        ...due
          .filter(({ urn }) => !heard.has(urn))
          .map(({ urn, type }) => `${clientId} never heard of ${type} ${urn}`),
        ...[...heard]
          .filter((urn) => !ofTheirs.has(urn))
          .map((urn) => `${clientId} heard of ${urn}, which is not in the stream for them`),
      ];
    }),
  );
