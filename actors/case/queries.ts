/** Owns the reads of cases, each beside the index that serves it, and the joins that show a case whole. */
import type { Document } from "mongodb";
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { AllocationView, CaseListItem, CaseView, ReservationView } from "../../schemas/case.ts";
import type { Page, Query } from "../../schemas/command.ts";
import type { DemandSummary, PendingApproval } from "../../schemas/demand.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import type { GroupStanding } from "../../schemas/group-note.ts";
import type { PartnerCaseListItem, PartnerCaseView } from "../../schemas/partner-api.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, limitOf, notACursor, slicePage } from "../runtime/page.ts";
import { airportFilter, requireAirport } from "../runtime/reach.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { policiesNow, toBePlaced } from "./booking.ts";
import { waveGroupsMax } from "./capacity.ts";
import { caseList, caseListIndexes, type ListedCase, listProjection } from "./case-list.ts";
import { gatherParts, type PartialFailure } from "./composition.ts";
import { dashboardQuery } from "./dashboard-query.ts";
import { disruptionFeed } from "./disruption-feed.ts";
import { freezesQuery } from "./freezes-query.ts";
import { priorityOfGroups } from "./priority-state.ts";
import { bindingPolicies } from "./relax.ts";
import { type CaseState, schemaVersion } from "./state.ts";
import { caseHead, demandSummary, partnerHead, pendingApproval, relaxationsView } from "./view.ts";

export const collection = "cases";

export const caseIndexes = [
  { name: "external-event", key: { externalEventId: 1 }, unique: true },
  { name: "flight-claim", key: { flightClaim: 1 }, unique: true, sparse: true },
  ...caseListIndexes,
  { name: "closed", key: { closedAt: 1 }, sparse: true },
  { name: "demand", key: { "demands.demandId": 1 }, sparse: true },
  { name: "wave", key: { waveId: 1 }, sparse: true },
  { name: "demand-state", key: { "demands.state": 1, _id: -1 }, sparse: true },
] as const;

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

type GroupViews = CaseView["passengerGroups"];

