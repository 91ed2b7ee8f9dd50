/** Wires the vendor-adapter actor: one consumer per vendor and airline, so that one vendor's outage stops nobody else. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { airport as airportOf } from "../../schemas/airports.ts";
import { type Command, type Query, systemPrincipal } from "../../schemas/command.ts";
import { drillVendor } from "../../schemas/drill.ts";
import type { HotelFacts, HotelSearch, HotelSearchResult, RecentOffers } from "../../schemas/hotel.ts";
import type { NoteHotel } from "../../schemas/hotel-catalogue.ts";
import type { HotelsInvalidated } from "../../schemas/hotel-search.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReconcileNow } from "../../schemas/reconciliation.ts";
import { urn } from "../../schemas/urn.ts";
import {
  type OddBooking,
  type StandingBooking,
  type StandingBookings,
  smtpVendor,
  type VendorCall,
  type VendorChoice,
  type VendorVerb,
  type VendorView,
} from "../../schemas/vendor-call.ts";
import type { ReceivedWebhook } from "../../schemas/vendor-webhook.ts";
import type { CardRevealView } from "../../schemas/wallet.ts";
import type { Consuming, Delivery } from "../../streams/consume.ts";
import { splitName } from "../../streams/subjects.ts";
import { causedId, freshUuid, mintTraceparent } from "../runtime/clock.ts";
import { consumeCommands } from "../runtime/consume.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { tryUntilDone } from "../runtime/try-until.ts";
import { drillChoice, drillHotels, drillInstance } from "./adapters/drill.ts";
import { carryOut } from "./calls.ts";
import { Catalogue, type CatalogueHotel, hotelIndexes } from "./catalogue.ts";
import { opened as openedContent } from "./content.ts";
import type { Instance } from "./dialects.ts";
import { type Feed, startFlightFeeds } from "./flight-feed.ts";
import { findCard, hear } from "./hear.ts";
import { type Instances, listVendors, openInstances } from "./instances.ts";
import { type Invalidations, watchInvalidations } from "./invalidation.ts";
import { catalogueQueries, hotelCollection } from "./queries.ts";
import { OfferCache } from "./recent-offers.ts";
import { cardUsesOf, ridesOf, type Source, startReconciling, staysOf } from "./reconcile.ts";
import { reconcileNow } from "./reconcile-now.ts";
import { revealCard } from "./reveal-card.ts";
import { askHotels, resultOf } from "./search.ts";

/** Calls to one vendor for one airline at once, in this process: the bulkhead. */
const callsAtOnce = 24;

/** The code has the form of one. */
const noSuchAirport = (code: string): Problem =>
  new Problem("validation/query", "Correct the query parameters named in `errors`.", {
    errors: [{ pointer: "?airport", detail: `${code} is not a known IATA airport code` }],
  });

