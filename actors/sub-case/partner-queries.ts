/** Owns partners' reads of sub-cases (contract, "Partner API"), by the indexes of `queries.ts`. Drills don't exist for them. */
import type { Collection, Document, Filter } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { PartnerCaseListItem } from "../../schemas/partner-api.ts";
import type {
  PartnerBooking,
  PartnerPassenger,
  PartnerServices,
  PartnerVoucher,
  PassengerCase,
} from "../../schemas/partner-reads.ts";
import { Problem } from "../../schemas/problems.ts";
import type { SegmentView } from "../../schemas/transport.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, limitOf, notACursor, readPage, slicePage } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import {
  partnerBooking,
  partnerPassengers,
  partnerServices,
  partnerVoucher,
  type Travellers,
} from "./partner-view.ts";
import type { SubCaseState } from "./state.ts";
import { statusShown } from "./view.ts";

const projection = { handled: 0, outbox: 0, steps: 0 };
const real = { kind: { $exists: false } };

/** An open case behind so many newer ones is none that anybody means. */
const casesLookedAt = 20;

const unknown = (what: string): Problem => new Problem("not-found/resource", `No such ${what}.`);

/** @param schemaVersion of sub-cases' documents */
export const partnerQueries = (
  context: ActorContext,
  { collection, schemaVersion }: { collection: string; schemaVersion: number },
) => {
  const subCases = (tenant: string): Collection<Document> =>
    context.documents.tenant(tenant).collection<Document>(collection);
  const stateOf = (document: Document): SubCaseState =>
    loadedOf<SubCaseState>(document, { schemaVersion }).state;
  const one = async (tenant: string, filter: Filter<Document>): Promise<SubCaseState | undefined> => {
    const found = await subCases(tenant).findOne({ ...filter, ...real }, { projection });
    return found === null ? undefined : stateOf(found);
  };
  /** @throws Problem not-found/resource */
  const requireCase = (query: Query): Promise<PartnerCaseListItem> => {
    const { caseUrn } = query.params as { caseUrn: string };
    return context.call<PartnerCaseListItem>("case.partner-head", { ...query, params: { caseUrn } });
  };
  /** @throws Problem not-found/resource: nobody of that name is in any group */
  const requirePassenger = async ({ tenant, params }: Query): Promise<Filter<Document>> => {
    const filter = { "passengers.urn": String(params.passengerUrn), ...real };
    const found = await subCases(tenant).findOne(filter, { projection: { _id: 1 } });
    if (found === null) throw unknown("passenger");
    return filter;
  };

  return {
    /** GET /partner/v1/cases/{caseUrn}/passengers, by the `case` index: group by group, as they stand. */
    "partner-passengers": async (query: Query): Promise<Page<PartnerPassenger>> => {
      const { urn: caseUrn } = await requireCase(query);
      const limit = limitOf(query.params);
      const after = travellerKeyOf(query.params.cursor);
      const groups = await subCases(query.tenant)
        .find(
          {
            caseId: idOf(caseUrn),
            mergedInto: { $exists: false },
            ...(after === undefined ? {} : { _id: { $gte: after.subCaseId as never } }),
          },
          {
            projection: { groupId: 1, subCaseId: 1, status: 1, passengers: 1, version: 1, schemaVersion: 1 },
          },
        )
        .sort({ _id: 1 })
        // Nobody's group is empty: so many hold a page, behind the one that the cursor may have ended.
        .limit(limit + 2)
        .toArray();
      const rest = groups
        .flatMap((document) => partnerPassengers(loadedOf<Travellers>(document, { schemaVersion }).state))
        .filter(
          ({ urn: passengerUrn, subCaseUrn }) =>
            after === undefined ||
            subCaseUrn !== urn("sub-case", after.subCaseId) ||
            passengerUrn > after.passengerUrn,
        );
      return slicePage(rest.slice(0, limit + 1), limit, travellerKey, (passenger) => passenger);
    },

    /** GET /partner/v1/cases/{caseUrn}/services, by the `case` index. */
    "partner-services": async (query: Query): Promise<Page<PartnerServices>> => {
      const { urn: caseUrn } = await requireCase(query);
      const rides = await context.call<SegmentView[]>("transport.of-case", { ...query, params: { caseUrn } });
      const filter = { caseId: idOf(caseUrn), mergedInto: { $exists: false } };
      return readPage(
        subCases(query.tenant),
        { filter, params: query.params, direction: 1, projection },
        (document) => partnerServices(stateOf(document), rides),
      );
    },

    /** GET /partner/v1/bookings/{bookingUrn}, by the `reservation` index, and while a group changes hotels by `left-reservation`. */
    "partner-booking": async ({ tenant, params }: Query): Promise<PartnerBooking> => {
      const id = idOf(String(params.bookingUrn));
      const state =
        (await one(tenant, { "reservation.reservationId": id })) ??
        (await one(tenant, { "left.reservation.reservationId": id }));
      const shown = state && partnerBooking(state, id);
      if (shown === undefined)
        throw new Problem("not-found/resource", "No such booking, or its group has another one by now.");
      return shown;
    },

    /** GET /partner/v1/vouchers/{voucherUrn}, by the `voucher` index, and while a group changes hotels by `left-voucher`. */
    "partner-voucher": async ({ tenant, params }: Query): Promise<PartnerVoucher> => {
      const id = idOf(String(params.voucherUrn));
      const state =
        (await one(tenant, { "voucher.voucherId": id })) ??
        (await one(tenant, { "left.voucher.voucherId": id }));
      const shown = state && partnerVoucher(state);
      if (shown === undefined || idOf(shown.urn) !== id)
        throw new Problem("not-found/resource", "No such voucher, or its group has another one by now.");
      return shown;
    },

    /** GET /partner/v1/passengers/{passengerUrn}/cases, by the `passenger` index: the newest first. */
    "partner-passenger-cases": async (query: Query): Promise<Page<PassengerCase>> => {
      const filter = await requirePassenger(query);
      const page = await readPage(
        subCases(query.tenant),
        { filter, params: query.params, projection: { caseId: 1, groupId: 1, subCaseId: 1, status: 1 } },
        (document) => document as unknown as SubCaseState,
      );
      const caseIds = page.items.map(({ caseId }) => caseId);
      const heads = await context.call<PartnerCaseListItem[]>("case.partner-heads", {
        ...query,
        params: { caseIds },
      });
      const byUrn = new Map(heads.map((head) => [head.urn, head]));
      return {
        ...page,
        items: page.items.flatMap((group) => {
          const head = byUrn.get(urn("case", group.caseId));
          const { groupId, subCaseId } = group;
          const operationalStatus = statusShown(group);
          return head === undefined
            ? []
            : { ...head, groupId, subCaseUrn: urn("sub-case", subCaseId), operationalStatus };
        }),
      };
    },

    /**
     * For a message to somebody: the newest open case that they are in, by the `passenger` index.
     * @throws Problem not-found/resource: nobody of that name; conflict/state: all their cases are closed
     */
    "open-case-of": async (query: Query): Promise<{ caseUrn: string }> => {
      const filter = await requirePassenger(query);
      const found = await subCases(query.tenant)
        .find({ ...filter, mergedInto: { $exists: false } }, { projection: { caseId: 1 } })
        .sort({ _id: -1 })
        .limit(casesLookedAt)
        .toArray();
      const caseIds = [...new Set(found.map(({ caseId }) => caseId as string))];
      const open = new Set(await context.call<string[]>("case.open-ones", { ...query, params: { caseIds } }));
      const newest = caseIds.find((caseId) => open.has(caseId));
      if (newest === undefined)
        throw new Problem("conflict/state", "This passenger's cases are closed.", { state: "CLOSED" });
      return { caseUrn: urn("case", newest) };
    },

    /** GET /partner/v1/passengers/{passengerUrn}/vouchers, by the `passenger` index: of the newest case first. */
    "partner-passenger-vouchers": async (query: Query): Promise<Page<PartnerVoucher>> => {
      const filter = { ...(await requirePassenger(query)), voucher: { $exists: true } };
      const page = await readPage(
        subCases(query.tenant),
        { filter, params: query.params, projection },
        (document) => partnerVoucher(stateOf(document)),
      );
      return { ...page, items: page.items.filter((voucher) => voucher !== undefined) };
    },
  };
};

/** No sub-case's id has it; a passenger's may, behind the first one. */
const separator = "|";

const travellerKey = ({ subCaseUrn, urn: passengerUrn }: PartnerPassenger): string =>
  `${idOf(subCaseUrn)}${separator}${passengerUrn}`;

/** @throws Problem validation/query */
const travellerKeyOf = (cursor: unknown): { subCaseId: string; passengerUrn: string } | undefined => {
  if (typeof cursor !== "string") return undefined;
  const text = decodeCursor(cursor);
  const at = text.indexOf(separator);
  if (at <= 0 || at === text.length - 1) throw notACursor();
  return { subCaseId: text.slice(0, at), passengerUrn: text.slice(at + 1) };
};
