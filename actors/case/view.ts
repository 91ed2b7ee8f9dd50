/** Owns what each audience may see of a case; whatever stands with other actors is joined by the queries. */
import type { CaseListItem, CaseOpened, CaseStanding } from "../../schemas/case.ts";
import type { DemandSummary, DemandView, PendingApproval } from "../../schemas/demand.ts";
import type { PartnerCaseListItem } from "../../schemas/partner-api.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import type { Reading } from "../runtime/decider.ts";
import { approvedDemands, bookedStages, roomsIn } from "./capacity.ts";
import type { CaseState, Demand } from "./state.ts";

const iso = (at: Date | undefined): string | undefined => at?.toISOString();

/** What an operator sees of the case itself. */
export const caseHead = (
  caseId: string,
  version: number,
  state: CaseState,
  subCaseCount: number,
): CaseListItem => ({
  urn: urn("case", caseId),
  airlineUrn: urn("airline", tenantOfId(caseId)),
  externalEventId: state.externalEventId,
  status: state.status,
  airport: state.airport,
  flight: { ...state.flight, scheduledDeparture: state.flight.scheduledDeparture.toISOString() },
  ...(state.nextFlight === undefined
    ? {}
    : {
        nextFlight: {
          ...state.nextFlight,
          scheduledDeparture: state.nextFlight.scheduledDeparture.toISOString(),
        },
      }),
  disruption: { ...state.disruption, decidedAt: state.disruption.decidedAt.toISOString() },
  subCaseCount,
  version,
  createdAt: state.createdAt.toISOString(),
  ...optional({ resolvedAt: iso(state.resolvedAt), closedAt: iso(state.closedAt) }),
});

const optional = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** The answer to a push or a declaration (contract, "Partner disruption push payload"). */
export const openedView = (state: CaseState, { id }: Reading): CaseOpened => ({
  caseUrn: urn("case", id),
  status: state.status,
  subCaseCount: state.groups.length,
  correlationUrn: state.correlationUrn,
});

/** The answer to a closing or reopening. */
export const standingView = (state: CaseState, { id, version, command }: Reading): CaseStanding => ({
  caseUrn: urn("case", id),
  status: state.status,
  ...optional({ closedAt: iso(state.closedAt) }),
  correlationUrn: command.correlationUrn,
  version,
});

export const partnerHead = (caseId: string, state: CaseState, subCaseCount: number): PartnerCaseListItem => ({
  urn: urn("case", caseId),
  externalEventId: state.externalEventId,
  status: state.status,
  airport: state.airport,
  flight: {
    iataDesignator: state.flight.number,
    originAirport: state.flight.origin,
    destinationAirport: state.flight.destination,
    scheduledDeparture: state.flight.scheduledDeparture.toISOString(),
  },
  subCaseCount,
  openedAt: state.createdAt.toISOString(),
  ...optional({ resolvedAt: iso(state.resolvedAt), closedAt: iso(state.closedAt) }),
});

export const demandView = (caseId: string, demand: Demand): DemandView => ({
  urn: urn("demand", demand.demandId),
  caseUrn: urn("case", caseId),
  type: demand.type,
  roomsRequested: demand.roomsRequested,
  state: demand.state,
  requestedAt: demand.requestedAt.toISOString(),
  requestedBy: demand.requestedBy,
  ...optional({
    decidedAt: iso(demand.decidedAt),
    decidedBy: demand.decidedBy,
    reason: demand.reason,
    policyUrn: demand.policyId === undefined ? undefined : urn("policy", demand.policyId),
    policyVersion: demand.policyVersion,
  }),
});

export const pendingApproval = (caseId: string, state: CaseState, demand: Demand): PendingApproval => ({
  ...demandView(caseId, demand),
  airport: state.airport,
  flightNumber: state.flight.number,
});

/** Groups without a room, with the review category that says why. */
const shortfallReasons = (state: CaseState): DemandSummary["shortfallReasons"] => {
  const of = (matches: (stage: string | undefined, i: number) => boolean) =>
    state.groups.filter((_, i) => matches(state.progress[i], i));
  const parts = [
    { category: "BOOKING_FAILED" as const, groups: of((stage) => stage === "F") },
    {
      category: "MIXED_TIER_GROUP" as const,
      groups: of((stage) => stage === "H").filter((g) => g.tier === undefined),
    },
    {
      category: "POLICY_VIOLATION" as const,
      groups: of((stage) => stage === "H").filter((g) => g.tier !== undefined && g.stay === undefined),
    },
    {
      category: "ALLOCATION_FAILED" as const,
      groups: of((stage) => stage === "H").filter((g) => g.stay !== undefined),
    },
  ];
  return parts
    .filter(({ groups }) => groups.length > 0)
    .map(({ category, groups }) => ({
      category,
      groups: groups.map(({ groupId }) => groupId),
      rooms: groups.reduce(
        (sum, { stay, passengers }) => sum + (stay?.rooms ?? Math.ceil(passengers / 2)),
        0,
      ),
    }));
};

export const demandSummary = (state: CaseState): DemandSummary => {
  const sum = (demands: Demand[]) => demands.reduce((total, { roomsRequested }) => total + roomsRequested, 0);
  const totalApproved = sum(approvedDemands(state));
  const totalBooked = roomsIn(state, bookedStages);
  return {
    totalRequested: sum(state.demands.filter(({ state: s }) => s !== "REJECTED")),
    totalApproved,
    totalAllocated: roomsIn(state, `AF${bookedStages}`),
    totalBooked,
    shortfall: Math.max(0, totalApproved - totalBooked),
    shortfallReasons: shortfallReasons(state),
  };
};