export const caseQueries = (context: ActorContext) => {
  const cases = (tenant: string) => context.documents.tenant(tenant).collection<Document>(collection);
  const partOf = (query: Query, caseUrn: string): Query => ({ ...query, params: { caseUrn } });

  return {
    /** GET /v1/cases. */
    list: ({ tenant, principal, params }: Query): Promise<Page<CaseListItem>> => {
      const { status, airport } = params as { status?: string; airport?: string };
      const standing = { ...(status === undefined ? {} : { status }), ...airportFilter(principal, airport) };
      return caseList(cases(tenant), standing, params, ({ meta, state }) =>
        caseHead(meta._id, meta.version, state, state.progress.length),
      );
    },

    dashboard: dashboardQuery(context, collection),

    /** GET /v1/cases/{caseUrn}: the case with all that the contract embeds, joined from its owners. */
    detail: async (query: Query): Promise<CaseView> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const { meta, state } = await loadCase(context, query.tenant, idOf(caseUrn));
      requireAirport(query.principal, state.airport);
      const failures: PartialFailure[] = [];
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
        passengerGroups: withPriority(allGroups(subCases?.groups ?? [], state), state),
        wave: waveUrn === undefined ? null : { urn: waveUrn, allocations: allocations ?? [] },
        reservations: subCases?.reservations ?? [],
        manualReviewItems: items ?? [],
        ...relaxationsView(state),
        ...(failures.length === 0 ? {} : { partialFailures: failures }),
      };
    },

    /** GET /v1/demand/pending/approvals: the oldest case first, and within a case the oldest demand. */
    "pending-approvals": async ({ tenant, principal, params }: Query): Promise<Page<PendingApproval>> => {
      const after = params.cursor === undefined ? undefined : demandKeyOf(String(params.cursor));
      const limit = limitOf(params);
      const found = await cases(tenant)
        .find(
          {
            "demands.state": "REQUESTED",
            ...airportFilter(principal, undefined),
            ...(after === undefined ? {} : { _id: { $gte: after.caseId as never } }),
          },
          { projection: { manifest: 0, handled: 0, outbox: 0, groups: 0 } },
        )
        .sort({ _id: 1 })
        // Each has one at least, but for the case of the cursor, whose last one may have been shown.
        .limit(limit + 2)
        .toArray();
      const waiting = found.flatMap((document) => {
        const { meta, state } = loadedOf<CaseState>(document, { schemaVersion });
        const shown = meta._id === after?.caseId ? after.demandId : undefined;
        const from = state.demands.findIndex(({ demandId }) => demandId === shown) + 1;
        return state.demands
          .slice(from)
          .filter((demand) => demand.state === "REQUESTED")
          .map((demand) => ({
            key: `${meta._id}|${demand.demandId}`,
            item: pendingApproval(meta._id, state, demand),
          }));
      });
      return slicePage(
        waiting.slice(0, limit + 1),
        limit,
        ({ key }) => key,
        ({ item }) => item,
      );
    },

    /** GET /v1/demand/case/{caseUrn}/summary. */
    "demand-summary": async ({ tenant, principal, params }: Query): Promise<DemandSummary> => {
      const { state } = await loadCase(context, tenant, idOf((params as { caseUrn: string }).caseUrn));
      requireAirport(principal, state.airport);
      return demandSummary(state);
    },

    /** GET /partner/v1/cases. */
    "partner-list": ({ tenant, params }: Query): Promise<Page<PartnerCaseListItem>> => {
      const { airport } = params as { airport?: string };
      const standing = { ...(airport === undefined ? {} : { airport }), kind: { $exists: false } };
      return caseList(cases(tenant), standing, params, ({ meta, state }) =>
        partnerHead(meta._id, state, state.progress.length),
      );
    },

    /** GET /partner/v1/cases/{caseUrn}: progress in counts, never the operators' workflow. */
    "partner-view": async (query: Query): Promise<PartnerCaseView> => {
      const { caseUrn } = query.params as { caseUrn: string };
      const { meta, state } = await loadCase(context, query.tenant, idOf(caseUrn));
      if (state.kind !== undefined) throw new Problem("not-found/resource", "No such case.");
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

    disruptions: disruptionFeed(context),

    /** For other actors' answers to partners. @throws Problem not-found/resource, also of a drill */
    "partner-head": async ({ tenant, params }: Query): Promise<PartnerCaseListItem> => {
      const _id = idOf((params as { caseUrn: string }).caseUrn) as never;
      const found = await cases(tenant).findOne(
        { _id, kind: { $exists: false } },
        { projection: listProjection },
      );
      if (found === null) throw new Problem("not-found/resource", "No such case.");
      const { meta, state } = loadedOf<ListedCase>(found, { schemaVersion });
      return partnerHead(meta._id, state, state.progress.length);
    },

    /** For other actors' answers to partners: those of these that are there, and no drill. */
    "partner-heads": async ({ tenant, params }: Query): Promise<PartnerCaseListItem[]> => {
      const { caseIds } = params as { caseIds: string[] };
      const standing = { _id: { $in: caseIds as never[] }, kind: { $exists: false } };
      const found = await cases(tenant).find(standing, { projection: listProjection }).toArray();
      return found.map((document) => {
        const { meta, state } = loadedOf<ListedCase>(document, { schemaVersion });
        return partnerHead(meta._id, state, state.progress.length);
      });
    },

    freezes: freezesQuery(context),

    /** For other actors: that the case exists and is within the caller's reach. */
    head: async ({ tenant, principal, params }: Query): Promise<CaseListItem> => {
      const { meta, state } = await loadCase(context, tenant, idOf((params as { caseUrn: string }).caseUrn));
      requireAirport(principal, state.airport);
      return caseHead(meta._id, meta.version, state, state.groups.length);
    },

    /** For a policy that is made for the case: where it is, and for whom. */
    circumstances: async ({
      tenant,
      principal,
      params,
    }: Query): Promise<{ airport: string; tiers: Tier[] }> => {
      const { state } = await loadCase(context, tenant, idOf((params as { caseUrn: string }).caseUrn));
      requireAirport(principal, state.airport);
      return { airport: state.airport, tiers: [...new Set(state.groups.flatMap(({ tier }) => tier ?? []))] };
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

    /**
     * For an item about rooms that comes to the desks: those of these groups that have one. The case may not have heard yet that a
     * room was lost, so each group is asked as well.
     */
    "housed-groups": async (query: Query): Promise<string[]> => {
      const { caseId, groupIds } = query.params as { caseId: string; groupIds: string[] };
      const _id = caseId as never;
      const found = await cases(query.tenant).findOne({ _id }, { projection: { groups: 1, progress: 1 } });
      if (found === null) return [];
      const { groups, progress } = found as unknown as Pick<CaseState, "groups" | "progress">;
      const told = groups.filter(
        ({ groupId }, i) => groupIds.includes(groupId) && "BRC".includes(progress[i] ?? "?"),
      );
      const standings = await Promise.all(
        told.map(({ subCaseId }) =>
          context.call<GroupStanding | null>("sub-case.standing", { ...query, params: { subCaseId } }),
        ),
      );
      return told.flatMap(({ groupId }, i) => (hasRoom(standings[i]) ? groupId : []));
    },

    /** For the reader of a wave that has not decided yet; null: no case waits for it. */
    "wave-under-way": async ({ tenant, params }: Query) => {
      const waveId = idOf((params as { waveUrn: string }).waveUrn);
      const found = await cases(tenant).findOne(
        { waveId },
        { projection: { awaiting: 1, airport: 1, schemaVersion: 1 } },
      );
      if (found === null) return null;
      type Waiting = Pick<CaseState, "awaiting" | "airport">;
      const { meta, state } = loadedOf<Waiting>(found, { schemaVersion });
      if (state.awaiting?.waveId !== waveId) return null;
      const demandUrn = urn("demand", state.awaiting.demandId as string);
      return { caseUrn: urn("case", meta._id), demandUrn, airport: state.airport };
    },

    /**
     * For a wave: who needs rooms, and under which policies, as they are in force now (contract, "Policy": a patched policy is
     * the same one). Groups that the approved rooms don't suffice for wait on.
     */
    "allocation-input": async (query: Query): Promise<AllocationInput> => {
      const { tenant } = query;
      const { caseId, demandId, groupIds } = query.params as {
        caseId: string;
        demandId: string;
        /** Set: these groups, wherever they stand. */
        groupIds?: string[];
      };
      const { state } = await loadCase(context, tenant, caseId);
      const demand = state.demands.find((candidate) => candidate.demandId === demandId);
      if (demand === undefined || demand.state === "REQUESTED" || demand.state === "REJECTED") {
        throw new Problem("conflict/demand-not-approved", "Rooms are searched once a demand is approved.", {
          state: demand?.state ?? "none",
        });
      }
      const tiers = Object.keys(state.policies);
      const found = await context.call<Parameters<typeof policiesNow>[1]>("policy.resolve-tiers", {
        ...query,
        params: { airport: state.airport, tiers },
      });
      const { waiting, again } = toBePlaced(state);
      const named = groupIds?.flatMap((groupId) => {
        const at = state.groups.findIndex((one) => one.groupId === groupId);
        return at < 0 ? [] : at;
      });
      const first = priorityOfGroups(state);
      const needs = (places: number[]) =>
        places.flatMap((i) => {
          const group = state.groups[i] as CaseState["groups"][number];
          const need = needOf(group);
          return first.has(group.groupId) ? need.map((one) => ({ ...one, priority: true as const })) : need;
        });
      return {
        airport: state.airport,
        ...(state.kind === undefined ? {} : { kind: state.kind }),
        closed: state.status === "CLOSED",
        policies: bindingPolicies(policiesNow(state, found), state.relaxations),
        ...(state.relaxations === undefined
          ? {}
          : { relaxed: state.relaxations.map(({ fields }) => fields) }),
        groups: needs(named ?? [...again, ...waiting].slice(0, waveGroupsMax)),
        again: needs(again).map(({ groupId }) => groupId),
      };
    },
  };
};

