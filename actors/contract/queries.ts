/** Owns the reads of contracts, each beside the index that serves it. */

import type { Collection, Document, Filter } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { ContractLedgerPage, ContractStatus, ContractView, RoomsTaken } from "../../schemas/contract.ts";
import type { ContractAnalysisView } from "../../schemas/contract-analysis.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelOffer, HotelSearch } from "../../schemas/hotel.ts";
import { dateAfter } from "../../schemas/local-day.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, limitOf, readPage, slicePage } from "../runtime/page.ts";
import { airportFilter } from "../runtime/reach.ts";
import { loadedOf } from "../runtime/store.ts";
import { analysisView, requireReach } from "./analysis.ts";
import { loadAnalysis } from "./read-document.ts";
import { leftFor, nightlyRateOf, nightsOf, priceOf } from "./rooms.ts";
import type { BookedRooms, ContractState } from "./state.ts";
import { contractView, hotelFacts, roomsTakenView } from "./view.ts";

const current = { schemaVersion: 1 };
const loaded = (document: Document) => loadedOf<ContractState>(document, current);

export const contractIndexes = [
  { name: "creation", key: { creation: 1 }, unique: true },
  { name: "airport", key: { "terms.airport": 1, "terms.validUntil": 1 } },
  { name: "reference", key: { "taken.reference": 1 } },
  { name: "changes", key: { "taken.changedAt": 1 } },
] as const;

export const contractQueries = (context: ActorContext) => {
  const contracts = (tenant: string): Collection<Document> =>
    context.documents.tenant(tenant).collection<Document>("contracts");

  return {
    /**
     * GET /v1/contracts: newest first, by `_id`: an airline has some dozens in all. What a status says goes by the local date at
     * the airport, so a page may hold fewer than it was asked for.
     */
    list: async ({ tenant, params, principal }: Query): Promise<Page<ContractView>> => {
      const now = context.clock.now();
      const { status, airport: asked } = params as { status?: ContractStatus; airport?: string };
      const { airport } = airportFilter(principal, asked);
      const filter: Filter<Document> = {
        ...(airport === undefined ? {} : { "terms.airport": airport }),
        ...validityFilter(status, now),
      };
      const page = await readPage(contracts(tenant), { filter, params }, (document) => {
        const { state, meta } = loaded(document);
        return contractView(meta._id, state, meta.version, now);
      });
      const isAsked = (one: ContractView): boolean =>
        status === undefined ? one.status !== "ENDED" : one.status === status;
      return { ...page, items: page.items.filter(isAsked) };
    },

    /** GET /v1/contracts/analyses/{urn}, by `_id`. */
    analysis: async ({ tenant, params, principal }: Query): Promise<ContractAnalysisView> => {
      const id = idOf((params as { analysisUrn: string }).analysisUrn);
      const { state, version } = await loadAnalysis(context, tenant, id);
      requireReach(principal, state);
      return analysisView(id, state, version);
    },

    /** For a hotel search: contracts for the airport with rooms left in every night, by the `airport` index. */
    offers: async ({ tenant, params }: Query): Promise<HotelOffer[]> => {
      const { search } = params as { search: HotelSearch };
      const found = await contracts(tenant)
        .find({
          "terms.airport": search.airport,
          "terms.validUntil": { $gte: search.checkOut },
          "terms.validFrom": { $lte: search.checkIn },
        })
        .toArray();
      const now = context.clock.now();
      return found.flatMap((document) => {
        const { state, meta } = loaded(document);
        return offerOf(meta._id, state, search, now) ?? [];
      });
    },

    /** What stands under a reference, by the index of that name; null: nothing. */
    lookup: async ({ tenant, params }: Query): Promise<RoomsTaken | null> => {
      const { reference } = params as { reference: string };
      const found = await contracts(tenant).findOne({ "taken.reference": reference });
      const entry = found && loaded(found).state.taken.find((one) => one.reference === reference);
      return entry ? roomsTakenView(entry, context.clock.now()) : null;
    },

    /** Bookings and cancellations since a moment, oldest change first, by the `changes` index. */
    ledger: async ({ tenant, params }: Query): Promise<ContractLedgerPage> => {
      const { since, cursor } = params as { since?: string; cursor?: string };
      const after = cursor === undefined ? undefined : decodeCursor(cursor);
      const from = new Date(after?.split("|", 1)[0] ?? since ?? 0);
      const filter = { "taken.changedAt": { $gte: from } };
      const projection = { taken: 1, schemaVersion: 1 };
      const found = await contracts(tenant).find(filter, { projection }).toArray();
      const changes = found
        .flatMap((document) => loaded(document).state.taken)
        .filter((entry): entry is BookedRooms => entry.state !== "HELD")
        .map((entry) => ({ entry, key: `${entry.changedAt.toISOString()}|${entry.bookingId}` }))
        .filter(({ entry, key }) => (after === undefined ? entry.changedAt >= from : key > after))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      const { items, nextCursor } = slicePage(
        changes,
        limitOf(params),
        ({ key }) => key,
        ({ entry }) => ({
          bookingId: entry.bookingId,
          reference: entry.reference,
          state: entry.state,
          changedAt: entry.changedAt.toISOString(),
        }),
      );
      return { entries: items, ...(nextCursor === null ? {} : { nextCursor }) };
    },
  };
};

/** Every contract of that status, and those whose airport's date may differ from the UTC date by one. */
const validityFilter = (status: ContractStatus | undefined, now: Date): Filter<Document> => {
  const today = now.toISOString().slice(0, 10);
  switch (status) {
    case "UPCOMING":
      return { "terms.validFrom": { $gte: today } };
    case "ACTIVE":
      return {
        "terms.validFrom": { $lte: dateAfter(today, 1) },
        "terms.validUntil": { $gte: today },
      };
    case "ENDED":
      return { "terms.validUntil": { $lte: dateAfter(today, 1) } };
    case undefined:
      return { "terms.validUntil": { $gte: today } };
    default:
      return status satisfies never;
  }
};

/** Undefined: not near enough, not for all of these nights, or nothing left. */
export const offerOf = (
  contractId: string,
  state: ContractState,
  search: HotelSearch,
  now: Date,
): HotelOffer | undefined => {
  const { terms } = state;
  const nights = nightsOf(search.checkIn, search.checkOut);
  const left = leftFor(state, nights, now);
  const price = priceOf(terms, nights);
  if (price === undefined || left.rooms < 1) return undefined;
  if (distanceKmBetween(terms.hotel.coordinates, search.coordinates) > search.radiusKm) return undefined;
  return {
    ...hotelFacts(contractId, terms),
    providerOfferId: contractId,
    acceptedPayments: terms.acceptedPayments,
    nightlyRateMinor: nightlyRateOf(price, nights),
    currency: terms.currency,
    roomsLeft: left.rooms,
    maxOccupancy: terms.maxOccupancy,
    accessibleRooms: left.accessible,
  };
};
