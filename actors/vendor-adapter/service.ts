/** Wires the vendor-adapter actor: one consumer per vendor and airline, so that one vendor's outage stops nobody else. */
import type { Command, Query } from "../../schemas/command.ts";
import type { HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { VendorCall, VendorChoice, VendorVerb, VendorView } from "../../schemas/vendor-call.ts";
import type { Consuming, Delivery } from "../../streams/consume.ts";
import { splitName } from "../../streams/subjects.ts";
import { causedId } from "../runtime/clock.ts";
import { consumeCommands } from "../runtime/consume.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { tryUntilDone } from "../runtime/try-until.ts";
import { carryOut } from "./calls.ts";
import { type Instances, listVendors, openInstances } from "./instances.ts";
import { type Source, startReconciling } from "./reconcile.ts";
import { searchHotels } from "./search.ts";

/** Calls to one vendor for one airline at once, in this process: the bulkhead. */
const callsAtOnce = 24;

export const vendorAdapterActor = (context: ActorContext): Actor => {
  const opened = Promise.withResolvers<Instances>();
  const consumers: Promise<Consuming | undefined>[] = [];
  let stopping = false;

  const answerCall = (vendor: string) => async (command: Command, delivery: Delivery) => {
    const instance = (await opened.promise).of(command.tenant).find(({ name }) => name === vendor);
    if (instance === undefined) throw new Error(`vendor ${vendor} is not configured`);
    const call = command.data as VendorCall;
    const verb = splitName(command.name)[1] as VendorVerb;
    const { attempt } = delivery;
    const answer = await carryOut(instance, verb, call, { traceparent: command.traceparent, attempt });
    context.faults("after-vendor-answer", command.name);
    const id = causedId(command.id, "answer", answer.outcome, attempt);
    const { name, entity } = call.replyTo;
    const reply = { id, name, entity, data: answer, now: context.clock.now() };
    await sendCommand(context.streams, systemCommand("vendor-adapter", command, reply));
  };

  const hotels = (instances: Instances): Source[] =>
    context.tenants.all().flatMap(({ code: tenant }) =>
      instances.byKind(tenant, "hotel").map(({ name, port, reconcileMinutes }) => ({
        tenant,
        name,
        port,
        intervalMs:
          reconcileMinutes === undefined ? context.config.RECONCILE_INTERVAL_MS : reconcileMinutes * 60_000,
      })),
    );

  const onVendor = (tenant: string, vendor: string): void => {
    const log = context.log.child({ vendor });
    const wiring = { ...context, log };
    const begin = (): Promise<Consuming> =>
      consumeCommands(wiring, `vendor-${vendor}`, tenant, callsAtOnce, answerCall(vendor));
    const onFailure = (error: unknown): void =>
      log.error({ tenant, err: error }, "vendor's commands are not consumed yet");
    consumers.push(tryUntilDone(begin, () => stopping, onFailure));
  };

  return {
    name: "vendor-adapter",
    deciders: [],
    commands: {
      "put-vendor": async (command) => {
        await (await opened.promise).put(command);
        return { ok: null };
      },
    },
    queries: {
      /** For waves and operators: what the airline's hotel vendors offer. */
      search: async ({ tenant, params, traceparent }: Query): Promise<HotelSearchResult> => {
        const { search } = params as { search: HotelSearch };
        const sources = (await opened.promise).byKind(tenant, "hotel");
        return searchHotels(sources, search, { timeBoxMs: context.config.HOTEL_SEARCH_MS, traceparent });
      },

      /** For administrators: what is configured, without the keys. */
      vendors: async ({ tenant }: Query): Promise<VendorView[]> => listVendors(context, tenant),

      /** Which vendor the airline uses for what is not searched for: the first of each kind by name. */
      choice: async ({ tenant }: Query): Promise<VendorChoice> => {
        const instances = await opened.promise;
        const first = (kind: "payment" | "transport" | "message") =>
          instances
            .byKind(tenant, kind)
            .map(({ name }) => name)
            .sort()[0];
        const [payment, transport, message] = [first("payment"), first("transport"), first("message")];
        return {
          ...(payment === undefined ? {} : { payment }),
          ...(transport === undefined ? {} : { transport }),
          ...(message === undefined ? {} : { message }),
        };
      },
    },
    start: async () => {
      const instances = await openInstances(context, onVendor);
      opened.resolve(instances);
      await Promise.all(consumers);
      const stopReconciling = startReconciling(context, () => hotels(instances));
      return async () => {
        stopping = true;
        await stopReconciling();
        (await opened.promise).close();
        await Promise.allSettled(consumers.map(async (consuming) => (await consuming)?.stop()));
      };
    },
  };
};