/** Of a room that is being given up, or is not sure yet, a person's item is the safer word. */
const hasRoom = (standing: GroupStanding | null | undefined): boolean =>
  standing?.status === "OFFER_READY" ||
  standing?.status === "RESOLVED" ||
  (standing?.status === "PROCESSING" && standing.reservation?.status === "CONFIRMED");

/** A demand's place in the approval queue: its case's id, then its own. @throws Problem validation/query */
const demandKeyOf = (cursor: string): { caseId: string; demandId: string } => {
  const [caseId = "", demandId = ""] = decodeCursor(cursor).split("|");
  if (demandId === "") throw notACursor();
  return { caseId, demandId };
};

export interface AllocationInput {
  airport: string;
  kind?: CaseKind;
  closed: boolean;
  /** With what is relaxed for the case. */
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  relaxed?: RelaxedFields[];
  groups: GroupNeed[];
  /** Of these the ones that have a room, which they keep where the wave finds them no other. */
  again: string[];
}

const needOf = ({
  groupId,
  subCaseId,
  shape = 0,
  tier,
  passengers,
  needs,
  stay,
}: CaseState["groups"][number]): GroupNeed[] =>
  tier === undefined || stay === undefined
    ? []
    : [{ groupId, subCaseId, shape, tier, passengers, needs, ...stay }];

const withPriority = (groups: GroupViews, state: CaseState): GroupViews => {
  const first = priorityOfGroups(state);
  if (first.size === 0) return groups;
  return groups.map((group) => {
    const request = first.get(group.groupId);
    if (request === undefined) return group;
    const { reason, by, at } = request;
    return { ...group, priority: { reason, requestedBy: by, requestedAt: at.toISOString() } };
  });
};

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
