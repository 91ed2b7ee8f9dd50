/** Owns the reads of cases, each beside the index that serves it, and the joins that show a case whole. */
import type { Document } from "mongodb";
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { AllocationView, CaseListItem, CaseView, ReservationView } from "../../schemas/case.ts";
import type { Page, Query } from "../../schemas/command.ts";
import type { DemandSummary, PendingApproval } from "../../schemas/demand.ts";
import type { PartnerCaseListItem, PartnerCaseView } from "../../schemas/partner-api.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { airportFilter, requireAirport } from "../runtime/reach.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { placeable, waveGroupsMax } from "./capacity.ts";
import type { CaseState } from "./state.ts";
import { caseHead, demandSummary, partnerHead, pendingApproval } from "./view.ts";

export const schemaVersion = 1;
export const collection = "cases";

export const caseIndexes = [
  { name: "external-event", key: { externalEventId: 1 }, unique: true },
  { name: "status", key: { status: 1, _id: -1 } },
  { name: "airport", key: { airport: 1, _id: -1 } },
  { name: "demand", key: { "demands.demandId": 1 }, sparse: true },
  { name: "wave", key: { waveId: 1 }, sparse: true },
  { name: "demand-state", key: { "demands.state": 1, _id: -1 }, sparse: true },
] as const;

/** Lists leave out what grows with the passengers, but for the count. */
const listProjection = { manifest: 0, policies: 0, handled: 0, outbox: 0, demands: 0, groups: 0 };

/** A composition waits this long for each part (contract, "Composition sub-call timeout"). */
const partTimeoutMs = 3000;

export const loadCase = async (
  context: ActorContext,
  tenant: string,
  caseId: string,
): Promise<Loaded<CaseState>> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>(collection)
    .findOne({ _id: caseId as never });
  if (found === null) throw new Problem("not-found/resource", "No such case.");
  return loadedOf<CaseState>(found, { schemaVersion });
};

/** `from` and `to` are of the flight's scheduled departure; `to` is exclusive. */
const departureFilter = ({ from, to }: { from?: string; to?: string }): Document => {
  const bounds = {
    ...(from === undefined ? {} : { $gte: new Date(from) }),
    ...(to === undefined ? {} : { $lt: new Date(to) }),
  };
  return Object.keys(bounds).length === 0 ? {} : { "flight.scheduledDeparture": bounds };
};