export const vendorAdapterActor = (context: ActorContext): Actor => {
  const opened = Promise.withResolvers<Instances>();
  const consumers: Promise<Consuming | undefined>[] = [];
  let stopping = false;
  let invalidations: Invalidations | undefined;
  const cache = new OfferCache(context.clock, () => invalidations?.live() ?? false);
  const catalogue = new Catalogue((tenant) =>
    context.documents.tenant(tenant).collection<CatalogueHotel>(hotelCollection),
  );
  const noting = new Set<Promise<void>>();

  /** Once the answer has left: nobody waits for the catalogue, and what it misses now the next search tells. */
  const noteHotels = (tenant: string, airport: string, offers: readonly HotelFacts[]): void => {
    const note = nextTurn()
      .then(() => catalogue.note(tenant, offers, airport, context.clock.now()))
      .catch((error) => context.log.warn({ tenant, airport, err: error }, "hotels are not noted"))
      .finally(() => noting.delete(note));
    noting.add(note);
  };
  const searchOptions = ({ traceparent }: Query) => ({
    timeBoxMs: context.config.HOTEL_SEARCH_MS,
    traceparent,
    log: context.log,
  });

  const configured = async (tenant: string, vendor: string): Promise<Instance> => {
    const instance = (await opened.promise).of(tenant).find(({ name }) => name === vendor);
    if (instance === undefined) throw new Error(`vendor ${vendor} is not configured`);
    return instance;
  };

  const answerCall = (vendor: string) => async (command: Command, delivery: Delivery) => {
    if (command.name === `vendor-${vendor}.find-card`)
      return findCard(context, await configured(command.tenant, vendor), command);
    const call = openedContent(command.data as VendorCall, context.config.sealKey);
    const verb = splitName(command.name)[1] as VendorVerb;
    const instance = vendor === drillVendor ? drillInstance(verb) : await configured(command.tenant, vendor);
    const { attempt } = delivery;
    const carrying = { traceparent: command.traceparent, attempt, now: context.clock.now() };
    const answer = await carryOut(instance, verb, call, carrying);
    context.faults("after-vendor-answer", command.name);
    const id = causedId(command.id, "answer", answer.outcome, attempt);
    const { name, entity } = call.replyTo;
    const reply = { id, name, entity, data: answer, now: context.clock.now() };
    await sendCommand(context.streams, systemCommand("vendor-adapter", command, reply));
  };

  const askedOf = (tenant: string, params: Record<string, unknown>): Query => ({
    ...{ tenant, principal: systemPrincipal(tenant, "vendor-adapter"), params },
    ...{ correlationUrn: urn("correlation", freshUuid()), traceparent: mintTraceparent() },
  });
  const standingWith = (tenant: string, vendor: string) => (after: string | undefined) => {
    const params = { vendor, ...(after === undefined ? {} : { after }) };
    return context.call<StandingBookings>("sub-case.standing-bookings", askedOf(tenant, params));
  };
  const oddWith = (tenant: string, vendor: string) => (bookings: readonly StandingBooking[]) =>
    context.call<OddBooking[]>("sub-case.odd-among", askedOf(tenant, { vendor, bookings }));

  const reconciled = (instances: Instances): Source[] => {
    const every = (minutes: number | undefined): number =>
      minutes === undefined ? context.config.RECONCILE_INTERVAL_MS : minutes * 60_000;
    return context.tenants.all().flatMap(({ code: tenant }) => [
      ...instances.byKind(tenant, "hotel").map(({ name, port, reconcileMinutes }) => {
        const ask = staysOf(port, name, {
          ...(port.needsStanding && { standing: standingWith(tenant, name) }),
          ...(port.settlesMs && { oddAmong: oddWith(tenant, name) }),
        });
        const beginsAnew = port.needsStanding;
        return { tenant, name, ask, intervalMs: every(reconcileMinutes), beginsAnew };
      }),
      ...instances.byKind(tenant, "payment").map(({ name, port, reconcileMinutes }) => {
        return { tenant, name, ask: cardUsesOf(port), intervalMs: every(reconcileMinutes) };
      }),
      ...instances.byKind(tenant, "transport").map(({ name, port, reconcileMinutes }) => {
        return { tenant, name, ask: ridesOf(port), intervalMs: every(reconcileMinutes) };
      }),
    ]);
  };

  const flightFeeds = (instances: Instances): Feed[] =>
    context.tenants
      .all()
      .flatMap(({ code: tenant }) =>
        instances.byKind(tenant, "flight").map(({ name, port }) => ({ tenant, name, port })),
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

      /** Of no airline: whose it is, its signature and its references tell. */
      "receive-webhook": async (command) => {
        const { vendor } = command.data as ReceivedWebhook;
        await hear(context, (await opened.promise).senders(vendor), command);
        return { ok: null };
      },

      /** For an administrator, who waits for what differs. */
      reconcile: async (command) => {
        const { vendor } = command.data as ReconcileNow;
        const sources = reconciled(await opened.promise).filter(
          ({ tenant, name }) => tenant === command.tenant && (vendor === undefined || name === vendor),
        );
        return { ok: await reconcileNow(context, sources, command) };
      },

      "note-hotel": async ({ tenant, data }) => {
        const { hotel, airport } = data as NoteHotel;
        await catalogue.note(tenant, [hotel], airport, context.clock.now());
        return { ok: null };
      },

      "invalidate-hotels": async (command) => {
        const { airport } = command.data as { airport: string };
        if (airportOf(airport) === undefined) throw noSuchAirport(airport);
        requireAirport(command.principal, airport);
        await opened.promise;
        const now = context.clock.now();
        await invalidations?.announce(command, airport, now);
        const ok: HotelsInvalidated = { airport, invalidatedAt: now.toISOString() };
        return { ok };
      },
    },
    collections: { [hotelCollection]: hotelIndexes },
    queries: {
      ...catalogueQueries(context),

      /** For waves: what the airline's hotel vendors offer now. */
      search: async (query: Query): Promise<HotelSearchResult> => {
        const { search, drill } = query.params as { search: HotelSearch; drill?: boolean };
        if (drill) return resultOf(await askHotels([drillHotels], search, searchOptions(query)));
        const sources = (await opened.promise).byKind(query.tenant, "hotel");
        const result = resultOf(await askHotels(sources, search, searchOptions(query)));
        noteHotels(query.tenant, search.airport, result.offers);
        return result;
      },

      /** For operators who look around: the same, as it was told up to a minute ago. */
      "recent-offers": async (query: Query): Promise<RecentOffers> => {
        const { tenant, params } = query;
        const { search, drill } = params as { search: HotelSearch; drill?: boolean };
        const sources = drill ? [drillHotels] : (await opened.promise).byKind(tenant, "hotel");
        const { recent, asked } = await cache.search(tenant, sources, search, searchOptions(query));
        if (!drill) noteHotels(tenant, search.airport, resultOf(asked).offers);
        return recent;
      },

      /** For a passenger who would see their card's number. */
      "reveal-card": async (query: Query): Promise<CardRevealView> =>
        revealCard([...(await opened.promise).of(query.tenant), drillInstance("issue-card")], query),

      /** For administrators: what is configured, without the keys. */
      vendors: async ({ tenant }: Query): Promise<VendorView[]> => listVendors(context, tenant),

      /** Which vendor the airline uses for what is not searched for: the first of each kind by name. */
      choice: async ({ tenant, params }: Query): Promise<VendorChoice> => {
        if ((params as { drill?: boolean }).drill) return drillChoice;
        const instances = await opened.promise;
        const first = (kind: "payment" | "transport" | "message") =>
          instances
            .byKind(tenant, kind)
            .map(({ name }) => name)
            .filter((name) => name !== smtpVendor)
            .sort()[0];
        const [payment, transport, message] = [first("payment"), first("transport"), first("message")];
        const vehicles = instances.byKind(tenant, "transport").find(({ name }) => name === transport);
        return {
          ...(payment === undefined ? {} : { payment }),
          ...(transport === undefined ? {} : { transport }),
          ...(vehicles === undefined ? {} : { vehicleSeats: vehicles.port.vehicleSeats }),
          ...(message === undefined ? {} : { message }),
          ...(context.config.mail === undefined ? {} : { email: smtpVendor }),
        };
      },
    },
    start: async () => {
      invalidations = await watchInvalidations(cache, context);
      const instances = await openInstances(context, onVendor);
      opened.resolve(instances);
      const forgetDrills = context.tenants.onEach(({ code }) => onVendor(code, drillVendor));
      await Promise.all(consumers);
      const stopReconciling = startReconciling(context, () => reconciled(instances));
      const stopListening = startFlightFeeds(context, () => flightFeeds(instances));
      return async () => {
        stopping = true;
        forgetDrills();
        await Promise.all([stopReconciling(), stopListening()]);
        (await opened.promise).close();
        invalidations?.close();
        await Promise.all(noting);
        await Promise.allSettled(consumers.map(async (consuming) => (await consuming)?.stop()));
      };
    },
  };
};
