/** Owns the reads of sub-cases, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { CaseListItem, CaseView, ManifestItem, ReservationView } from "../../schemas/case.ts";
import type { Page, Principal, Query } from "../../schemas/command.ts";
import type { GroupStanding } from "../../schemas/group-note.ts";
import type { CaseHotelView } from "../../schemas/hotel-catalogue.ts";
import type { GroupLock, LockedGroup } from "../../schemas/lock.ts";
import type { NoticeRecipients, PassengerContact } from "../../schemas/message.ts";
import type { CaseProgressView } from "../../schemas/orchestration.ts";
import { normalName, normalPnr } from "../../schemas/passenger.ts";
import type { MeView, OfferView } from "../../schemas/passenger-api.ts";
import type { PassengerSnapshot } from "../../schemas/passenger-events.ts";
import { Problem } from "../../schemas/problems.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import type { ReservationDetail } from "../../schemas/reservation.ts";
import type { RideParty } from "../../schemas/transport.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { WalletView } from "../../schemas/wallet.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { requireAirport } from "../runtime/reach.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { hotelsOfCase, type Placed, pageOfHotels, placedProjection } from "./case-hotels.ts";
import { CaseViews } from "./case-views.ts";
import { groupLock } from "./lock.ts";
import { contactsOf, noticeRecipients } from "./notices.ts";
import { recordQueries } from "./on-record.ts";
import { partnerQueries } from "./partner-queries.ts";
import { PassengerReads } from "./passenger-reads.ts";
import { passengerSnapshot } from "./passenger-snapshot.ts";
import {
  ProgressTotals,
  progressItem,
  progressProjection,
  type Tallied,
  totalsProjection,
} from "./progress.ts";
import { ridePartyOf } from "./ride.ts";
import { givenUpIndex, standingBookings, standingIndex } from "./standing-bookings.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";
import { manifestItem, meView, offerView, reservationDetail, reservationView } from "./view.ts";
import { voucherPage, voucherQr } from "./voucher-page.ts";
import { walletView } from "./wallet-view.ts";

export const schemaVersion = 1;
export const collection = "subCases";

export const subCaseIndexes = [
  { name: "group", key: { caseId: 1, groupId: 1 }, unique: true },
  { name: "case", key: { caseId: 1, _id: 1 } },
  { name: "pnr", key: { pnrs: 1, _id: -1 } },
  { name: "reservation", key: { "reservation.reservationId": 1 }, sparse: true },
  standingIndex,
  givenUpIndex,
  { name: "lock-holder", key: { "lock.held.by": 1 }, sparse: true },
  { name: "left-reservation", key: { "left.reservation.reservationId": 1 }, sparse: true },
  { name: "voucher", key: { "voucher.voucherId": 1 }, sparse: true },
  { name: "left-voucher", key: { "left.voucher.voucherId": 1 }, sparse: true },
  { name: "passenger", key: { "passengers.urn": 1, _id: -1 } },
] as const;

/** Whom a booking reference and a name have found. */
interface PassengerFound {
  caseUrn: string;
  groupId: string;
  passengerUrn: string;
}

const read = (document: Document): Loaded<SubCaseState> =>
  loadedOf<SubCaseState>(document, { schemaVersion });

const lockOf = (state: Pick<SubCaseState, "lock">): { lock?: GroupLock } => {
  const lock = groupLock(state);
  return lock === undefined ? {} : { lock };
};

const noReservation = (): never => {
  throw new Problem("not-found/resource", "No such reservation, or its group has another one by now.");
};