/** What a part of a composition answered, or `undefined` with its name among the failures. */
const gatherParts =
  (failures: { failedDomain: string; detail: string }[]) =>
  async <T>(failedDomain: string, part: Promise<T>): Promise<T | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${partTimeoutMs} ms`)), partTimeoutMs);
    });
    try {
      return await Promise.race([part, late]);
    } catch (error) {
      failures.push({ failedDomain, detail: error instanceof Error ? error.message : "failed" });
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };

type GroupViews = CaseView["passengerGroups"];

export const caseQueries = (context: ActorContext) => {
  const cases = (tenant: string) => context.documents.tenant(tenant).collection<Document>(collection);
  const partOf = (query: Query, caseUrn: string): Query => ({ ...query, params: { caseUrn } });

  return {
    /** GET /v1/cases. */
    list: ({ tenant, principal, params }: Query): Promise<Page<CaseListItem>> => {
      const { status, airport, ...departure } = params as {
        status?: string;
        airport?: string;
        from?: string;
        to?: string;
      };
      const filter = {
        ...(status === undefined ? {} : { status }),
        ...airportFilter(principal, airport),
        ...departureFilter(departure),
      };
      return readPage(cases(tenant), { filter, params, projection: listProjection }, (document) => {
        const { meta, state } = loadedOf<CaseState>(document, { schemaVersion });
        return caseHead(meta._id, meta.version, state, state.progress.length);
      });
    },

    /** GET /v1/cases/{caseUrn}: the case with all that the contract embeds, joined from its owners. */
    detail: async (query: Query): Promise<CaseView> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const { meta, state } = await loadCase(context, query.tenant, idOf(caseUrn));
      requireAirport(query.principal, state.airport);
      const failures: { failedDomain: string; detail: string }[] = [];
      const part = gatherParts(failures);
      const waveUrn = state.waveId === undefined ? undefined : urn("wave", state.waveId);
      const [subCases, allocations, items] = await Promise.all([
        part(
          "sub-case",
          context.call<{ groups: GroupViews; reservations: ReservationView[] }>(
            "sub-case.of-case",
            partOf(query, caseUrn),
          ),
        ),
        waveUrn === undefined
          ? []
          : part("wave", context.call<AllocationView[]>("wave.allocations", partOf(query, caseUrn))),
        part("review", context.call<ReviewItemView[]>("review.of-case", partOf(query, caseUrn))),
      ]);
      return {
        ...caseHead(meta._id, meta.version, state, state.groups.length),
        passengerGroups: allGroups(subCases?.groups ?? [], state),
        wave: waveUrn === undefined ? null : { urn: waveUrn, allocations: allocations ?? [] },
        reservations: subCases?.reservations ?? [],
        manualReviewItems: items ?? [],
        ...(failures.length === 0 ? {} : { partialFailures: failures }),
      };
    },

    /** GET /v1/demand/pending/approvals: the oldest case first; the demands of one case stand on one page. */
    "pending-approvals": async ({ tenant, principal, params }: Query): Promise<Page<PendingApproval>> => {
      const filter = { "demands.state": "REQUESTED", ...airportFilter(principal, undefined) };
      const page = await readPage(
        cases(tenant),
        { filter, params, direction: 1, projection: { manifest: 0, handled: 0, outbox: 0, groups: 0 } },
        (document) => {
          const { meta, state } = loadedOf<CaseState>(document, { schemaVersion });
          return state.demands
            .filter((demand) => demand.state === "REQUESTED")
            .map((demand) => pendingApproval(meta._id, state, demand));
        },
      );
      return { ...page, items: page.items.flat() };
    },

    /** GET /v1/demand/case/{caseUrn}/summary. */
    "demand-summary": async ({ tenant, principal, params }: Query): Promise<DemandSummary> => {
      const { state } = await loadCase(context, tenant, idOf((params as { caseUrn: string }).caseUrn));
      requireAirport(principal, state.airport);
      return demandSummary(state);
    },

    /** GET /partner/v1/cases. */
    "partner-list": ({ tenant, params }: Query): Promise<Page<PartnerCaseListItem>> => {
      const { airport, ...departure } = params as { airport?: string; from?: string; to?: string };
      const filter = { ...(airport === undefined ? {} : { airport }), ...departureFilter(departure) };
      return readPage(cases(tenant), { filter, params, projection: listProjection }, (document) => {
        const { meta, state } = loadedOf<CaseState>(document, { schemaVersion });
        return partnerHead(meta._id, state, state.progress.length);
      });
    },

    /** GET /partner/v1/cases/{caseUrn}: progress in counts, never the operators' workflow. */
    "partner-view": async (query: Query): Promise<PartnerCaseView> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const { meta, state } = await loadCase(context, query.tenant, idOf(caseUrn));
      const { groups } = await context.call<{ groups: GroupViews }>(
        "sub-case.of-case",
        partOf(query, caseUrn),
      );
      const counts = new Map<GroupViews[number]["operationalStatus"], number>();
      for (const { operationalStatus } of allGroups(groups, state))
        counts.set(operationalStatus, (counts.get(operationalStatus) ?? 0) + 1);
      return {
        ...partnerHead(meta._id, state, state.groups.length),
        progress: [...counts].map(([operationalStatus, count]) => ({ operationalStatus, groups: count })),
      };
    },

    /** For other actors: that the case exists and is within the caller's reach. */
    head: async ({ tenant, principal, params }: Query): Promise<CaseListItem> => {
      const { meta, state } = await loadCase(context, tenant, idOf((params as { caseUrn: string }).caseUrn));
      requireAirport(principal, state.airport);
      return caseHead(meta._id, meta.version, state, state.groups.length);
    },

    /** For a login: which of these cases take passengers now. */
    "open-ones": async ({ tenant, params }: Query): Promise<string[]> => {
      const { caseIds } = params as { caseIds: string[] };
      const found = await cases(tenant)
        .find({ _id: { $in: caseIds as never[] }, status: { $ne: "CLOSED" } }, { projection: { _id: 1 } })
        .toArray();
      return found.map(({ _id }) => String(_id));
    },

    /** For actors that must not work on a closed case; one that is not known is not closed. */
    "is-closed": async ({ tenant, params }: Query): Promise<boolean> => {
      const _id = (params as { caseId: string }).caseId as never;
      return (await cases(tenant).findOne({ _id, status: "CLOSED" }, { projection: { _id: 1 } })) !== null;
    },

    /** For the reader of a wave that has not decided yet; null: no case waits for it. */
    "wave-under-way": async ({ tenant, params }: Query) => {
      const waveId = idOf((params as { waveUrn: string }).waveUrn);
      const found = await cases(tenant).findOne({ waveId }, { projection: listProjection });
      if (found === null) return null;
      const { meta, state } = loadedOf<CaseState>(found, { schemaVersion });
      if (state.awaiting?.waveId !== waveId) return null;
      const demandUrn = urn("demand", state.awaiting.demandId as string);
      return { caseUrn: urn("case", meta._id), demandUrn, airport: state.airport };
    },

    /** For a wave: who needs rooms, and under which policies. Groups that the approved rooms don't suffice for wait on. */
    "allocation-input": async ({ tenant, params }: Query): Promise<AllocationInput> => {
      const { caseId, demandId } = params as { caseId: string; demandId: string };
      const { state } = await loadCase(context, tenant, caseId);
      const demand = state.demands.find((candidate) => candidate.demandId === demandId);
      if (demand === undefined || demand.state === "REQUESTED" || demand.state === "REJECTED") {
        throw new Problem("conflict/demand-not-approved", "Rooms are searched once a demand is approved.", {
          state: demand?.state ?? "none",
        });
      }
      return {
        airport: state.airport,
        closed: state.status === "CLOSED",
        policies: state.policies,
        groups: placeable(state)
          .slice(0, waveGroupsMax)
          .flatMap((i) => needOf(state.groups[i] as CaseState["groups"][number])),
      };
    },
  };
};

export interface AllocationInput {
  airport: string;
  closed: boolean;
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  groups: GroupNeed[];
}

const needOf = ({
  groupId,
  subCaseId,
  tier,
  passengers,
  needs,
  stay,
}: CaseState["groups"][number]): GroupNeed[] =>
  tier === undefined || stay === undefined ? [] : [{ groupId, subCaseId, tier, passengers, needs, ...stay }];

/** With those whose passengers the case still owns; of a chunk on its way the sub-cases may stand already. */
const allGroups = (provisioned: GroupViews, { manifest, provisioned: standing }: CaseState): GroupViews => {
  const known = new Set(provisioned.map(({ groupId }) => groupId));
  const owned = manifest
    .slice(standing)
    .filter(({ groupId }) => !known.has(groupId))
    .map(({ groupId, tier = "ECONOMY", passengers }) => ({
      groupId,
      tier,
      operationalStatus: "PENDING" as const,
      passengers,
    }));
  return [...provisioned, ...owned];
};
