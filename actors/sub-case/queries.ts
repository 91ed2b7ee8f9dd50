/** Owns the reads of sub-cases, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { CaseListItem, CaseView, ManifestItem, ReservationView } from "../../schemas/case.ts";
import type { Page, Principal, Query } from "../../schemas/command.ts";
import type { CaseProgressView } from "../../schemas/orchestration.ts";
import { normalName, normalPnr } from "../../schemas/passenger.ts";
import type { MeView, OfferView } from "../../schemas/passenger-api.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { CaseViews } from "./case-views.ts";
import {
  ProgressTotals,
  progressItem,
  progressProjection,
  type Tallied,
  totalsProjection,
} from "./progress.ts";
import type { SubCaseState } from "./state.ts";
import { manifestItem, meView, offerView, reservationView } from "./view.ts";
import { voucherPage, voucherQr } from "./voucher-page.ts";

export const schemaVersion = 1;
export const collection = "subCases";

export const subCaseIndexes = [
  { name: "group", key: { caseId: 1, groupId: 1 }, unique: true },
  { name: "case", key: { caseId: 1, _id: 1 } },
  { name: "pnr", key: { pnrs: 1, _id: -1 } },
] as const;

const read = (document: Document): Loaded<SubCaseState> =>
  loadedOf<SubCaseState>(document, { schemaVersion });

export const subCaseQueries = (context: ActorContext) => {
  const subCases = (tenant: string) => context.documents.tenant(tenant).collection<Document>(collection);

  const ofPassenger = async (
    tenant: string,
    { caseId, groupId }: Principal,
  ): Promise<Loaded<SubCaseState>> => {
    const found = await subCases(tenant).findOne({ caseId, groupId });
    if (found === null)
      throw new Problem("not-found/resource", "This session's group is not known any more.");
    return read(found);
  };

  const views = new CaseViews(schemaVersion);

  return {
    /** GET /v1/cases/{caseUrn}/manifest. */
    manifest: async (query: Query): Promise<Page<ManifestItem>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      return readPage(
        subCases(query.tenant),
        { filter: { caseId: idOf(caseUrn) }, params: query.params, direction: 1 },
        (document) => {
          const { state, meta } = read(document);
          return manifestItem(state, meta.version);
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
          (document) => progressItem(read(document).state),
        ),
        (async () => {
          const all = subCases(query.tenant).find(filter, { projection: totalsProjection });
          for await (const group of all) totals.add(group as unknown as Tallied);
        })(),
      ]);
      return { caseUrn: head.urn, status: head.status, ...totals.of(head.subCaseCount), ...page };
    },

    /** For the case's own compositions. */
    "of-case": async (
      query: Query,
    ): Promise<{ groups: CaseView["passengerGroups"]; reservations: ReservationView[] }> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const kept = await views.of(subCases(query.tenant), idOf(caseUrn));
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

    /** GET /v1/me. */
    me: async ({ tenant, principal }: Query): Promise<MeView> =>
      meView((await ofPassenger(tenant, principal)).state),

    /** GET /v1/me/offer. */
    offer: async ({ tenant, principal }: Query): Promise<OfferView> => {
      const { state, meta } = await ofPassenger(tenant, principal);
      const shown = state.voucher?.status === "ISSUED" && state.offer.state !== "PENDING";
      return offerView(state, meta.version, shown ? await voucherQr(state) : undefined);
    },

    /** GET /v1/me/voucher. */
    "voucher-html": async ({ tenant, principal }: Query): Promise<{ html: string }> => {
      const { state } = await ofPassenger(tenant, principal);
      const html = state.offer.state === "PENDING" ? undefined : await voucherPage(state);
      if (html === undefined)
        throw new Problem("not-found/resource", "There is no voucher yet. You will be told when there is.");
      return { html };
    },

    /** For a login: the newest open case in which somebody of this name travels under this reference; null: none. */
    "find-by-pnr": async (query: Query): Promise<{ caseUrn: string; groupId: string } | null> => {
      const { pnr, lastName } = query.params as { pnr: string; lastName: string };
      const found = await subCases(query.tenant)
        .find({ pnrs: normalPnr(pnr) }, { projection: { handled: 0, outbox: 0 } })
        .sort({ _id: -1 })
        .limit(20)
        .toArray();
      const wanted = normalName(lastName);
      const named = found
        .map((document) => read(document).state)
        .filter(({ passengers }) =>
          passengers.some((passenger) => normalName(passenger.lastName ?? "") === wanted && wanted !== ""),
        );
      if (named.length === 0) return null;
      const caseIds = [...new Set(named.map(({ caseId }) => caseId))];
      const open = new Set(await context.call<string[]>("case.open-ones", { ...query, params: { caseIds } }));
      const newest = named.find(({ caseId }) => open.has(caseId));
      return newest === undefined ? null : { caseUrn: urn("case", newest.caseId), groupId: newest.groupId };
    },
  };
};