export const subCaseQueries = (context: ActorContext) => {
  const subCases = (tenant: string) => context.documents.tenant(tenant).collection<Document>(collection);

  const passengerReads = new PassengerReads(schemaVersion);
  const ofPassenger = (tenant: string, principal: Principal): Promise<Loaded<SubCaseState>> =>
    passengerReads.of(subCases(tenant), principal);

  const ofReservation = async ({ tenant, principal, params }: Query): Promise<Loaded<SubCaseState>> => {
    const reservationId = idOf((params as { reservationUrn: string }).reservationUrn);
    const found = await subCases(tenant).findOne(
      { "reservation.reservationId": reservationId },
      { projection: { handled: 0, outbox: 0 } },
    );
    if (found === null) return noReservation();
    const loaded = read(found);
    requireAirport(principal, loaded.state.airport);
    return loaded;
  };

  const views = new CaseViews(schemaVersion);

  return {
    ...partnerQueries(context, { collection, schemaVersion }),
    ...recordQueries(context, { collection, schemaVersion }),
    "standing-bookings": standingBookings(context, collection),

    /** GET /v1/cases/{caseUrn}/manifest. */
    manifest: async (query: Query): Promise<Page<ManifestItem>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      return readPage(
        subCases(query.tenant),
        { filter: { caseId: idOf(caseUrn) }, params: query.params, direction: 1 },
        (document) => {
          const { state, meta } = read(document);
          return manifestItem(state, meta.version, context.clock.now());
        },
      );
    },

    /** GET /v1/orchestration/cases/{caseUrn}/progress: the totals of all groups, and a page of them. */
    progress: async (query: Query): Promise<CaseProgressView> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const head = await context.call<CaseListItem>("case.head", { ...query, params: { caseUrn } });
      const filter = { caseId: idOf(caseUrn) };
      const totals = new ProgressTotals();
      const [page] = await Promise.all([
        readPage(
          subCases(query.tenant),
          { filter, params: query.params, direction: 1, projection: progressProjection },
          (document) => progressItem(read(document).state, context.clock.now()),
        ),
        (async () => {
          const all = subCases(query.tenant).find(filter, { projection: totalsProjection });
          for await (const group of all) totals.add(group as unknown as Tallied);
        })(),
      ]);
      return { caseUrn: head.urn, status: head.status, ...totals.of(head.subCaseCount), ...page };
    },

    /** For a change of groups: those named, or those that the named passengers or booking references are in. */
    members: async ({ tenant, params }: Query): Promise<GroupMembers[]> => {
      const { caseId, groupIds, pnrs, passengerUrns } = params as {
        caseId: string;
        groupIds?: string[];
        pnrs?: string[];
        passengerUrns?: string[];
      };
      const named =
        groupIds !== undefined
          ? { groupId: { $in: groupIds } }
          : pnrs !== undefined
            ? { pnrs: { $in: pnrs } }
            : { "passengers.urn": { $in: passengerUrns } };
      const found = await subCases(tenant)
        .find({ caseId, ...named }, { projection: { handled: 0, outbox: 0, steps: 0, assignment: 0 } })
        .sort({ _id: 1 })
        .toArray();
      return found.map((document) => {
        const { state } = read(document);
        const { groupId, subCaseId, status, shape = 0, passengers } = state;
        return { groupId, subCaseId, status, shape, passengers, ...lockOf(state) };
      });
    },

    /** For the case's own compositions. */
    "of-case": async (
      query: Query,
    ): Promise<{ groups: CaseView["passengerGroups"]; reservations: ReservationView[] }> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const kept = await views.of(subCases(query.tenant), idOf(caseUrn), context.clock.now());
      return {
        groups: kept.map(({ group }) => group),
        reservations: kept.flatMap(({ reservation }) => reservation ?? []),
      };
    },

    /** GET /v1/booking/cases/{caseUrn}/reservations. */
    reservations: async (query: Query): Promise<Page<ReservationView>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      const filter = { caseId: idOf(caseUrn), reservation: { $exists: true } };
      const page = await readPage(
        subCases(query.tenant),
        { filter, params: query.params, direction: 1, projection: { handled: 0, outbox: 0 } },
        (document) => reservationView(read(document).state),
      );
      return { ...page, items: page.items.filter((item) => item !== undefined) };
    },

    /** GET /v1/booking/reservations/{reservationUrn}, by the `reservation` index: the newest one of its group. */
    reservation: async (query: Query): Promise<ReservationDetail> => {
      const { state, meta } = await ofReservation(query);
      return reservationDetail(state, meta.version, context.clock.now()) ?? noReservation();
    },

    /** GET /v1/booking/reservations/{reservationUrn}/voucher/html: from the moment that it is issued. */
    "reservation-voucher": async (query: Query): Promise<{ html: string }> => {
      const html = await voucherPage((await ofReservation(query)).state);
      if (html === undefined) throw new Problem("not-found/resource", "No voucher is issued for it yet.");
      return { html };
    },

    /** GET /v1/hotels/cases/{caseUrn}: in the order of their URNs, which stays as groups move. */
    hotels: async (query: Query): Promise<Page<CaseHotelView>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      const groups = await subCases(query.tenant)
        .find({ caseId: idOf(caseUrn) }, { projection: placedProjection })
        .toArray();
      return pageOfHotels(hotelsOfCase(groups as unknown as Placed[]), query.params);
    },

    /** For rides that a person asks for: of one group, of one reservation (empty: it is none any more), or of a case's groups. */
    "ride-parties": async ({ tenant, principal, params }: Query): Promise<RideParty[]> => {
      const { subCaseId, reservationId, caseId, groupIds } = params as {
        subCaseId?: string;
        reservationId?: string;
        caseId?: string;
        groupIds?: string[];
      };
      const named =
        subCaseId !== undefined
          ? { _id: subCaseId as never }
          : reservationId !== undefined
            ? { "reservation.reservationId": reservationId }
            : { caseId, ...(groupIds === undefined ? {} : { groupId: { $in: groupIds } }) };
      const found = await subCases(tenant)
        .find(named, { projection: { handled: 0, outbox: 0, steps: 0 } })
        .sort({ _id: 1 })
        .toArray();
      return found.map((document) => {
        const { state } = read(document);
        requireAirport(principal, state.airport);
        return ridePartyOf(state);
      });
    },

    /** For an order about a case: whose locks are on its groups; one may have lapsed by now. By the `case` index. */
    locks: async ({ tenant, params }: Query): Promise<(LockedGroup & { subCaseId: string })[]> => {
      const { caseId } = params as { caseId: string };
      const held = { caseId, "lock.held": { $exists: true } };
      const found = await subCases(tenant)
        .find(held, { projection: { groupId: 1, lock: 1 } })
        .toArray();
      return found.flatMap((document) => {
        const group = document as unknown as Pick<SubCaseState, "groupId" | "lock">;
        const lock = groupLock(group);
        const subCaseId = String(document._id);
        return lock === undefined ? [] : [{ groupId: group.groupId, subCaseId, ...lock }];
      });
    },

    /** For a wave whose choice, or a ride, is changed by hand; null: there is no such group. */
    standing: async ({ tenant, params }: Query): Promise<GroupStanding | null> => {
      const found = await subCases(tenant).findOne(
        { _id: (params as { subCaseId: string }).subCaseId as never },
        { projection: { status: 1, settled: 1, reservation: 1, lock: 1 } },
      );
      if (found === null) return null;
      const { status, settled, reservation } = found as unknown as SubCaseState;
      return {
        ...lockOf(found as unknown as SubCaseState),
        status,
        settled: settled === true,
        ...(reservation === undefined
          ? {}
          : { reservation: { status: reservation.status, hotelUrn: reservation.hotelUrn } }),
      };
    },

    /** GET /v1/me. */
    me: async ({ tenant, principal }: Query): Promise<MeView> =>
      meView((await ofPassenger(tenant, principal)).state),

    /** GET /v1/me/offer. */
    offer: async ({ tenant, principal }: Query): Promise<OfferView> => {
      const { state: whole, meta } = await ofPassenger(tenant, principal);
      const state = shown(whole);
      const isIssued = state.voucher?.status === "ISSUED" && state.offer.state !== "PENDING";
      return offerView(state, meta.version, isIssued ? await voucherQr(state) : undefined);
    },

    /** GET /v1/me/wallet. */
    wallet: async ({ tenant, principal }: Query): Promise<WalletView> =>
      walletView((await ofPassenger(tenant, principal)).state),

    /** For a ride that a passenger asks for. */
    "own-ride-party": async ({ tenant, principal }: Query): Promise<RideParty> =>
      ridePartyOf((await ofPassenger(tenant, principal)).state),

    /** For passengers' streams. */
    "passenger-snapshot": (query: Query): Promise<PassengerSnapshot> =>
      passengerSnapshot(subCases(query.tenant), query, schemaVersion),

    /** For messages: how a group can be written to; empty: nobody is in it, or there is no such group. */
    contacts: async ({ tenant, params }: Query): Promise<PassengerContact[]> => {
      const found = await subCases(tenant).findOne(
        { _id: (params as { subCaseId: string }).subCaseId as never },
        { projection: { passengers: 1 } },
      );
      return found === null ? [] : contactsOf(found as unknown as Pick<SubCaseState, "passengers">);
    },

    /** For messages that a person sends: all groups of the case, those named, or those that the named passengers are in. */
    "notice-parties": async ({ tenant, params }: Query): Promise<NoticeRecipients[]> => {
      const { caseId, groupIds, passengerUrns } = params as {
        caseId: string;
        groupIds?: string[];
        passengerUrns?: string[];
      };
      const named =
        passengerUrns === undefined
          ? groupIds && { groupId: { $in: groupIds } }
          : { "passengers.urn": { $in: passengerUrns } };
      const found = await subCases(tenant)
        .find({ caseId, ...named }, { projection: { handled: 0, outbox: 0 } })
        .sort({ _id: 1 })
        .toArray();
      return found.flatMap((document) => noticeRecipients(read(document).state));
    },

    /** GET /v1/me/voucher. */
    "voucher-html": async ({ tenant, principal }: Query): Promise<{ html: string }> => {
      const state = shown((await ofPassenger(tenant, principal)).state);
      const html = state.offer.state === "PENDING" ? undefined : await voucherPage(state);
      if (html === undefined)
        throw new Problem("not-found/resource", "There is no voucher yet. You will be told when there is.");
      return { html };
    },

    /** For a login: the newest open case in which somebody of this name travels under this reference; null: none. */
    "find-by-pnr": async (query: Query): Promise<PassengerFound | null> => {
      const { pnr, lastName } = query.params as { pnr: string; lastName: string };
      const found = await subCases(query.tenant)
        .find({ pnrs: normalPnr(pnr) }, { projection: { handled: 0, outbox: 0 } })
        .sort({ _id: -1 })
        .limit(20)
        .toArray();
      const wanted = normalName(lastName);
      const named = found.flatMap((document) => {
        const { caseId, groupId, passengers, kind } = read(document).state;
        // A drill may have been made of a real manifest: its people are not in it.
        if (kind !== undefined) return [];
        const who = passengers.find(({ lastName }) => normalName(lastName ?? "") === wanted && wanted !== "");
        return who === undefined ? [] : [{ caseId, groupId, passengerUrn: who.urn }];
      });
      if (named.length === 0) return null;
      const caseIds = [...new Set(named.map(({ caseId }) => caseId))];
      const open = new Set(await context.call<string[]>("case.open-ones", { ...query, params: { caseIds } }));
      const newest = named.find(({ caseId }) => open.has(caseId));
      if (newest === undefined) return null;
      const { caseId, ...whose } = newest;
      return { caseUrn: urn("case", caseId), ...whose };
    },
  };
};
